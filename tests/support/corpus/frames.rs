//! Frames as a hub may send them: each goes over a real socket to the real link of the whole
//! application, and a good message must be taken and worked on afterwards.

mod bytes;
mod case;
mod peer;
mod stage;
mod trial;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;

pub use case::{Case, Corpus};

use super::Report;
use super::load::Load;
use super::memory::Memory;
use super::paths::Process;
use case::Unknown;
use stage::Stage;
use trial::Trial;

/// The link's clocks are divided by so much where a case would take minutes; by less where others
/// keep the machine busy.
const CLOCK: u32 = 20;
const SHARED_CLOCK: u32 = 10;

/// What a case may take of memory, in bytes.
const MEMORY: u64 = 64 << 20;

/// Panics on any thread since the first run in a process of its own.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Runs the cases of `corpus`, or the one that is named.
pub async fn run(corpus: &Corpus, only: Option<&str>, process: Process) -> Report {
    if process == Process::Own {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            before(panic);
        }));
    }
    let (mut run, mut wrong, mut lines) = (0, 0, Vec::new());
    for case in corpus.cases.iter().filter(|case| only.is_none_or(|id| id == case.id)) {
        run += 1;
        let tried = AssertUnwindSafe(attempt(case, process)).catch_unwind().await;
        let got = match tried {
            Ok(Ok(got)) => got,
            Ok(Err(Unknown(word))) => vec![format!("unknown word: {word}")],
            Err(_) => vec!["the runner failed".to_owned()],
        };
        if !got.is_empty() {
            wrong += 1;
            let got = got.join("; ").replace('\n', " ");
            lines.push(format!("FAIL {} {} {got}", case.id, case.expect));
        }
    }
    let panics = PANICS.load(Ordering::Relaxed);
    Report {
        lines,
        summary: format!("frames run={run} skipped=0 panics={panics} wrong={wrong}"),
        holds: run > 0 && panics + wrong == 0,
    }
}

/// What is wrong with a case, in sentences.
async fn attempt(case: &Case, process: Process) -> Result<Vec<String>, Unknown> {
    let (expect, sent) = (case.expect()?, case.sent()?);
    let content = sent.content();
    let clock = match process {
        _ if !Trial::is_long(expect, &content) => 1,
        Process::Own => CLOCK,
        Process::Shared => SHARED_CLOCK,
    };
    let stage = match Stage::open(clock).await {
        Ok(stage) => stage,
        Err(why) => return Ok(vec![why]),
    };
    let trial = Trial { stage: &stage, expect, sent: &sent, content, clock };
    let line = match trial.line().await {
        Ok(line) => line,
        Err(why) => return Ok(vec![why]),
    };
    let (memory, load) = (Memory::measured(), Load::watched());
    let mut got = trial.run(line).await;
    if process == Process::Own {
        let used = memory.grown();
        if used > MEMORY {
            got.push(format!("it took {} MiB", used >> 20));
        }
        got.extend(load.complaint());
    }
    got.extend(trial.afterwards().await);
    stage.close().await;
    Ok(got)
}
