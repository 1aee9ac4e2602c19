//! An additional folder, from the settings to the model and back: read, and never changed.

use std::fs;
use std::path::Path;

use protocol::changes::history::{AppliedSet, ListApplied, UndoScope};
use protocol::settings::ExtraRoot;
use protocol::{AppEvent, Mode, NoteOpener, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel, TempVault};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_mode,
};

const BREAD: &str = "# Bread\n\nflour and water, with [[Garden]] herbs\n";
const NOTES: [(&str, &str); 2] =
    [("Garden.md", "# Garden\n\nsee [[Bread]]\n"), ("Plan.md", "[[Garden]]\n")];

fn kitchen() -> TempVault {
    TempVault::new(&[("Recipes/Bread.md", BREAD), ("Recipes/sweet/Cake.md", "eggs\n")])
}

fn extra_root(folder: &Path) -> ExtraRoot {
    let folder = folder.to_str().expect("a path in UTF-8").to_owned();
    ExtraRoot { folder, name: String::new() }
}

fn with_roots(roots: Vec<ExtraRoot>, settings: Settings) -> Settings {
    Settings { extra_roots: roots, ..settings }
}

/// The results that the model gets for these calls, on settings that ask it. No change is pending
/// then, and every note of the vault is as it was.
async fn tool_results_of(
    test_home: &TestHome,
    app: &RunningApp,
    mode: Mode,
    calls: Vec<(&str, Value)>,
) -> Vec<String> {
    let model = ScriptedModel::start(vec![Reply::calls(calls), Reply::text("So far.")]).await;
    let extra_roots = app.settings().await.extra_roots;
    let settings = with_roots(extra_roots, with_mode(settings_with_model(&model), mode));
    app.app.save_settings(settings).await.expect("saved");
    let before = test_home.notes.snapshot();
    // Auto edits at once what the message names.
    let conversation =
        app.send_and_wait(None, "Plan.md, Recipes/Bread.md and Recipes/New.md").await;
    assert_eq!(app.pending_paths(&conversation).await, [""; 0], "no change is pending");
    assert_eq!(test_home.notes.snapshot(), before);
    let told = tool_results(&model.wait_for_request(2).await)
        .into_iter()
        .map(|(_, words)| words)
        .collect();
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_added_is_read_listed_and_searched_at_once_and_after_a_restart() {
    let (home, kitchen) = (home_with_key(&NOTES), kitchen());
    let looking = || {
        vec![
            ("read_file", json!({ "path": "Recipes/Bread.md" })),
            ("list_files", json!({ "pattern": "**/*.md" })),
            ("search_files", json!({ "pattern": "flour" })),
            ("find_notes", json!({ "query": "eggs" })),
            ("get_links", json!({ "path": "Garden", "direction": "out" })),
        ]
    };
    let says = [
        "flour and water",
        "Recipes/sweet/Cake.md",
        "Recipes/Bread.md",
        "Cake",
        "Recipes/Bread.md",
    ];
    let mut running = home.open(settings_without_model()).await;
    let added = kitchen.root().join("Recipes");
    running.app.add_extra_root(&added).await.expect("it is added");
    // The window is told how many notes there are now.
    let counted = |event: &AppEvent| match event {
        AppEvent::VaultChanged { vault: Some(vault) } => (vault.notes == 4).then_some(()),
        _ => None,
    };
    running.wait_for_event("the count of notes", counted).await;
    for restarted in [false, true] {
        if restarted {
            running.quit().await;
            running = home.start_with_stored_settings().await;
            running.app.open_vault(home.notes.root()).await.expect("the vault opens");
        }
        for (words, says) in
            tool_results_of(&home, &running, Mode::Review, looking()).await.iter().zip(says)
        {
            assert!(words.contains(says), "restarted {restarted}: no “{says}” in {words}");
        }
        let shown = running.app.show_note("bread", NoteOpener::User).await;
        let shown = shown.expect("the user sees it too");
        assert_eq!((shown.path.as_str(), shown.content.text.as_str()), ("Recipes/Bread.md", BREAD));
    }
    running.app.save_settings(settings_without_model()).await.expect("it is taken out");
    assert!(running.app.show_note("bread", NoteOpener::User).await.is_err());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_changes_in_an_additional_folder_whatever_the_model_asks_for() {
    let (home, kitchen) = (home_with_key(&NOTES), kitchen());
    let added =
        with_roots(vec![extra_root(&kitchen.root().join("Recipes"))], settings_without_model());
    let running = home.open(added).await;
    let before = kitchen.snapshot();
    let changing = || {
        vec![
            ("write_file", json!({ "path": "Recipes/New.md", "content": "x" })),
            (
                "write_file",
                json!({ "path": "Recipes/Bread.md", "content": "x", "overwrite": true }),
            ),
            ("append_file", json!({ "path": "Recipes/Bread.md", "content": "x" })),
            (
                "edit_file",
                json!({ "path": "Recipes/Bread.md", "old_text": "flour", "new_text": "rye" }),
            ),
            ("move_file", json!({ "source": "Recipes/Bread.md", "destination": "Bread.md" })),
            ("move_file", json!({ "source": "Plan.md", "destination": "Recipes/Plan.md" })),
            ("delete_file", json!({ "path": "Recipes/Bread.md" })),
            ("delete_file", json!({ "path": "Recipes/sweet/" })),
            ("create_folder", json!({ "path": "Recipes/new" })),
        ]
    };
    for mode in [Mode::Review, Mode::Auto] {
        for words in tool_results_of(&home, &running, mode, changing()).await {
            let says = "is in an additional folder, which is read-only. Create the note in the \
                        vault instead.";
            assert!(words.contains(says), "{mode:?}: {words}");
        }
    }
    assert_eq!(kitchen.snapshot(), before);
    assert!(
        !kitchen.root().join("Recipes/new").exists() && !home.notes.root().join("Recipes").exists()
    );
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_added_is_refused_with_a_sentence_and_nothing_is_saved() {
    let (home, kitchen) = (home_with_key(&NOTES), kitchen());
    let running = home.open(settings_without_model()).await;
    for (folder, says) in [
        (home.notes.root().to_owned(), "is the vault itself"),
        (home.notes.root().parent().expect("a folder").to_owned(), "contains the vault"),
        (kitchen.root().join("gone"), "There is no folder at"),
        ("/proc/self/cwd".into(), "is a system folder"),
    ] {
        let refused = running.app.add_extra_root(&folder).await.expect_err("it is refused");
        assert!(refused.message.contains(says), "{refused}");
        assert_eq!(running.settings().await.extra_roots, []);
    }
    let recipes = kitchen.root().join("Recipes");
    running.app.add_extra_root(&recipes).await.expect("added");
    let refused = running.app.add_extra_root(&recipes.join("sweet")).await;
    assert!(refused.expect_err("refused").message.contains("overlaps another additional folder"));
    assert_eq!(running.settings().await.extra_roots.len(), 1);
    assert_eq!(running.settings().await.extra_roots.remove(0).name, "Recipes");
    // One that is away does not keep the user from another setting.
    drop(kitchen);
    let settings = Settings { follow_links: true, ..running.settings().await };
    running.app.save_settings(settings).await.expect("saved");
    running.quit().await;
}

/// A page sends all settings at once: what it names there was not chosen by anybody.
#[tokio::test(flavor = "multi_thread")]
async fn settings_that_a_page_sends_take_folders_out_and_add_none() {
    let (home, kitchen) = (home_with_key(&NOTES), kitchen());
    let recipes = kitchen.root().join("Recipes");
    let added = with_roots(vec![extra_root(&recipes)], settings_without_model());
    let running = home.open(added).await;
    let held = running.settings().await.extra_roots;
    let sweet = extra_root(&recipes.join("sweet"));
    for wanted in
        [vec![sweet.clone()], vec![held[0].clone(), sweet], [held.clone(), held.clone()].concat()]
    {
        let settings =
            with_roots(wanted.clone(), Settings { follow_links: true, ..settings_without_model() });
        let before = running.settings().await;
        let refused = running.app.save_changed(&before, settings).await;
        let refused = refused.expect_err("it is refused");
        let says = "wasn’t chosen in a dialog of the system. Add it in Settings > Vault.";
        assert!(refused.message.ends_with(says), "{wanted:?}: {refused}");
        let now = running.settings().await;
        assert_eq!((now.extra_roots, now.follow_links), (held.clone(), false));
    }
    running
        .app
        .save_settings(with_roots(held.clone(), settings_without_model()))
        .await
        .expect("as it was");
    running.app.save_settings(settings_without_model()).await.expect("it is taken out");
    let before = running.settings().await;
    let refused =
        running.app.save_changed(&before, with_roots(held, settings_without_model())).await;
    assert!(refused.is_err(), "a page cannot restore a folder that was removed");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_in_a_folder_that_became_an_additional_one_are_not_undone() {
    let home = home_with_key(&[("Plan.md", "plan\n"), ("Recipes/Bread.md", "flour\nwater\n")]);
    let running = home.open(settings_without_model()).await;
    for words in ["append salt to Recipes/Bread", "append Recipes/New: leek"] {
        running.send_and_wait(None, words).await;
    }
    assert!(home.notes.read("Recipes/Bread.md").contains("salt"));
    // The user moves the folder out of the vault and adds it.
    let beside = TempVault::new(&[]);
    let moved = beside.root().join("Recipes");
    fs::rename(home.notes.root().join("Recipes"), &moved).expect("moved");
    running.app.add_extra_root(&moved).await.expect("added");
    let (before, sets) = (beside.snapshot(), applied_sets(&running).await);
    assert!(!sets.is_empty());
    for set in sets {
        let undone = running.app.undo(&UndoScope::ChangeSet { change_set: set.id }).await;
        let changed = undone.map(|undone| undone.changed).unwrap_or_default();
        assert!(changed.is_empty(), "{changed:?}");
    }
    assert_eq!(beside.snapshot(), before);
    assert!(!home.notes.root().join("Recipes").exists());
    // The control: back in the vault the change is undone.
    running.app.save_settings(settings_without_model()).await.expect("taken out");
    fs::rename(&moved, home.notes.root().join("Recipes")).expect("moved back");
    for set in applied_sets(&running).await {
        running.app.undo(&UndoScope::ChangeSet { change_set: set.id }).await.expect("undone");
    }
    assert_eq!(home.notes.read("Recipes/Bread.md"), "flour\nwater\n");
    running.quit().await;
}

async fn applied_sets(app: &RunningApp) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets
}
