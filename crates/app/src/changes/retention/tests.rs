//! The automatic purge, the deletion by the user, and how the list of changes shows both.

use std::path::Path;
use std::sync::Arc;

use protocol::changes::history::{AppliedNote, AppliedSet, ChangeStatus, ListApplied, UndoScope};
use protocol::{AppEvent, Change, Intent, IntentState, NotePath, SettledIntent};
use tempfile::TempDir;
use tokio::sync::watch;

use super::*;
use crate::vault_session::VaultSession;
use crate::workspace::data_dir::DataDir;

struct RetentionFixture {
    app: App,
    open: Arc<VaultSession>,
    /// The events about changes that are too old.
    over: watch::Receiver<Vec<AppEvent>>,
    folder: TempDir,
    _data: TempDir,
}

impl RetentionFixture {
    async fn new() -> Self {
        let (folder, data) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        let app = App::start(DataDir::at(data.path().to_owned()).expect("a data directory"));
        app.open_vault(folder.path()).await.expect("the vault opens");
        let (told, over) = watch::channel(Vec::new());
        app.subscribe(Box::new(move |batch| {
            let is_over = |event: &AppEvent| match event {
                AppEvent::AppliedChanged { set } => set.notes.iter().any(|note| note.too_old),
                event => matches!(event, AppEvent::HistoryChanged),
            };
            let events = batch.into_iter().map(|numbered| numbered.event);
            told.send_modify(|all| all.extend(events.filter(is_over)));
            true
        }))
        .await
        .expect("a snapshot");
        let open = Arc::clone(&app.session().await.expect("it is open"));
        Self { app, open, over, folder, _data: data }
    }

    /// A change of `a.md` that happened at a time, as the ledger has it.
    async fn changed(&self, effect: &str, change: Change, at: i64) {
        self.changed_together(vec![intent(effect, change)], at).await;
    }

    async fn changed_together(&self, intents: Vec<Intent>, at: i64) {
        self.open.store.record_intents(&intents, Timestamp(at)).await.expect("stored");
        let ended = intents.into_iter().map(|Intent { effect, .. }| SettledIntent {
            effect,
            state: IntentState::Done,
            file: None,
        });
        let ended: Vec<SettledIntent> = ended.collect();
        self.open.store.record_outcomes(&ended).await.expect("settled");
    }

    async fn is_purged(&self, effect: &str) -> bool {
        let scope = UndoScope::ChangeSet { change_set: format!("set-{effect}").into() };
        let found = self.open.store.effects_in_scope(&scope).await.expect("read");
        found.first().expect("it keeps its row").purged.is_some()
    }

    async fn listed(&self) -> Vec<AppliedNote> {
        self.listed_sets().await.into_iter().flat_map(|set| set.notes).collect()
    }

    async fn listed_sets(&self) -> Vec<AppliedSet> {
        let all = ListApplied { conversation: None, before: None };
        self.app.list_applied(&all).await.expect("a list").sets
    }
}

