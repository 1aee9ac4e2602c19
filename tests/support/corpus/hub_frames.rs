//! Frames as a hub may send them: each goes over a real socket to the real link of the whole
//! application, and a good message must be taken and worked on afterwards.

mod byte_hub;
mod case;
mod fixture;
mod runner;
mod websocket;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;

pub use case::{FrameCase, FrameCorpus};

use super::CorpusReport;
use super::cpu_load::CpuLoadMonitor;
use super::hostile_paths::ProcessSharing;
use super::memory_growth::MemoryGrowth;
use case::UnknownFrameWord;
use fixture::FrameFixture;
use runner::FrameTrial;

/// The link's clocks are divided by so much where a case would take minutes; by less where others
/// keep the machine busy.
const TIME_DIVISOR: u32 = 20;
const SHARED_TIME_DIVISOR: u32 = 10;

/// The limit of memory for a case, in bytes. A message that is refused may take four times its length for the hub,
/// which is in the same process: here a longer one takes no more than one that is taken.
const MAX_MEMORY_GROWTH: u64 = 64 << 20;

/// Panics on any thread since the first run in a process of its own.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Runs the cases of `corpus`, or the one that is named.
pub async fn run(
    corpus: &FrameCorpus,
    only: Option<&str>,
    process: ProcessSharing,
) -> CorpusReport {
    if process == ProcessSharing::Own {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            before(panic);
        }));
    }
    let (mut run, mut skipped, mut wrong, mut lines) = (0, 0, 0, Vec::new());
    for case in corpus.cases.iter().filter(|case| only.is_none_or(|id| id == case.id)) {
        let tried = AssertUnwindSafe(run_case(case, process)).catch_unwind().await;
        // A case with a word that nobody knows does not run, and is wrong.
        let has_run = !matches!(tried, Ok(Err(_)));
        (run, skipped) = (run + usize::from(has_run), skipped + usize::from(!has_run));
        let got = match tried {
            Ok(Ok(got)) => got,
            Ok(Err(UnknownFrameWord(word))) => vec![format!("unknown word: {word}")],
            Err(_) => vec!["the runner failed".to_owned()],
        };
        if !got.is_empty() {
            wrong += 1;
            let got = got.join("; ").replace('\n', " ");
            lines.push(format!("FAIL {} {} {got}", case.id, case.expect));
        }
    }
    let panics = PANICS.load(Ordering::Relaxed);
    CorpusReport {
        lines,
        summary: format!("frames run={run} skipped={skipped} panics={panics} wrong={wrong}"),
        holds: run > 0 && panics + wrong == 0,
    }
}

/// Complaints about a case, in sentences.
async fn run_case(
    case: &FrameCase,
    process: ProcessSharing,
) -> Result<Vec<String>, UnknownFrameWord> {
    let (expect, sent) = (case.expectation()?, case.raw_frames()?);
    let content = sent.decode();
    let clock = match process {
        _ if !FrameTrial::is_long(expect, &content) => 1,
        ProcessSharing::Own => TIME_DIVISOR,
        ProcessSharing::Shared => SHARED_TIME_DIVISOR,
    };
    let stage = match FrameFixture::open(clock).await {
        Ok(stage) => stage,
        Err(why) => return Ok(vec![why]),
    };
    let trial = FrameTrial { stage: &stage, expect, raw_frames: &sent, content, clock };
    let line = match trial.connect().await {
        Ok(line) => line,
        Err(why) => return Ok(vec![why]),
    };
    let (memory, load) = (MemoryGrowth::start(), CpuLoadMonitor::start());
    let mut got = trial.run(line).await;
    if process == ProcessSharing::Own {
        let used = memory.peak_growth();
        let length = trial.raw_frames.decode().texts.first().map_or(0, String::len) as u64;
        if used > MAX_MEMORY_GROWTH.max(4 * length) {
            got.push(format!("it took {} MiB", used >> 20));
        }
        got.extend(load.complaint());
    }
    got.extend(trial.check_final_state().await);
    stage.close().await;
    Ok(got)
}
