//! Text that only models on this computer may see comes into a note that every model sees only if the
//! user agrees, and so does a private note that moves out of its folder.

use std::fs;
use std::path::Path;

use protocol::settings::PrivateSettings;
use protocol::{Mode, Settings};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::cli_ask::ask_command;
use crate::harness::test_app::{TestHome, home_with_key, run_command, settings_with_model};
use crate::settings::LAST_LINE;

const NOTES: [(&str, &str); 3] = [
    ("Home/Diary.md", "# Diary\n\nAnn is pregnant.\n"),
    ("Boats.md", "# Boats\n\nThe ferry leaves at nine.\n"),
    ("Open.md", "# Open\n"),
];

/// A model on this computer; notes in `Home` are for such models.
fn settings(model: &ScriptedModel) -> Settings {
    let private = PrivateSettings {
        local: vec!["Home/".to_owned()],
        endpoint_is_local: true,
        ..PrivateSettings::default()
    };
    Settings { private, mode: Mode::Auto, ..settings_with_model(model) }
}

/// The same rule in the settings file, for a program that reads it there.
fn home_with_local_rule() -> TestHome {
    let home = TestHome::new(&NOTES);
    let private = "[private]\nlocal = [\"Home/\"]\nendpointIsLocal = true\n";
    home.data.write("config.toml", format!("{private}{LAST_LINE}\n"));
    home
}

