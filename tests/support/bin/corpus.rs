//! Runs a corpus: `corpus KIND FILE [--case ID]`. The last line on stdout is the sum; 0 says that
//! all holds, 1 that something does not, 2 that there is nothing to run.

use std::process::ExitCode;
use std::time::Duration;

use testkit::corpus::hostile_paths::{ProcessSharing, ProductTools};
use testkit::corpus::note_scaling::ScalingLimits;
use testkit::corpus::{
    CorpusReport, hostile_paths, hub_frames, note_scaling, prompt_injection, sse,
};

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [kind, shape, bytes] = words.as_slice()
        && kind == "notes-child"
    {
        return child(shape.clone(), bytes.parse().unwrap_or_default());
    }
    match run(&words).await {
        Ok(report) => {
            for line in &report.lines {
                println!("{line}");
            }
            println!("{}", report.summary);
            // A call that hangs must not keep the runner from its end.
            std::process::exit(i32::from(!report.holds));
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// One shape, for the runner that started this process.
fn child(shape: String, bytes: usize) -> ExitCode {
    // Its tasks wait for runtimes of their own.
    let done = std::thread::spawn(move || note_scaling::run_child(&shape, bytes)).join();
    ExitCode::from(u8::from(!matches!(done, Ok(Ok(())))))
}

async fn run(words: &[String]) -> Result<CorpusReport, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["notes", rest @ ..] = words.as_slice() {
        return run_notes(rest);
    }
    let (kind, file, only) = match words.as_slice() {
        [kind, file] => (*kind, *file, None),
        [kind, file, "--case", id] => (*kind, *file, Some(*id)),
        _ => {
            return Err(
                "usage: corpus KIND FILE [--case ID], KIND is paths, sse, injection or frames"
                    .to_owned(),
            );
        }
    };
    let text = read(file)?;
    let unreadable = |error| format!("{file} is not a corpus of {kind}: {error}. Correct it.");
    let report = match kind {
        "paths" => {
            let corpus = hostile_paths::PathCorpus::parse(&text).map_err(unreadable)?;
            hostile_paths::run::<ProductTools>(&corpus, only, ProcessSharing::Own).await
        }
        "sse" => {
            let corpus = sse::SseCorpus::parse(&text).map_err(unreadable)?;
            sse::run(&corpus, only, ProcessSharing::Own).await
        }
        "frames" => {
            let corpus = hub_frames::FrameCorpus::parse(&text).map_err(unreadable)?;
            hub_frames::run(&corpus, only, ProcessSharing::Own).await
        }
        "injection" => {
            let corpus = prompt_injection::InjectionCorpus::parse(&text).map_err(unreadable)?;
            prompt_injection::run(&corpus, only, prompt_injection::PrivateNoteRules::Kept).await
        }
        _ => {
            return Err(format!(
                "there is no corpus of the kind `{kind}`: it is paths, sse, injection or frames"
            ));
        }
    };
    match only {
        Some(id) if report.lines.is_empty() && report.summary.contains(" run=0 ") => {
            Err(format!("{file} has no case `{id}`. Name one of its ids."))
        }
        _ => Ok(report),
    }
}

/// Notes of all shapes, which are made and stand in no file.
fn run_notes(words: &[&str]) -> Result<CorpusReport, String> {
    let only = match words {
        [] => None,
        ["--case", id] => Some(*id),
        _ => return Err("usage: corpus notes [--case SHAPE]".to_owned()),
    };
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let sizes = ScalingLimits { bytes: 4 << 20, time: Duration::from_secs(30), memory: 2 << 30 };
    let sizes =
        if cfg!(debug_assertions) { ScalingLimits { bytes: 128 << 10, ..sizes } } else { sizes };
    Ok(note_scaling::run(&program, sizes, only))
}

#[expect(clippy::disallowed_methods, reason = "the corpus is no note")]
fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file)
        .map_err(|error| format!("{file} cannot be read: {error}. Name a file of cases."))
}
