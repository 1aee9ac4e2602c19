//! A data folder and its notes as version 0.1.0 left them, with schema 19: later versions open them, and what was
//! under way goes on.
//!
//! The files in `former_data` are never written again by a later version. `WRITE_FORMER_DATA=1` wrote them.

use std::fs;
use std::path::{Path, PathBuf};

use app::DataDir;
use protocol::changes::history::{ChangeStatus, ListApplied, UndoScope, UndoTarget};
use protocol::chat::conversation::ChatItem;
use protocol::settings::Theme;
use protocol::{Conversation, Mode, NotePath, TurnStatus};
use serde_json::json;
use testkit::{Reply, ScriptedModel, TempVault};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, user_messages,
};

const GARDEN: &str = "# Garden\n\nBeans, see [[Ferry]].\n";
const GARDEN_EDITED: &str = "# Garden\n\nBeans and peas, see [[Ferry]].\n";
const FERRY: &str = "# Ferry\n\nIt leaves at nine.\n";
const FERRY_EDITED: &str = "# Ferry\n\nIt leaves at ten.\n";

/// The messages of the three conversations, oldest first.
const MESSAGES: [&str; 3] = ["Add peas", "It leaves at ten", "Move the ferry"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("it/durability/former_data").join(name)
}

/// Copies the files of a folder, without what only a running application has there.
fn copy_files(from: &Path, to: &Path) {
    const LEFT_OUT: [&str; 3] = ["logs", "cache", ".write-lock"];
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        match entry.file_type().expect("a kind").is_dir() {
            true => copy_files(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("copied")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "writes the files that the other test opens, once for a version"]
async fn write_former_data() {
    assert!(std::env::var_os("WRITE_FORMER_DATA").is_some(), "set WRITE_FORMER_DATA");
    let replies = vec![
        Reply::calls(vec![(
            "edit_file",
            json!({ "path": "Garden.md", "old_text": "Beans", "new_text": "Beans and peas" }),
        )]),
        Reply::text("I added peas."),
        Reply::calls(vec![(
            "edit_file",
            json!({ "path": "Ferry.md", "old_text": "nine", "new_text": "ten" }),
        )]),
        Reply::text("I corrected it."),
        Reply::calls(vec![(
            "send_message",
            json!({ "message": "Where to?", "is_question": true, "options": ["Trips", "Archive"] }),
        )]),
    ];
    let model = ScriptedModel::start(replies).await;
    let home = home_with_key(&[("Garden.md", GARDEN), ("Ferry.md", FERRY)]);
    let mut settings = settings_with_model(&model);
    settings.theme = Theme::Dark;
    settings.private.never = vec!["Diary".into()];
    let running = home.open(settings).await;
    let edited = running.send_and_wait(None, MESSAGES[0]).await;
    running.decide(&edited, &["Garden.md"], &[]).await.expect("applied");
    running.send_and_wait(None, MESSAGES[1]).await;
    running.send_and_wait(None, MESSAGES[2]).await;
    running.quit().await;
    for (from, to) in [(home.notes.root(), "notes"), (home.data.root(), "data")] {
        copy_files(from, &folder(to));
    }
}

/// The application on a copy of the former data, with this model.
async fn open_former_data(model: &ScriptedModel) -> (TestHome, RunningApp) {
    let home = TestHome { notes: TempVault::new(&[]), data: TempVault::new(&[]) };
    copy_files(&folder("notes"), home.notes.root());
    copy_files(&folder("data"), home.data.root());
    let data = DataDir::at(home.data.root().to_owned()).expect("a data folder");
    let former = data.last_vault().expect("a vault was open");
    // The copy has other files: the user says that it is the same vault.
    app::adopt(&data, home.notes.root(), &former).expect("adopted");
    let running = home.start_with_stored_settings().await;
    let base_url = model.base_url();
    let change = running.app.change_settings(|settings| settings.base_url = base_url).await;
    change.expect("the settings are saved");
    running.app.open_vault(home.notes.root()).await.expect("the vault opens");
    (home, running)
}

async fn conversations(running: &RunningApp) -> Vec<Conversation> {
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.problems, [], "nothing is wrong with the data");
    let mut all = snapshot.conversations;
    all.sort_by(|one, other| one.id.as_str().cmp(other.id.as_str()));
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_the_version_before_open_and_go_on() {
    let model = ScriptedModel::start(vec![Reply::text("To the trips.")]).await;
    let (home, running) = open_former_data(&model).await;
    let settings = running.settings().await;
    assert_eq!((settings.theme, settings.mode), (Theme::Dark, Mode::default()));
    assert_eq!(settings.private.never, ["Diary"]);

    let [edited, planned, asked] = conversations(&running).await.try_into().expect("three");
    for (conversation, message) in [&edited, &planned, &asked].into_iter().zip(MESSAGES) {
        assert_eq!(user_messages(&running.view(&conversation.id).await), [message]);
    }
    let items = running.view(&edited.id).await.items;
    let answers = |item: &ChatItem| match item {
        ChatItem::Assistant { text, .. } => Some(text.clone()),
        _ => None,
    };
    assert_eq!(items.iter().filter_map(answers).collect::<Vec<_>>(), ["I added peas."]);
    let calls = items.iter().filter(|item| matches!(item, ChatItem::Tool { is_error: false, .. }));
    assert_eq!(calls.count(), 1, "{items:?}");

    // The pending change is applied, and the question is answered.
    assert_eq!(running.pending_paths(&planned.id).await, ["Ferry.md"]);
    running.decide(&planned.id, &["Ferry.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Ferry.md"), FERRY_EDITED);
    let question = running.view(&asked.id).await.question.expect("it is open");
    assert_eq!((question.text.as_str(), question.options.len()), ("Where to?", 2));
    running.send(Some(&asked.id), "Trips", Some(&question.id)).await.expect("answered");
    running.app.wait_until_idle(&asked.id).await.expect("idle");
    let items = running.view(&asked.id).await.items;
    assert_eq!(items.iter().filter_map(answers).collect::<Vec<_>>(), ["To the trips."]);
    let questions = items.iter().filter_map(|item| match item {
        ChatItem::Asked { text, answer, .. } => Some((text.as_str(), answer.as_deref())),
        _ => None,
    });
    assert_eq!(questions.collect::<Vec<_>>(), [("Where to?", Some("Trips"))]);
    let failed =
        |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Failed, .. });
    assert!(!items.iter().any(failed), "{items:?}");

    undo_former_edit(&running).await;
    assert_eq!(home.notes.read("Garden.md"), GARDEN);
    running.quit().await;
    model.finish();
}

