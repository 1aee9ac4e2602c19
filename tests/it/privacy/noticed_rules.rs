//! A private rule that nobody reported, and a note that just became private, are noticed when the next request is to be
//! sent, and hold for that request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use std::time::Duration;

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::json;
use testkit::{Reply, ScriptedModel, TempVault};

use crate::harness::test_app::{TestHome, home_with_key, settings_with_model};
use crate::models::local_server::{FakeLlamaServer, LlamaOptions};

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

/// Which requests have the canary in them: of a turn that reads a note, and of one after it whose first answer is a
/// call that has to be repaired. While that is answered, the note gets this text, or another file this tag.
async fn requests_around_repair(file: &'static str, later: &'static str) -> Vec<bool> {
    let home = TestHome::new(&[("Open.md", "canary-5d1f is the code.\n")]);
    let said = [
        json!({ "content": "{\"name\": \"read_file\", \"arguments\": {\"path\": \"Open.md\"}}" }),
        json!({ "content": "Read." }),
        json!({ "content": "{\"name\": \"read_file\", \"arguments\": {\"path\": \"Open.md\"" }),
        json!({ "content": "Done." }),
    ];
    let llama = FakeLlamaServer::start(LlamaOptions::without_tools(32_768), &said).await;
    let root = home.notes.root().to_owned();
    llama.before_answer(move |number| {
        if number == 2 {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, later).expect("written");
            // The index learns of it from the watch.
            std::thread::sleep(Duration::from_secs(3));
        }
    });
    let never = vec!["#home".to_owned(), "Diary/".to_owned()];
    let private = PrivateSettings { never, ..Default::default() };
    let running = home.open(Settings { private, ..llama.settings() }).await;
    let conversation = running.send_and_wait(None, "What is the code?").await;
    running.send_and_wait(Some(&conversation), "And now?").await;
    let items = format!("{:?}", running.view(&conversation).await.items);
    assert!(items.contains("Done."), "it is answered all the same: {items}");
    running.quit().await;
    let sent = llama.chat_requests().into_iter().map(|(sent, _)| sent.to_string());
    let sent: Vec<String> = sent.collect();
    let is_repair = sent.last().is_some_and(|last| last.contains("Invalid tool call"));
    let has_canary: Vec<bool> = sent.iter().map(|sent| sent.contains(CANARY)).collect();
    assert_eq!(is_repair, has_canary.last() == Some(&true), "{sent:?}");
    has_canary
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_holds_nothing_of_a_note_that_became_private_since_the_history_was_filtered() {
    let told = requests_around_repair("Open.md", "canary-5d1f is the code. #home\n").await;
    assert_eq!(told, [false, true, true, false]);
    // The controls: the note is open still, and a new private note is in no request.
    let told = requests_around_repair("Open.md", "canary-5d1f was the code.\n").await;
    assert_eq!(told, [false, true, true, true]);
    assert_eq!(requests_around_repair("Diary/New.md", "x\n").await, [false, true, true, true]);
}
