//! Interrupted turns: the user is asked about each, and each choice has its effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::scripted_model::tool_results;
use testkit::{DesktopApp, DesktopHome, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";
const CARD: &str = "[data-testid=interrupted]";
/// One conversation about each of them.
const NOTES: [&str; 3] = ["Alpha", "Beta", "Gamma"];

/// Adds a line to the note that it is asked about; then it falls silent, until `again` is set.
async fn start_model(again: &Arc<AtomicBool>) -> ScriptedModel {
    let again = Arc::clone(again);
    ScriptedModel::responder(move |request: &Value| {
        let said = request["messages"].to_string();
        let note = NOTES.into_iter().find(|note| said.contains(&format!("Tea for {note}")));
        let note = note.unwrap_or_else(|| panic!("it is not asked about a note: {said}"));
        if tool_results(request).is_empty() {
            let path = format!("{note}.md");
            return Reply::calls(vec![(
                "append_file",
                json!({ "path": path, "content": "- tea" }),
            )]);
        }
        if again.load(Ordering::SeqCst) {
            Reply::text(&format!("{note} has tea now."))
        } else {
            Reply::hang()
        }
    })
    .await
}

/// Three conversations, each of which has changed its note and was not finished when all ended.
async fn interrupt_three_turns(home: &DesktopHome, device: InputDevice) {
    let app = home.start().await;
    for note in NOTES {
        device.start_conversation(&app).await;
        device.send_message(&app, &format!("Tea for {note}")).await;
        app.window.find_text(LOG, &format!("Added 1 line to {note}")).await;
    }
    app.kill().await;
}

/// Opens the conversation about a note, which says that it was cut after it changed one.
async fn open_interrupted(app: &DesktopApp, device: InputDevice, note: &str) {
    device.open_conversation(app, &format!("Tea for {note}")).await;
    app.window.find_text(LOG, &format!("Added 1 line to {note}")).await;
    app.window.find_text(CARD, "1 note changed").await;
}

async fn try_each_choice(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::new(&[]);
    let notes = NOTES.map(|note| format!("{note}.md"));
    for path in &notes {
        vault.write(path, "- milk\n");
    }
    let again = Arc::new(AtomicBool::new(false));
    let model = start_model(&again).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    interrupt_three_turns(&home, device).await;
    again.store(true, Ordering::SeqCst);
    let asked = model.requests().len();

    let app = home.start().await;
    let waiting = "return [...document.querySelectorAll('[data-row]')]
        .filter((row) => row.innerText.includes('Interrupted')).length === 3";
    app.window.wait_until("three conversations to wait", waiting).await;
    assert_eq!(model.requests().len(), asked, "nothing continues automatically");

    open_interrupted(&app, device, "Alpha").await;
    app.save_screenshot("interrupted-choice").await;
    device.press(&app, &format!("{CARD} button"), "Continue").await;
    app.window.find_text(LOG, "Alpha has tea now.").await;
    open_interrupted(&app, device, "Beta").await;
    device.press(&app, &format!("{CARD} button"), "Undo 1").await;
    app.window.wait_until_gone(&format!("{CARD} button")).await;
    open_interrupted(&app, device, "Gamma").await;
    device.press(&app, &format!("{CARD} button"), "Leave as is").await;
    app.window.wait_until_gone(&format!("{CARD} button")).await;

    let settled = "return [...document.querySelectorAll('[data-row]')]
        .every((row) => !row.innerText.includes('Interrupted'))";
    app.window.wait_until("nothing to wait any more", settled).await;
    let held = notes.map(|path| vault.read(&path));
    assert_eq!(held, ["- milk\n- tea\n", "- milk\n", "- milk\n- tea\n"]);
    assert_eq!(model.requests().len(), asked + 1, "only what was continued went on");
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_cut_turns_are_continued_undone_and_left_by_pointer() {
    try_each_choice(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_cut_turns_are_continued_undone_and_left_by_keyboard() {
    try_each_choice(InputDevice::Keyboard).await;
}
