//! Links lead to their notes also where a part of what was accepted with a move is refused, or undone while the move
//! stands.

use std::fs;

use protocol::changes::history::{ChangeStatus, UndoScope};
use protocol::{ChangeSetId, ConversationId};
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use super::second_plan::{ScriptedCall, delete, edit, move_to};
use crate::changes::undo_identity::{only_conflict, undo_newest};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

/// The application while the changes of these calls, all of one message, are pending.
async fn app_with_review(
    notes: &[(&str, &str)],
    calls: Vec<ScriptedCall>,
) -> (TestHome, RunningApp, ConversationId) {
    let model = ScriptedModel::start(vec![Reply::calls(calls), Reply::text("Done.")]).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    (home, running, conversation)
}

/// Accepts every note of the review. What could not be applied is pending again.
async fn accept_all(running: &RunningApp, conversation: &ConversationId) {
    let review = running.view(conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    drop(running.decide(conversation, &paths, &[]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_a_note_whose_deletion_is_refused_follow_a_move() {
    for is_changed in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Old.md", "[x](Plan.md)\n")];
        let calls = vec![delete("Old.md"), move_to("Plan.md", "Work/Plan.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        if is_changed {
            home.notes.write("Old.md", "[x](Plan.md)\nmine\n");
        }
        accept_all(&running, &conversation).await;
        assert_eq!(home.notes.read("Work/Plan.md"), "# Plan\n");
        // The control: a note as it was planned goes to the trash, and is not rewritten.
        match is_changed {
            true => assert_eq!(home.notes.read("Old.md"), "[x](Work/Plan.md)\nmine\n"),
            false => assert!(!home.notes.root().join("Old.md").exists()),
        }
        running.quit().await;
    }
}

/// Renames the folder `Work` as another program does.
fn rename_work(home: &TestHome, name: &str) {
    let root = home.notes.root();
    fs::rename(root.join("Work"), root.join(name)).expect("renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_come_back_into_a_folder_that_was_renamed_since_lead_to_their_note() {
    for renamed in [Some("Archive"), None] {
        let notes = [
            ("Work/Plan.md", "# Plan\n"),
            ("Home/Plan.md", "# Another\n"),
            ("Work/Old.md", "[x](Plan.md)\n"),
        ];
        let calls = vec![move_to("Work/Plan.md", "Goal.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        accept_all(&running, &conversation).await;
        assert_eq!(home.notes.read("Work/Old.md"), "[x](../Goal.md)\n");
        if let Some(folder) = renamed {
            rename_work(&home, folder);
        }
        undo_newest(&running).await;
        assert_eq!(home.notes.read("Work/Plan.md"), "# Plan\n");
        match renamed {
            Some(_) => assert_eq!(home.notes.read("Archive/Old.md"), "[x](../Work/Plan.md)\n"),
            None => assert_eq!(home.notes.read("Work/Old.md"), "[x](Plan.md)\n"),
        }
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_note_that_was_moved_with_its_folder_comes_back_as_it_was() {
    const LOG: &str = "# Log\n\nSee [x](README.md) and [[README]].\n";
    let notes = [("README.md", "# All\n"), ("Work/README.md", "# Work\n"), ("Work/Log.md", LOG)];
    let calls = vec![edit("Work/Log.md", "See [x](README.md) and [[README]].", "Nothing.")];
    let (home, running, conversation) = app_with_review(&notes, calls).await;
    accept_all(&running, &conversation).await;
    rename_work(&home, "Archive");
    undo_newest(&running).await;
    assert_eq!(home.notes.read("Archive/Log.md"), LOG);
    running.quit().await;
}

/// The application with a model that answers each message with one of these calls.
async fn app_with_calls(
    notes: &[(&str, &str)],
    calls: Vec<ScriptedCall>,
) -> (TestHome, RunningApp, ScriptedModel) {
    let answers = |call| [Reply::calls(vec![call]), Reply::text("Done.")];
    let model = ScriptedModel::start(calls.into_iter().flat_map(answers).collect()).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    (home, running, model)
}

/// Sends a message, and accepts what the model plans.
async fn accepted_message(running: &RunningApp) -> ConversationId {
    let conversation = running.send_and_wait(None, "Please").await;
    accept_all(running, &conversation).await;
    conversation
}

/// The application after each of these calls, a message of its own, was accepted.
async fn app_after_messages(
    notes: &[(&str, &str)],
    calls: Vec<ScriptedCall>,
) -> (TestHome, RunningApp, Vec<ConversationId>) {
    let messages = calls.len();
    let (home, running, _model) = app_with_calls(notes, calls).await;
    let mut conversations = Vec::new();
    for _ in 0..messages {
        conversations.push(accepted_message(&running).await);
    }
    (home, running, conversations)
}

async fn undo_message(running: &RunningApp, conversation: &ConversationId) {
    let scope = UndoScope::Conversation { conversation: conversation.clone() };
    let undone = running.app.undo(&scope).await.expect("undone");
    assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_comes_back_and_goes_again_after_the_note_it_links_to_was_moved() {
    const LOG: &str = "# Log\n\nSee [x](Plan.md), [[Plan]].\n\nend\n";
    const EDITED: &str = "# Log\n\nPlanned.\n\nEND\n";
    let notes = [("Plan.md", "# Plan\n"), ("Log.md", LOG)];
    let calls = vec![
        edit("Log.md", "See [x](Plan.md), [[Plan]].\n\nend", "Planned.\n\nEND"),
        move_to("Plan.md", "Archive/Plan.md"),
    ];
    let (home, running, conversations) = app_after_messages(&notes, calls).await;
    assert_eq!(home.notes.read("Log.md"), EDITED);
    // Another note has the old place by then.
    home.notes.write("Plan.md", "# New\n");
    undo_message(&running, &conversations[0]).await;
    let restored = "# Log\n\nSee [x](Archive/Plan.md), [[Archive/Plan]].\n\nend\n";
    assert_eq!(home.notes.read("Log.md"), restored);
    let scope = UndoScope::Conversation { conversation: conversations[0].clone() };
    let redone = running.app.redo(&scope).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    assert_eq!(home.notes.read("Log.md"), EDITED);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_comes_back_while_a_move_stands_leads_to_the_moved_note() {
    const LOG: &str = "# Log\n\nSee [x](Plan.md).\n\nSee [y](Else.md).\n";
    let notes = [("Plan.md", "# Plan\n"), ("Else.md", "# Else\n"), ("Log.md", LOG)];
    let calls = vec![
        edit("Log.md", "See [x](Plan.md).", "Planned."),
        edit("Log.md", "See [y](Else.md).", "Nothing else."),
        move_to("Plan.md", "Work/Plan.md"),
    ];
    let (home, running, conversation) = app_with_review(&notes, calls).await;
    accept_all(&running, &conversation).await;
    assert_eq!(home.notes.read("Log.md"), "# Log\n\nPlanned.\n\nNothing else.\n");
    let set = applied_sets(&running).await.remove(0);
    let log = set.notes.iter().find(|note| note.path.as_str() == "Log.md").expect("its edit");
    for hunk in [0, 1] {
        let scope = UndoScope::Effect { effect: log.effect.clone(), hunks: vec![hunk] };
        let undone = running.app.undo(&scope).await.expect("undone");
        assert_eq!(undone.conflicts, [], "hunk {hunk}");
    }
    // The control: a link to a note that was not moved comes back as it was.
    let now = "# Log\n\nSee [x](Work/Plan.md).\n\nSee [y](Else.md).\n";
    assert_eq!(home.notes.read("Log.md"), now);
    // The rest of the set, the move among it, can be undone too, and the note is as it was at first.
    running.app.undo(&UndoScope::ChangeSet { change_set: set.id }).await.expect("undone");
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Log.md"), LOG);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_comes_back_leads_to_a_note_that_was_in_the_trash_meanwhile() {
    let log = "See [[Plan]], [x](Plan.md).\n";
    let edits = edit("Log.md", "See [[Plan]], [x](Plan.md).", "Planned.");
    let archived = ("Plan.md", "Archive/Plan.md");
    for (other, moved, deleted, expected) in [
        ("Idea.md", archived, archived.1, "See [[Plan]], [x](Archive/Plan.md).\n"),
        ("Sub/Plan.md", ("Log.md", "Work/Log.md"), "Plan.md", "See [[Plan]], [x](../Plan.md).\n"),
    ] {
        let notes = [("Plan.md", "# Plan\n"), (other, "# Another\n"), ("Log.md", log)];
        let calls = vec![edits.clone(), move_to(moved.0, moved.1), delete(deleted)];
        let (home, running, conversations) = app_after_messages(&notes, calls).await;
        assert!(!home.notes.root().join(deleted).exists(), "the control: it is in the trash");
        undo_message(&running, &conversations[2]).await;
        undo_message(&running, &conversations[0]).await;
        let path = if moved.0 == "Log.md" { moved.1 } else { "Log.md" };
        assert_eq!(home.notes.read(path), expected);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_comes_back_is_never_led_to_a_note_that_it_did_not_mean() {
    // A note that is made after the edit and moved, where the one that was meant was renamed by hand.
    for is_renamed in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Log.md", "See [[Plan]].\n")];
        let calls =
            vec![edit("Log.md", "See [[Plan]].", "Planned."), move_to("Plan.md", "Ideas.md")];
        let (home, running, _model) = app_with_calls(&notes, calls).await;
        let edited = accepted_message(&running).await;
        if is_renamed {
            let root = home.notes.root();
            fs::rename(root.join("Plan.md"), root.join("Plan 2024.md")).expect("renamed");
            home.notes.write("Plan.md", "# New\n");
        }
        accepted_message(&running).await;
        undo_message(&running, &edited).await;
        // The control: the note that was meant.
        let expected = if is_renamed { "See [[Plan]].\n" } else { "See [[Ideas]].\n" };
        assert_eq!(home.notes.read("Log.md"), expected);
        running.quit().await;
    }
    // Another note with the name of one that was deleted.
    for is_deleted in [true, false] {
        let (meant, text) =
            if is_deleted { ("B.md", "See [[B]].\n") } else { ("C.md", "See [[B]].\n") };
        let notes = [(meant, "# B\n"), ("Z/B.md", "# Another\n"), ("N.md", text)];
        let calls = vec![
            edit("N.md", "See [[B]].", "Seen."),
            delete(meant),
            move_to("Z/B.md", "Z/Other.md"),
        ];
        let (home, running, conversations) = app_after_messages(&notes, calls).await;
        undo_message(&running, &conversations[0]).await;
        let expected = if is_deleted { text } else { "See [[Other]].\n" };
        assert_eq!(home.notes.read("N.md"), expected);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_made_again_lead_to_a_note_that_was_moved_since() {
    for text in ["Plan.", "See [[Plan]]."] {
        let notes = [("Plan.md", "# Plan\n"), ("Log.md", "a\n\nb\n\nc\n")];
        let made = format!("{text}\n\nb\n\nC");
        let calls = vec![edit("Log.md", "a\n\nb\n\nc", &made), move_to("Plan.md", "Roadmap.md")];
        let (home, running, _model) = app_with_calls(&notes, calls).await;
        let edited = accepted_message(&running).await;
        undo_message(&running, &edited).await;
        assert_eq!(home.notes.read("Log.md"), "a\n\nb\n\nc\n");
        accepted_message(&running).await;
        let scope = UndoScope::Conversation { conversation: edited };
        let redone = running.app.redo(&scope).await.expect("redone");
        assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
        // The control: a word that is no link.
        let now = format!("{}\n\nb\n\nC\n", text.replace("[[Plan]]", "[[Roadmap]]"));
        assert_eq!(home.notes.read("Log.md"), now);
        running.quit().await;
    }
}

/// One of two edits of the note is in conflict. A move between them is no reason to lead the other to an old place.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_one_of_two_edits_that_is_made_again_leads_to_a_note_that_was_moved_since() {
    for is_move_between in [true, false] {
        let notes =
            [("Plan.md", "# Plan\n"), ("Else.md", "# Else\n"), ("Log.md", "first\n\nb\n\nlast\n")];
        let between = is_move_between.then(|| move_to("Else.md", "Other.md"));
        let mut calls = vec![edit("Log.md", "first", "See [[Plan]].")];
        calls.extend(between);
        calls.extend([edit("Log.md", "last", "LAST"), move_to("Plan.md", "Roadmap.md")]);
        let (home, running, _model) = app_with_calls(&notes, calls).await;
        let edited = accepted_message(&running).await;
        if is_move_between {
            accepted_message(&running).await;
        }
        running.send_and_wait(Some(&edited), "Please").await;
        accept_all(&running, &edited).await;
        assert_eq!(home.notes.read("Log.md"), "See [[Plan]].\n\nb\n\nLAST\n");
        undo_message(&running, &edited).await;
        accepted_message(&running).await;
        home.notes.write("Log.md", "first\n\nb\n\nby hand\n");

        let scope = UndoScope::Conversation { conversation: edited };
        let redone = running.app.redo(&scope).await.expect("as far as it goes");
        assert_eq!((redone.conflicts.len(), redone.left), (1, 0), "{redone:?}");
        assert_eq!(home.notes.read("Log.md"), "See [[Roadmap]].\n\nb\n\nby hand\n");
        let changes = applied_sets(&running).await.into_iter().rev().flat_map(|set| set.notes);
        let of_log = changes.filter(|change| change.path.as_str() == "Log.md");
        let standings: Vec<_> = of_log.map(|change| change.standing).take(2).collect();
        assert_eq!(standings, [ChangeStatus::Stands, ChangeStatus::Undone], "{is_move_between}");
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_undone_though_lines_with_links_to_it_were_changed_or_their_note_is_gone() {
    let notes = [
        ("Plan.md", "# Plan\n"),
        ("Alone.md", "one [[Plan]]\n"),
        ("Both.md", "see [[Plan]]\n\ntwo [[Plan#Plan|it]]\n"),
        ("Gone.md", "[[Plan]]\n"),
        ("Same.md", "[[Plan]]\n"),
        ("Without.md", "[[Plan]]\n"),
    ];
    let calls = vec![move_to("Plan.md", "Work/The plan.md")];
    let (home, running, conversation) = app_with_review(&notes, calls).await;
    accept_all(&running, &conversation).await;
    assert_eq!(home.notes.read("Both.md"), "see [[The plan]]\n\ntwo [[The plan#Plan|it]]\n");
    home.notes.write("Alone.md", "one [[The plan]] by hand\n");
    home.notes.write("Both.md", "see [[The plan]]\n\nalso [[The plan#Plan|it]]\n");
    home.notes.write("Without.md", "nothing\n");
    fs::remove_file(home.notes.root().join("Gone.md")).expect("removed");
    let set = applied_sets(&running).await.remove(0);
    let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
    assert_eq!(standings(&running, &set.id).await, [ChangeStatus::Stands; 6]);

    let undone = running.app.undo(&scope).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    // The move and all links of it, also where the undo had nothing to do.
    assert_eq!(standings(&running, &set.id).await, [ChangeStatus::Undone; 6]);
    running.app.undo(&scope).await.expect_err("nothing is left to undo");
    let read = |path: &str| home.notes.try_read(path);
    let texts = |plan: &str| {
        [
            ("Alone.md", Some(format!("one [[{plan}]] by hand\n"))),
            ("Both.md", Some(format!("see [[{plan}]]\n\nalso [[{plan}#Plan|it]]\n"))),
            ("Gone.md", None),
            ("Same.md", Some(format!("[[{plan}]]\n"))),
            ("Without.md", Some("nothing\n".to_owned())),
        ]
    };
    for (path, text) in texts("Plan") {
        assert_eq!(read(path), text, "{path}");
    }
    assert_eq!((read("Plan.md").as_deref(), read("Work/The plan.md")), (Some("# Plan\n"), None));

    let redone = running.app.redo(&scope).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    for (path, text) in texts("The plan") {
        assert_eq!(read(path), text, "{path}");
    }
    assert_eq!((read("Plan.md"), read("Work/The plan.md").as_deref()), (None, Some("# Plan\n")));
    assert_eq!(standings(&running, &set.id).await, [ChangeStatus::Stands; 6]);
    running.quit().await;
}

/// How the changes of a set stand by now.
async fn standings(running: &RunningApp, set: &ChangeSetId) -> Vec<ChangeStatus> {
    let now = applied_sets(running).await.into_iter().find(|now| now.id == *set);
    now.expect("it is listed").notes.iter().map(|note| note.standing).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_another_program_reverted_is_undone_and_redone_with_its_move() {
    let notes = [("Plan.md", "# Plan\n"), ("Log.md", "see [[Plan]]\n")];
    let calls = vec![move_to("Plan.md", "Work/The plan.md")];
    let (home, running, conversation) = app_with_review(&notes, calls).await;
    accept_all(&running, &conversation).await;
    assert_eq!(home.notes.read("Log.md"), "see [[The plan]]\n");
    let set = applied_sets(&running).await.remove(0);
    let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
    home.notes.write("Log.md", "see [[Plan]]\n");
    let is_overwritten = running.until("an overwritten link", async || {
        let standings = standings(&running, &set.id).await;
        standings.contains(&ChangeStatus::Overwritten).then_some(())
    });
    is_overwritten.await;

    let undone = running.app.undo(&scope).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Log.md"), "see [[Plan]]\n");
    assert_eq!(standings(&running, &set.id).await, [ChangeStatus::Undone; 2]);
    for note in &set.notes {
        running.app.reapply(&note.effect).await.expect_err("it is undone");
    }
    assert_eq!(home.notes.read("Log.md"), "see [[Plan]]\n");

    let redone = running.app.redo(&scope).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert_eq!(home.notes.read("Work/The plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Log.md"), "see [[The plan]]\n");
    // The watch sees the link in the note again.
    let stand = running.until("no overwritten link", async || {
        let standings = standings(&running, &set.id).await;
        (standings == [ChangeStatus::Stands; 2]).then_some(())
    });
    stand.await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_not_reapplied_once_its_move_is_undone() {
    for is_undone in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Log.md", "see [[Plan]]\n")];
        let calls = vec![move_to("Plan.md", "Work/The plan.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        accept_all(&running, &conversation).await;
        home.notes.write("Log.md", "see nothing\n");
        let set = applied_sets(&running).await.remove(0);
        let link = set.notes.iter().find(|note| note.path.as_str() == "Log.md");
        let link = link.expect("its edit").effect.clone();
        let asked = running.app.reapply(&link).await.expect("as far as it goes");
        let conflict = only_conflict(&asked);
        if is_undone {
            undo_newest(&running).await;
            assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
        }
        let answered = running.app.resolve_conflict(conflict).await;
        // The control: the move stands.
        assert_eq!(answered.is_err(), is_undone, "{answered:?}");
        let text = if is_undone { "see nothing\n" } else { "see [[The plan]]\n" };
        assert_eq!(home.notes.read("Log.md"), text);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_line_whose_link_no_move_leads_back_is_asked_about() {
    for moves_back in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Alone.md", "one [[Plan]]\n")];
        let calls = vec![move_to("Plan.md", "Work/The plan.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        accept_all(&running, &conversation).await;
        let by_hand: &[u8] = match moves_back {
            true => b"one [[The plan]] by hand\n",
            // The links of a note that is not UTF-8 are left as they are.
            false => b"one [[The plan]] by h\xe4nd\n",
        };
        fs::write(home.notes.root().join("Alone.md"), by_hand).expect("written");
        if moves_back {
            rename_note(&home, "Work/The plan.md", "Plan.md");
        }
        let set = applied_sets(&running).await.remove(0);
        let undone = running.app.undo(&UndoScope::ChangeSet { change_set: set.id }).await;
        let undone = undone.expect("as far as it goes");
        let asked: Vec<_> = undone.conflicts.iter().map(|one| one.path.as_str()).collect();
        assert_eq!((asked, undone.changed.len()), (vec!["Alone.md"], 0), "{moves_back}");
        assert_eq!(fs::read(home.notes.root().join("Alone.md")).expect("read"), by_hand);
        running.quit().await;
    }
}

/// Between the undo and the redo the user changes lines with links to the moved note: one that the move rewrote, and one
/// that the user wrote.
#[tokio::test(flavor = "multi_thread")]
async fn links_in_lines_that_were_changed_after_an_undo_are_led_to_the_note_by_a_redo() {
    for by_notice in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Alone.md", "one [[Plan]]\n"), ("Diary.md", "-\n")];
        let calls = vec![move_to("Plan.md", "Work/The plan.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        accept_all(&running, &conversation).await;
        assert_eq!(home.notes.read("Alone.md"), "one [[The plan]]\n");
        home.notes.write("Diary.md", "see [[The plan]]\n");
        let set = applied_sets(&running).await.remove(0);
        let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
        let undone = running.app.undo(&scope).await.expect("undone");
        assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
        assert_eq!(home.notes.read("Diary.md"), "see [[Plan]]\n");

        home.notes.write("Alone.md", "one [[Plan]] by hand\n");
        home.notes.write("Diary.md", "see [[Plan]] by hand\n");
        let redone = match by_notice {
            true => {
                let change_set = undone.change_set.expect("a set");
                running.app.undo(&UndoScope::ChangeSet { change_set }).await
            }
            false => running.app.redo(&scope).await,
        };
        let redone = redone.expect("redone");
        assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0), "{by_notice}");
        assert_eq!(home.notes.read("Work/The plan.md"), "# Plan\n");
        assert_eq!(home.notes.read("Alone.md"), "one [[The plan]] by hand\n");
        assert_eq!(home.notes.read("Diary.md"), "see [[The plan]] by hand\n");
        assert_eq!(standings(&running, &set.id).await, [ChangeStatus::Stands; 2]);
        running.quit().await;
    }
}

fn rename_note(home: &TestHome, from: &str, to: &str) {
    let root = home.notes.root();
    fs::rename(root.join(from), root.join(to)).expect("renamed");
}
