//! The user deletes the history: nothing of it is left in the data folder, the changes stay listed,
//! and a kill in the middle loses nothing else.

use std::time::Duration;

use protocol::changes::history::{AppliedNote, ListApplied, UndoScope};
use protocol::changes::retention::HistoryAge;
use protocol::job::JobKind;
use protocol::{AppEvent, ConversationId};
use testkit::stories::note_changes;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::{ScriptedModel, TempVault};

use crate::harness::test_app::{
    RunningApp, TEST_TIMEOUT, TestHome, home_with_key, settings_with_model,
};

const CHANGED_NOTES: [&str; 3] = ["Alpha.md", "Beta.md", "Deep/Gamma.md"];

/// In a note that is edited, and never in a conversation.
const CANARY: &str = "heron wears a hat";
/// Short, so that compression leaves its text as it is.
const ALPHA: &str = "# Alpha\n\nThe first line of alpha.\nThe heron wears a hat.\n";
/// The user's last version of it.
const ALPHA_WITHOUT_CANARY: &str = "# Alpha\n\nThe first line of ALPHA.\n";

/// The application after three notes were changed together, and the user has taken out of one what
/// only the history and the index have from then on.
async fn app_with_changes() -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    home.notes.write("Alpha.md", ALPHA);
    let running = home.open(settings_with_model(&model)).await;
    wait_for_index(&running).await;
    let conversation = running.send_and_wait(None, "play review").await;
    running.decide(&conversation, &CHANGED_NOTES, &[]).await.expect("applied");
    home.notes.write("Alpha.md", ALPHA_WITHOUT_CANARY);
    (home, model, running, conversation)
}

/// Waits until the index stands.
async fn wait_for_index(app: &RunningApp) {
    let stands = async {
        while app.app.list_tags("").await.expect("it lists").is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, stands).await.expect("the index stands in time");
}

async fn listed_notes(app: &RunningApp) -> Vec<AppliedNote> {
    let all = ListApplied { conversation: None, before: None };
    let sets = app.app.list_applied(&all).await.expect("a list").sets;
    sets.into_iter().flat_map(|set| set.notes).collect()
}

/// The files of the data folder that hold this text.
fn files_containing(data: &TempVault, words: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(words.len()).any(|place| place == words.as_bytes());
    let files = data.snapshot().into_iter();
    files.filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_history_is_in_no_file_and_its_changes_stay_listed() {
    let (home, model, running, conversation) = app_with_changes().await;
    assert!(!files_containing(&home.data, CANARY).is_empty(), "the control: it is kept before");
    let before = running.app.history_stats().await.expect("known");
    assert!(before.bytes > 0 && before.since.is_some());
    assert_eq!(before.older.iter().map(|older| older.changes).collect::<Vec<_>>(), [0, 0, 3]);

    let none = running.app.delete_history(HistoryAge::ThirtyDays).await.expect("nothing is so old");
    assert_eq!((none.changes, none.bytes), (0, 0));
    let deleted = running.app.delete_history(HistoryAge::Any).await.expect("deleted");
    assert_eq!((deleted.changes, deleted.bytes), (3, before.bytes));
    assert_eq!(files_containing(&home.data, CANARY), Vec::<String>::new());
    wait_for_index(&running).await;
    assert_eq!(files_containing(&home.data, CANARY), Vec::<String>::new(), "the index is rebuilt");
    let progress = running.wait_for_event("how far it has come", |event| match event {
        AppEvent::JobsChanged { jobs } => (jobs.first())
            .filter(|one| one.kind == JobKind::DeletingHistory && one.all.is_some())
            .cloned(),
        _ => None,
    });
    assert_eq!(progress.await.all, Some(3));
    let after = running.app.history_stats().await.expect("known");
    assert_eq!((after.bytes, after.since), (0, None));

    let notes = listed_notes(&running).await;
    let told: Vec<_> = notes.iter().map(|n| (n.added, n.removed, n.too_old)).collect();
    assert_eq!(told, [(1, 1, true); 3]);
    let scope = UndoScope::Conversation { conversation: conversation.clone() };
    let undone = running.app.undo(&scope).await.expect("an answer");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (0, 3));
    let items = running.view(&conversation).await.items;
    assert!(items.len() > 3, "the conversation is whole: {items:?}");

    // Life goes on, with a history of its own.
    home.notes.write("Alpha.md", ALPHA);
    running.send_and_wait(Some(&conversation), "play review").await;
    running.decide(&conversation, &["Alpha.md"], &[]).await.expect("applied");
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    let last = listed_notes(&running).await.remove(0);
    assert!(!last.too_old);
    let scope = UndoScope::Effect { effect: last.effect, hunks: Vec::new() };
    assert_eq!(running.app.undo(&scope).await.expect("undone").changed.len(), 1);
    assert_eq!(home.notes.read("Alpha.md"), ALPHA);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_history_is_deleted_loses_nothing_else_and_a_second_run_finishes() {
    for (point, is_gone) in [("store.purge.before", false), ("store.purge.after", true)] {
        let (home, model, running, conversation) = app_with_changes().await;
        let items = running.view(&conversation).await.items;
        running.quit().await;
        home.run_story_killed_at(point, "delete-history", &[]).await;

        let running = home.open(settings_with_model(&model)).await;
        assert_eq!(running.view(&conversation).await.items, items, "{point}");
        let notes = listed_notes(&running).await;
        assert_eq!(notes.iter().map(|n| n.too_old).collect::<Vec<_>>(), [is_gone; 3], "{point}");
        for (path, text) in EDITED.iter().skip(1) {
            assert_eq!(home.notes.read(path), *text, "{point}");
        }
        running.app.delete_history(HistoryAge::Any).await.expect("deleted");
        assert_eq!(files_containing(&home.data, CANARY), Vec::<String>::new(), "{point}");
        wait_for_index(&running).await;
        assert_eq!(files_containing(&home.data, CANARY), Vec::<String>::new(), "{point}, rebuilt");
        assert_eq!(listed_notes(&running).await.len(), 3, "{point}");
        running.quit().await;
    }
}
