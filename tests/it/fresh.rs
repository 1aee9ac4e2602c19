//! A save is found at once, whatever else is written. What the system loses count of is found after
//! all, the index is right after any crash, and while it is built everything can be asked.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use testkit::fresh::{Asked, BAR, Extent, Flooded, Sweep, WHOLE, building, cases, fill};

/// The application that is asked is not optimised here, and shares the machine with other tests;
/// `./dev bench fresh` holds the bar itself.
const SLACK: u32 = 8;

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
    fill(notes.path(), 2_000);
    let mut asked = Asked::start(program(), data.path(), notes.path());
    asked.wait();
    let figures = cases(&mut asked, notes.path(), Extent { saves: 40, checkouts: 2 });
    asked.close();
    for figure in &figures {
        println!("{figure}");
    }
    let of = |case: &'static str| figures.iter().filter(move |figure| figure.case == case);
    for figure in ["plain", "rename", "beside_writers"].into_iter().flat_map(of) {
        // What the machine needs for a bare watch is not counted, nor the question that was under
        // way when the save was taken in.
        let own = figure.bare.middle() + figure.question.middle();
        let late = figure.asked.middle().saturating_sub(own);
        assert!(late <= BAR * SLACK, "half of the saves are found later: {figure}");
    }
    let whole = of(WHOLE).map(|figure| figure.found.middle()).sum::<Duration>();
    for figure in of("beside_checkout").filter(|figure| !figure.asked.is_empty()) {
        assert!(figure.asked.middle() < whole, "a save stands behind the checkout: {figure}");
    }
}

#[test]
fn what_the_system_lost_count_of_is_found_after_all_and_without_the_second_look_it_is_not() {
    let (notes, data) = folders();
    let mut flooded = Flooded::over(program(), "answer", data.path(), notes.path());
    let asked = &mut flooded.asked;
    asked.until("what was lost", |asked| {
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
    for (door, words, path) in answers {
        assert_eq!(asked.ask(door, words), [path], "{door} {words}");
    }
    for (door, words) in [("literal", "removedword"), ("tag", "old"), ("names", "removed")] {
        assert_eq!(asked.ask(door, words), [""; 0], "{door} {words}");
    }
    flooded.save_in_made();
    flooded.asked.until("a save in a folder that was made meanwhile", |asked| {
        (asked.ask("literal", "savedlater") == ["Made/In/It.md"]).then_some(())
    });
    flooded.asked.close();

    let (notes, cache) = folders();
    let mut careless = Flooded::over(program(), "careless", cache.path(), notes.path());
    careless.asked.until("that the system lost count", |asked| {
        (asked.ask("lost", "") == ["2"]).then_some(())
    });
    careless.hear_again();
    assert_eq!(careless.asked.ask("literal", "madeword"), [""; 0], "the control must miss it");
    careless.asked.close();
}

#[test]
fn a_kill_while_the_index_is_written_leaves_one_that_is_right_after_the_next_start() {
    let (notes, data) = folders();
    fill(notes.path(), 1_500);
    let mut sweep = Sweep::over(program(), data.path(), notes.path());
    let whole = sweep.undisturbed();
    for moment in 0..MOMENTS {
        // From nothing, and from what the last one left.
        if moment % 2 == 0 {
            sweep.forget();
        }
        sweep.change(moment as usize);
        sweep.kill_after(whole * moment / MOMENTS);
        sweep.change(moment as usize + 1);
        let wrong = sweep.wrong();
        assert!(wrong.is_empty(), "killed at {moment} of {MOMENTS}: {wrong:#?}");
    }
    sweep.tear();
    assert_eq!(sweep.wrong(), [""; 0], "a torn snapshot is not taken");
    sweep.tear();
    sweep.reseal();
    assert_ne!(sweep.wrong(), [""; 0], "the control: without its checksum it is taken");
}

/// How many moments between the start and the end of the writing are tried.
const MOMENTS: u32 = 10;

#[test]
fn while_the_index_is_built_everything_is_answered_and_how_far_it_is_is_told() {
    let (notes, data) = folders();
    fill(notes.path(), 10_000);
    let known = [
        ("literal", "own77word", "Note 77.md"),
        ("find", "own77word", "Note 77.md"),
        ("names", "Note 77", "Note 77.md"),
        ("read", "Shelf 0/Note 77.md", "own77word"),
    ];
    let (mut asked, seen) = building(program(), data.path(), notes.path(), &known);
    for (door, times) in &seen.answers {
        println!("fresh building door={door} {times}");
        assert!(times.share(1.0) < Duration::from_secs(10), "{door} blocks: {times}");
    }
    assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    assert!(seen.all >= 10_000 && seen.done.is_sorted(), "{seen:?}");
    assert!(seen.done.iter().any(|done| (1..seen.all).contains(done)), "{seen:?}");
    assert_eq!(asked.ask("literal", "own77word"), ["Shelf 0/Note 77.md"]);
    asked.close();
}

#[test]
fn closed_while_it_is_built_and_opened_again_the_index_is_right() {
    let (notes, data) = folders();
    fill(notes.path(), 3_000);
    let sweep = Sweep::over(program(), data.path(), notes.path());
    for _ in 0..2 {
        let mut asked = Asked::start(program(), data.path(), notes.path());
        assert!(!asked.ask("state", "").is_empty(), "it stands before it is closed");
        asked.close();
    }
    assert_eq!(sweep.wrong(), [""; 0]);
}