/// Where the text of `from` comes to after a turn that reads it and adds it to `to`, and whether it waits.
async fn copied(from: &str, to: &str) -> (String, Vec<String>) {
    let add = json!({ "path": to, "content": "Copied." });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": from }))]),
        Reply::calls(vec![("append_file", add)]),
        Reply::text("Copied."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings(&model)).await;
    let conversation = running.send_and_wait(None, &format!("copy it to {to}")).await;
    let waits = running.pending_paths(&conversation).await;
    running.quit().await;
    model.finish();
    (home.notes.read(to), waits)
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_private_note_comes_into_an_open_note_only_after_a_review() {
    let (text, waits) = copied("Home/Diary.md", "Open.md").await;
    assert_eq!((text.as_str(), waits), ("# Open\n", vec!["Open.md".to_owned()]));
    let (text, waits) = copied("Boats.md", "Open.md").await;
    assert!(text.contains("Copied.") && waits.is_empty(), "the control: {text} {waits:?}");
    let (text, waits) = copied("Home/Diary.md", "Home/Diary.md").await;
    assert!(text.contains("Copied.") && waits.is_empty(), "as private: {text} {waits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_note_gives_a_new_folder_a_name_only_after_a_review() {
    for (tool, read, path, is_pending) in [
        ("write_file", "Ann.md", "Ann is pregnant/Plan.md", true),
        ("append_file", "Ann.md", "Ann is pregnant/Plan.md", true),
        ("write_file", "Boats.md", "Ann is pregnant/Plan.md", false),
        ("write_file", "Ann.md", "Home/Plan.md", false),
    ] {
        let name = format!("{tool} {path} after {read}");
        let plan = json!({ "path": path, "content": "#home\nA plan.\n" });
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("read_file", json!({ "path": read }))]),
            Reply::calls(vec![(tool, plan)]),
            Reply::text("Planned."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        home.notes.write("Ann.md", "#home\nAnn is pregnant.\n");
        let mut settings = settings(&model);
        settings.private.local = vec!["#home".to_owned()];
        let running = home.open(settings).await;
        let conversation = running.send_and_wait(None, "make a plan").await;
        let waits = running.pending_paths(&conversation).await;
        assert_eq!(waits == [path], is_pending, "{name}: {waits:?}");
        assert_eq!(home.notes.try_read(path).is_some(), !is_pending, "{name}");
        let is_named = home.notes.root().join("Ann is pregnant").exists();
        assert_eq!(is_named, !is_pending && path.starts_with("Ann"), "{name}");
        running.quit().await;
        model.finish();
    }
}

/// The pending notes after a turn read `Boats.md`, this happened in the vault, and the next turn of the conversation
/// wrote an open note. Before, another conversation may have changed the note that was at the path, and the
/// user wrote the one that is read.
async fn pending_after_event(
    older: Option<(&'static str, Value)>,
    event: fn(&Path),
) -> Vec<String> {
    let mut replies = Vec::new();
    if let Some(change) = older.clone() {
        replies.extend([Reply::calls(vec![change]), Reply::text("It waits.")]);
    }
    let add = json!({ "path": "Open.md", "content": "It leaves at nine." });
    replies.extend([
        Reply::calls(vec![("read_file", json!({ "path": "Boats.md" }))]),
        Reply::text("It leaves at nine."),
        Reply::calls(vec![("append_file", add)]),
        Reply::text("Added."),
    ]);
    let model = ScriptedModel::start(replies).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings(&model)).await;
    if older.is_some() {
        let conversation = running.send_and_wait(None, "tidy up").await;
        running.decide(&conversation, &["Boats.md"], &[]).await.expect("applied");
        home.notes.write("Boats.md", NOTES[1].1);
    }
    let conversation = running.send_and_wait(None, "when does the ferry leave?").await;
    event(home.notes.root());
    running.send_and_wait(Some(&conversation), "add it to [[Open]]").await;
    let waits = running.pending_paths(&conversation).await;
    assert_eq!(home.notes.read("Open.md").contains("at nine"), waits.is_empty(), "{waits:?}");
    running.quit().await;
    model.finish();
    waits
}

fn move_boats_home(root: &Path) {
    fs::rename(root.join("Boats.md"), root.join("Home/Boats.md")).expect("moved");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_change_of_ours_opens_no_note_that_was_read_since_and_left() {
    let moves = ("move_file", json!({ "source": "Boats.md", "destination": "Work/Boats.md" }));
    for change in [moves, ("delete_file", json!({ "path": "Boats.md" }))] {
        let name = format!("{change:?}");
        let waits = pending_after_event(Some(change.clone()), move_boats_home).await;
        assert_eq!(waits, ["Open.md"], "{name}");
        let waits = pending_after_event(Some(change), |_| {}).await;
        assert!(waits.is_empty(), "the control: {name}, {waits:?}");
    }
}

fn replace_boats_from(root: &Path, folder: &str) {
    let left = root.join(folder);
    fs::create_dir_all(&left).expect("made");
    fs::rename(root.join("Boats.md"), left.join("Boats.md")).expect("moved");
    fs::write(root.join("Boats.md"), "# Boats\n\nAnother.\n").expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_note_that_left_for_a_private_folder_and_was_replaced_needs_a_review() {
    let waits = pending_after_event(None, |root| replace_boats_from(root, "Home")).await;
    assert_eq!(waits, ["Open.md"]);
    let waits = pending_after_event(None, |root| replace_boats_from(root, "Work")).await;
    assert!(waits.is_empty(), "the control: nothing private was touched, {waits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_private_notes_come_into_an_open_note_only_after_a_review() {
    let read_open = ("read_file", json!({ "path": "Open.md" }));
    for (call, has_rule, is_pending) in [
        (("list_tags", json!({})), true, true),
        (("list_tags", json!({})), false, false),
        (read_open, true, false),
    ] {
        let name = format!("{call:?}, with a rule: {has_rule}");
        let list = json!({ "path": "Tags.md", "content": "wedding" });
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![call]),
            Reply::calls(vec![("write_file", list)]),
            Reply::text("Listed."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        home.notes.write("Home/Ann.md", "#wedding\n");
        let mut settings = settings(&model);
        if !has_rule {
            settings.private.local.clear();
        }
        let running = home.open(settings).await;
        let conversation = running.send_and_wait(None, "list my tags").await;
        let told = model.requests().last().map(|request| request["messages"].to_string());
        let is_listed = told.is_some_and(|told| told.contains("#wedding, 1 note"));
        assert_eq!(is_listed, name.contains("list_tags"), "{name}");
        let waits = running.pending_paths(&conversation).await;
        assert_eq!(waits == ["Tags.md"], is_pending, "{name}: {waits:?}");
        assert_eq!(home.notes.try_read("Tags.md").is_some(), !is_pending, "{name}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_of_private_notes_come_into_an_open_note_only_after_a_review() {
    let both = || json!({ "pattern": "pregnant|ferry", "max_results": 1, "context_lines": 0 });
    let in_folder = json!({ "pattern": "tram", "file_pattern": "Work/*.md" });
    // On disk the folder has its accent as a sign of its own.
    let composed = || json!({ "pattern": "due", "file_pattern": "Caf\u{e9}/*", "max_results": 1 });
    for (call, has_rule, found, is_pending) in [
        (("search_files", both()), true, "2 matching lines in 2 notes", true),
        (("find_notes", json!({ "query": "zeppelin" })), true, "No note matches", true),
        (("search_files", both()), false, "2 matching lines in 2 notes", false),
        (("search_files", in_folder), true, "1 matching line in 1 note", false),
        (("search_files", composed()), true, "2 matching lines in 2 notes", true),
        (("search_files", composed()), false, "2 matching lines in 2 notes", false),
    ] {
        let name = format!("{call:?}, with a rule: {has_rule}");
        let add = json!({ "path": "Open.md", "content": "Copied." });
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![call]),
            Reply::text("Found."),
            Reply::calls(vec![("append_file", add)]),
            Reply::text("Copied."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        home.notes.write("Work/Plan.md", "By tram.\n");
        home.notes.write("Cafe\u{301}/Ann.md", "#home\n\nThe child is due in May.\n");
        home.notes.write("Cafe\u{301}/Abby.md", "The rent is due.\n");
        let mut settings = settings(&model);
        settings.private.local.push("#home".to_owned());
        if !has_rule {
            settings.private.local.clear();
        }
        let running = home.open(settings).await;
        let conversation = running.send_and_wait(None, "look for it").await;
        // It is known in a later turn as well.
        running.send_and_wait(Some(&conversation), "write it into [[Open]]").await;
        let told = model.requests().last().map(|request| request["messages"].to_string());
        let told = told.expect("a request");
        let names_private = told.contains("Diary.md") || told.contains("Ann.md");
        assert!(told.contains(found) && !names_private, "{name}: {told}");
        let waits = running.pending_paths(&conversation).await;
        assert_eq!(waits == ["Open.md"], is_pending, "{name}: {waits:?}");
        assert_eq!(home.notes.read("Open.md").contains("Copied."), !is_pending, "{name}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_was_not_told_of_a_count_writes_an_open_note_at_once() {
    let add = json!({ "path": "Open.md", "content": "Mine." });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("find_notes", json!({ "query": "zeppelin" }))]),
        Reply::text("There is none."),
        Reply::calls(vec![("append_file", add)]),
        Reply::text("Added."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings(&model)).await;
    let conversation = running.send_and_wait(None, "is there one?").await;
    let mut elsewhere = settings(&model);
    elsewhere.private.endpoint_is_local = false;
    running.replace_settings(elsewhere).await;
    running.send_and_wait(Some(&conversation), "add yours to [[Open]]").await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    let told = told.expect("a request");
    assert!(!told.contains("No note matches") && !told.contains("There is none"), "{told}");
    let waits = running.pending_paths(&conversation).await;
    assert!(waits.is_empty() && home.notes.read("Open.md").contains("Mine."), "{waits:?}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_moves_a_private_note_out_of_its_folder_only_after_a_review() {
    for (path, to, is_moved) in [
        ("Home/Diary.md", "Diary.md", false),
        ("Home", "Archive/Home", false),
        ("Boats.md", "Home/Boats.md", true),
    ] {
        let call = json!({ "source": path, "destination": to });
        let replies =
            vec![Reply::calls(vec![("move_file", call)]), Reply::text("It is tidied up.")];
        let model = ScriptedModel::start(replies).await;
        let home = home_with_local_rule();
        let words = ["--write", "Tidy up"];
        let said = run_command(&mut ask_command(&home, &model, &words)).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(home.notes.root().join(to).exists(), is_moved, "{path}: {said:?}");
        assert_eq!(said.stderr.contains("waiting for review"), !is_moved, "{path}: {said:?}");
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_gives_a_name_after_it_read_a_private_note_only_after_a_review() {
    let rename = || json!({ "source": "Open.md", "destination": "Ann is pregnant.md" });
    let folder = || json!({ "path": "Ann is pregnant" });
    for (read, tool, call, made) in [
        ("Home/Diary.md", "move_file", rename(), None),
        ("Home/Diary.md", "create_folder", folder(), None),
        ("Boats.md", "move_file", rename(), Some("Ann is pregnant.md")),
        ("Boats.md", "create_folder", folder(), Some("Ann is pregnant")),
    ] {
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("read_file", json!({ "path": read }))]),
            Reply::calls(vec![(tool, call)]),
            Reply::text("It is tidied up."),
        ])
        .await;
        let home = home_with_local_rule();
        let words = ["--write", "Tidy up"];
        let said = run_command(&mut ask_command(&home, &model, &words)).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        let named = ["Ann is pregnant.md", "Ann is pregnant"];
        let found = named.into_iter().find(|name| home.notes.root().join(name).exists());
        assert_eq!(found, made, "{read}, {tool}: {said:?}");
        let waits = said.stderr.contains("waiting for review");
        assert_eq!(waits, made.is_none(), "{read}, {tool}: {said:?}");
        model.finish();
    }
}