fn intent(effect: &str, change: Change) -> Intent {
    Intent {
        effect: effect.into(),
        change_set: format!("set-{effect}").into(),
        turn: "t".into(),
        call: effect.into(),
        unit: None,
        base: None,
        access: None,
        is_exact: false,
        staged: None,
        temp_name: format!(".vaultmate-{effect}.tmp"),
        change,
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
async fn old_history_is_purged_automatically_and_repeatedly() {
    let mut stage = RetentionFixture::new().await;
    let today = now().0;
    stage.changed("old", edit("1\n", "2\n"), today - 91 * DAY_MS).await;
    stage.changed("young", edit("2\n", "3\n"), today - 89 * DAY_MS).await;
    let often = RetentionSchedule { days: 90, bytes: 0, interval: Duration::from_millis(1) };
    stage.open.tasks.spawn(Arc::clone(&stage.open.retention).run_schedule(often));
    stage.over.wait_for(|told| told.len() == 1).await.expect("it is told");
    assert!(stage.is_purged("old").await);
    assert!(!stage.is_purged("young").await);
    stage.changed("older", edit("0\n", "1\n"), today - 92 * DAY_MS).await;
    stage.over.wait_for(|told| told.len() == 2).await.expect("it is told again");
    assert!(stage.is_purged("older").await);
    assert_eq!(stage.app.shutdown().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_history_is_purged_while_there_is_room() {
    let stage = RetentionFixture::new().await;
    stage.changed("old", edit("1\n", "2\n"), 1).await;
    let since = Timestamp(now().0 - RETENTION.days * DAY_MS);
    let policy = RetentionPolicy { since, bytes: RETENTION.bytes };
    let (mut lost, progress) = (Vec::new(), Progress::default());
    let gone = purge(&stage.open.store, policy, &progress, &mut lost).await;
    assert_eq!((gone.expect("looked"), lost), (PurgeStats::default(), Vec::new()));
    assert!(!stage.is_purged("old").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn purged_changes_stay_listed_with_their_lines_and_cannot_be_undone() {
    let stage = RetentionFixture::new().await;
    let at = now().0 - 40 * DAY_MS;
    stage.changed("e1", edit("a\nb\n", "a\nx\ny\n"), at).await;
    stage.changed("e2", edit("a\nx\ny\n", "A\nx\ny\n"), now().0).await;
    write(stage.folder.path(), "A\nx\ny\n");
    let kept = stage.app.history_stats().await.expect("known");
    assert_eq!(kept.since, Some(Timestamp(at)));
    let older: Vec<_> = kept.older.iter().map(|older| older.changes).collect();
    assert_eq!(older, [0, 1, 2]);
    let deleted = stage.app.delete_history(HistoryAge::ThirtyDays).await.expect("deleted");
    assert_eq!((deleted.changes, deleted.bytes > 0), (1, true));

    let notes = stage.listed().await;
    let [second, first] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((first.added, first.removed, first.too_old), (2, 1, true));
    assert_eq!((second.added, second.removed, second.too_old), (1, 1, false));
    assert_eq!(stage.app.applied_hunks(&"e1".into()).await.expect("none").hunks, []);
    let scope = UndoScope::ChangeSet { change_set: "set-e1".into() };
    let undone = stage.app.undo(&scope).await.expect("an answer");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (0, 1));
    let why = &undone.conflicts[0].why;
    assert_eq!(why, "This change is too old. Its text is no longer stored.");

    // A young change can be undone, and redone until its history is deleted too.
    let scope = UndoScope::ChangeSet { change_set: "set-e2".into() };
    let undone = stage.app.undo(&scope).await.expect("undone");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (1, 0));
    let of_second = async || stage.listed().await.remove(1);
    assert_eq!(
        (of_second().await.standing, of_second().await.too_old),
        (ChangeStatus::Undone, false)
    );
    stage.app.delete_history(HistoryAge::Any).await.expect("deleted");
    assert_eq!(
        (of_second().await.standing, of_second().await.too_old),
        (ChangeStatus::Undone, true)
    );
    let redone = stage.app.redo(&scope).await.expect("an answer");
    assert_eq!((redone.changed.len(), redone.conflicts.len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_together_is_too_old_together() {
    let stage = RetentionFixture::new().await;
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
            access: None,
            is_exact: false,
            staged: None,
            temp_name: format!(".vaultmate-{effect}.tmp"),
            change,
        };
        stage.open.store.record_intents(&[intent], Timestamp(1)).await.expect("stored");
        let ended = SettledIntent { effect: effect.into(), state: IntentState::Done, file: None };
        stage.open.store.record_outcomes(&[ended]).await.expect("settled");
    }
    let too_old = async || stage.listed().await.iter().map(|n| n.too_old).collect::<Vec<_>>();
    assert_eq!(too_old().await, [false, false]);
    stage.app.delete_history(HistoryAge::Any).await.expect("deleted");
    assert_eq!(too_old().await, [true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn few_purged_changes_are_told_as_they_are_listed_and_many_are_to_be_listed_again() {
    let mut stage = RetentionFixture::new().await;
    stage.changed("e1", edit("a\n", "b\n"), 1).await;
    stage.changed("e2", edit("b\n", "b\nc\n"), 2).await;
    write(stage.folder.path(), "b\nc\n");
    let before = stage.listed_sets().await;
    let undo = UndoScope::ChangeSet { change_set: "set-e2".into() };
    stage.app.undo(&undo).await.expect("undone");
    stage.app.delete_history(HistoryAge::Any).await.expect("deleted");
    let listed = stage.listed_sets().await;
    assert_ne!(listed, before, "the control: they stand differently");
    let told = stage.over.wait_for(|told| {
        let sets = told.iter().filter_map(|event| match event {
            AppEvent::AppliedChanged { set } => Some(set),
            _ => None,
        });
        let sets: Vec<&AppliedSet> = sets.collect();
        listed.iter().all(|set| sets.contains(&set))
    });
    assert!(!told.await.expect("they are told").contains(&AppEvent::HistoryChanged));

    let change = |n: u32| edit(&format!("{n}\n"), &format!("{n}!\n"));
    let many = (0..101).map(|n| intent(&format!("m{n}"), change(n)));
    stage.changed_together(many.collect(), 3).await;
    stage.app.delete_history(HistoryAge::Any).await.expect("deleted");
    let is_told = |told: &Vec<AppEvent>| told.contains(&AppEvent::HistoryChanged);
    stage.over.wait_for(is_told).await.expect("it is told");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purged_change_of_a_large_set_is_to_be_listed_again() {
    let mut stage = RetentionFixture::new().await;
    let of_large_set = |n: u32| {
        let change = edit(&format!("{n}\n"), &format!("{n}!\n"));
        Intent { change_set: "large".into(), ..intent(&format!("l{n}"), change) }
    };
    let today = now().0;
    stage.changed_together(vec![of_large_set(0)], today - 40 * DAY_MS).await;
    stage.changed_together((1..101).map(of_large_set).collect(), today).await;
    let deleted = stage.app.delete_history(HistoryAge::ThirtyDays).await.expect("deleted");
    assert_eq!(deleted.changes, 1, "the control: few are purged");
    let told = stage.over.wait_for(|told| !told.is_empty()).await.expect("it is told");
    assert_eq!(*told, [AppEvent::HistoryChanged]);
}
