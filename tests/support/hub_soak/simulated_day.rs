//! A day at a hundred times its pace: ten thousand messages, a thousand cuts, two hundred restarts.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::app_process::{RetryPacing, SoakAppOptions};
use super::fault_proxy::{ENDING_FAULTS, FaultProxy, ForwardingMode};
use super::fixture::{DeliveryTally, SoakFixture};
use super::redelivering_hub::{HubLog, RedeliveringHub};

/// So many times as fast as they are, the clocks go.
const TIME_DIVISOR: u32 = 100;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const RESTARTS: u32 = 200;
/// Between two restarts.
const MESSAGES_PER_RESTART: u32 = 50;
const CUTS_PER_RESTART: u32 = 5;
/// No message takes so long unless no link comes back.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// A cut falls into so many bytes, less than ten messages and their answers take.
const CUT_WITHIN_BYTES: u64 = 1_500;
/// The same where nothing but the link's own signs of life are under way.
const IDLE_CUT_WITHIN_BYTES: u64 = 40;

/// The report of a day.
#[derive(Debug)]
pub struct SimulatedDay {
    /// Of these half were kills in the middle of the work.
    pub restarts: u32,
    /// Connections that were ended.
    pub cuts: usize,
    /// How long it took.
    pub took: Duration,
    /// The fate of the messages.
    pub tally: DeliveryTally,
}

impl SimulatedDay {
    /// Whether nothing was lost and nothing doubled, by as many cuts as were due.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.tally.holds() && self.cuts >= cuts_due(self.restarts * CUTS_PER_RESTART)
    }
}

impl fmt::Display for SimulatedDay {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { restarts, cuts, took, tally } = self;
        write!(to, "{tally} cuts={cuts} restarts={restarts} seconds={}", took.as_secs())
    }
}

/// So much of a day, with as much of all that happens in one.
pub async fn run_day(program: &Path, part: f64, seed: u64) -> SimulatedDay {
    let began = Instant::now();
    let (hub, mut home) = (RedeliveringHub::start().await, SoakFixture::new(program));
    let proxy = FaultProxy::start(hub.address(), seed, ForwardingMode::Rough).await;
    // Somebody presses “Retry”: on a busy machine a hundredth of a deadline passes without a fault,
    // and twenty dials are soon used up.
    let orders = SoakAppOptions {
        hub: proxy.url(),
        times: TIME_DIVISOR,
        model: None,
        retries: RetryPacing::Eager,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let restarts = (f64::from(RESTARTS) * part).round().max(2.0) as u32;
    let mut app = home.start(&orders);
    for restart in 1..=restarts {
        let until = began + DAY / TIME_DIVISOR / RESTARTS * restart;
        for message in 0..MESSAGES_PER_RESTART {
            arm_next_cut(
                &proxy,
                (restart - 1) * CUTS_PER_RESTART
                    + message / (MESSAGES_PER_RESTART / CUTS_PER_RESTART)
                    + 1,
                CUT_WITHIN_BYTES,
            );
            let number = hub.read_log(|book| book.sent.len());
            hub.send(&format!("remember number {number} of the day"));
            // They come as the day goes.
            let left = until.saturating_duration_since(Instant::now());
            tokio::time::sleep(left / (MESSAGES_PER_RESTART - message)).await;
        }
        if restart % 2 == 0 {
            app.kill();
        } else {
            hub.wait_until("an answer to each", HubLog::is_answered).await;
            app.ask("idle", "");
            app.close();
            home.clear_inbox();
        }
        app = home.start(&orders);
    }
    // Those that a restart took the bytes from, or a slow machine the time.
    let mut struck = proxy.subscribe();
    while arm_next_cut(&proxy, restarts * CUTS_PER_RESTART, IDLE_CUT_WITHIN_BYTES) {
        let falls = tokio::time::timeout(MESSAGE_TIMEOUT, struck.changed()).await;
        assert!(matches!(falls, Ok(Ok(()))), "the link does not come back");
    }
    let tally = home.finish_and_count(&hub, app).await;
    SimulatedDay { restarts, cuts: proxy.fault_count(), took: began.elapsed(), tally }
}

/// Arms the next cut, unless one is armed already or so many happened; returns whether more are
/// due.
fn arm_next_cut(proxy: &FaultProxy, wanted: u32, within: u64) -> bool {
    let more = proxy.fault_count() < cuts_due(wanted);
    if more && !proxy.is_armed() {
        proxy.arm(&ENDING_FAULTS, within);
    }
    more
}

fn cuts_due(cuts: u32) -> usize {
    usize::try_from(cuts).unwrap_or(usize::MAX)
}
