//! Undo changes only the note that was changed, also after notes were copied, moved, deleted or
//! replaced. If the note is ambiguous, the user is asked.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use protocol::ConversationId;
use protocol::changes::history::{ListApplied, UndoConflict, UndoResult, UndoScope, UndoTarget};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TEST_TIMEOUT, TestHome, home_with_key, settings_with_model,
};

pub(crate) const LOG: &str = "# Log\n\nswept the yard\n";
pub(crate) const WATERED: &str = "# Log\n\nswept the yard\nwatered the plants\n";

/// The application after the model made one call that the user accepted, or that needed no review.
pub(crate) async fn app_after_call(
    notes: &[(&str, &str)],
    tool: &'static str,
    call: Value,
) -> (TestHome, RunningApp) {
    let model =
        ScriptedModel::start(vec![Reply::calls(vec![(tool, call)]), Reply::text("Done.")]).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    if let Some(review) = running.view(&conversation).await.review {
        let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
        running.decide(&conversation, &paths, &[]).await.expect("applied");
    }
    (home, running)
}

pub(crate) async fn app_after_edit(
    path: &'static str,
    others: &[(&str, &str)],
) -> (TestHome, RunningApp) {
    let notes: Vec<_> = others.iter().copied().chain([(path, LOG)]).collect();
    let call = json!({
        "path": path, "old_text": "swept the yard\n",
        "new_text": "swept the yard\nwatered the plants\n",
    });
    let (home, running) = app_after_call(&notes, "edit_file", call).await;
    assert_eq!(home.notes.read(path), WATERED);
    (home, running)
}

pub(crate) async fn undo_newest(app: &RunningApp) -> UndoResult {
    let all = ListApplied { conversation: None, before: None };
    let set = app.app.list_applied(&all).await.expect("a list").sets.remove(0);
    let scope = UndoScope::ChangeSet { change_set: set.id };
    app.app.undo(&scope).await.expect("undone as far as it goes")
}

pub(crate) fn only_conflict(undone: &UndoResult) -> &UndoConflict {
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    assert!(undone.changed.is_empty(), "{undone:?}");
    conflict
}

/// The answer that it is the first note that is offered.
pub(crate) fn answer(conflict: &UndoConflict) -> UndoTarget {
    let (action, effect) = (conflict.action, conflict.effect.clone());
    let hunks = conflict.hunks.clone();
    UndoTarget { action, effect, hunks, note: conflict.candidates[0].clone() }
}

