//! Applied changes are listed, undone beside the user's own later edits, redone, and reapplied
//! where another program overwrote them.

mod folders;
mod kept_links;
mod planned_again;
mod redo_edits;
pub(super) mod second_plan;
mod turn_scope;

use protocol::changes::history::{
    AppliedBy, AppliedNote, AppliedSet, ChangeStatus, ListApplied, UndoScope,
};
use protocol::changes::review::DiffLineKind;
use protocol::{AppEvent, ChangeKind, ContentHash};
use serde_json::json;
use testkit::stories::note_changes;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::{Reply, ScriptedModel};

use super::undo_identity::{app_after_call, app_after_calls};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const CHANGED_NOTES: [&str; 3] = ["Alpha.md", "Beta.md", "Deep/Gamma.md"];

/// The application after three notes were changed together.
async fn app_with_changes() -> (TestHome, ScriptedModel, RunningApp) {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    running.decide(&conversation, &CHANGED_NOTES, &[]).await.expect("applied");
    for (path, text) in EDITED {
        assert_eq!(home.notes.read(path), text);
    }
    (home, model, running)
}

async fn applied_sets(app: &RunningApp) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets
}

fn scope_of_set(set: &AppliedSet) -> UndoScope {
    UndoScope::ChangeSet { change_set: set.id.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_set_keeps_later_edits_and_is_redone_after_a_restart() {
    let (home, model, running) = app_with_changes().await;
    let later = format!("{}By hand.\n", home.notes.read("Alpha.md"));
    home.notes.write("Alpha.md", &later);
    let set = applied_sets(&running).await.remove(0);
    assert_eq!(
        (set.by, set.notes.len(), set.request.as_str()),
        (AppliedBy::Assistant, 3, "play review")
    );
    assert_eq!((set.notes[0].added, set.notes[0].removed), (1, 1));
    let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert_eq!((undone.conflicts.len(), undone.changed.len()), (0, 3));
    let original = |path: &str| NOTES.iter().find(|(name, _)| *name == path).expect("a note").1;
    assert_eq!(home.notes.read("Alpha.md"), format!("{}By hand.\n", original("Alpha.md")));
    assert_eq!(home.notes.read("Beta.md"), original("Beta.md"));
    let stands = |set: &AppliedSet| set.notes.iter().map(|note| note.standing).collect::<Vec<_>>();
    let sets = applied_sets(&running).await;
    assert_eq!((sets[0].by, stands(&sets[1])), (AppliedBy::Undo, vec![ChangeStatus::Undone; 3]));
    let again = running.app.undo(&scope_of_set(&set)).await.expect_err("nothing is left");
    assert_eq!(again.message, "This is already undone, or nothing was changed.");
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    running.app.redo(&scope_of_set(&set)).await.expect("redone");
    assert_eq!(home.notes.read("Alpha.md"), later);
    assert_eq!(home.notes.read("Beta.md"), EDITED[1].1);
    let sets = applied_sets(&running).await;
    assert_eq!((sets.len(), stands(&sets[2])), (3, vec![ChangeStatus::Stands; 3]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_is_the_newest_by_place_and_time_once_the_rest_of_it_is_accepted() {
    let edit = |path: &str| {
        ("edit_file", json!({ "path": path, "old_text": "before", "new_text": "after" }))
    };
    let create = ("write_file", json!({ "path": "C.md", "content": "created\n" }));
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![edit("A.md"), edit("B.md")]),
        Reply::text("Look at it."),
        Reply::calls(vec![create]),
        Reply::text("Done."),
    ])
    .await;
    let home = home_with_key(&[("A.md", "before\n"), ("B.md", "before\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "change both").await;
    running.decide(&conversation, &["A.md"], &[]).await.expect("applied");
    let begun = applied_sets(&running).await.remove(0);
    running.send_and_wait(None, "create one").await;
    // The control: until then the set of the other conversation is newer.
    let sets = applied_sets(&running).await;
    assert_eq!((sets.len(), &sets[1]), (2, &begun));
    assert!(sets[0].at >= begun.at, "{sets:?}");

    running.decide(&conversation, &["B.md"], &[]).await.expect("applied");
    let now = applied_sets(&running).await;
    assert_eq!((&now[0].id, now[0].notes.len(), &now[1]), (&begun.id, 2, &sets[0]));
    assert!(now[0].at >= now[1].at, "{now:?}");
    running.app.undo(&scope_of_set(&now[0])).await.expect("undone");
    assert_eq!(["A.md", "B.md"].map(|path| home.notes.read(path)), ["before\n", "before\n"]);
    assert_eq!(home.notes.read("C.md"), "created\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_in_a_note_since_is_told_wherever_it_is_by_now() {
    let (home, _model, running) = app_with_changes().await;
    let set = applied_sets(&running).await.remove(0);
    let since = |note: usize| {
        let (app, effect) = (running.app.clone(), set.notes[note].effect.clone());
        async move { app.diff_since(&effect).await.expect("told") }
    };
    assert_eq!(set.notes.iter().map(|note| note.path.as_str()).collect::<Vec<_>>(), CHANGED_NOTES);
    for (note, path) in CHANGED_NOTES.into_iter().enumerate() {
        let same = since(note).await;
        let found = same.path.as_ref().map(ToString::to_string);
        assert_eq!((found.as_deref(), same.hunks.len()), (Some(path), 0));
    }

    home.notes.write("Alpha.md", format!("{}By hand.\n", home.notes.read("Alpha.md")));
    let lines: Vec<_> = since(0).await.hunks.into_iter().flat_map(|hunk| hunk.lines).collect();
    let added: Vec<_> = lines.iter().filter(|line| line.sign == DiffLineKind::Added).collect();
    let words: String =
        added.iter().flat_map(|line| &line.words).map(|w| w.text.as_str()).collect();
    assert_eq!((added.len(), words.as_str()), (1, "By hand."));
    assert!(lines.iter().all(|line| line.sign != DiffLineKind::Removed), "{lines:?}");

    std::fs::rename(home.notes.root().join("Beta.md"), home.notes.root().join("Deep/Beta 2.md"))
        .expect("renamed by hand");
    let moved = since(1).await;
    assert_eq!(moved.path.map(|path| path.to_string()).as_deref(), Some("Deep/Beta 2.md"));
    assert_eq!(moved.hunks.len(), 0);
    std::fs::remove_file(home.notes.root().join("Deep/Gamma.md")).expect("removed by hand");
    assert_eq!(since(2).await.path, None);

    running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert_eq!(since(0).await.hunks.len(), 2, "the undo changed it as well");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_shows_both_versions_and_is_settled_by_the_user() {
    let (home, _model, running) = app_with_changes().await;
    let by_hand = "# Alpha\n\nThe first line, by hand.\nThe second line of alpha.\n";
    home.notes.write("Alpha.md", by_hand);
    let set = applied_sets(&running).await.remove(0);
    let undone = running.app.undo(&scope_of_set(&set)).await.expect("as far as it goes");
    assert_eq!(home.notes.read("Alpha.md"), by_hand);
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.line, place.now.as_str()), (3, "The first line, by hand.\n"));
    assert_eq!(place.back, "The first line of alpha.\n");
    running.app.resolve_conflict(conflict).await.expect("settled");
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    let moved_on = running.app.resolve_conflict(conflict).await.expect_err("it is settled");
    assert!(moved_on.message.contains("changed again"), "{moved_on:?}");
    running.quit().await;
}

/// The application after a note in Latin-1 was rewritten.
async fn app_after_rewrite(before: &[u8], after: &str) -> (TestHome, RunningApp) {
    let home = home_with_key(&[]);
    home.notes.write("Menu.md", before);
    let call = json!({
        "path": "Menu.md", "content": after,
        "overwrite": true, "expect_hash": ContentHash::of(before).as_str(),
    });
    let replies = vec![Reply::calls(vec![("write_file", call)]), Reply::text("Done.")];
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings_with_model(&model)).await;
    // No tool shows a line that is not UTF-8, so the message tells it.
    let told = format!("in ASCII, please:\n{}", String::from_utf8_lossy(before));
    let conversation = running.send_and_wait(None, &told).await;
    running.decide(&conversation, &["Menu.md"], &[]).await.expect("applied");
    (home, running)
}

/// Undoes the newest set, and answers its only conflict with the versions that it shows.
async fn undo_and_settle(running: &RunningApp, shown: &[&str]) {
    let set = applied_sets(running).await.remove(0);
    let undone = running.app.undo(&scope_of_set(&set)).await.expect("as far as it goes");
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    let versions: Vec<_> = conflict.places.iter().map(|place| place.back.as_str()).collect();
    assert_eq!(versions, shown);
    running.app.resolve_conflict(conflict).await.expect("settled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_version_that_is_not_utf8_comes_back_byte_by_byte() {
    const LATIN_1: &[u8] = b"# Menu\n\nCaf\xe9\ntea\n";
    let (home, running) = app_after_rewrite(LATIN_1, "# Menu\n\nCoffee\ntea\n").await;
    home.notes.write("Menu.md", "# Menu\n\nCoffee, black\ntea\n");
    undo_and_settle(&running, &["Caf\u{fffd}\n"]).await;
    let bytes = std::fs::read(home.notes.root().join("Menu.md")).expect("the note");
    assert_eq!(bytes.as_slice(), LATIN_1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_removed_beside_an_earlier_version_that_is_not_utf8() {
    const LATIN_1: &[u8] = b"# Menu\n\nCaf\xe9\ntea\nmilk\n";
    let after = "# Menu\n\nCoffee\ntea\nmilk\nwater\n";
    let (home, running) = app_after_rewrite(LATIN_1, after).await;
    home.notes.write("Menu.md", "# Menu\n\nCoffee, black\ntea\nmilk\nwater, still\n");
    undo_and_settle(&running, &["Caf\u{fffd}\n", ""]).await;
    let bytes = std::fs::read(home.notes.root().join("Menu.md")).expect("the note");
    assert_eq!(bytes.as_slice(), LATIN_1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overwritten_change_is_noticed_and_reapplied() {
    let (home, _model, running) = app_with_changes().await;
    let stale = format!("{}Saved by an editor that had the old text.\n", NOTES[0].1);
    home.notes.write("Alpha.md", &stale);
    let effect = running
        .wait_for_event("an overwritten change", |event| match event {
            AppEvent::AppliedChanged { set } => {
                let note = set.notes.iter().find(|n| n.standing == ChangeStatus::Overwritten)?;
                assert_eq!(note.path.as_str(), "Alpha.md");
                Some(note.effect.clone())
            }
            _ => None,
        })
        .await;
    running.app.reapply(&effect).await.expect("reapplied");
    let both = format!("{}Saved by an editor that had the old text.\n", EDITED[0].1);
    assert_eq!(home.notes.read("Alpha.md"), both);
    let set = applied_sets(&running).await.remove(1);
    assert!(set.notes.iter().all(|note| note.standing == ChangeStatus::Stands), "{set:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_note_at_the_path_of_a_changed_one_does_not_count_as_overwriting_it() {
    let (home, _model, running) = app_with_changes().await;
    let root = home.notes.root();
    std::fs::rename(root.join("Alpha.md"), root.join("Deep/Alpha 2.md")).expect("moved by hand");
    home.notes.write("Alpha.md", NOTES[0].1);
    // The control: the note itself. The two are looked at in the order of their names.
    home.notes.write("Beta.md", NOTES[1].1);
    let (stands, overwritten) = (ChangeStatus::Stands, ChangeStatus::Overwritten);
    assert_eq!(standings_after_overwrite(&running).await, [stands, overwritten, stands]);
    running.quit().await;
}

/// How the notes of a set stand, once another program has overwritten one of them.
async fn standings_after_overwrite(app: &RunningApp) -> Vec<ChangeStatus> {
    app.wait_for_event("an overwritten change", |event| match event {
        AppEvent::AppliedChanged { set } => {
            let standings: Vec<_> = set.notes.iter().map(|note| note.standing).collect();
            standings.contains(&ChangeStatus::Overwritten).then_some(standings)
        }
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_overwritten_while_the_vault_is_closed_is_noticed_and_reapplied() {
    let (home, model, running) = app_with_changes().await;
    running.quit().await;
    home.notes.write("Alpha.md", NOTES[0].1);
    let running = home.open(settings_with_model(&model)).await;
    // The control: nobody touched the other notes.
    let (stands, overwritten) = (ChangeStatus::Stands, ChangeStatus::Overwritten);
    assert_eq!(standings_after_overwrite(&running).await, [overwritten, stands, stands]);
    let set = applied_sets(&running).await.remove(0);
    assert_eq!((set.notes[0].path.as_str(), set.notes[0].standing), ("Alpha.md", overwritten));
    running.app.reapply(&set.notes[0].effect).await.expect("reapplied");
    assert_eq!(home.notes.read("Alpha.md"), EDITED[0].1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_a_move_that_a_checkout_reverts_are_all_noticed_and_the_move_stands() {
    const BEFORE: &str = "see [Plan](Plan.md)\n";
    let names: Vec<String> = (0..30).map(|number| format!("Note {number}.md")).collect();
    let linking = names.iter().map(|name| (name.as_str(), BEFORE));
    let notes: Vec<_> = linking.chain([("Plan.md", "# Plan\n")]).collect();
    let call = json!({ "source": "Plan.md", "destination": "Archive/Plan.md" });
    let (home, running) = app_after_call(&notes, "move_file", call).await;
    for name in &names {
        assert_eq!(home.notes.read(name), "see [Plan](Archive/Plan.md)\n");
        // Git writes a new file.
        std::fs::remove_file(home.notes.root().join(name)).expect("removed");
        home.notes.write(name, BEFORE);
    }
    let overwritten = running.until("all overwritten links", async || {
        let set = applied_sets(&running).await.remove(0);
        let is_overwritten = |note: &&AppliedNote| note.standing == ChangeStatus::Overwritten;
        (set.notes.iter().filter(is_overwritten).count() == names.len()).then_some(set)
    });
    let set = overwritten.await;
    let moved: Vec<_> = set.notes.iter().filter(|note| note.kind == ChangeKind::Rename).collect();
    let moved: Vec<_> = moved.iter().map(|note| (note.path.as_str(), note.standing)).collect();
    assert_eq!(moved, [("Plan.md", ChangeStatus::Stands)]);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_places_are_undone_one_by_one_is_undone_and_can_be_redone() {
    let lines: Vec<String> = (1..=20).map(|n| format!("line {n}\n")).collect();
    let (before, mut after) = (lines.concat(), lines.clone());
    (after[2], after[15]) = ("third\n".into(), "sixteenth\n".into());
    let after = after.concat();
    let home = home_with_key(&[("List.md", &before)]);
    let write = json!({ "path": "List.md", "content": after, "overwrite": true });
    let read = json!({ "path": "List.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", read)]),
        Reply::calls(vec![("write_file", write)]),
        Reply::text("Done."),
    ])
    .await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "change it").await;
    running.decide(&conversation, &["List.md"], &[]).await.expect("applied");
    let note = applied_sets(&running).await.remove(0).notes.remove(0);
    let place = |hunk: u32| UndoScope::Effect { effect: note.effect.clone(), hunks: vec![hunk] };
    let state = async || {
        let sets = applied_sets(&running).await;
        let now = sets.iter().flat_map(|set| &set.notes).find(|one| one.effect == note.effect);
        let now = now.expect("it is listed").clone();
        let undone = running.app.applied_hunks(&note.effect).await.expect("told").undone;
        (now.standing, now.added, undone)
    };
    assert_eq!(state().await, (ChangeStatus::Stands, 2, vec![]));
    running.app.undo(&place(1)).await.expect("undone");
    assert_eq!(state().await, (ChangeStatus::PartlyUndone, 1, vec![1]));
    running.app.undo(&place(1)).await.expect_err("it is undone already");
    running.app.undo(&place(0)).await.expect("undone");
    assert_eq!(home.notes.read("List.md"), before);
    assert_eq!(state().await, (ChangeStatus::Undone, 2, vec![0, 1]));
    let whole = UndoScope::Effect { effect: note.effect.clone(), hunks: Vec::new() };
    running.app.redo(&whole).await.expect("redone");
    assert_eq!(home.notes.read("List.md"), after);
    assert_eq!(state().await, (ChangeStatus::Stands, 2, vec![]));
    running.quit().await;
}

/// How the notes of a set stand, by its place in the list of the oldest ones.
async fn standings_of(running: &RunningApp, place: usize) -> Vec<ChangeStatus> {
    let set = applied_sets(running).await.into_iter().rev().nth(place).expect("a set");
    set.notes.into_iter().map(|note| note.standing).collect()
}

/// Redoes the first change of a set, by its place in the list of the oldest ones.
async fn redo_first_note(running: &RunningApp, place: usize) {
    let set = applied_sets(running).await.into_iter().rev().nth(place).expect("a set");
    let effect = set.notes[0].effect.clone();
    let scope = UndoScope::Effect { effect, hunks: Vec::new() };
    let redone = running.app.redo(&scope).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_one_edit_leaves_another_edit_of_the_note_undone() {
    let edit = |old: &str, new: &str| {
        vec![("edit_file", json!({ "path": "A.md", "old_text": old, "new_text": new }))]
    };
    let text = |first: &str, last: &str| format!("{first}\n\nmiddle\n\n{last}\n");
    let before = text("first", "last");
    let calls = vec![edit("first", "FIRST"), edit("last", "LAST")];
    let notes = [("A.md", before.as_str()), ("Top.md", "top\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    let whole = UndoScope::Conversation { conversation };
    let both = text("FIRST", "LAST");
    assert_eq!(home.notes.read("A.md"), both);
    let (stands, undone) = (vec![ChangeStatus::Stands], vec![ChangeStatus::Undone]);

    for order in [[0, 1], [1, 0]] {
        running.app.undo(&whole).await.expect("undone");
        assert_eq!(home.notes.read("A.md"), before);
        redo_first_note(&running, order[0]).await;
        let one = [text("FIRST", "last"), text("first", "LAST")];
        assert_eq!(home.notes.read("A.md"), one[order[0]], "the other edit stays undone");
        assert_eq!(standings_of(&running, order[0]).await, stands);
        assert_eq!(standings_of(&running, order[1]).await, undone);
        redo_first_note(&running, order[1]).await;
        assert_eq!(home.notes.read("A.md"), both);
        assert_eq!(standings_of(&running, order[0]).await, stands);
        assert_eq!(standings_of(&running, order[1]).await, stands);
    }
    // The control: both are redone where both are meant.
    running.app.undo(&whole).await.expect("undone");
    running.app.redo(&whole).await.expect("redone");
    assert_eq!(home.notes.read("A.md"), both);
    running.app.redo(&whole).await.expect_err("nothing is left to redo");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_and_a_move_of_what_the_note_links_to_are_redone_each_by_itself() {
    let edit = json!({ "path": "Links.md", "old_text": "end", "new_text": "END" });
    let moved = json!({ "source": "Plan.md", "destination": "Work/The plan.md" });
    let calls = vec![vec![("edit_file", edit)], vec![("move_file", moved)]];
    let text = |link: &str, last: &str| format!("see [[{link}]]\n\nmiddle\n\n{last}\n");
    let before = text("Plan", "end");
    let notes = [("Plan.md", "# Plan\n"), ("Links.md", before.as_str())];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    let whole = UndoScope::Conversation { conversation };
    let both = text("The plan", "END");
    assert_eq!(home.notes.read("Links.md"), both);

    for (order, one) in [([0, 1], text("Plan", "END")), ([1, 0], text("The plan", "end"))] {
        running.app.undo(&whole).await.expect("undone");
        assert_eq!(home.notes.read("Links.md"), before);
        redo_first_note(&running, order[0]).await;
        assert_eq!(home.notes.read("Links.md"), one, "the other change stays undone");
        let place = if order[0] == 0 { "Plan.md" } else { "Work/The plan.md" };
        assert_eq!(home.notes.read(place), "# Plan\n");
        let standings = standings_of(&running, order[1]).await;
        assert!(standings.iter().all(|one| *one == ChangeStatus::Undone), "{standings:?}");
        redo_first_note(&running, order[1]).await;
        assert_eq!(home.notes.read("Links.md"), both);
        assert_eq!(home.notes.read("Work/The plan.md"), "# Plan\n");
    }
    running.quit().await;
}
