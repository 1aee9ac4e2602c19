//! A thousand messages at once, and one more.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::app_process::{RetryPacing, SoakAppOptions};
use super::fixture::{DeliveryTally, SoakFixture};
use super::process_stats::ProcessStats;
use super::redelivering_hub::{HubLog, RedeliveringHub};
use crate::scripted_model::KEY;
use crate::search_freshness::QueryProcess;
use crate::{Reply, ScriptedModel};

/// As many as may wait.
pub const MESSAGES: usize = 1_000;

/// Notifications go out so many times as fast: nobody waits a hundred minutes for them.
const NOTIFICATION_TIME_DIVISOR: u32 = 1_000;

/// All are stored and acknowledged in so long.
const MAX_STORE_TIME: Duration = Duration::from_secs(30);

/// A message is worked on to its result in so long, one after the other.
const MAX_TIME_PER_MESSAGE: Duration = Duration::from_secs(1);

/// Every query of a window is answered in so long.
const MAX_QUERY_TIME: Duration = Duration::from_millis(500);

/// More memory than before, in KiB, it never takes.
const MAX_MEMORY_GROWTH_KIB: u64 = 64 << 10;

/// The measurements.
#[derive(Debug)]
pub struct BurstReport {
    /// How many were taken.
    pub acked: usize,
    /// From the first delivery to the last acknowledgement.
    pub stored: Duration,
    /// The answer to the hub about the one too many.
    pub refusal: String,
    /// Whether they were worked on in the order in which they came. A hub that drops messages is
    /// told the newest results first.
    pub in_order: bool,
    /// How many of their results were shown.
    pub shown: usize,
    /// The longest that a window waited, while they were stored and worked on.
    pub slowest: Duration,
    /// How often a window asked.
    pub asked: usize,
    /// Memory at its most, beside before, in KiB.
    pub grown: u64,
    /// From the start to the result of the last that was to be worked on.
    pub worked: Duration,
    /// Which was to take no longer than this.
    pub bound: Duration,
    /// The fate of the messages.
    pub tally: DeliveryTally,
}

impl BurstReport {
    /// Whether every bar is met.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.tally.holds()
            && self.acked == MESSAGES
            && self.stored < MAX_STORE_TIME
            && self.refusal.contains("Busy")
            && self.in_order
            && self.worked < self.bound
            && self.slowest < MAX_QUERY_TIME
            && self.grown < MAX_MEMORY_GROWTH_KIB
    }
}

impl fmt::Display for BurstReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "acked={} {} stored_s={:.2} shown={} worked_s={:.1} of={:.0} in_order={} slowest_ms={} of={} grown_mb={:.1} \
             refused={:?}",
            self.acked,
            self.tally,
            self.stored.as_secs_f64(),
            self.shown,
            self.worked.as_secs_f64(),
            self.bound.as_secs_f64(),
            self.in_order,
            self.slowest.as_millis(),
            self.asked,
            f64::from(u32::try_from(self.grown).unwrap_or(u32::MAX)) / 1024.0,
            self.refusal
        )
    }
}

/// Lets a hub send a thousand messages at once to the application, whose model does not answer, and
/// one more; then the application is started again without a model and keeps the messages as they
/// are, until so many are kept and their results were shown.
pub async fn run_burst(program: &Path, until: usize) -> BurstReport {
    let model = ScriptedModel::start(vec![Reply::hang()]).await;
    let (hub, home) = (RedeliveringHub::start().await, SoakFixture::new(program).with_key(KEY));
    let orders = SoakAppOptions {
        hub: format!("ws://{}", hub.address()),
        times: 1,
        model: Some(model.base_url()),
        retries: RetryPacing::Patient,
    };
    let mut watch = LatencyProbe::new(home.start(&orders));
    hub.wait_until("a client", |book| book.registered > 0).await;
    for number in 0..=MESSAGES {
        hub.send(&message_text(number));
    }
    while !hub.read_log(HubLog::is_answered) {
        watch.ask().await;
    }
    model.wait_for_request(1).await;
    let (stored, refusal) = hub.read_log(acknowledgement_times);
    watch.app.close();
    let orders = SoakAppOptions { times: NOTIFICATION_TIME_DIVISOR, model: None, ..orders };
    let mut watch = LatencyProbe { app: home.start(&orders), ..watch };
    let (began, bound) =
        (Instant::now(), MAX_TIME_PER_MESSAGE * u32::try_from(until).expect("a small number"));
    while hub.read_log(|book| book.shown.len()) < until && began.elapsed() < bound {
        watch.ask().await;
    }
    let worked = began.elapsed();
    let LatencyProbe { app, slowest, asked, grown, .. } = watch;
    let tally = if until < MESSAGES {
        app.kill();
        let texts: Vec<String> = (0..until).map(message_text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        DeliveryTally::count(&texts, &[&home.inbox_lines()])
    } else {
        home.finish_and_count(&hub, app).await
    };
    let worked_on = home.inbox_lines();
    let (acked, shown) = hub.read_log(|book| (book.acked.len(), book.shown.clone()));
    let in_order = worked_on.iter().enumerate().all(|(place, text)| *text == message_text(place));
    let shown = shown.len();
    BurstReport {
        acked,
        stored,
        refusal,
        in_order,
        shown,
        slowest,
        asked,
        grown,
        worked,
        bound,
        tally,
    }
}

fn message_text(number: usize) -> String {
    format!("remember number {number} of many")
}

/// How long it took to accept them, and the answer about the last.
fn acknowledgement_times(book: &HubLog) -> (Duration, String) {
    let first = book.delivered.values().min();
    let last = book.acked.values().max();
    let stored = first.zip(last).map(|(first, last)| last.duration_since(*first));
    let last = format!("m-{MESSAGES}");
    (stored.unwrap_or(Duration::MAX), book.rejected.get(&last).cloned().unwrap_or_default())
}

/// A window that asks, and looks what that takes.
struct LatencyProbe {
    app: QueryProcess,
    /// Memory at the start, in KiB.
    before: u64,
    slowest: Duration,
    asked: usize,
    /// The most above that.
    grown: u64,
}

impl LatencyProbe {
    fn new(app: QueryProcess) -> Self {
        let before = ProcessStats::of_process(app.process_id()).resident;
        Self { app, before, slowest: Duration::ZERO, asked: 0, grown: 0 }
    }

    /// Ten times a second, as somebody who scrolls.
    async fn ask(&mut self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        self.app.ask("list", "");
        self.slowest = self.slowest.max(began.elapsed());
        self.asked += 1;
        let peak = ProcessStats::of_process(self.app.process_id()).peak;
        self.grown = self.grown.max(peak.saturating_sub(self.before));
    }
}
