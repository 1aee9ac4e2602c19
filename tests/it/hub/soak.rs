//! The hub's bad weather in short: what `./dev soak` does for an hour.

use std::path::Path;
use std::time::Duration;

use testkit::hub_soak::{
    HALF_OPEN_TIMEOUT, ResourceReport, run_bit_flips, run_burst, run_cuts, run_day, run_half_open,
    run_local_hub_cuts, run_minutes, run_naive_client,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_soak");

fn program() -> &'static Path {
    Path::new(PROGRAM)
}

#[tokio::test(flavor = "multi_thread")]
async fn cuts_at_any_byte_lose_nothing_that_was_taken_and_double_nothing() {
    // Q-sequence-14, whose thousand cuts `./dev soak` makes.
    let tally = run_cuts(program(), 60, 7).await;
    assert!(tally.holds(), "{tally}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cuts_before_the_local_hub_lose_nothing_that_was_taken() {
    let tally = run_local_hub_cuts(program(), 20, 7).await;
    assert!(tally.holds(), "{tally}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bit_that_is_another_one_harms_nothing_that_comes_after_it() {
    let tally = run_bit_flips(program(), 30, 7).await;
    assert!(tally.holds(), "{tally}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_a_memory_of_ids_is_caught_working_twice() {
    let tally = run_naive_client(60, 7).await;
    assert!(tally.doubled > 0 && !tally.holds(), "{tally}");
}

#[test]
fn a_hub_that_disappeared_silently_is_found_and_only_by_pings() {
    match run_half_open(program(), 20) {
        Ok(found) => {
            assert!(found.is_within(HALF_OPEN_TIMEOUT + Duration::from_secs(10)), "{found}")
        }
        Err(why) => println!("skipped: {why}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_messages_at_once_are_taken_and_one_more_is_refused() {
    let load = run_burst(program(), 40).await;
    assert!(load.holds(), "{load}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_messages_cuts_and_restarts_loses_nothing() {
    let day = run_day(program(), 0.01, 7).await;
    assert!(day.holds() && day.restarts == 2, "{day}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_while_takes_is_told() {
    let watched = run_minutes(program(), 0.05, 7).await;
    // In three seconds the memory of caches still grows, so it has more room than in ten minutes.
    assert!(watched.holds_within(16 << 10) && watched.early.files > 0, "{watched}");
    println!("{watched}");
    // The controls: what grows is found out.
    let more = |change: fn(&mut ResourceReport)| {
        let mut leaking = watched.clone();
        change(&mut leaking);
        leaking
    };
    assert!(!more(|leak| leak.late.files = leak.early.files + 1).holds_within(16 << 10));
    assert!(
        !more(|leak| leak.late.resident = leak.early.resident + (17 << 10)).holds_within(16 << 10)
    );
    assert!(!more(|leak| leak.late.threads = leak.early.threads + 5).holds_within(16 << 10));
}
