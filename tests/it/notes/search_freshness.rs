//! A save is found at once, whatever else is written. What the system loses count of is found after
//! all, the index is right after any crash, and while it is built everything can be asked.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use testkit::search_freshness::{
    FreshnessExtent, IndexKillSweep, MAX_DELAY, OverflowedWatch, QueryProcess, WHOLE_CHECKOUT,
    measure_cases, query_during_build, write_sample_notes,
};

/// The application that is asked is not optimised here, and shares the machine with other tests;
/// `./dev bench fresh` holds the bar itself.
const DEBUG_BUILD_FACTOR: u32 = 8;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fresh"))
}

/// Empty folders for the notes and for the data.
fn folders() -> (TempDir, TempDir) {
    let folder = || tempfile::tempdir().expect("a temporary folder");
    (folder(), folder())
}

#[test]
fn a_save_is_found_at_once_also_beside_writers_that_never_pause_and_a_checkout() {
    let (notes, data) = folders();
    write_sample_notes(notes.path(), 2_000);
    let mut asked = QueryProcess::start(program(), data.path(), notes.path());
    asked.wait_for_index();
    let figures =
        measure_cases(&mut asked, notes.path(), FreshnessExtent { saves: 40, checkouts: 2 });
    asked.close();
    for figure in &figures {
        println!("{figure}");
    }
    let of = |case: &'static str| figures.iter().filter(move |figure| figure.case == case);
    for figure in ["plain", "rename", "beside_writers"].into_iter().flat_map(of) {
        // The time of a bare watch on this machine is not counted, nor the question that was under
        // way when the save was taken in.
        let own = figure.bare.median() + figure.question.median();
        let late = figure.until_asked.median().saturating_sub(own);
        assert!(
            late <= MAX_DELAY * DEBUG_BUILD_FACTOR,
            "half of the saves are found later: {figure}"
        );
    }
    let whole = of(WHOLE_CHECKOUT).map(|figure| figure.found.median()).sum::<Duration>();
    for figure in of("beside_checkout").filter(|figure| !figure.until_asked.is_empty()) {
        assert!(figure.until_asked.median() < whole, "a save stands behind the checkout: {figure}");
    }
}

#[test]
fn what_the_system_lost_count_of_is_found_after_all_and_without_the_second_look_it_is_not() {
    let (notes, data) = folders();
    let mut flooded = OverflowedWatch::start(program(), "answer", data.path(), notes.path());
    let asked = &mut flooded.app;
    asked.poll_until("what was lost", |asked| {
        (asked.ask("literal", "madeword") == ["Made/In/It.md"]).then_some(())
    });
    let answers = [
        ("literal", "the word afterwards", "Changed.md"),
        ("find", "afterwards", "Changed.md"),
        ("tag", "new", "Changed.md"),
        ("literal", "movedword", "There.md"),
        ("find", "madeword", "Made/In/It.md"),
        ("names", "there", "There.md"),
    ];
    for (kind, words, path) in answers {
        assert_eq!(asked.ask(kind, words), [path], "{kind} {words}");
    }
    for (kind, words) in [("literal", "removedword"), ("tag", "old"), ("names", "removed")] {
        assert_eq!(asked.ask(kind, words), [""; 0], "{kind} {words}");
    }
    flooded.save_in_new_folder();
    flooded.app.poll_until("a save in a folder that was made meanwhile", |asked| {
        (asked.ask("literal", "savedlater") == ["Made/In/It.md"]).then_some(())
    });
    flooded.app.close();

    let (notes, cache) = folders();
    let mut careless = OverflowedWatch::start(program(), "careless", cache.path(), notes.path());
    careless.app.poll_until("that the system lost count", |asked| {
        (asked.ask("lost", "") == ["2"]).then_some(())
    });
    careless.wait_for_new_save();
    assert_eq!(careless.app.ask("literal", "madeword"), [""; 0], "the control must miss it");
    careless.app.close();
}

#[test]
fn a_kill_while_the_index_is_written_leaves_one_that_is_right_after_the_next_start() {
    let (notes, data) = folders();
    write_sample_notes(notes.path(), 1_500);
    let mut sweep = IndexKillSweep::new(program(), data.path(), notes.path());
    let whole = sweep.measure_undisturbed();
    for moment in 0..KILL_MOMENTS {
        // From nothing, and from what the last one left.
        if moment % 2 == 0 {
            sweep.delete_index();
        }
        sweep.change_probe(moment as usize);
        sweep.kill_after(whole * moment / KILL_MOMENTS);
        sweep.change_probe(moment as usize + 1);
        let wrong = sweep.check_index();
        assert!(wrong.is_empty(), "killed at {moment} of {KILL_MOMENTS}: {wrong:#?}");
    }
    sweep.corrupt_snapshot();
    assert_eq!(sweep.check_index(), [""; 0], "a torn snapshot is not taken");
    sweep.corrupt_snapshot();
    sweep.rewrite_checksum();
    assert_ne!(sweep.check_index(), [""; 0], "the control: without its checksum it is taken");
}

/// How many moments between the start and the end of the writing are tried.
const KILL_MOMENTS: u32 = 10;

#[test]
fn while_the_index_is_built_everything_is_answered_and_how_far_it_is_is_told() {
    let (notes, data) = folders();
    write_sample_notes(notes.path(), 10_000);
    let known = [
        ("literal", "own77word", "Note 77.md"),
        ("find", "own77word", "Note 77.md"),
        ("names", "Note 77", "Note 77.md"),
        ("read", "Shelf 0/Note 77.md", "own77word"),
    ];
    let (mut asked, seen) = query_during_build(program(), data.path(), notes.path(), &known);
    for (kind, times) in &seen.answers {
        println!("fresh building kind={kind} {times}");
        assert!(times.quantile(1.0) < Duration::from_secs(10), "{kind} blocks: {times}");
    }
    assert!(seen.complaints.is_empty(), "{:#?}", seen.complaints);
    assert!(seen.all >= 10_000 && seen.progress.is_sorted(), "{seen:?}");
    assert!(seen.progress.iter().any(|done| (1..seen.all).contains(done)), "{seen:?}");
    assert_eq!(asked.ask("literal", "own77word"), ["Shelf 0/Note 77.md"]);
    asked.close();
}

#[test]
fn closed_while_it_is_built_and_opened_again_the_index_is_right() {
    let (notes, data) = folders();
    write_sample_notes(notes.path(), 3_000);
    let sweep = IndexKillSweep::new(program(), data.path(), notes.path());
    for _ in 0..2 {
        let mut asked = QueryProcess::start(program(), data.path(), notes.path());
        assert!(!asked.ask("state", "").is_empty(), "it stands before it is closed");
        asked.close();
    }
    assert_eq!(sweep.check_index(), [""; 0]);
}
