//! What goes by itself, what goes on request, and what the list of changes says of it then.

use std::path::Path;
use std::sync::Arc;

use protocol::applied::{ListApplied, Standing, UndoScope};
use protocol::{Change, Ended, Intent, IntentState, NotePath};
use tempfile::TempDir;
use tokio::sync::watch;

use super::*;
use crate::data_dir::DataDir;

struct Stage {
    app: App,
    open: Arc<OpenVault>,
    /// How often it was told that something was forgotten.
    over: watch::Receiver<usize>,
    folder: TempDir,
    _data: TempDir,
}

impl Stage {
    async fn new() -> Self {
        let (folder, data) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        let app = App::start(DataDir::at(data.path().to_owned()).expect("a data directory"));
        app.open_vault(folder.path()).await.expect("the vault opens");
        let (told, over) = watch::channel(0);
        app.subscribe(Box::new(move |batch| {
            let is_over = |event: &AppEvent| matches!(event, AppEvent::HistoryChanged);
            let more = batch.iter().filter(|numbered| is_over(&numbered.event)).count();
            told.send_modify(|all| *all += more);
            true
        }))
        .await
        .expect("a snapshot");
        let open = Arc::clone(&app.open().await.expect("it is open"));
        Self { app, open, over, folder, _data: data }
    }

    /// A change of `a.md` that happened at a time, as the ledger has it.
    async fn changed(&self, effect: &str, change: Change, at: i64) {
        let intent = Intent {
            effect: effect.into(),
            change_set: format!("set-{effect}").into(),
            turn: "t".into(),
            call: effect.into(),
            unit: None,
            base: None,
            is_exact: false,
            staged: None,
            temp_name: format!(".vaultmate-{effect}.tmp"),
            change,
        };
        self.open.store.intend(&[intent], Timestamp(at)).await.expect("stored");
        let ended = Ended { effect: effect.into(), state: IntentState::Done, file: None };
        self.open.store.settle(&[ended]).await.expect("settled");
    }

    async fn is_forgotten(&self, effect: &str) -> bool {
        let scope = UndoScope::ChangeSet { change_set: format!("set-{effect}").into() };
        let found = self.open.store.effects_in(&scope).await.expect("read");
        found.first().expect("it keeps its row").forgotten.is_some()
    }

    async fn listed(&self) -> Vec<protocol::applied::AppliedNote> {
        let all = ListApplied { conversation: None, before: None };
        let sets = self.app.list_applied(&all).await.expect("a list").sets;
        sets.into_iter().flat_map(|set| set.notes).collect()
    }
}

fn edit(before: &str, after: &str) -> Change {
    Change::replace(NotePath::parse("a.md").expect("a path"), before, after)
}

#[expect(clippy::disallowed_methods, reason = "writes into a test's own folder")]
fn write(folder: &Path, text: &str) {
    std::fs::write(folder.join("a.md"), text).expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_need_not_be_kept_goes_by_itself_now_and_again_later() {
    let mut stage = Stage::new().await;
    let today = now().0;
    stage.changed("old", edit("1\n", "2\n"), today - 91 * DAY).await;
    stage.changed("young", edit("2\n", "3\n"), today - 89 * DAY).await;
    let often = Kept { days: 90, bytes: 0, pace: Duration::from_millis(1) };
    stage.open.spawn(Arc::clone(&stage.open).tend_history(often));
    stage.over.wait_for(|times| *times == 1).await.expect("it is told");
    assert!(stage.is_forgotten("old").await);
    assert!(!stage.is_forgotten("young").await);
    stage.changed("older", edit("0\n", "1\n"), today - 92 * DAY).await;
    stage.over.wait_for(|times| *times == 2).await.expect("it is told again");
    assert!(stage.is_forgotten("older").await);
    assert_eq!(stage.app.shutdown().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_goes_by_itself_while_there_is_room() {
    let stage = Stage::new().await;
    stage.changed("old", edit("1\n", "2\n"), 1).await;
    let since = Timestamp(now().0 - KEPT.days * DAY);
    let gone =
        forget(&stage.open.store, Keep { since, bytes: KEPT.bytes }, &Progress::default()).await;
    assert_eq!(gone.expect("looked"), Gone::default());
    assert!(!stage.is_forgotten("old").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_listed_with_its_lines_and_cannot_be_taken_back() {
    let stage = Stage::new().await;
    let at = now().0 - 40 * DAY;
    stage.changed("e1", edit("a\nb\n", "a\nx\ny\n"), at).await;
    stage.changed("e2", edit("a\nx\ny\n", "A\nx\ny\n"), now().0).await;
    write(stage.folder.path(), "A\nx\ny\n");
    let kept = stage.app.history().await.expect("known");
    assert_eq!(kept.since, Some(Timestamp(at)));
    let older: Vec<_> = kept.older.iter().map(|older| older.changes).collect();
    assert_eq!(older, [0, 1, 2]);
    let forgotten = stage.app.forget_history(Age::ThirtyDays).await.expect("forgotten");
    assert_eq!((forgotten.changes, forgotten.bytes > 0), (1, true));

    let notes = stage.listed().await;
    let [second, first] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((first.added, first.removed, first.too_old), (2, 1, true));
    assert_eq!((second.added, second.removed, second.too_old), (1, 1, false));
    assert_eq!(stage.app.applied_hunks(&"e1".into()).await.expect("none").hunks, []);
    let scope = UndoScope::ChangeSet { change_set: "set-e1".into() };
    let undone = stage.app.undo(&scope).await.expect("an answer");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (0, 1));
    let why = &undone.conflicts[0].why;
    assert_eq!(why, "It is too old: the text of that time is not kept any more.");

    // What is young can be taken back, and put back until that is forgotten too.
    let scope = UndoScope::ChangeSet { change_set: "set-e2".into() };
    let undone = stage.app.undo(&scope).await.expect("taken back");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (1, 0));
    let of_second = async || stage.listed().await.remove(1);
    assert_eq!((of_second().await.standing, of_second().await.too_old), (Standing::Undone, false));
    stage.app.forget_history(Age::Any).await.expect("forgotten");
    assert_eq!((of_second().await.standing, of_second().await.too_old), (Standing::Undone, true));
    let redone = stage.app.redo(&scope).await.expect("an answer");
    assert_eq!((redone.changed.len(), redone.conflicts.len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_together_is_too_old_together() {
    let stage = Stage::new().await;
    let path = |text| NotePath::parse(text).expect("a path");
    let moved = Change::rename(path("b.md"), path("c.md"));
    for (effect, change) in [("e1", moved), ("e2", edit("[[b]]\n", "[[c]]\n"))] {
        let intent = Intent {
            effect: effect.into(),
            change_set: "set".into(),
            turn: "t".into(),
            call: "move".into(),
            unit: Some("move".into()),
            base: None,
            is_exact: false,
            staged: None,
            temp_name: format!(".vaultmate-{effect}.tmp"),
            change,
        };
        stage.open.store.intend(&[intent], Timestamp(1)).await.expect("stored");
        let ended = Ended { effect: effect.into(), state: IntentState::Done, file: None };
        stage.open.store.settle(&[ended]).await.expect("settled");
    }
    let too_old = async || stage.listed().await.iter().map(|n| n.too_old).collect::<Vec<_>>();
    assert_eq!(too_old().await, [false, false]);
    stage.app.forget_history(Age::Any).await.expect("forgotten");
    assert_eq!(too_old().await, [true, true]);
}
