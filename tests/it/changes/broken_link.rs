//! Broken links, repaired from the window: the note is created, or the links lead to another one.

use protocol::changes::history::{AppliedBy, ListApplied, UndoScope};
use protocol::notes::query::{LinkRepairs, NoteCriterion};
use protocol::{NotePath, UserError};

use crate::harness::test_app::{RunningApp, TestHome, note_paths, settings_without_model};

const NOTES: [(&str, &str); 4] = [
    ("People/Luca Ferri.md", "# Luca\n\nSee [[Luca Feri]].\n"),
    ("Dinner.md", "With [[luca feri|Luca]] and [[Luca Feri#Phone]].\n\n![[Menu.png]]\n"),
    ("Trip.md", "[Luca](Luca%20Feri.md \"him\") comes; [[Packing list]] follows.\n"),
    ("Other.md", "No link to Luca Feri.\n"),
];

/// The repairs once the index stands.
async fn repairs(app: &RunningApp, link: &str) -> LinkRepairs {
    let probe = async || app.app.link_repairs(link.into()).await.expect("asked");
    app.until("the index", probe).await
}

fn note(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

/// The notes in which a link is broken once the index has seen the last change.
async fn broken_in(app: &RunningApp, link: &str, expected: &[&str]) {
    let having = || NoteCriterion::BrokenLink { link: link.into() };
    let probe = async || {
        let found = app.app.notes_matching(having()).await.expect("asked");
        found.filter(|found| found.notes == note_paths(expected))
    };
    app.until("the broken links", probe).await;
}

async fn undo(app: &RunningApp, change_set: protocol::ChangeSetId) -> Result<(), UserError> {
    let undone = app.app.undo(&UndoScope::ChangeSet { change_set }).await?;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_link_is_repaired_wherever_it_stands_and_undo_restores_it() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let offered = repairs(&running, "Luca Feri").await;
    assert_eq!(offered.create, Some(note("Luca Feri.md")));
    assert_eq!(offered.instead, Some(note("People/Luca Ferri.md")));
    let to = offered.instead.expect("a note");
    let repaired = running.app.replace_broken_link("Luca Feri".into(), to.clone()).await;
    let repaired = repaired.expect("repaired");
    assert_eq!(repaired.note, to);
    assert_eq!(repaired.left, []);
    let mut rewritten = repaired.rewritten;
    rewritten.sort();
    assert_eq!(rewritten, note_paths(&["Dinner.md", "People/Luca Ferri.md", "Trip.md"]));
    assert_eq!(
        home.notes.read("Dinner.md"),
        "With [[Luca Ferri|Luca]] and [[Luca Ferri#Phone]].\n\n![[Menu.png]]\n"
    );
    let trip = home.notes.read("Trip.md");
    assert!(trip.starts_with("[Luca](People/Luca%20Ferri.md \"him\") comes;"), "{trip}");
    assert_eq!(home.notes.read("Other.md"), NOTES[3].1);
    broken_in(&running, "Luca Feri", &[]).await;

    let listed = ListApplied { conversation: None, before: None };
    let sets = running.app.list_applied(&listed).await.expect("listed").sets;
    assert_eq!((sets.len(), sets[0].by), (1, AppliedBy::Repair));
    assert_eq!((sets[0].conversation.clone(), sets[0].notes.len()), (None, 3));
    undo(&running, repaired.change_set).await.expect("undone");
    for (path, text) in NOTES {
        assert_eq!(home.notes.read(path), text, "{path}");
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_another_note_of_that_name_is_left_where_a_broken_link_is_replaced() {
    let notes = [
        ("A long folder/Plan.md", "of the year\n"),
        ("Box/Plan.md", "of the box\n"),
        ("Day.md", "[[Plan]]\n"),
        ("Index.md", "[[C/Plan]]\n"),
    ];
    let home = TestHome::new(&notes);
    let running = home.open(settings_without_model()).await;
    let to = note("A long folder/Plan.md");
    let repaired = running.app.replace_broken_link("C/Plan".into(), to).await.expect("repaired");
    assert_eq!(repaired.rewritten, note_paths(&["Index.md"]));
    assert_eq!(repaired.left, []);
    assert_eq!(home.notes.read("Index.md"), "[[A long folder/Plan]]\n");
    assert_eq!(home.notes.read("Day.md"), "[[Plan]]\n", "it leads to the note in the box");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_note_that_a_broken_link_names_is_created_and_undo_removes_it() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    assert_eq!(repairs(&running, "Packing list").await.create, Some(note("Packing list.md")));
    let repaired = running.app.create_linked_note("Packing list".into()).await.expect("created");
    assert_eq!(repaired.note, note("Packing list.md"));
    assert_eq!(home.notes.read("Packing list.md"), "");
    broken_in(&running, "Packing list", &[]).await;
    let again = running.app.create_linked_note("Packing list".into()).await;
    assert!(again.is_err(), "it is there by now");
    undo(&running, repaired.change_set).await.expect("undone");
    assert_eq!(home.notes.try_read("Packing list.md"), None);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_note_takes_no_link_over_and_no_note_is_made_for_an_image_or_as_rules() {
    let notes = [
        ("Recipes/Soup.md", "[[Winter/Plan]] and [[Plan]]\n"),
        ("Winter/Day.md", "[[Plan]]\n"),
        ("Plan.md", "all year\n"),
        ("Rules.md", "[[Winter/AGENTS]] ![[Menu.png]]\n"),
    ];
    let home = TestHome::new(&notes);
    let running = home.open(settings_without_model()).await;
    for link in ["Menu.png", "Winter/AGENTS", "../Plan 2"] {
        assert_eq!(repairs(&running, link).await.create, None, "{link}");
        assert!(running.app.create_linked_note(link.into()).await.is_err(), "{link}");
    }
    // The folder in the link is wrong, and the note is there.
    assert_eq!(repairs(&running, "Winter/Plan").await.instead, Some(note("Plan.md")));
    running.app.create_linked_note("Winter/Plan".into()).await.expect("created");
    assert_eq!(home.notes.read("Winter/Plan.md"), "");
    // Left as it was, the link of the day would lead to the new plan.
    assert_eq!(home.notes.read("Winter/Day.md"), "[[/Plan]]\n");
    assert_eq!(home.notes.read("Recipes/Soup.md"), notes[0].1);
    let gone = running.app.replace_broken_link("Menu 2".into(), note("Nowhere.md")).await;
    assert!(gone.is_err());
    running.quit().await;
}
