//! A message is edited and answered again. The user returns to the old version and continues from
//! it.

use serde_json::Value;
use testkit::{DesktopApp, DesktopHome, Key, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";
const PANTRY: &str = "What is in the pantry?";
const FRIDGE: &str = "What is in the fridge?";

/// Replaces the text of the last message.
async fn edit_last_message(app: &DesktopApp, device: InputDevice, words: &str) {
    let field = format!("{LOG} textarea");
    match device {
        InputDevice::Pointer => {
            app.window.click_text("[data-testid=message-actions] button", "Edit").await;
        }
        InputDevice::Keyboard => {
            app.window.wait_for_focus("composer").await;
            app.window.press_keys(&[Key::ArrowUp]).await;
        }
    }
    device.replace_text(app, &field, words).await;
    match device {
        InputDevice::Pointer => {
            app.window.click_text(&format!("{LOG} .editor button"), "Send").await
        }
        InputDevice::Keyboard => app.window.press_keys(&[Key::Enter]).await,
    }
}

/// The log shows this question with this answer, as the one of two.
async fn expect_variant(app: &DesktopApp, number: u8, question: &str, answer: &str) {
    app.window.find_text(&format!("{LOG} .versions"), &format!("{number} of 2")).await;
    app.window.find_text(&format!("{LOG} .me"), question).await;
    app.window.find_text(LOG, answer).await;
    let others = "return document.querySelectorAll('[data-testid=chat-log] .versions').length";
    assert_eq!(app.window.execute(others, &Value::Array(Vec::new())).await, 1);
}

async fn edit_and_return(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let answers = ["Lentils and rice.", "Milk and butter.", "Flour, too."];
    let model = ScriptedModel::start(answers.map(Reply::text).into_iter().collect()).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    device.send_message(&app, PANTRY).await;
    app.window.find_text(LOG, answers[0]).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    edit_last_message(&app, device, FRIDGE).await;
    expect_variant(&app, 2, FRIDGE, answers[1]).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    app.save_screenshot("fork").await;
    device.press(&app, &format!("{LOG} .versions button"), "Previous version").await;
    expect_variant(&app, 1, PANTRY, answers[0]).await;
    device.focus_composer(&app).await;
    device.send_message(&app, "What else?").await;
    app.window.find_text(LOG, answers[2]).await;
    let asked = model.wait_for_request(3).await["messages"].to_string();
    assert!(asked.contains(PANTRY) && !asked.contains(FRIDGE), "{asked}");
    app.quit().await;

    // It is so after a restart, and the other one is there still.
    let app = home.start().await;
    expect_variant(&app, 1, PANTRY, answers[2]).await;
    device.press(&app, &format!("{LOG} .versions button"), "Next version").await;
    expect_variant(&app, 2, FRIDGE, answers[1]).await;
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_edited_and_its_old_version_returned_to_by_pointer() {
    edit_and_return(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_edited_and_its_old_version_returned_to_by_keyboard() {
    edit_and_return(InputDevice::Keyboard).await;
}
