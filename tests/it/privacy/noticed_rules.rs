//! A private rule that nobody reported is noticed when the next request is to be sent, and holds for that
//! request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use testkit::{Reply, ScriptedModel, TempVault};

use crate::harness::test_app::{home_with_key, settings_with_model};

/// Stands in a note and in a rules file that become private.
const CANARY: &str = "canary-5d1f";

const NOTES: [(&str, &str); 3] = [
    ("AGENTS.md", "Be brief: canary-5d1f.\n"),
    ("Home/Plan.md", "canary-5d1f is the code.\n"),
    ("Open.md", "open\n"),
];

/// Reads the private note, then the open one, then ends. While its second request is answered, `rule` is
/// added to the settings in `folder`.
async fn start_reading_model(folder: &Arc<TempVault>, rule: &'static str) -> ScriptedModel {
    let (step, folder) = (AtomicUsize::new(0), Arc::clone(folder));
    ScriptedModel::responder(move |_| match step.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::calls(vec![("read_file", json!({ "path": "Home/Plan.md" }))]),
        1 => {
            let text = folder.read("config.toml");
            folder.write("config.toml", format!("{text}{rule}"));
            Reply::calls(vec![("read_file", json!({ "path": "Open.md" }))])
        }
        _ => Reply::text("Done."),
    })
    .await
}

/// Which of the three requests of a turn have the canary in them, where `rule` is written during the second.
async fn requests_with_canary(rule: &'static str) -> Vec<bool> {
    let elsewhere = Arc::new(TempVault::new(&[]));
    let model = start_reading_model(&elsewhere, rule).await;
    let home = home_with_key(&NOTES);
    home.start(settings_with_model(&model)).await.quit().await;
    // Nothing tells of changes of a file behind a link.
    let file = home.data.root().join("config.toml");
    elsewhere.write("config.toml", home.data.read("config.toml"));
    std::fs::remove_file(&file).expect("the settings were saved");
    std::os::unix::fs::symlink(elsewhere.root().join("config.toml"), &file).expect("a link");

    let running = home.start_with_stored_settings().await;
    running.app.open_vault(home.notes.root()).await.expect("the vault opens");
    let conversation = running.send_and_wait(None, "What is the plan?").await;
    let items = format!("{:?}", running.view(&conversation).await.items);
    assert!(items.contains("Done."), "it is answered all the same: {items}");
    running.quit().await;
    model.request_bodies().iter().map(|body| body.contains(CANARY)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_is_noticed_with_a_request_holds_for_it_in_the_history_and_the_instructions() {
    let rule = "[private]\nnever = [\"Home/\", \"AGENTS.md\"]\n";
    assert_eq!(requests_with_canary(rule).await, [true, true, false]);
    let control = requests_with_canary("# no rule\n").await;
    assert_eq!(control, [true, true, true], "the control: without the rule it is sent");
}
