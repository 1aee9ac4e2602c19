//! The cost of the view of a turn over a hundred thousand private notes: CPU time and memory, each
//! measured in a process of its own.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::Index;
use protocol::Privacy;
use vault::Vault;

use super::{CANARY, heard, rules, story};
use crate::privacy::PrivacyGuard;

const NOTES: usize = 100_000;

/// Every so many-th note is in `Notes` and has a tag; the others are in `Diary`, without a text.
const TAG_INTERVAL: usize = 10;

/// The CPU time until a turn has heard the history; a build without optimization needs a part of it.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The memory that it may take, in bytes. A regular expression of all names took 1.7 GB.
const MAX_MEMORY: u64 = 320 << 20;

/// The bytes that the control keeps for each note.
const TABLE_BYTES: usize = 4096;

/// How long the control is busy.
const BUSY_TIME: Duration = Duration::from_millis(500);

/// In the process that measures: the work, and the folder of the vault.
const MEASURED: &str = "PRIVACY_VIEW_MEASURED";

fn note_name(number: usize) -> String {
    let place = if number.is_multiple_of(TAG_INTERVAL) { "Notes" } else { "Diary" };
    format!("{place}/{}/Note {number}.md", number % 100)
}

fn make_notes(root: &Path) {
    for folder in 0..100 {
        for place in ["Notes", "Diary"] {
            std::fs::create_dir_all(root.join(format!("{place}/{folder}"))).expect("a folder");
        }
    }
    for number in 0..NOTES {
        let text = if number.is_multiple_of(TAG_INTERVAL) { "#home\n" } else { "" };
        std::fs::write(root.join(note_name(number)), text).expect("written");
    }
}

/// A guard whose index does not stand yet, so that the vault is listed.
fn guard_over_files(root: &Path, cache: &Path) -> Arc<PrivacyGuard> {
    let vault = Vault::open(root).expect("a vault");
    let rules = rules(&["Diary", "Notes"], &[]);
    PrivacyGuard::new(&vault, &Index::new(&vault, rules.clone(), cache), rules)
}

fn guard_over_index(root: &Path, cache: &Path) -> Arc<PrivacyGuard> {
    let vault = Vault::open(root).expect("a vault");
    let rules = rules(&["Diary"], &["#home"]);
    let index = Index::new(&vault, rules.clone(), cache);
    index.catch_up(&AtomicBool::new(false)).expect("built");
    assert!(index.version().is_some(), "it stands");
    PrivacyGuard::new(&vault, &index, rules)
}

/// Hears a history about each of these notes, and none of their text.
fn hear_histories(guard: &PrivacyGuard, numbers: &[usize]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    for number in numbers {
        let name = note_name(*number);
        let told = runtime.block_on(heard(guard, Privacy::Open, story(&name, "title: x")));
        assert!(!told.contains(CANARY) && !told.contains(&name), "{told}");
        assert!(told.contains("what does it say?") && told.contains("Time: 1"), "{told}");
    }
}

/// The control for the memory: keeps a table for each name, as an automaton of all names does.
fn keep_tables() {
    let tables: Vec<Vec<u8>> = (0..NOTES).map(|_| vec![1; TABLE_BYTES]).collect();
    assert_eq!(std::hint::black_box(tables).len(), NOTES);
}

/// The control for the time: works on another thread, as the index does.
fn keep_thread_busy() {
    let busy = std::thread::spawn(|| while thread_time() < BUSY_TIME {});
    busy.join().expect("it ends");
}

/// A figure of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// The time that all threads of this process ran.
fn process_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("readable");
    let (_, fields) = stat.rsplit_once(')').expect("the name of the program");
    // Fields 14 and 15 of proc(5), in hundredths of a second; the name is the second.
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}

/// The time that this thread ran.
fn thread_time() -> Duration {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("readable");
    let time = all.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(time.expect("a number"))
}

/// Measures in this process; nothing else runs in it.
fn measure(work: &str, root: &Path) {
    let cache = tempfile::tempdir().expect("a folder");
    let run: Box<dyn FnOnce()> = match work {
        "files" => {
            let guard = guard_over_files(root, cache.path());
            Box::new(move || hear_histories(&guard, &[NOTES - 1]))
        }
        "index" => {
            let guard = guard_over_index(root, cache.path());
            Box::new(move || hear_histories(&guard, &[NOTES - 1, NOTES - TAG_INTERVAL]))
        }
        "tables" => Box::new(keep_tables),
        _ => Box::new(keep_thread_busy),
    };
    // Sets the high water mark back.
    std::fs::write("/proc/self/clear_refs", "5").expect("allowed");
    let (memory, began) = (status("VmRSS:"), process_time());
    run();
    let time = process_time().saturating_sub(began);
    println!("measured {} {}", time.as_millis(), status("VmHWM:").saturating_sub(memory));
}

/// The CPU time, and the peak of memory in bytes.
fn measured(work: &str, root: &Path) -> (Duration, u64) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--nocapture"])
        .arg("privacy::tests::view_cost::a_turn_over_100_000_private_notes_keeps_its_limits")
        .env(MEASURED, format!("{work} {}", root.display()))
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, figures) = told.split_once("measured ").unwrap_or_else(|| panic!("{output:?}"));
    let mut figures = figures.split_whitespace().map(|it| it.parse::<u64>().expect("a number"));
    let [time, memory] = [(); 2].map(|()| figures.next().expect("two numbers"));
    println!("{work}: {time} ms, {} MiB", memory >> 20);
    (Duration::from_millis(time), memory)
}

#[test]
fn a_turn_over_100_000_private_notes_keeps_its_limits() {
    if let Ok(wanted) = std::env::var(MEASURED) {
        let (work, root) = wanted.split_once(' ').expect("the work, and the folder");
        return measure(work, Path::new(root));
    }
    let folder = tempfile::tempdir().expect("a folder");
    make_notes(folder.path());
    for work in ["files", "index"] {
        let (time, memory) = measured(work, folder.path());
        assert!(time <= MAX_TIME, "{work}: {time:?}");
        assert!(memory <= MAX_MEMORY, "{work}: {} MiB", memory >> 20);
    }
    let (_, memory) = measured("tables", folder.path());
    assert!(memory > MAX_MEMORY, "the control: {} MiB", memory >> 20);
    let (time, _) = measured("thread", folder.path());
    assert!(time >= BUSY_TIME / 2, "the control: {time:?}");
}
