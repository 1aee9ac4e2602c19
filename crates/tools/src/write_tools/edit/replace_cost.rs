//! The cost of `replace_all`: CPU time for many places, and memory for a result that is refused. Each is
//! measured in a process of its own.
#![allow(clippy::disallowed_methods, reason = "the system tells in files what a process took")]

use std::process::Command;

use serde_json::json;

use super::tests::edit;

/// The number of lines that have the text that is replaced.
const LINES: usize = 80_000;

/// The CPU time for them, in nanoseconds; a build without optimization needs a small part of it.
const MAX_TIME: u64 = 3_000_000_000;

/// The factor by which the time may grow when the lines are doubled: 4 would be quadratic, and a
/// time this short is measured roughly.
const MAX_RATIO: f64 = 3.2;

/// How often the growth is measured before it counts as too much: other programs disturb.
const ATTEMPTS: usize = 3;

/// The memory that refusing a result may take, in bytes. The places of a million matches take a quarter of
/// it; the result would take 20 GB.
const MAX_MEMORY: u64 = 64 << 20;

/// In the process that measures: the work, and for how many lines.
const MEASURED: &str = "REPLACE_COST_MEASURED";

/// The number of bytes that shall take the place of each `a` where the result is too large.
const LONG: usize = 20_000;

fn lines(count: usize) -> String {
    "a\n".repeat(count)
}

fn replace_all(text: &str) {
    let call = json!({ "old_text": "a", "new_text": "bb", "replace_all": true });
    let edited = edit(text, call).expect("it is replaced");
    assert_eq!(edited.len(), text.len() / 2 * 3);
}

/// The control for the time: counts the lines before each place from the start.
fn replace_and_count(text: &str) {
    let places = text.match_indices('a');
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let numbers: usize = places.map(|(at, _)| line(at)).sum();
    assert!(std::hint::black_box(numbers) > 0);
}

fn refuse(text: &str) {
    let long = "b".repeat(LONG);
    let call = json!({ "old_text": "a", "new_text": long, "replace_all": true });
    let why = edit(text, call).expect_err("it is refused");
    assert!(why.contains("would be larger than 10 MiB"), "{why}");
}

/// The control for the memory: makes the result before it looks how large it is.
fn make_and_refuse(text: &str) {
    let edited = text.replace('a', &"b".repeat(LONG));
    assert!(std::hint::black_box(edited).len() > 10 << 20);
}

/// A figure of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// The time that this thread ran, in nanoseconds.
fn cpu_time() -> u64 {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("readable");
    all.split(' ').next().and_then(|time| time.parse().ok()).expect("a number")
}

/// Measures in this process; nothing else runs in it.
fn measure(work: &str, count: usize) {
    let run: fn(&str) = match work {
        "replace" => replace_all,
        "count" => replace_and_count,
        "refuse" => refuse,
        _ => make_and_refuse,
    };
    let text = lines(count);
    // Sets the high water mark back.
    std::fs::write("/proc/self/clear_refs", "5").expect("allowed");
    let (memory, began) = (status("VmRSS:"), cpu_time());
    run(&text);
    let time = cpu_time() - began;
    println!("measured {time} {}", status("VmHWM:").saturating_sub(memory));
}

/// The least CPU time in nanoseconds, and the least memory in bytes, of three processes.
fn measured(work: &str, count: usize) -> (u64, u64) {
    let run = || {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture"])
            .arg("write_tools::edit::replace_cost::replacing_all_is_linear_and_refusing_takes_no_memory")
            .env(MEASURED, format!("{work} {count}"))
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, figures) = told.split_once("measured ").unwrap_or_else(|| panic!("{output:?}"));
        let figures: Vec<u64> =
            figures.split_whitespace().take(2).map(|it| it.parse().expect("a number")).collect();
        println!("{work} {count}: {figures:?}");
        (figures[0], figures[1])
    };
    let runs = [run(), run(), run()];
    let time = runs.iter().map(|(time, _)| *time).min().expect("three");
    (time, runs.iter().map(|(_, memory)| *memory).min().expect("three"))
}

#[test]
fn replacing_all_is_linear_and_refusing_takes_no_memory() {
    if let Ok(wanted) = std::env::var(MEASURED) {
        let (work, count) = wanted.split_once(' ').expect("the work, and how many lines");
        return measure(work, count.parse().expect("a number"));
    }
    let ratio = |work: &str, count: usize| {
        let (half, whole) = (measured(work, count / 2).0, measured(work, count).0);
        (whole, whole as f64 / half.max(1) as f64)
    };
    let (mut time, mut growth) = ratio("replace", LINES);
    for _ in 1..ATTEMPTS {
        if growth > MAX_RATIO {
            (time, growth) = ratio("replace", LINES);
        }
    }
    assert!(time <= MAX_TIME, "{time} ns");
    assert!(growth <= MAX_RATIO, "{growth:.2} times the time for twice the lines");
    // With many lines, so that what grows with their square outweighs all else.
    let (_, growth) = ratio("count", LINES / 10);
    assert!(growth > MAX_RATIO, "the control: {growth:.2}");

    let (_, memory) = measured("refuse", 1_000_000);
    assert!(memory <= MAX_MEMORY, "{} MiB", memory >> 20);
    let (_, memory) = measured("made", 10_000);
    assert!(memory > MAX_MEMORY, "the control: {} MiB", memory >> 20);
}
