//! A case that is a race: many calls while another program swaps what they go through.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::timeout;

use super::attack::{Attack, Foe};
use super::case::{Case, Op};
use super::stage::{CANARY, Stage};
use super::trial::{Outcome, Trouble};
use super::{Answer, Subject};

/// A change costs more than a look; each changing operation is tried this often at least.
const CHANGES: usize = 1000;

/// A race that takes longer has not been run.
const MOST: Duration = Duration::from_secs(300);

/// A call that takes longer hangs.
const CALL: Duration = Duration::from_secs(20);

/// Runs `times` iterations, shared over the operations.
pub(super) async fn run<S: Subject>(
    case: &Case,
    ops: &[Op],
    how: &str,
    times: usize,
) -> Result<Outcome, Trouble> {
    let stage = Stage::new();
    let path = stage.filled(&case.path());
    let subject = S::over(&stage.vault);
    let foe = Foe::new(how, &path, &stage)?;
    // What the attacker brought along stands before the first call.
    let outside = stage.outside();
    let attack = Attack::begin(foe);
    let mut outcome = Outcome::default();
    let begin = Instant::now();
    let turns = shares(ops, times);
    'ops: for (op, turns) in turns {
        for turn in 0..turns {
            if begin.elapsed() > MOST {
                outcome.miss(format!("{op:?}: only {turn} of {turns} tries in {MOST:?}"));
                break 'ops;
            }
            match timeout(CALL, try_once(&subject, case, op, &path, turn)).await {
                Err(_) => {
                    outcome.hangs += 1;
                    outcome.got.push(format!("{op:?} hangs"));
                    break 'ops;
                }
                Ok(answer) if answer.text.contains(CANARY) => {
                    outcome.escapes += 1;
                    outcome.got.push(format!("{op:?} shows what is outside of the vault"));
                    break 'ops;
                }
                Ok(_) => {}
            }
        }
    }
    let strikes = attack.end();
    if strikes == 0 {
        outcome.miss("the attacker never struck".to_owned());
    }
    outcome.escaped(Op::Write, &outside, &stage, &[]);
    Ok(outcome)
}

/// How often each operation is tried: changing ones as seldom as allowed, looks the rest, and
/// among them reading most, because it opens what is being swapped and little else.
fn shares(ops: &[Op], times: usize) -> Vec<(Op, usize)> {
    let looks = ops.iter().filter(|op| !op.changes()).count();
    let changes = ops.len() - looks;
    let even = times.div_ceil(ops.len().max(1));
    if looks == 0 {
        return ops.iter().map(|op| (*op, even.max(CHANGES))).collect();
    }
    let weight = |op: &Op| match op {
        Op::Read => 18,
        Op::List | Op::Search => 1,
        _ => 0,
    };
    let rest = times.saturating_sub(changes * CHANGES);
    let part = rest.div_ceil(ops.iter().map(weight).sum::<usize>().max(1));
    let share = |op: &Op| (*op, if op.changes() { CHANGES } else { part * weight(op) });
    ops.iter().map(share).collect()
}

async fn try_once<S: Subject>(subject: &S, case: &Case, op: Op, path: &str, turn: usize) -> Answer {
    let arguments = match op {
        // Only what was read may be overwritten.
        Op::Write => {
            let read = subject.call("read_file", json!({ "path": path })).await;
            if read.text.contains(CANARY) {
                return read;
            }
            let content = format!("round {turn}\nedit me\n");
            json!({ "path": path, "content": content, "overwrite": !read.is_error })
        }
        Op::Edit if turn % 2 == 1 => {
            json!({ "path": path, "old_text": "edit us", "new_text": "edit me" })
        }
        Op::Edit => json!({ "path": path, "old_text": "edit me", "new_text": "edit us" }),
        _ => op.arguments(path, case),
    };
    subject.call(op.tool(), arguments).await
}
