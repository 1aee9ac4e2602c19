//! A change that a kill cut belongs to its vault: it is never finished in a copy, and the original
//! finishes it when it is back.

use std::path::Path;
use std::process::Command;

use testkit::ScriptedModel;
use testkit::scripted_model::KEY;
use testkit::stories::note_changes;
use testkit::stories::note_changes::NOTES;

use crate::harness::test_app::{home_with_key, settings_with_model, settings_without_model};

fn file_contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = NOTES
        .iter()
        .map(|(name, _)| ((*name).to_owned(), std::fs::read(folder.join(name)).expect("a note")))
        .collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_change_is_not_finished_in_a_copy_and_is_in_the_original_once_it_is_back() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    home.notes.write(".vaultmate/vault.json", "{\"id\":\"an-id-that-is-copied\"}");
    let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())];
    home.run_story_killed_at("vault.exchange.before", "review", &env).await;

    // The copy is opened while the original is away, with the same data folder.
    let copy = home.data.root().join("copy");
    let status = Command::new("cp").arg("-a").arg(home.notes.root()).arg(&copy).status();
    assert!(status.expect("cp runs").success());
    let away = home.notes.root().with_file_name("away-for-now");
    std::fs::rename(home.notes.root(), &away).expect("away");
    let before = file_contents(&copy);
    let running = home.start(settings_without_model()).await;
    running.app.open_vault(&copy).await.expect("the copy opens");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(file_contents(&copy), before, "nothing is finished in the copy");
    assert!(snapshot.conversations.is_empty(), "its history is its own");
    let told = snapshot.problems.iter().any(|problem| problem.message.contains("adopt"));
    assert!(told, "{:?}", snapshot.problems);
    running.quit().await;

    std::fs::rename(&away, home.notes.root()).expect("back");
    let running = home.open(settings_with_model(&model)).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert!(!snapshot.conversations.is_empty(), "the original finds its history");
    assert_ne!(file_contents(home.notes.root()), before, "what was begun in it is finished there");
    assert_eq!(file_contents(&copy), before);
    running.quit().await;
    model.finish();
}
