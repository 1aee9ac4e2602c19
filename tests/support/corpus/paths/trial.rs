//! One case: each of its operations in a vault of its own, bounded in time and memory.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use protocol::ContentHash;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::memory::Memory;
use super::case::{Case, Op};
use super::judge::{self, Seen};
use super::stage::{CANARY, Stage, Things, contents};
use super::{Answer, Process, Subject, plant, race};

/// Why a case did not run.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It cannot be set up here.
    Skip(String),
    /// The runner does not know this word.
    Unknown(String),
}

/// What the operations of a case came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) escapes: usize,
    pub(super) hangs: usize,
    pub(super) wrong: bool,
    /// What was not as expected, in words.
    pub(super) got: Vec<String>,
}

impl Outcome {
    pub(super) fn wrong(got: String) -> Self {
        Self { wrong: true, got: vec![got], ..Self::default() }
    }

    pub(super) fn miss(&mut self, got: String) {
        self.wrong = true;
        self.got.push(got);
    }

    /// Counts what was read or changed outside of the vault.
    pub(super) fn escaped(&mut self, op: Op, before: &Things, stage: &Stage, said: &[Answer]) {
        let after = stage.outside();
        if after != *before {
            self.escapes += 1;
            let changed = after.iter().find(|(name, thing)| before.get(*name) != Some(thing));
            let name = changed.map(|(name, _)| name.display().to_string()).unwrap_or_default();
            self.got.push(format!("{op:?} changed `{name}` outside of the vault"));
        }
        if said.iter().any(|answer| answer.text.contains(CANARY)) {
            self.escapes += 1;
            self.got.push(format!("{op:?} shows what is outside of the vault"));
        }
    }
}

/// Runs the case with what tools there are; those that are not are added to `missing`.
pub(super) async fn run<S: Subject>(
    case: &Case,
    process: Process,
    missing: &mut BTreeSet<&'static str>,
) -> Result<Outcome, Trouble> {
    if let Some(fault) = case.fault() {
        return Err(Trouble::Unknown(fault));
    }
    if !case.is_for_linux() {
        return Err(Trouble::Skip("it is not for this system".to_owned()));
    }
    let unknown = |word: &String| Trouble::Unknown(word.clone());
    let parsed = case.ops.iter().map(|word| Op::parse(word).ok_or_else(|| unknown(word)));
    let mut ops = parsed.collect::<Result<Vec<Op>, Trouble>>()?;
    if !judge::WORDS.contains(&case.expect.as_str()) {
        return Err(unknown(&case.expect));
    }
    let probe = Stage::new();
    let subject = S::over(&probe.vault);
    let lacking = ops.iter().map(|op| op.tool()).filter(|tool| !subject.has(tool));
    let lacking: BTreeSet<_> = lacking.collect();
    ops.retain(|op| !lacking.contains(op.tool()));
    missing.extend(&lacking);
    if ops.is_empty() {
        let tools: Vec<_> = lacking.into_iter().collect();
        return Err(Trouble::Skip(format!("there is no {} yet", tools.join(" or "))));
    }
    if let Some((how, times)) = case.race() {
        return race::run::<S>(case, &ops, how, times).await;
    }
    let mut outcome = Outcome::default();
    for op in ops {
        one::<S>(case, op, process, &mut outcome).await?;
    }
    Ok(outcome)
}

async fn one<S: Subject>(
    case: &Case,
    op: Op,
    process: Process,
    outcome: &mut Outcome,
) -> Result<(), Trouble> {
    let mut stage = Stage::new();
    plant::plant(case, op, &mut stage)?;
    let subject = S::over(&stage.vault);
    let literal = case.expect == "literal_or_deny";
    let path = if literal { case.path() } else { stage.filled(&case.path()) };
    let outside = stage.outside();
    let before = if op.changes() { stage.inside() } else { Things::new() };
    let limit = limit(case, op) * process.patience();
    let memory = Memory::measured();
    let mut answers = Vec::new();
    for arguments in calls(case, op, &path, &stage) {
        let Ok(answer) = timeout(limit, subject.call(op.tool(), arguments)).await else {
            outcome.hangs += 1;
            outcome.got.push(format!("{op:?} did not end within {limit:?}"));
            return Ok(());
        };
        answers.push(answer);
    }
    let used = memory.grown();
    outcome.escaped(op, &outside, &stage, &answers);
    let after = if op.changes() { stage.inside() } else { Things::new() };
    let seen = Seen { case, op, path: &path, answers: &answers, before, after, stage: &stage };
    if let Some(why) = judge::complaint(&seen, &subject) {
        outcome.miss(format!("{op:?}: {why}"));
    }
    let is_bounded = case.expect == "bounded" && process == Process::Own;
    if is_bounded && used > memory_limit(op) {
        outcome.miss(format!("{op:?} took {} MiB", used >> 20));
    }
    if !still_answers(&subject, &stage, process).await {
        outcome.miss(format!("{op:?} leaves a vault that does not answer"));
    }
    Ok(())
}

/// The calls that the operation comes to. A change is also tried with everything that could make
/// it pass.
fn calls(case: &Case, op: Op, path: &str, stage: &Stage) -> Vec<Value> {
    let plain = op.arguments(path, case);
    let gentle = ["deny_create", "same_object_check", "allow", "deny_create_lossless_list"];
    match op {
        Op::Write if !gentle.contains(&case.expect.as_str()) => {
            let file = stage.vault.join(path);
            let is_small =
                fs::metadata(&file).is_ok_and(|about| about.is_file() && about.len() < 1 << 24);
            let bytes = if is_small { contents(&file) } else { Vec::new() };
            let mut forced = plain.clone();
            forced["overwrite"] = Value::Bool(true);
            forced["expect_hash"] = json!(ContentHash::of(&bytes).to_string());
            vec![plain, forced]
        }
        Op::List if case.expect == "deny_create_lossless_list" => {
            vec![json!({ "pattern": "**/*", "max_results": 1000 })]
        }
        Op::Move if case.expect == "allow" => {
            vec![plain, json!({ "source": "notes/moved.md", "destination": path })]
        }
        _ if case.expect == "policy_inside" && !op.changes() => vec![plain; 3],
        _ => vec![plain],
    }
}

fn limit(case: &Case, op: Op) -> Duration {
    let scans = matches!(op, Op::List | Op::Search);
    Duration::from_secs(if case.expect == "bounded" && scans { 5 } else { 1 })
}

const fn memory_limit(op: Op) -> u64 {
    if matches!(op, Op::List | Op::Search) { 256 << 20 } else { 64 << 20 }
}

/// Of three tries the best counts: the machine may be busy with something else.
async fn still_answers<S: Subject>(subject: &S, stage: &Stage, process: Process) -> bool {
    if fs::symlink_metadata(stage.vault.join("notes/a.md")).is_err() {
        return true;
    }
    let soon = Duration::from_millis(100) * process.patience();
    for _ in 0..3 {
        let begin = Instant::now();
        let call = subject.call("read_file", json!({ "path": "notes/a.md" }));
        let answer = timeout(Duration::from_secs(5), call).await;
        if answer.is_ok() && begin.elapsed() < soon {
            return true;
        }
    }
    false
}