fn candidate_names(conflict: &UndoConflict) -> Vec<&str> {
    conflict.candidates.iter().map(|note| note.path.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_new_note_leaves_an_identical_note_elsewhere_alone() {
    let call = json!({ "path": "Daily/2026-11-20.md", "content": "# Friday\n\n- [ ] plan\n" });
    let (home, running) = app_after_call(&[("Home.md", "x\n")], "write_file", call).await;
    let made = home.notes.read("Daily/2026-11-20.md");
    fs::remove_file(home.notes.root().join("Daily/2026-11-20.md")).expect("removed");
    home.notes.write("Journal/2026-11-20.md", &made);

    let undone = undo_newest(&running).await;
    assert_eq!(candidate_names(only_conflict(&undone)), ["Journal/2026-11-20.md"]);
    assert_eq!(home.notes.read("Journal/2026-11-20.md"), made);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_new_note_asks_about_one_with_its_name_that_says_most_of_it() {
    let made = "# Friday\n\n- [ ] plan\n- [ ] walk\n";
    for (now, is_asked) in [("# Friday\n\n- [x] plan\n- [ ] walk\nmine\n", true), ("mine\n", false)]
    {
        let call = json!({ "path": "Home/Friday.md", "content": made });
        let (home, running) = app_after_call(&[("Home.md", "x\n")], "write_file", call).await;
        // Saved as a new file and moved while nobody looked.
        fs::remove_file(home.notes.root().join("Home/Friday.md")).expect("removed");
        home.notes.write("Work/Friday.md", now);
        let undone = undo_newest(&running).await;
        let asked: Vec<_> = undone.conflicts.iter().flat_map(candidate_names).collect();
        let expected: &[&str] = if is_asked { &["Work/Friday.md"] } else { &[] };
        assert_eq!(asked, expected, "{now}");
        assert_eq!(home.notes.read("Work/Friday.md"), now);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_an_edit_leaves_the_log_of_another_year_alone() {
    let (home, running) = app_after_edit("2026/Log.md", &[("2025/Log.md", WATERED)]).await;
    fs::remove_file(home.notes.root().join("2026/Log.md")).expect("removed");

    let undone = undo_newest(&running).await;
    assert_eq!(candidate_names(only_conflict(&undone)), ["2025/Log.md"]);
    assert_eq!(home.notes.read("2025/Log.md"), WATERED);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_follows_the_note_that_moved_and_not_the_one_in_its_place() {
    let (home, running) = app_after_edit("Log.md", &[("Archive/x.md", "x\n")]).await;
    let root = home.notes.root();
    fs::rename(root.join("Log.md"), root.join("Archive/Old log.md")).expect("moved");
    home.notes.write("Log.md", WATERED);

    let undone = undo_newest(&running).await;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Archive/Old log.md"), LOG);
    assert_eq!(home.notes.read("Log.md"), WATERED);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recreated_note_is_asked_about_and_undone_if_the_user_agrees() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    let place = home.notes.root().join("Log.md");
    fs::remove_file(&place).expect("removed");
    let recreated = format!("{WATERED}fed the cat\n");
    home.notes.write("Log.md", &recreated);

    let undone = undo_newest(&running).await;
    let conflict = only_conflict(&undone);
    assert_eq!((candidate_names(conflict), home.notes.read("Log.md")), (vec!["Log.md"], recreated));
    let identified = answer(conflict);
    let undone = running.app.undo_in_note(&identified).await.expect("undone there");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Log.md"), format!("{LOG}fed the cat\n"));
    let redone = undo_newest(&running).await;
    assert!(redone.conflicts.is_empty(), "its own undo knows the note: {redone:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_not_applied_to_a_file_that_took_the_chosen_path_since() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    let place = home.notes.root().join("Log.md");
    fs::remove_file(&place).expect("removed");
    home.notes.write("Log.md", format!("{WATERED}fed the cat\n"));
    let shown = only_conflict(&undo_newest(&running).await).clone();
    let chosen = answer(&shown);
    // The file that was shown stays in the vault, and another one gets its path.
    fs::rename(&place, home.notes.root().join("Shown.md")).expect("moved");
    let other = format!("{WATERED}fed the dog\n");
    home.notes.write("Log.md", &other);

    let answered = running.app.undo_in_note(&chosen).await.expect("asked again");
    let again = only_conflict(&answered).clone();
    assert!(
        again.why.starts_with("The note that you chose is no longer at that path"),
        "{again:?}"
    );
    assert_eq!(candidate_names(&again), ["Log.md", "Shown.md"]);
    assert_ne!(again.candidates[0].file, chosen.note.file);
    assert_eq!(home.notes.read("Log.md"), other);
    assert_eq!(home.notes.read("Shown.md"), format!("{WATERED}fed the cat\n"));

    // The control: an answer about the file that stands there is followed.
    let chosen = answer(&again);
    let undone = running.app.undo_in_note(&chosen).await.expect("undone there");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Log.md"), format!("{LOG}fed the dog\n"));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_about_a_note_that_is_gone_since_changes_nothing() {
    let (home, running) = app_after_edit("2026/Log.md", &[("2025/Log.md", WATERED)]).await;
    fs::remove_file(home.notes.root().join("2026/Log.md")).expect("removed");
    let shown = only_conflict(&undo_newest(&running).await).clone();
    let chosen = answer(&shown);
    fs::remove_file(home.notes.root().join("2025/Log.md")).expect("removed");
    let answered = running.app.undo_in_note(&chosen).await.expect("asked again");
    assert!(only_conflict(&answered).why.contains("no longer exists"), "{answered:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_follows_saves_that_replace_the_file_that_was_shown() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    let place = home.notes.root().join("Log.md");
    fs::remove_file(&place).expect("removed");
    home.notes.write("Log.md", format!("{WATERED}fed the cat\n"));
    // The user is shown each file of an editor that saves again and again, and answers about the last.
    for lines in ["locked", "locked up", "locked up twice"] {
        only_conflict(&undo_newest(&running).await);
        save_over(&place, &format!("{WATERED}fed the cat\n{lines}\n"));
    }
    // On a busy machine two saves in one moment may leave the watch uncertain, and it asks again.
    let mut undone = undo_newest(&running).await;
    for _ in 0..5 {
        let chosen = answer(only_conflict(&undone));
        save_over(&place, &format!("{WATERED}fed the cat\nlocked up\n"));
        save_over(&place, &format!("{WATERED}fed the cat\nlocked up again\n"));
        undone = running.app.undo_in_note(&chosen).await.expect("answered");
        if undone.conflicts.is_empty() {
            break;
        }
    }
    assert_eq!((undone.changed.len(), undone.conflicts), (1, Vec::new()));
    assert_eq!(home.notes.read("Log.md"), format!("{LOG}fed the cat\nlocked up again\n"));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_about_two_changes_of_one_note_are_both_applied() {
    let edit = |old: &str, new: &str| {
        let (old_text, new_text) = (old.to_owned(), new.to_owned());
        ("edit_file", json!({ "path": "Log.md", "old_text": old_text, "new_text": new_text }))
    };
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![edit("first", "First")]),
        Reply::text("Done."),
        Reply::calls(vec![edit("third", "Third")]),
        Reply::text("Done."),
    ])
    .await;
    let home = home_with_key(&[("Log.md", "first\n\nsecond\n\nthird\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Capitals, please").await;
    running.decide(&conversation, &["Log.md"], &[]).await.expect("applied");
    running.send_and_wait(Some(&conversation), "And the third").await;
    running.decide(&conversation, &["Log.md"], &[]).await.expect("applied");
    // Unseen: another file comes in the place of the note.
    let place = home.notes.root().join("Log.md");
    running.quit().await;
    fs::remove_file(&place).expect("removed");
    home.notes.write("Log.md", "First\n\nsecond\n\nThird\nfourth\n");

    let running = home.open(settings_with_model(&model)).await;
    let scope = UndoScope::Conversation { conversation };
    let asked = running.app.undo(&scope).await.expect("asked");
    let answers: Vec<_> = asked.conflicts.iter().map(answer).collect();
    assert_eq!(answers.len(), 2, "{asked:?}");
    for target in &answers {
        let undone = running.app.undo_in_note(target).await.expect("undone there");
        assert!(undone.conflicts.is_empty(), "{undone:?}");
    }
    assert_eq!(home.notes.read("Log.md"), "first\n\nsecond\n\nthird\nfourth\n");
    running.quit().await;
}

/// As many editors and all programs that sync do: a new file, renamed over the note.
fn save_over(place: &Path, text: &str) {
    let beside = place.with_extension("tmp-save");
    fs::write(&beside, text).expect("written");
    fs::rename(beside, place).expect("renamed over the note");
}

/// As Vim does: the note becomes the backup, a new file the note, and the backup goes.
fn save_with_backup(place: &Path, text: &str) {
    let backup = place.with_extension("md~");
    fs::rename(place, &backup).expect("kept");
    fs::write(place, text).expect("written");
    fs::remove_file(backup).expect("removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_known_after_saves_that_replace_its_file() {
    for save in [save_over, save_with_backup] {
        let (home, running) = app_after_edit("Log.md", &[]).await;
        let place = home.notes.root().join("Log.md");
        for more in ["fed the cat\n", "fed the cat\nfed the dog\n"] {
            save(&place, &format!("{WATERED}{more}"));
            wait_until_identified(&running).await;
        }
        let undone = undo_newest(&running).await;
        assert!(undone.conflicts.is_empty(), "{undone:?}");
        assert_eq!(home.notes.read("Log.md"), format!("{LOG}fed the cat\nfed the dog\n"));
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_came_in_the_place_of_a_gone_one_is_not_restored_over() {
    let (home, running) = app_after_edit("Log.md", &[("Other.md", "other\n")]).await;
    fs::remove_file(home.notes.root().join("Log.md")).expect("removed");
    let undone = undo_newest(&running).await;
    let conflict = only_conflict(&undone).clone();
    assert!(!conflict.places.is_empty(), "the user can have it restored: {conflict:?}");
    home.notes.write("Log.md", "another log\n");
    let refused = running.app.resolve_conflict(&conflict).await.expect_err("another note");
    assert!(refused.message.contains("changed again"), "{}", refused.message);
    assert_eq!(home.notes.read("Log.md"), "another log\n");
    // The control: with nothing in its place it is restored.
    fs::remove_file(home.notes.root().join("Log.md")).expect("removed");
    running.app.resolve_conflict(&conflict).await.expect("restored");
    assert_eq!(home.notes.read("Log.md"), LOG);
    running.quit().await;
}

/// Waits until the application knows which note the newest change is about.
async fn wait_until_identified(app: &RunningApp) {
    let all = ListApplied { conversation: None, before: None };
    let set = app.app.list_applied(&all).await.expect("a list").sets.remove(0);
    let effect = set.notes[0].effect.clone();
    let is_known = async {
        while app.app.diff_since(&effect).await.expect("told").path.is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, is_known).await.expect("the note is known again");
}

#[tokio::test(flavor = "multi_thread")]
async fn note_that_cannot_be_read_stays_and_the_reason_is_told() {
    let create = ("write_file", json!({ "path": "N.md", "content": "new\n" }));
    let edit = ("edit_file", json!({ "path": "N.md", "old_text": "old\n", "new_text": "new\n" }));
    for ((tool, call), notes) in [(create, vec![]), (edit, vec![("N.md", "old\n")])] {
        let (home, running) = app_after_call(&notes, tool, call).await;
        let note = home.notes.root().join("N.md");
        let outside = tempfile::tempdir().expect("a folder");
        let copy = outside.path().join("copy");
        fs::hard_link(&note, &copy).expect("a second name");
        let undone = undo_newest(&running).await;
        let conflict = only_conflict(&undone);
        assert!(conflict.why.contains("second name"), "{tool}: {conflict:?}");
        assert_eq!((conflict.path.as_str(), conflict.places.len()), ("N.md", 0), "{tool}");
        fs::remove_file(&copy).expect("one name again");

        fs::write(&note, vec![b'x'; 11 << 20]).expect("written");
        let undone = undo_newest(&running).await;
        let conflict = only_conflict(&undone);
        assert!(conflict.why.contains("10 MiB"), "{tool}: {conflict:?}");
        fs::write(&note, "new\n").expect("written");

        let undone = undo_newest(&running).await;
        assert_eq!((undone.conflicts.len(), undone.changed.len()), (0, 1), "{tool}: {undone:?}");
        running.quit().await;
    }
}

/// The application after each of these calls was made in a message of its own, and accepted; `between` acts before the
/// last one.
pub(crate) async fn app_after_calls(
    notes: &[(&str, &str)],
    calls: Vec<Vec<(&'static str, Value)>>,
    between: impl Fn(&TestHome),
) -> (TestHome, RunningApp, ConversationId) {
    let count = calls.len();
    let one_by_one = calls.into_iter().flat_map(|message| {
        let calls = message.into_iter().map(|call| Reply::calls(vec![call]));
        calls.chain([Reply::text("Done.")]).collect::<Vec<_>>()
    });
    let model = ScriptedModel::start(one_by_one.collect()).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let mut conversation = None;
    for number in 1..=count {
        if number == count {
            between(&home);
        }
        let sent = running.send_and_wait(conversation.as_ref(), "Please").await;
        if let Some(review) = running.view(&sent).await.review {
            let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
            running.decide(&sent, &paths, &[]).await.expect("applied");
        }
        conversation = Some(sent);
    }
    (home, running, conversation.expect("a message"))
}

/// The newest sets, and the undo of one of them.
async fn undo_set(app: &RunningApp, place: usize) -> UndoResult {
    let all = ListApplied { conversation: None, before: None };
    let set = app.app.list_applied(&all).await.expect("a list").sets.remove(place);
    let scope = UndoScope::ChangeSet { change_set: set.id };
    app.app.undo(&scope).await.expect("undone as far as it goes")
}

#[tokio::test(flavor = "multi_thread")]
async fn another_note_that_was_edited_and_moved_at_once_is_not_undone_for_the_one_before_it() {
    for is_replaced in [true, false] {
        let edit = |old: &str, new: &str| {
            ("edit_file", json!({ "path": "Inbox.md", "old_text": old, "new_text": new }))
        };
        let water = edit("swept the yard\n", "swept the yard\nwatered the plants\n");
        let title = edit("# Log", "# Journal");
        let move_it = json!({ "source": "Inbox.md", "destination": "Archive/Journal.md" });
        let calls = vec![vec![water], vec![title, ("move_file", move_it)]];
        let (home, running, _) = app_after_calls(&[("Inbox.md", LOG)], calls, |home| {
            if is_replaced {
                // Another note from the same template.
                fs::remove_file(home.notes.root().join("Inbox.md")).expect("removed");
                home.notes.write("Inbox.md", WATERED);
            }
        })
        .await;
        let journal = |text: &str| text.replace("# Log", "# Journal");
        assert_eq!(home.notes.read("Archive/Journal.md"), journal(WATERED));

        let undone = undo_set(&running, 1).await;
        if is_replaced {
            only_conflict(&undone);
            assert_eq!(home.notes.read("Archive/Journal.md"), journal(WATERED));
        } else {
            assert!(undone.conflicts.is_empty(), "{undone:?}");
            assert_eq!(home.notes.read("Archive/Journal.md"), journal(LOG));
        }
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_the_user_took_out_of_the_trash_is_the_note_that_was_changed() {
    for is_itself in [true, false] {
        let edit = json!({
            "path": "Log.md", "old_text": "swept the yard\n",
            "new_text": "swept the yard\nwatered the plants\n",
        });
        let calls =
            vec![vec![("edit_file", edit)], vec![("delete_file", json!({ "path": "Log.md" }))]];
        let notes = [("Log.md", LOG), ("Other.md", "other\n")];
        let (home, running, _) = app_after_calls(&notes, calls, |_| {}).await;
        let place = home.notes.root().join("Log.md");
        let trashed = home.notes.root().join(".trash/Log.md");
        if is_itself {
            fs::rename(trashed, &place).expect("taken out");
            let undone = undo_set(&running, 0).await;
            assert_eq!((undone.conflicts.len(), undone.changed.len()), (0, 0), "{undone:?}");
            let undone = undo_set(&running, 1).await;
            assert_eq!((undone.conflicts.len(), undone.changed.len()), (0, 1), "{undone:?}");
            assert_eq!(home.notes.read("Log.md"), LOG);
        } else {
            // The control: a copy is another file, so the user is asked, and can answer.
            fs::copy(trashed, &place).expect("copied");
            assert!(only_conflict(&undo_set(&running, 0).await).why.contains("in its place"));
            let asked = undo_set(&running, 1).await;
            assert_eq!(home.notes.read("Log.md"), WATERED);
            let chosen = answer(only_conflict(&asked));
            let undone = running.app.undo_in_note(&chosen).await.expect("undone there");
            assert!(undone.conflicts.is_empty(), "{undone:?}");
            assert_eq!(home.notes.read("Log.md"), LOG);
        }
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn note_whose_link_was_reverted_with_a_failed_move_is_known_to_an_undo() {
    let edit = json!({ "path": "Links.md", "old_text": "The end", "new_text": "The END" });
    let moved = json!({ "source": "Plan.md", "destination": "Sub/Plan.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("Done."),
        Reply::calls(vec![("move_file", moved)]),
        Reply::text("Done."),
    ])
    .await;
    let before = "[x](Plan.md)\n\nmiddle\n\nThe end.\n";
    let home = home_with_key(&[("Plan.md", "# Plan\n"), ("Links.md", before)]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    running.decide(&conversation, &["Links.md"], &[]).await.expect("applied");
    running.send_and_wait(Some(&conversation), "Please").await;
    let links = home.notes.root().join("Links.md");
    let file = || {
        let found = fs::metadata(&links).expect("it is there");
        (found.ino(), found.created().ok())
    };
    let edited = (home.notes.read("Links.md"), file());

    // A file has the name of the folder, so the move fails after the link was written.
    home.notes.write("Sub", "a file\n");
    let _told_in_the_review = running.decide(&conversation, &["Links.md", "Plan.md"], &[]).await;
    assert_eq!(running.pending_paths(&conversation).await.len(), 2);
    assert_eq!(home.notes.read("Links.md"), edited.0);
    assert_ne!(file(), edited.1, "the note is in another file");

    let undone = undo_set(&running, 0).await;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Links.md"), before);
    running.quit().await;
}
