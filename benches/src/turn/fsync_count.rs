//! How often a turn waits for the disk, counted from outside, in a process of its own.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use super::app_fixture::TurnAppFixture;
use super::timing_server::{TimingServer, read_call_reply};

/// So many turns are counted, beyond the first ones: few enough that the log of the database is not
/// folded into its file among them, which syncs it too.
const TURNS: usize = 5;
const WARM_UP_TURNS: usize = 2;

/// The user's message, the step with the call, the end.
const EXPECTED_SYNCS: usize = 3;

/// Counts the durable commits of turns of one read; returns whether their number is as expected.
pub(super) fn print() -> bool {
    let counted =
        count_syncs(WARM_UP_TURNS).and_then(|few| Ok((few, count_syncs(WARM_UP_TURNS + TURNS)?)));
    match counted {
        Ok((few, more)) => {
            let exact = more.checked_sub(few) == Some(EXPECTED_SYNCS * TURNS);
            let result = if exact { "ok" } else { "MISSED" };
            println!(
                "fsyncs turns={TURNS} commits={} bar={} {result}",
                more - few,
                EXPECTED_SYNCS * TURNS
            );
            exact
        }
        Err(why) => {
            println!("fsyncs MISSED not counted: {why}");
            false
        }
    }
}

fn count_syncs(turns: usize) -> Result<usize, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let trace = place.path().join("trace");
    let done = Command::new("strace")
        .args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(&trace)
        .arg(std::env::current_exe()?)
        .args(["turns", &turns.to_string()])
        .arg(place.path())
        .status()
        .map_err(|error| format!("strace cannot be run: {error}"))?;
    if !done.success() {
        return Err(format!("the counted process ended with {done}").into());
    }
    let trace = std::fs::read_to_string(trace)?;
    let commits = trace.lines().filter(|line| line.contains("vaultmate.db-wal>"));
    Ok(commits.count())
}

/// The work of the counted process.
pub(crate) async fn run_turns(turns: usize, place: &Path) -> Result<(), Box<dyn Error>> {
    let server = TimingServer::start(read_call_reply).await?;
    let mut ours = TurnAppFixture::open(place, &server.url()).await?;
    for _ in 0..turns {
        ours.run_turn().await?;
    }
    ours.close().await;
    Ok(())
}