/// Undoes the oldest change. No file is the one that was changed, so the user says which note it is.
async fn undo_former_edit(running: &RunningApp) {
    let all = ListApplied { conversation: None, before: None };
    let set = running.app.list_applied(&all).await.expect("a list").sets.pop().expect("a set");
    let note = &set.notes[0];
    let garden = NotePath::parse("Garden.md").expect("a path");
    assert_eq!((&note.path, note.standing), (&garden, ChangeStatus::Stands));
    let scope = UndoScope::Effect { effect: note.effect.clone(), hunks: Vec::new() };
    let asked = running.app.undo(&scope).await.expect("it asks");
    let [conflict] = asked.conflicts.as_slice() else { panic!("{asked:?}") };
    let note = conflict.candidates.iter().find(|note| note.path == garden);
    let answer = UndoTarget {
        action: conflict.action,
        effect: conflict.effect.clone(),
        hunks: conflict.hunks.clone(),
        note: note.expect("it may be the note").clone(),
    };
    let undone = running.app.undo_in_note(&answer).await.expect("undone");
    assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
}

#[test]
fn the_former_notes_are_those_that_the_former_version_left() {
    let read = |name: &str| fs::read_to_string(folder("notes").join(name)).expect("a note");
    assert_eq!((read("Garden.md").as_str(), read("Ferry.md").as_str()), (GARDEN_EDITED, FERRY));
}
