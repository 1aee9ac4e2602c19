//! The events for the window when any program changes notes.

use std::fs;

use protocol::event::VaultInfo;
use protocol::{AppEvent, NoteOpener};

use crate::harness::test_app::{RunningApp, TestHome, settings_without_model};

const NOTES: [(&str, &str); 2] =
    [("Groceries.md", "# Groceries\n\n- milk\n"), ("Harbour.md", "# Harbour\n")];

/// A window that shows the groceries.
async fn open_showing_note(test_home: &TestHome) -> RunningApp {
    let running = test_home.open(settings_without_model()).await;
    let shown = running.app.show_note("Groceries", NoteOpener::User).await;
    let shown = shown.expect("the note is there");
    assert_eq!(shown.content.text, NOTES[0].1);
    running
}

/// Saves as editors do: the whole file takes its place in one step.
pub(crate) fn save_by_rename(test_home: &TestHome, path: &str, text: &str) {
    test_home.notes.write(".saving", text);
    fs::rename(test_home.notes.root().join(".saving"), test_home.notes.root().join(path))
        .expect("saved");
}

/// The event about a note, the first that `accepts` takes.
async fn wait_for_note_event(
    app: &RunningApp,
    accepts: impl Fn(Option<&str>) -> bool,
) -> (String, Option<String>) {
    let change = app.wait_for_event("a change of the note", |event| match event {
        AppEvent::NoteChanged { path, content } => {
            let text = content.as_ref().map(|content| content.text.clone());
            accepts(text.as_deref()).then(|| (path.to_string(), text))
        }
        _ => None,
    });
    change.await
}

async fn wait_for_vault_info(
    app: &RunningApp,
    what: &str,
    accepts: impl Fn(&VaultInfo) -> bool,
) -> VaultInfo {
    let changed = app.wait_for_event(what, |event| match event {
        AppEvent::VaultChanged { vault: Some(vault) } if accepts(vault) => Some(vault.clone()),
        _ => None,
    });
    changed.await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_shown_note_by_another_program_is_told_and_of_no_other_note() {
    let home = TestHome::new(&NOTES);
    let running = open_showing_note(&home).await;
    save_by_rename(&home, "Harbour.md", "# Harbour\n\nNot shown.\n");
    save_by_rename(&home, "Groceries.md", NOTES[0].1);
    save_by_rename(&home, "Groceries.md", "# Groceries\n\n- tea\n");
    let first = wait_for_note_event(&running, |_| true).await;
    assert_eq!(first, ("Groceries.md".into(), Some("# Groceries\n\n- tea\n".into())));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_shown_note_by_the_assistant_is_told() {
    let home = TestHome::new(&NOTES);
    let running = open_showing_note(&home).await;
    running.send_and_wait(None, "append bread to Groceries").await;
    let (path, text) = wait_for_note_event(&running, |_| true).await;
    assert_eq!((path, text), ("Groceries.md".into(), Some(home.notes.read("Groceries.md"))));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shown_note_that_is_removed_is_told_and_so_is_its_return() {
    let home = TestHome::new(&NOTES);
    let running = open_showing_note(&home).await;
    let file = home.notes.root().join("Groceries.md");
    fs::remove_file(&file).expect("it is there");
    assert_eq!(wait_for_note_event(&running, |_| true).await, ("Groceries.md".into(), None));
    home.notes.write("Groceries.md", "# Groceries\n");
    wait_for_note_event(&running, |text| text == Some("# Groceries\n")).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_is_shown_no_more_is_not_told() {
    let home = TestHome::new(&NOTES);
    let running = open_showing_note(&home).await;
    running.app.close_note().await.expect("a vault is open");
    save_by_rename(&home, "Groceries.md", "# Groceries\n\n- tea\n");
    home.notes.write("New.md", "# New\n");
    wait_for_vault_info(&running, "the new count", |vault| vault.notes == 3).await;
    running.app.show_note("Harbour", NoteOpener::User).await.expect("the note is there");
    save_by_rename(&home, "Harbour.md", "# Harbour\n\nShown.\n");
    assert_eq!(wait_for_note_event(&running, |_| true).await.0, "Harbour.md");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_folder_is_reported_until_it_is_back() {
    let home = TestHome::new(&NOTES);
    let running = open_showing_note(&home).await;
    let (folder, away) = (home.notes.root(), home.data.root().join("away"));
    fs::rename(folder, &away).expect("it can be renamed");
    let gone = wait_for_vault_info(&running, "the trouble", |vault| vault.trouble.is_some()).await;
    let trouble = gone.trouble.expect("the trouble").message;
    assert!(trouble.contains(&folder.display().to_string()), "{trouble}");
    assert_eq!(gone.notes, 2, "the last count stays");
    fs::write(away.join("New.md"), "# New\n").expect("it can be written");
    fs::rename(&away, folder).expect("it can be renamed");
    let back = wait_for_vault_info(&running, "the return", |vault| vault.notes == 3).await;
    assert_eq!(back.trouble, None);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_opens_while_the_folder_is_gone_says_so_too() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    fs::rename(home.notes.root(), home.data.root().join("away")).expect("it can be renamed");
    let gone = wait_for_vault_info(&running, "the trouble", |vault| vault.trouble.is_some()).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let told = snapshot.vault.expect("it is open");
    // How far its notes are looked at goes on meanwhile.
    assert_eq!((told.trouble, told.notes), (gone.trouble, gone.notes));
    running.quit().await;
}
