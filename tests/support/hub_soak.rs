//! The whole application and a hub, with everything between and around them that can go wrong: a
//! rough way, a link that is taken down, a thousand messages at once, a day with restarts, and ten
//! minutes of watching what it takes. `./dev soak` runs it.

mod app_process;
mod connection_cuts;
mod fault_proxy;
mod fixture;
mod half_open;
mod local_hub;
mod message_burst;
mod process_stats;
mod redelivering_hub;
mod resource_use;
mod simulated_day;

use std::path::Path;
use std::time::Duration;

pub use app_process::{RetryPacing, SoakAppOptions, serve};
pub use connection_cuts::{run_cuts, run_naive_client};
pub use fault_proxy::{ConnectionFault, ENDING_FAULTS, FaultProxy, ForwardingMode};
pub use fixture::{DeliveryTally, SoakFixture};
pub use half_open::{HalfOpenReport, run_half_open, run_half_open_child};
pub use local_hub::{run_bit_flips, run_local_hub_cuts};
pub use message_burst::{BurstReport, MESSAGES, run_burst};
pub use process_stats::ProcessStats;
pub use redelivering_hub::{HubLog, RedeliveringHub};
pub use resource_use::{ResourceReport, run_minutes};
pub use simulated_day::{SimulatedDay, run_day};

/// The runs, and their sizes.
#[derive(Debug, Clone)]
pub struct SoakExtent {
    /// Cuts with messages under way.
    pub cuts: usize,
    /// The share of a simulated day that runs; 1 is all of it.
    pub day: f64,
    /// The minutes for which a working application is watched.
    pub minutes: f64,
    /// Only what has this word in its name.
    pub only: Option<String>,
    /// The seed of everything random.
    pub seed: u64,
}

/// Runs everything in this extent with `program`, which is the binary itself; prints a line for each
/// and says whether all holds.
pub async fn run(program: &Path, extent: &SoakExtent) -> bool {
    let wants = |name: &str| extent.only.as_deref().is_none_or(|word| name.contains(word));
    println!("seed={}", extent.seed);
    let mut holds = true;
    let mut tell = |name: &str, line: &str, held: bool| {
        println!("{name} {line} {}", if held { "ok" } else { "FAILED" });
        holds &= held;
    };
    if wants("cuts") {
        let tally = run_cuts(program, extent.cuts, extent.seed).await;
        tell("cuts", &format!("cuts={} {tally}", extent.cuts), tally.holds());
    }
    if wants("local cuts") {
        let tally = run_local_hub_cuts(program, extent.cuts / 5, extent.seed).await;
        let line = format!("cuts={} {tally}", extent.cuts / 5);
        tell("local cuts", &line, tally.holds());
    }
    if wants("cuts") {
        let tally = run_naive_client(extent.cuts.min(100), extent.seed).await;
        tell("cuts control", &format!("without a memory of ids: {tally}"), !tally.holds());
    }
    if wants("flips") {
        let tally = run_bit_flips(program, extent.cuts / 5, extent.seed).await;
        tell("flips", &format!("flips={} {tally}", extent.cuts / 5), tally.holds());
    }
    if wants("half-open") {
        match run_half_open(program, 1) {
            Ok(found) => tell("half-open", &found.to_string(), found.is_within(HALF_OPEN_TIMEOUT)),
            Err(why) => println!("skipped: half-open: {why}"),
        }
    }
    if wants("load") {
        let load = run_burst(program, MESSAGES).await;
        tell("load", &load.to_string(), load.holds());
    }
    if wants("day") {
        let day = run_day(program, extent.day, extent.seed).await;
        tell("day", &day.to_string(), day.holds());
    }
    if wants("minutes") {
        let watched = run_minutes(program, extent.minutes, extent.seed).await;
        tell("minutes", &watched.to_string(), watched.holds());
    }
    holds
}

/// A peer that disappears silently is found in so long.
pub const HALF_OPEN_TIMEOUT: Duration = Duration::from_secs(90);
