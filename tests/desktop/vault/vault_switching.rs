//! Another folder is opened while an answer is written: nothing of the one reaches the other, and the
//! cut turn is there to be gone on with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::{DesktopApp, DesktopHome, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";
const LIST: &str = "[data-testid=conversation-list]";

/// Adds tea to a list, and falls silent then until `again` is set; to all else it only talks.
async fn start_model(again: &Arc<AtomicBool>) -> ScriptedModel {
    let again = Arc::clone(again);
    ScriptedModel::responder(move |request: &Value| {
        let said = request["messages"].to_string();
        if !said.contains("Tea, please") {
            return Reply::text("Only work stands here.");
        }
        match tool_results(request).is_empty() {
            true => {
                let call = json!({ "path": "List.md", "content": "- tea" });
                Reply::calls(vec![("append_file", call)])
            }
            false if again.load(Ordering::SeqCst) => Reply::text("There is tea now."),
            false => Reply::hang(),
        }
    })
    .await
}

/// Opens the folder through the settings, and waits until the window is over it.
async fn switch_vault(
    (home, app): (&DesktopHome, &DesktopApp),
    device: InputDevice,
    to: &TempVault,
) {
    device.open_settings(app, "vault", "Vault").await;
    let button = ("#settings-vault button", "Choose another folder…");
    device.choose_folder((home, app), button, to.root()).await;
    let folder = to.root().display().to_string();
    app.window.find_text("#settings-vault .folder", &folder).await;
    device.close_settings(app).await;
}

async fn switch_during_turn(device: InputDevice) {
    let _turn = lock_display().await;
    let private = TempVault::new(&[("List.md", "- milk\n")]);
    let work = TempVault::new(&[("List.md", "- invoice\n")]);
    let again = Arc::new(AtomicBool::new(false));
    let model = start_model(&again).await;
    let home = DesktopHome::new().with_vault(&private).with_model(&model);
    let app = home.start().await;
    device.send_message(&app, "Tea, please").await;
    app.window.find_text(LOG, "Added 1 line to List").await;
    app.window.find("[data-testid=stop]").await;

    switch_vault((&home, &app), device, &work).await;
    model.wait_for_disconnects(1).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    app.window.wait_until_gone(&format!("{LIST} [data-row]")).await;
    device.send_message(&app, "What stands on the list?").await;
    app.window.find_text(LOG, "Only work stands here.").await;
    app.save_screenshot("switched").await;
    let asked = model.requests().last().expect("it was asked").to_string();
    assert!(!asked.contains("Tea, please"), "{asked}");
    assert_eq!(work.snapshot().len(), 1);
    assert_eq!(work.read("List.md"), "- invoice\n");

    again.store(true, Ordering::SeqCst);
    switch_vault((&home, &app), device, &private).await;
    app.window.find_text(&format!("{LIST} [data-row]"), "Tea, please").await;
    app.window.find_text("[data-testid=interrupted]", "1 note changed").await;
    device.press(&app, "[data-testid=interrupted] button", "Continue").await;
    app.window.find_text(LOG, "There is tea now.").await;
    assert_eq!(private.read("List.md"), "- milk\n- tea\n");
    let last = last_message_text(model.requests().last().expect("it was asked"));
    assert!(!last.contains("invoice"), "{last}");
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_is_changed_while_a_turn_runs_and_changed_back_by_pointer() {
    switch_during_turn(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_is_changed_while_a_turn_runs_and_changed_back_by_keyboard() {
    switch_during_turn(InputDevice::Keyboard).await;
}
