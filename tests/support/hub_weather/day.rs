//! A day at a hundred times its pace: ten thousand messages, a thousand cuts, two hundred restarts.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::home::{Home, Tally};
use super::hub::{Book, Remembering};
use super::program::{Orders, Retries};
use super::proxy::{ENDS, Manner, Proxy};

/// So many times as fast as they are, the clocks go.
const TIMES: u32 = 100;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const RESTARTS: u32 = 200;
/// Between two restarts.
const MESSAGES: u32 = 50;
const CUTS: u32 = 5;
/// Nothing is said for so long only where no link comes back.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cut falls into so many bytes, less than ten messages and their answers take.
const WITHIN: u64 = 1_500;
/// The same where nothing but the link's own signs of life are under way.
const WITHIN_QUIET: u64 = 40;

/// What a day was like.
#[derive(Debug)]
pub struct Day {
    /// Of these half were kills in the middle of the work.
    pub restarts: u32,
    /// Connections that were ended.
    pub cuts: usize,
    /// How long it took.
    pub took: Duration,
    /// What became of the messages.
    pub tally: Tally,
}

impl Day {
    /// Whether nothing was lost and nothing doubled, by as many cuts as were due.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.tally.holds() && self.cuts >= due(self.restarts * CUTS)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { restarts, cuts, took, tally } = self;
        write!(to, "{tally} cuts={cuts} restarts={restarts} seconds={}", took.as_secs())
    }
}

/// So much of a day, with as much of all that happens in one.
pub async fn day(program: &Path, part: f64, seed: u64) -> Day {
    let began = Instant::now();
    let (hub, mut home) = (Remembering::start().await, Home::new(program));
    let proxy = Proxy::before(hub.address(), seed, Manner::Rough).await;
    // Somebody presses “Retry”: on a busy machine a hundredth of a deadline passes by itself, and twenty
    // dials are soon used up.
    let orders = Orders { hub: proxy.url(), times: TIMES, model: None, retries: Retries::Eager };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let restarts = (f64::from(RESTARTS) * part).round().max(2.0) as u32;
    let mut app = home.start(&orders);
    for restart in 1..=restarts {
        let until = began + DAY / TIMES / RESTARTS * restart;
        for message in 0..MESSAGES {
            cut_again(&proxy, (restart - 1) * CUTS + message / (MESSAGES / CUTS) + 1, WITHIN);
            let number = hub.read(|book| book.said.len());
            hub.say(&format!("remember number {number} of the day"));
            // They come as the day goes.
            let left = until.saturating_duration_since(Instant::now());
            tokio::time::sleep(left / (MESSAGES - message)).await;
        }
        if restart % 2 == 0 {
            app.kill();
        } else {
            hub.until("an answer to each", Book::is_answered).await;
            app.ask("idle", "");
            app.close();
            home.clear();
        }
        app = home.start(&orders);
    }
    // Those that a restart took the bytes from, or a slow machine the time.
    let mut struck = proxy.watch();
    while cut_again(&proxy, restarts * CUTS, WITHIN_QUIET) {
        let falls = tokio::time::timeout(PATIENCE, struck.changed()).await;
        assert!(matches!(falls, Ok(Ok(()))), "the link does not come back");
    }
    let tally = home.judged(&hub, app).await;
    Day { restarts, cuts: proxy.struck(), took: began.elapsed(), tally }
}

/// Has the next cut fall, unless one waits for its byte or so many fell already; whether more are due.
fn cut_again(proxy: &Proxy, wanted: u32, within: u64) -> bool {
    let more = proxy.struck() < due(wanted);
    if more && !proxy.is_armed() {
        proxy.arm(&ENDS, within);
    }
    more
}

fn due(cuts: u32) -> usize {
    usize::try_from(cuts).unwrap_or(usize::MAX)
}
