//! A case that is a race: many calls while another program swaps what they go through.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::timeout;

use super::attacker::{Attacker, PathAttack};
use super::case::{PathCase, PathOperation};
use super::fixture::{CANARY, PathFixture};
use super::runner::{CaseProblem, PathOutcome};
use super::{PathResolver, ResolverAnswer};

/// A change costs more than a look; each changing operation is tried this often at least.
const MIN_CHANGE_ITERATIONS: usize = 1000;

/// A race that takes longer has not been run.
const RACE_TIMEOUT: Duration = Duration::from_secs(300);

/// A call that takes longer hangs.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs `times` iterations, shared over the operations.
pub(super) async fn run<S: PathResolver>(
    case: &PathCase,
    ops: &[PathOperation],
    how: &str,
    times: usize,
) -> Result<PathOutcome, CaseProblem> {
    let stage = PathFixture::new();
    let path = stage.expand_variables(&case.path());
    let subject = S::open(&stage.vault);
    let foe = PathAttack::new(how, &path, &stage)?;
    // The attacker's own files stand before the first call.
    let outside = stage.snapshot_outside();
    let attack = Attacker::start(foe);
    let mut outcome = PathOutcome::default();
    let begin = Instant::now();
    let turns = iterations_per_operation(ops, times);
    'ops: for (op, turns) in turns {
        for turn in 0..turns {
            if begin.elapsed() > RACE_TIMEOUT {
                outcome.add_complaint(format!(
                    "{op:?}: only {turn} of {turns} tries in {RACE_TIMEOUT:?}"
                ));
                break 'ops;
            }
            match timeout(CALL_TIMEOUT, try_once(&subject, case, op, &path, turn)).await {
                Err(_) => {
                    outcome.hangs += 1;
                    outcome.complaints.push(format!("{op:?} hangs"));
                    break 'ops;
                }
                Ok(answer) if answer.text.contains(CANARY) => {
                    outcome.escapes += 1;
                    outcome.complaints.push(format!("{op:?} shows what is outside of the vault"));
                    break 'ops;
                }
                Ok(_) => {}
            }
        }
    }
    let strikes = attack.stop();
    if strikes == 0 {
        outcome.add_complaint("the attacker never struck".to_owned());
    }
    outcome.count_escapes(PathOperation::Write, &outside, &stage, &[]);
    Ok(outcome)
}

/// How often each operation is tried: changing ones as seldom as allowed, looks the rest, and
/// among them reading most, because it opens what is being swapped and little else.
fn iterations_per_operation(ops: &[PathOperation], times: usize) -> Vec<(PathOperation, usize)> {
    let looks = ops.iter().filter(|op| !op.changes()).count();
    let changes = ops.len() - looks;
    let even = times.div_ceil(ops.len().max(1));
    if looks == 0 {
        return ops.iter().map(|op| (*op, even.max(MIN_CHANGE_ITERATIONS))).collect();
    }
    let weight = |op: &PathOperation| match op {
        PathOperation::Read => 18,
        PathOperation::List | PathOperation::Search => 1,
        _ => 0,
    };
    let rest = times.saturating_sub(changes * MIN_CHANGE_ITERATIONS);
    let part = rest.div_ceil(ops.iter().map(weight).sum::<usize>().max(1));
    let share = |op: &PathOperation| {
        (*op, if op.changes() { MIN_CHANGE_ITERATIONS } else { part * weight(op) })
    };
    ops.iter().map(share).collect()
}

async fn try_once<S: PathResolver>(
    subject: &S,
    case: &PathCase,
    op: PathOperation,
    path: &str,
    turn: usize,
) -> ResolverAnswer {
    let arguments = match op {
        // Only what was read may be overwritten.
        PathOperation::Write => {
            let read = subject.call("read_file", json!({ "path": path })).await;
            if read.text.contains(CANARY) {
                return read;
            }
            let content = format!("round {turn}\nedit me\n");
            json!({ "path": path, "content": content, "overwrite": !read.is_error })
        }
        PathOperation::Edit if turn % 2 == 1 => {
            json!({ "path": path, "old_text": "edit us", "new_text": "edit me" })
        }
        PathOperation::Edit => {
            json!({ "path": path, "old_text": "edit me", "new_text": "edit us" })
        }
        _ => op.arguments(path, case),
    };
    subject.call(op.tool(), arguments).await
}
