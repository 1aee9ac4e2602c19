//! The whole application and a hub, with everything between and around them that can go wrong: a
//! rough way, a link that is taken down, a thousand messages at once, a day with restarts, and ten
//! minutes of watching what it takes. `./dev soak` runs it.

mod cuts;
mod day;
mod home;
mod hub;
mod load;
mod local;
mod minutes;
mod program;
mod proxy;
mod stillness;
mod vitals;

use std::path::Path;
use std::time::Duration;

pub use cuts::{careless, cuts};
pub use day::{Day, day};
pub use home::{Home, Tally};
pub use hub::{Book, Remembering};
pub use load::{Load, MESSAGES, load};
pub use local::{cuts_before_a_local_hub, flips};
pub use minutes::{Watched, minutes};
pub use program::{Orders, Retries, answer};
pub use proxy::{ENDS, Fault, Manner, Proxy};
pub use stillness::{Found, half_open, half_open_child};
pub use vitals::Vitals;

/// What is run, and how much of it.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Cuts with messages under way.
    pub cuts: usize,
    /// Of a day.
    pub day: f64,
    /// Of watching.
    pub minutes: f64,
    /// Only what has this word in its name.
    pub only: Option<String>,
    /// What all that is drawn follows from.
    pub seed: u64,
}

/// Runs everything in this extent with `program`, which is the binary itself; prints a line for each
/// and says whether all holds.
pub async fn run(program: &Path, extent: &Extent) -> bool {
    let wants = |name: &str| extent.only.as_deref().is_none_or(|word| name.contains(word));
    println!("seed={}", extent.seed);
    let mut holds = true;
    let mut tell = |name: &str, line: &str, held: bool| {
        println!("{name} {line} {}", if held { "ok" } else { "FAILED" });
        holds &= held;
    };
    if wants("cuts") {
        let tally = cuts(program, extent.cuts, extent.seed).await;
        tell("cuts", &format!("cuts={} {tally}", extent.cuts), tally.holds());
    }
    if wants("local cuts") {
        let tally = cuts_before_a_local_hub(program, extent.cuts / 5, extent.seed).await;
        let line = format!("cuts={} {tally}", extent.cuts / 5);
        tell("local cuts", &line, tally.holds());
    }
    if wants("cuts") {
        let tally = careless(extent.cuts.min(100), extent.seed).await;
        tell("cuts control", &format!("without a memory of ids: {tally}"), !tally.holds());
    }
    if wants("flips") {
        let tally = flips(program, extent.cuts / 5, extent.seed).await;
        tell("flips", &format!("flips={} {tally}", extent.cuts / 5), tally.holds());
    }
    if wants("half-open") {
        match half_open(program, 1) {
            Ok(found) => tell("half-open", &found.to_string(), found.is_within(HALF_OPEN)),
            Err(why) => println!("skipped: half-open: {why}"),
        }
    }
    if wants("load") {
        let load = load(program, MESSAGES).await;
        tell("load", &load.to_string(), load.holds());
    }
    if wants("day") {
        let day = day(program, extent.day, extent.seed).await;
        tell("day", &day.to_string(), day.holds());
    }
    if wants("minutes") {
        let watched = minutes(program, extent.minutes, extent.seed).await;
        tell("minutes", &watched.to_string(), watched.holds());
    }
    holds
}

/// A peer that is gone without a word is found in so long.
pub const HALF_OPEN: Duration = Duration::from_secs(90);
