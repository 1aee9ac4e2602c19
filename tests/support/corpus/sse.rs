//! Answers as a provider may send them: each is served by a real HTTP server to the real client, in
//! a turn of the whole application.

mod case;
mod checks;
mod fixture;
mod response;
mod server;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;

pub use case::{SseCase, SseCorpus};

use super::CorpusReport;
use super::hostile_paths::ProcessSharing;
use super::memory_growth::MemoryGrowth;
use crate::scripted_model::KEY;
use case::{Chunking, SseExpectation, UnknownSseWord};
use fixture::{ObservedTurn, SseFixture};
use response::SseResponse;
use server::ResponseRepeat;

/// The client's clocks are divided by so much, in a process of its own.
const TIME_DIVISOR: u32 = 100;

/// A turn that takes longer does not end.
const TURN_TIMEOUT: Duration = Duration::from_secs(30);

/// The limit of memory for a case, in bytes.
const MAX_MEMORY_GROWTH: u64 = 64 << 20;

/// Panics on any thread since the first run in a process of its own.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Runs the cases of `corpus`, or the one that is named.
pub async fn run(corpus: &SseCorpus, only: Option<&str>, process: ProcessSharing) -> CorpusReport {
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
            Ok(Err(UnknownSseWord(word))) => vec![format!("unknown word: {word}")],
            Err(_) => vec!["the runner failed".to_owned()],
        };
        if !got.is_empty() {
            wrong += 1;
            lines.push(format!(
                "FAIL {} {} {}",
                case.id,
                case.expect,
                got.join("; ").replace('\n', " ")
            ));
        }
    }
    let panics = PANICS.load(Ordering::Relaxed);
    CorpusReport {
        lines,
        summary: format!("sse run={run} skipped={skipped} panics={panics} wrong={wrong}"),
        holds: run > 0 && panics + wrong == 0,
    }
}

/// Complaints about a case, in sentences.
async fn run_case(case: &SseCase, process: ProcessSharing) -> Result<Vec<String>, UnknownSseWord> {
    let (expect, provider, chunking) = (case.expectation()?, case.provider()?, case.chunking()?);
    let clock = TIME_DIVISOR / process.timeout_factor();
    let answer = SseResponse::from_case(case, clock)?;
    let stage = match SseFixture::open(provider, expect, clock).await {
        Ok(stage) => stage,
        Err(why) => return Ok(vec![why]),
    };
    let memory = MemoryGrowth::start();
    let mut got = Vec::new();
    let whole = run_turn(&stage, expect, answer.clone(), &mut got).await;
    if let Some(told) = &whole {
        got.extend(checks::complaint(case, expect, told, clock));
        got.extend(checks::missing_text(case, told));
    }
    for pieces in chunkings(chunking, case.response.body.as_bytes()) {
        let cut = run_turn(&stage, expect, answer.with_chunks(pieces), &mut got).await;
        if let (Some(whole), Some(cut)) = (&whole, cut)
            && !is_same_turn(whole, &cut)
        {
            got.push(format!("other when it is cut: {:?} {:?}", cut.texts, cut.calls));
            break;
        }
    }
    let used = memory.peak_growth();
    if process == ProcessSharing::Own && used > MAX_MEMORY_GROWTH {
        got.push(format!("it took {} MiB", used >> 20));
    }
    stage.close().await;
    Ok(got)
}

/// One turn that is answered so, and one after it: what was saved is history that a provider takes.
async fn run_turn(
    stage: &SseFixture,
    expect: SseExpectation,
    answer: SseResponse,
    got: &mut Vec<String>,
) -> Option<ObservedTurn> {
    let repeats = if expect.repeats_response() { ResponseRepeat::Yes } else { ResponseRepeat::No };
    stage.server.set_response(answer, repeats);
    let first = stage.run_turn(None, "Please look at my notes.", TURN_TIMEOUT).await;
    stage.server.reset_response();
    let (conversation, told) = match first {
        Ok(Some(first)) => first,
        Ok(None) => return complain(got, format!("it did not end within {TURN_TIMEOUT:?}")),
        Err(why) => return complain(got, why),
    };
    got.extend(checks::violations(stage.provider, expect, &told.requests, KEY));
    match stage.run_turn(Some(&conversation), "And now?", TURN_TIMEOUT).await {
        Ok(Some((_, after))) => {
            got.extend(checks::violations(
                stage.provider,
                SseExpectation::Ends,
                &after.requests,
                KEY,
            ));
            if after.ended.is_some() {
                got.push(format!("the conversation does not go on: {:?}", after.ended));
            }
        }
        Ok(None) => got.push("the conversation hangs afterwards".to_owned()),
        Err(why) => got.push(why),
    }
    Some(told)
}

fn complain(got: &mut Vec<String>, why: String) -> Option<ObservedTurn> {
    got.push(why);
    None
}

fn is_same_turn(whole: &ObservedTurn, cut: &ObservedTurn) -> bool {
    let ended = |told: &ObservedTurn| told.ended.as_ref().map(|(status, _)| *status);
    whole.text() == cut.text() && whole.calls == cut.calls && ended(whole) == ended(cut)
}

/// The ways to cut the bytes.
fn chunkings(chunking: Option<Chunking>, bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let in_two = |at: usize| {
        let (head, tail) = bytes.split_at(at);
        vec![head.to_vec(), tail.to_vec()]
    };
    let places = 1..bytes.len();
    match chunking {
        None => Vec::new(),
        Some(Chunking::OneByte) => vec![bytes.iter().map(|byte| vec![*byte]).collect()],
        Some(Chunking::EveryByteOffset) => places.map(in_two).collect(),
        // A byte that goes on with a character begins with the bits 10.
        Some(Chunking::InsideUtf8) => {
            places.filter(|at| bytes[*at] & 0xc0 == 0x80).map(in_two).collect()
        }
    }
}
