//! Real minutes with messages and cuts: what it takes of the system early on, and in the end.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::app_process::{RetryPacing, SoakAppOptions};
use super::fault_proxy::{ENDING_FAULTS, FaultProxy, ForwardingMode};
use super::fixture::{DeliveryTally, SoakFixture};
use super::process_stats::ProcessStats;
use super::redelivering_hub::{HubLog, RedeliveringHub};

/// So many messages were taken before for each minute that is watched: the database's own memory is
/// full then, and what grows from there on is lost.
const WARM_UP_MESSAGES_PER_MINUTE: f64 = 100.0;
/// A message so often.
const MESSAGE_INTERVAL: Duration = Duration::from_secs(1);
/// And a cut after so many of them.
const MESSAGES_PER_CUT: usize = 20;
/// The least of so many looks counts, one a message.
const SAMPLES_PER_READING: usize = 20;
/// More memory than early on, in KiB, it does not take.
const MAX_MEMORY_GROWTH_KIB: u64 = 2 << 10;
/// Threads that a short look may find beside those of the beginning.
const EXTRA_THREADS: usize = 4;
/// Early on is after this part of the time.
const EARLY_SHARE: f64 = 0.2;

/// The use of resources.
#[derive(Debug, Clone)]
pub struct ResourceReport {
    /// After a fifth of the time.
    pub early: ProcessStats,
    /// In the end.
    pub late: ProcessStats,
    /// Connections that were ended.
    pub cuts: usize,
    /// The fate of the messages.
    pub tally: DeliveryTally,
}

impl ResourceReport {
    /// Whether memory stays within its bounds, files and threads are no more, and nothing was lost.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds_within(MAX_MEMORY_GROWTH_KIB) && self.late.threads <= self.early.threads
    }

    /// The same for a short look: with so much more memory, in KiB, and a few threads for what came at once.
    #[must_use]
    pub fn holds_within(&self, room: u64) -> bool {
        self.tally.holds()
            && self.late.resident <= self.early.resident + room
            && self.late.files <= self.early.files
            && self.late.threads <= self.early.threads + EXTRA_THREADS
    }
}

impl fmt::Display for ResourceReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { early, late, cuts, tally } = self;
        write!(
            to,
            "{tally} cuts={cuts} resident_kb={}..{} files={}..{} threads={}..{}",
            early.resident, late.resident, early.files, late.files, early.threads, late.threads
        )
    }
}

/// Looks on for so long.
pub async fn run_minutes(program: &Path, minutes: f64, seed: u64) -> ResourceReport {
    let (hub, home) = (RedeliveringHub::start().await, SoakFixture::new(program));
    let proxy = FaultProxy::start(hub.address(), seed, ForwardingMode::Smooth).await;
    // Only notifications would take longer than the watching: ten a minute go out.
    let orders =
        SoakAppOptions { hub: proxy.url(), times: 20, model: None, retries: RetryPacing::Patient };
    let mut app = home.start(&orders);
    let mut number = 0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let before = (minutes * WARM_UP_MESSAGES_PER_MINUTE).round().max(1.0) as usize;
    while number < before {
        hub.send(&message_text(number));
        number += 1;
    }
    hub.wait_until("an answer to each", HubLog::is_answered).await;
    app.ask("idle", "");
    app.ask("crowd", "");
    let (began, whole) = (Instant::now(), Duration::from_secs_f64(minutes * 60.0));
    let (mut early, mut looks) = (None, Vec::new());
    while began.elapsed() < whole {
        if number % MESSAGES_PER_CUT == 0 {
            proxy.arm(&ENDING_FAULTS, 1_000);
        }
        if number % MESSAGES_PER_CUT == 0 {
            app.ask("list", "");
        }
        hub.send(&message_text(number));
        number += 1;
        tokio::time::sleep(MESSAGE_INTERVAL).await;
        looks.push(ProcessStats::of_process(app.process_id()));
        if began.elapsed() >= whole.mul_f64(EARLY_SHARE) && early.is_none() {
            early = Some(ProcessStats::minimum(last_samples(&looks)));
        }
    }
    let late = ProcessStats::minimum(last_samples(&looks));
    let tally = home.finish_and_count(&hub, app).await;
    ResourceReport { early: early.unwrap_or(late), late, cuts: proxy.fault_count(), tally }
}

fn message_text(number: usize) -> String {
    format!("remember number {number} of these minutes")
}

fn last_samples(looks: &[ProcessStats]) -> &[ProcessStats] {
    looks.get(looks.len().saturating_sub(SAMPLES_PER_READING)..).unwrap_or_default()
}
