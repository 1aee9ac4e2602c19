//! The memory of a search, and of several at once: a pattern whose program is just small enough is looked for in many
//! notes on all threads, in a process of its own.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a test makes its own files, and the system tells in files what a process took"
)]

use std::fs;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcherBuilder;
use index::{GrepQuery, Index, SearchError};
use protocol::{ChangeSet, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

/// As in the search: the largest program of a pattern, the largest cache of an automaton, the most threads.
const MAX_REGEX_BYTES: u64 = 1 << 20;
const MAX_DFA_CACHE_BYTES: u64 = 4 << 20;
const MAX_THREADS: usize = 8;

/// The memory that a search takes besides: the notes that are read, and the pattern while it is parsed.
const OTHER_BYTES: u64 = 40 << 20;

/// The cache of the control, which is as good as without a limit here.
const CONTROL_CACHE_BYTES: usize = 320 << 20;

const NOTE_BYTES: usize = 16 << 10;

/// How many searches are begun at once, and the length of the notes for them: each thread still reads many times more
/// than fills its cache.
const SEARCHES: usize = 16;
const NOTE_BYTES_OF_SEVERAL: usize = 2 << 10;

/// The works that are several searches: over one index, and over as many indexes, which know nothing of each other.
const SEVERAL: [&str; 2] = ["together", "apart"];

/// In the process that measures: the work.
const MEASURED: &str = "REGEX_MEMORY_MEASURED";

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}

/// Each thread has an automaton for each direction, and lists of the states of the program for where they
/// cannot go on, which are a few times as large as it.
fn max_memory() -> u64 {
    let of_thread = 2 * MAX_DFA_CACHE_BYTES + 8 * MAX_REGEX_BYTES;
    threads() as u64 * of_thread + OTHER_BYTES
}

/// A word that begins in the second half of the alphabet, so long, and then a digit. Which letters so far
/// may begin it is another state of the automaton after each letter.
fn pattern(length: usize) -> String {
    format!(r"[n-z]\w{{{length}}}\d")
}

fn query(length: usize) -> GrepQuery {
    GrepQuery {
        pattern: pattern(length),
        file_pattern: None,
        context_lines: 0,
        max_results: 10,
        max_per_note: 5,
        case_sensitive: true,
    }
}

/// One line of random letters; the same on each call.
fn letters(bytes: usize, seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.lowercase()).collect()
}

/// As many notes as hold a mebibyte for each thread when they are [`NOTE_BYTES`] long: so much is searched at a time.
/// The first note alone has the pattern in it.
fn make_vault(length: usize, note_bytes: usize) -> (TempDir, Vault) {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = threads().max(2) * (1 << 20) / NOTE_BYTES;
    for number in 0..notes {
        let text = letters(note_bytes, number as u64);
        fs::write(folder.path().join(format!("{number:05}.md")), text).expect("written");
    }
    let found = format!("z{}7\n", "a".repeat(length));
    fs::write(folder.path().join("00000.md"), found).expect("written");
    let vault = Vault::open(folder.path()).expect("a vault");
    (folder, vault)
}

/// The longest word for which the pattern is taken.
fn longest() -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let vault = Vault::open(folder.path()).expect("a vault");
    let cache = tempfile::tempdir().expect("a folder");
    let index = Index::new(&vault, PrivateRules::default(), cache.path());
    let is_taken = |length: &usize| {
        let found =
            index.search(&vault, &ChangeSet::default(), &query(*length), Duration::from_secs(60));
        match found {
            Ok(_) => true,
            Err(SearchError::BadPattern { why, .. }) => {
                assert!(why.contains("size limit"), "{why}");
                false
            }
            Err(other) => panic!("{other:?}"),
        }
    };
    let length = (1..1_000).take_while(is_taken).last().expect("a short one is taken");
    assert!(length < 999, "no pattern is refused");
    length
}

/// A figure of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// Measures in this process; nothing else runs in it.
fn measure(work: &str) {
    let length = longest();
    let is_several = SEVERAL.contains(&work);
    let note_bytes = if is_several { NOTE_BYTES_OF_SEVERAL } else { NOTE_BYTES };
    let (_folder, vault) = make_vault(length, note_bytes);
    let cache = tempfile::tempdir().expect("a folder");
    let index = || Index::new(&vault, PrivateRules::default(), cache.path());
    let count = if work == "apart" { SEARCHES } else { 1 };
    let indexes: Vec<Index> = (0..count).map(|_| index()).collect();
    if work == "indexed" {
        for index in &indexes {
            index.catch_up(&AtomicBool::new(false)).expect("an index");
        }
    }
    // Sets the high water mark back.
    fs::write("/proc/self/clear_refs", "5").expect("allowed");
    let memory = status("VmRSS:");
    match work {
        "control" => search_without_limit(length),
        "long" => refuse_long_pattern(&indexes, &vault),
        "longest" => refuse_longest_pattern(&indexes, &vault),
        "long-control" => parse_long_pattern(),
        _ if is_several => search_at_once(&indexes, &vault, length),
        _ => indexes.iter().for_each(|index| search(index, &vault, length)),
    }
    println!("measured {} with words of {length}", status("VmHWM:").saturating_sub(memory));
}

