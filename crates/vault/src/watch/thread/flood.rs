//! More changes than the system's own queue holds, while nobody takes them out of it.
#![allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]

use std::sync::Mutex;

use notify::{Config, Event};

use super::*;

/// More files than the system's queue holds reports, with one report a file at the least.
fn flood_size() -> usize {
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    limit.unwrap().trim().parse::<usize>().unwrap() + 1_000
}

/// The text of a report that the system lost count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Reported,
    /// The control.
    Missed,
}

/// Makes a flood while the reports are not taken, then a folder, whose report is lost with the
/// rest; returns whether that folder is watched after all was worked off.
fn is_watched_after_a_flood(overflow: Overflow) -> bool {
    let all = tempfile::tempdir().unwrap();
    let (sender, receiver) = event_channel();
    let vault = Vault::open(all.path()).unwrap();
    let mut thread = WatchThread::new(vault, Arc::default(), sender.clone());
    let gate = Arc::new(Mutex::new(()));
    let (top, closed, lost) = (all.path().to_owned(), Arc::clone(&gate), Arc::default());
    let noted: Arc<AtomicBool> = Arc::clone(&lost);
    let on_report = move |report: notify::Result<Event>| {
        drop(closed.lock().unwrap());
        let is_overflow = report.as_ref().is_ok_and(Event::need_rescan);
        noted.fetch_or(is_overflow, Ordering::AcqRel);
        if !is_overflow || overflow == Overflow::Reported {
            parse_events(&top, report).into_iter().for_each(|event| sender.send(event));
        }
    };
    thread.watcher = Some(Box::new(RecommendedWatcher::new(on_report, Config::default()).unwrap()));
    thread.watch_all();

    let held = gate.lock().unwrap();
    for number in 0..flood_size() {
        std::fs::write(all.path().join(format!("{number}.md")), "").unwrap();
    }
    std::fs::create_dir(all.path().join("last")).unwrap();
    drop(held);
    let end = Instant::now() + Duration::from_secs(30);
    while !lost.load(Ordering::Acquire) {
        assert!(Instant::now() < end, "the system's queue did not overflow");
        thread.collect_events(&receiver);
    }
    while let Ok(event) = receiver.recv_timeout(Duration::from_millis(200)) {
        thread.handle_event(event);
    }
    if thread.sender.overflowed.swap(false, Ordering::AcqRel) {
        thread.restart_watching();
    }
    thread.folders.contains(&NotePath::parse("last").unwrap())
}

#[test]
fn a_folder_made_while_the_system_lost_count_is_watched_and_without_the_rescan_it_is_not() {
    assert!(is_watched_after_a_flood(Overflow::Reported));
    assert!(!is_watched_after_a_flood(Overflow::Missed), "the control must miss it");
}
