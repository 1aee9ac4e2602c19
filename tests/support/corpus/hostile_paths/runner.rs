//! One case: each of its operations in a vault of its own, bounded in time and memory.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use protocol::ContentHash;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::memory_growth::MemoryGrowth;
use super::case::{PathCase, PathOperation};
use super::checks::ObservedOperation;
use super::fixture::{CANARY, FolderSnapshot, PathFixture, read_without_blocking};
use super::{PathResolver, ProcessSharing, ResolverAnswer, checks, race, setup};

/// Why a case did not run.
#[derive(Debug)]
pub(super) enum CaseProblem {
    /// It cannot be set up here.
    Skip(String),
    /// The runner does not know this word.
    Unknown(String),
}

/// The result of the operations of a case.
#[derive(Debug, Default)]
pub(super) struct PathOutcome {
    pub(super) escapes: usize,
    pub(super) hangs: usize,
    pub(super) wrong: bool,
    /// Differences from the expected result, in words.
    pub(super) complaints: Vec<String>,
}

impl PathOutcome {
    pub(super) fn failed(got: String) -> Self {
        Self { wrong: true, complaints: vec![got], ..Self::default() }
    }

    pub(super) fn add_complaint(&mut self, got: String) {
        self.wrong = true;
        self.complaints.push(got);
    }

    /// Counts what was read or changed outside of the vault.
    pub(super) fn count_escapes(
        &mut self,
        op: PathOperation,
        before: &FolderSnapshot,
        fixture: &PathFixture,
        said: &[ResolverAnswer],
    ) {
        let after = fixture.snapshot_outside();
        if after != *before {
            self.escapes += 1;
            let changed = after.iter().find(|(name, thing)| before.get(*name) != Some(thing));
            let name = changed.map(|(name, _)| name.display().to_string()).unwrap_or_default();
            self.complaints.push(format!("{op:?} changed `{name}` outside of the vault"));
        }
        if said.iter().any(|answer| answer.text.contains(CANARY)) {
            self.escapes += 1;
            self.complaints.push(format!("{op:?} shows what is outside of the vault"));
        }
    }
}

/// Runs the case with what tools there are; those that are not are added to `missing`.
pub(super) async fn run<S: PathResolver>(
    case: &PathCase,
    process: ProcessSharing,
    missing: &mut BTreeSet<&'static str>,
) -> Result<PathOutcome, CaseProblem> {
    if let Some(fault) = case.malformed_reason() {
        return Err(CaseProblem::Unknown(fault));
    }
    if !case.is_for_linux() {
        return Err(CaseProblem::Skip("it is not for this system".to_owned()));
    }
    let unknown = |word: &String| CaseProblem::Unknown(word.clone());
    let parsed =
        case.ops.iter().map(|word| PathOperation::parse(word).ok_or_else(|| unknown(word)));
    let mut ops = parsed.collect::<Result<Vec<PathOperation>, CaseProblem>>()?;
    if !checks::EXPECTATIONS.contains(&case.expect.as_str()) {
        return Err(unknown(&case.expect));
    }
    let probe = PathFixture::new();
    let subject = S::open(&probe.vault);
    let lacking = ops.iter().map(|op| op.tool()).filter(|tool| !subject.has(tool));
    let lacking: BTreeSet<_> = lacking.collect();
    ops.retain(|op| !lacking.contains(op.tool()));
    missing.extend(&lacking);
    if ops.is_empty() {
        let tools: Vec<_> = lacking.into_iter().collect();
        return Err(CaseProblem::Skip(format!("there is no {} yet", tools.join(" or "))));
    }
    if let Some((how, times)) = case.race() {
        return race::run::<S>(case, &ops, how, times).await;
    }
    let mut outcome = PathOutcome::default();
    for op in ops {
        run_operation::<S>(case, op, process, &mut outcome).await?;
    }
    Ok(outcome)
}

