//! Answers as a provider may send them: each is served by a real HTTP server to the real client, in
//! a turn of the whole application.

mod answer;
mod case;
mod judge;
mod server;
mod stage;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;

pub use case::{Case, Corpus};

use super::Report;
use super::memory::Memory;
use super::paths::Process;
use crate::scripted_model::KEY;
use answer::Answer;
use case::{Chunking, Expect, Unknown};
use server::Repeats;
use stage::{Stage, Told};

/// The client's clocks are divided by so much, in a process of its own.
const CLOCK: u32 = 100;

/// A turn that takes longer does not end.
const LIMIT: Duration = Duration::from_secs(30);

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
            lines.push(format!(
                "FAIL {} {} {}",
                case.id,
                case.expect,
                got.join("; ").replace('\n', " ")
            ));
        }
    }
    let panics = PANICS.load(Ordering::Relaxed);
    Report {
        lines,
        summary: format!("sse run={run} skipped=0 panics={panics} wrong={wrong}"),
        holds: run > 0 && panics + wrong == 0,
    }
}

/// What is wrong with a case, in sentences.
async fn attempt(case: &Case, process: Process) -> Result<Vec<String>, Unknown> {
    let (expect, vendor, chunking) = (case.expect()?, case.vendor()?, case.chunking()?);
    let clock = CLOCK / process.patience();
    let answer = Answer::of(case, clock)?;
    let stage = match Stage::open(vendor, expect, clock).await {
        Ok(stage) => stage,
        Err(why) => return Ok(vec![why]),
    };
    let memory = Memory::measured();
    let mut got = Vec::new();
    let whole = tried(&stage, expect, answer.clone(), &mut got).await;
    if let Some(told) = &whole {
        got.extend(judge::complaint(case, expect, told, clock));
    }
    for pieces in cuts(chunking, case.response.body.as_bytes()) {
        let cut = tried(&stage, expect, answer.cut(pieces), &mut got).await;
        if let (Some(whole), Some(cut)) = (&whole, cut)
            && !is_same(whole, &cut)
        {
            got.push(format!("other when it is cut: {:?} {:?}", cut.said, cut.calls));
            break;
        }
    }
    let used = memory.grown();
    if process == Process::Own && used > MEMORY {
        got.push(format!("it took {} MiB", used >> 20));
    }
    stage.close().await;
    Ok(got)
}

/// One turn that is answered so, and one after it: what was saved is history that a provider takes.
async fn tried(
    stage: &Stage,
    expect: Expect,
    answer: Answer,
    got: &mut Vec<String>,
) -> Option<Told> {
    let repeats = if expect.repeats() { Repeats::Yes } else { Repeats::No };
    stage.server.next(answer, repeats);
    let first = stage.turn(None, "Please look at my notes.", LIMIT).await;
    stage.server.calm();
    let (conversation, told) = match first {
        Ok(Some(first)) => first,
        Ok(None) => return complain(got, format!("it did not end within {LIMIT:?}")),
        Err(why) => return complain(got, why),
    };
    got.extend(judge::violations(stage.vendor, expect, &told.requests, KEY));
    match stage.turn(Some(&conversation), "And now?", LIMIT).await {
        Ok(Some((_, after))) => {
            got.extend(judge::violations(stage.vendor, Expect::Ends, &after.requests, KEY));
            if after.ended.is_some() {
                got.push(format!("the conversation does not go on: {:?}", after.ended));
            }
        }
        Ok(None) => got.push("the conversation hangs afterwards".to_owned()),
        Err(why) => got.push(why),
    }
    Some(told)
}

fn complain(got: &mut Vec<String>, why: String) -> Option<Told> {
    got.push(why);
    None
}

fn is_same(whole: &Told, cut: &Told) -> bool {
    let ended = |told: &Told| told.ended.as_ref().map(|(status, _)| *status);
    whole.text() == cut.text() && whole.calls == cut.calls && ended(whole) == ended(cut)
}

/// The ways to cut the bytes.
fn cuts(chunking: Option<Chunking>, bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
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
