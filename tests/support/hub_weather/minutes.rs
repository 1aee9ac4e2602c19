//! Real minutes with messages and cuts: what it takes of the system early on, and in the end.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::home::{Home, Tally};
use super::hub::{Book, Remembering};
use super::program::{Orders, Retries};
use super::proxy::{ENDS, Manner, Proxy};
use super::vitals::Vitals;

/// So many messages were taken before for each minute that is watched: the database's own memory is
/// full then, and what grows from there on is lost.
const BEFORE: f64 = 100.0;
/// A message so often.
const EVERY: Duration = Duration::from_secs(1);
/// And a cut after so many of them.
const CUT_AFTER: usize = 20;
/// The least of so many looks counts, one a message.
const LOOKS: usize = 20;
/// More memory than early on, in KiB, it does not take.
const ROOM: u64 = 2 << 10;
/// Threads that a short look may find beside those of the beginning.
const FEW_THREADS: usize = 4;
/// Early on is after this part of the time.
const EARLY: f64 = 0.2;

/// What it took.
#[derive(Debug, Clone)]
pub struct Watched {
    /// After a fifth of the time.
    pub early: Vitals,
    /// In the end.
    pub late: Vitals,
    /// Connections that were ended.
    pub cuts: usize,
    /// What became of the messages.
    pub tally: Tally,
}

impl Watched {
    /// Whether memory stays within its bounds, files and threads are no more, and nothing was lost.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds_within(ROOM) && self.late.threads <= self.early.threads
    }

    /// The same for a short look: with so much more memory, in KiB, and a few threads for what came at once.
    #[must_use]
    pub fn holds_within(&self, room: u64) -> bool {
        self.tally.holds()
            && self.late.resident <= self.early.resident + room
            && self.late.files <= self.early.files
            && self.late.threads <= self.early.threads + FEW_THREADS
    }
}

impl fmt::Display for Watched {
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
pub async fn minutes(program: &Path, minutes: f64, seed: u64) -> Watched {
    let (hub, home) = (Remembering::start().await, Home::new(program));
    let proxy = Proxy::before(hub.address(), seed, Manner::Smooth).await;
    // Only notifications would take longer than the watching: ten a minute go out.
    let orders = Orders { hub: proxy.url(), times: 20, model: None, retries: Retries::Patient };
    let mut app = home.start(&orders);
    let mut number = 0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let before = (minutes * BEFORE).round().max(1.0) as usize;
    while number < before {
        hub.say(&line(number));
        number += 1;
    }
    hub.until("an answer to each", Book::is_answered).await;
    app.ask("idle", "");
    app.ask("crowd", "");
    let (began, whole) = (Instant::now(), Duration::from_secs_f64(minutes * 60.0));
    let (mut early, mut looks) = (None, Vec::new());
    while began.elapsed() < whole {
        if number % CUT_AFTER == 0 {
            proxy.arm(&ENDS, 1_000);
        }
        if number % CUT_AFTER == 0 {
            app.ask("list", "");
        }
        hub.say(&line(number));
        number += 1;
        tokio::time::sleep(EVERY).await;
        looks.push(Vitals::of(app.process()));
        if began.elapsed() >= whole.mul_f64(EARLY) && early.is_none() {
            early = Some(Vitals::least(last(&looks)));
        }
    }
    let late = Vitals::least(last(&looks));
    let tally = home.judged(&hub, app).await;
    Watched { early: early.unwrap_or(late), late, cuts: proxy.struck(), tally }
}

fn line(number: usize) -> String {
    format!("remember number {number} of these minutes")
}

fn last(looks: &[Vitals]) -> &[Vitals] {
    looks.get(looks.len().saturating_sub(LOOKS)..).unwrap_or_default()
}
