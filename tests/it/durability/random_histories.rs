//! Random histories of a vault in the whole application: turns, decisions, undo and redo of anything, answers to
//! conflicts, and restarts, while a user and other programs write, move, copy and delete notes. No line of the
//! user's is lost or doubled, and only what was asked for is changed.
//!
//! `HISTORIES` runs so many, from `SEED` on; `./dev faults` runs more than the tests do.

mod applied_effects;
mod history;
mod step_rules;
mod tracked_notes;
mod turns;
mod undo_steps;
mod user_steps;

use history::{CarelessUndo, RandomHistory, StepTally};

const FIRST_SEED: u64 = 1;
const HISTORIES: u64 = 8;
const STEPS: usize = 25;
/// So many suffice at most for each careless undo.
const CONTROL_HISTORIES: u64 = 3;

fn number_from(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The mistakes of a history, with its steps; empty if there are none.
async fn mistakes_of(seed: u64, careless: Option<CarelessUndo>) -> (String, StepTally) {
    let mut history = RandomHistory::start(seed, careless).await;
    history.run(STEPS).await;
    if history.wrong.is_empty() {
        return (String::new(), history.tally);
    }
    let steps = history.story.join("\n");
    let wrong = history.wrong.join("\n! ");
    (format!("SEED={seed} HISTORIES=1\n{steps}\n! {wrong}\n"), history.tally)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_line_of_the_user_is_lost_or_doubled_in_random_histories() {
    let (first, count) = (number_from("SEED", FIRST_SEED), number_from("HISTORIES", HISTORIES));
    let (mut wrong, mut sum) = (Vec::new(), StepTally::default());
    for seed in first..first + count {
        let (mistakes, tally) = mistakes_of(seed, None).await;
        sum = sum.and(tally);
        if !mistakes.is_empty() {
            println!("{mistakes}");
            wrong.push(seed);
        }
    }
    println!("histories={count} {sum:?}");
    assert!(wrong.is_empty(), "wrong with these seeds: {wrong:?}");
    if count >= HISTORIES {
        assert!(sum.turns > 30 && sum.decisions > 10 && sum.by_user > 30, "{sum:?}");
        assert!(sum.clean > 20 && sum.redone > 3 && sum.conflicts > 2, "{sum:?}");
        assert!(sum.restored > 5 && sum.restarts > 8 && sum.offers > 0, "{sum:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn careless_undos_are_caught_in_random_histories() {
    for careless in [
        CarelessUndo::LosesLine,
        CarelessUndo::DoublesLine,
        CarelessUndo::WritesOldText,
        CarelessUndo::RefusesOffer,
    ] {
        let mut is_caught = false;
        for seed in FIRST_SEED..FIRST_SEED + CONTROL_HISTORIES {
            let (mistakes, _) = mistakes_of(seed, Some(careless)).await;
            is_caught |= !mistakes.is_empty();
            if is_caught {
                break;
            }
        }
        assert!(is_caught, "{careless:?} is not caught");
    }
}