async fn run_operation<S: PathResolver>(
    case: &PathCase,
    op: PathOperation,
    process: ProcessSharing,
    outcome: &mut PathOutcome,
) -> Result<(), CaseProblem> {
    let mut stage = PathFixture::new();
    setup::set_up(case, op, &mut stage)?;
    let subject = S::open(&stage.vault);
    let literal = case.expect == "literal_or_deny";
    let path = if literal { case.path() } else { stage.expand_variables(&case.path()) };
    let outside = stage.snapshot_outside();
    let before = if op.changes() { stage.snapshot_vault() } else { FolderSnapshot::new() };
    let limit = operation_timeout(case, op) * process.timeout_factor();
    let memory = MemoryGrowth::start();
    let mut answers = Vec::new();
    for arguments in calls_of(case, op, &path, &stage) {
        let Ok(answer) = timeout(limit, subject.call(op.tool(), arguments)).await else {
            outcome.hangs += 1;
            outcome.complaints.push(format!("{op:?} did not end within {limit:?}"));
            return Ok(());
        };
        answers.push(answer);
    }
    let used = memory.peak_growth();
    outcome.count_escapes(op, &outside, &stage, &answers);
    let after = if op.changes() { stage.snapshot_vault() } else { FolderSnapshot::new() };
    let seen = ObservedOperation {
        case,
        op,
        path: &path,
        answers: &answers,
        before,
        after,
        stage: &stage,
    };
    if let Some(why) = checks::complaint(&seen, &subject) {
        outcome.add_complaint(format!("{op:?}: {why}"));
    }
    let is_bounded = case.expect == "bounded" && process == ProcessSharing::Own;
    if is_bounded && used > memory_limit(op) {
        outcome.add_complaint(format!("{op:?} took {} MiB", used >> 20));
    }
    if !is_still_responsive(&subject, &stage, process).await {
        outcome.add_complaint(format!("{op:?} leaves a vault that does not answer"));
    }
    Ok(())
}

/// The calls that the operation comes to. A change is also tried with everything that could make
/// it pass.
fn calls_of(case: &PathCase, op: PathOperation, path: &str, fixture: &PathFixture) -> Vec<Value> {
    let plain = op.arguments(path, case);
    let gentle = ["deny_create", "same_object_check", "allow", "deny_create_lossless_list"];
    match op {
        PathOperation::Write if !gentle.contains(&case.expect.as_str()) => {
            let file = fixture.vault.join(path);
            let is_small =
                fs::metadata(&file).is_ok_and(|about| about.is_file() && about.len() < 1 << 24);
            let bytes = if is_small { read_without_blocking(&file) } else { Vec::new() };
            let mut forced = plain.clone();
            forced["overwrite"] = Value::Bool(true);
            forced["expect_hash"] = json!(ContentHash::of(&bytes).to_string());
            vec![plain, forced]
        }
        PathOperation::List if case.expect == "deny_create_lossless_list" => {
            vec![json!({ "pattern": "**/*", "max_results": 1000 })]
        }
        PathOperation::Move if case.expect == "allow" => {
            vec![plain, json!({ "source": "notes/moved.md", "destination": path })]
        }
        _ if case.expect == "policy_inside" && !op.changes() => vec![plain; 3],
        _ => vec![plain],
    }
}

fn operation_timeout(case: &PathCase, op: PathOperation) -> Duration {
    let scans = matches!(op, PathOperation::List | PathOperation::Search);
    Duration::from_secs(if case.expect == "bounded" && scans { 5 } else { 1 })
}

const fn memory_limit(op: PathOperation) -> u64 {
    if matches!(op, PathOperation::List | PathOperation::Search) { 256 << 20 } else { 64 << 20 }
}

/// Of three tries the best counts: the machine may be busy with something else.
async fn is_still_responsive<S: PathResolver>(
    subject: &S,
    fixture: &PathFixture,
    process: ProcessSharing,
) -> bool {
    if fs::symlink_metadata(fixture.vault.join("notes/a.md")).is_err() {
        return true;
    }
    let soon = Duration::from_millis(100) * process.timeout_factor();
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