fn search(index: &Index, vault: &Vault, length: usize) {
    let timeout = Duration::from_secs(600);
    let found = index.search(vault, &ChangeSet::default(), &query(length), timeout);
    let found = found.expect("searched");
    assert_eq!((found.total, found.files, found.cut), (1, 1, None));
}

/// [`SEARCHES`] that begin at the same time, over these indexes in turn.
fn search_at_once(indexes: &[Index], vault: &Vault, length: usize) {
    let begin = &Barrier::new(SEARCHES);
    thread::scope(|scope| {
        for index in indexes.iter().cycle().take(SEARCHES) {
            scope.spawn(move || {
                begin.wait();
                search(index, vault, length);
            });
        }
    });
}

/// The control: the same pattern with a cache that grows, on one thread.
fn search_without_limit(length: usize) {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).line_terminator(Some(b'\n')).dfa_size_limit(CONTROL_CACHE_BYTES);
    let matcher = builder.build(&pattern(length)).expect("a pattern");
    let text = letters(512 << 10, 0);
    assert!(!matcher.is_match(text.as_bytes()).expect("searched"));
}

/// As long a pattern as a model may send in a call.
fn refuse_long_pattern(indexes: &[Index], vault: &Vault) {
    let query = GrepQuery { pattern: r"\w".repeat(500_000), ..query(1) };
    for index in indexes {
        let found = index.search(vault, &ChangeSet::default(), &query, Duration::from_secs(60));
        assert!(matches!(found, Err(SearchError::LongPattern)), "{found:?}");
    }
}

/// A pattern of the longest that is read, which takes the most memory for its length.
fn refuse_longest_pattern(indexes: &[Index], vault: &Vault) {
    let query = GrepQuery { pattern: r"\w".repeat(2_048), ..query(1) };
    for index in indexes {
        let found = index.search(vault, &ChangeSet::default(), &query, Duration::from_secs(60));
        assert!(matches!(found, Err(SearchError::BadPattern { .. })), "{found:?}");
    }
}

/// The control: a twentieth of it without the limit of its length; only the limit of the program refuses it, after it was parsed.
fn parse_long_pattern() {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).line_terminator(Some(b'\n')).size_limit(1 << 20);
    assert!(builder.build(&r"\w".repeat(25_000)).is_err());
}

/// The peak of memory in bytes.
fn measured(work: &str) -> u64 {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "--nocapture", "a_search_on_all_threads_takes_the_memory_of_its_limits"])
        .env(MEASURED, work);
    if SEVERAL.contains(&work) {
        // The allocator of the C library keeps what a thread gave back for that thread: with one heap for all, only
        // what is held at the same time counts.
        command.env("MALLOC_ARENA_MAX", "1");
    }
    let output = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, figure) = told.split_once("measured ").unwrap_or_else(|| panic!("{output:?}"));
    println!("{work}: {}", figure.lines().next().unwrap_or_default());
    let figure = figure.split(' ').next().and_then(|figure| figure.parse().ok());
    figure.expect("a number")
}

#[test]
fn a_search_on_all_threads_takes_the_memory_of_its_limits() {
    if let Ok(work) = std::env::var(MEASURED) {
        return measure(&work);
    }
    let most = max_memory();
    for work in ["files", "indexed"] {
        let memory = measured(work);
        assert!(memory <= most, "{work}: {} of {} MiB", memory >> 20, most >> 20);
    }
    let memory = measured("control");
    assert!(memory > most, "the control: {} of {} MiB", memory >> 20, most >> 20);
}

#[test]
fn a_pattern_that_is_too_long_is_refused_before_it_takes_memory() {
    for work in ["long", "longest"] {
        let memory = measured(work);
        assert!(memory < OTHER_BYTES, "{work}: {} MiB", memory >> 20);
    }
    let control = measured("long-control");
    assert!(control > 2 * OTHER_BYTES, "the control: {} MiB", control >> 20);
}

#[test]
fn searches_that_begin_at_once_take_the_memory_of_one() {
    let most = max_memory();
    let memory = measured("together");
    assert!(memory <= most, "{} of {} MiB", memory >> 20, most >> 20);
    let memory = measured("apart");
    assert!(memory > most, "the control: {} of {} MiB", memory >> 20, most >> 20);
}
