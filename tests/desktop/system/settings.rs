//! A setting takes effect at once, without a restart, and is still so after one.

use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, offered_tools, tool_results};
use testkit::{DesktopApp, DesktopHome, Key, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";
const DIARY: &str = "Diary/Secret.md";

/// Reads the diary when it is asked about it, and says what came of that.
async fn start_model() -> ScriptedModel {
    ScriptedModel::responder(|request: &Value| {
        let read = tool_results(request);
        match read.first() {
            Some((_, text)) if text.contains("KRYPTON") => Reply::text("It says KRYPTON."),
            Some(_) => Reply::text("I cannot see such a note."),
            None if last_message_text(request).contains("diary") => {
                Reply::calls(vec![("read_file", json!({ "path": DIARY }))])
            }
            None => Reply::text("I only look."),
        }
    })
    .await
}

async fn change_each_setting(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    vault.write(DIARY, "The code word is KRYPTON.\n");
    let model = start_model().await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;
    device.send_message(&app, "What does the diary say?").await;
    app.window.find_text(LOG, "It says KRYPTON.").await;

    set_private_and_read_only(&app, device).await;
    device.start_conversation(&app).await;
    device.send_message(&app, "What does the diary say now?").await;
    app.window.find_text(LOG, "I cannot see such a note.").await;
    let requests = model.requests();
    let (first, last) = (offered_tools(&requests[0]), offered_tools(requests.last().expect("one")));
    assert!(first.contains(&"append_file".to_owned()), "{first:?}");
    assert!(!last.contains(&"append_file".to_owned()), "{last:?}");
    assert!(!requests.last().expect("one").to_string().contains("KRYPTON"));

    pause_and_resume_models(&app, device, &model).await;
    switch_model(&app, device, &model).await;
    app.quit().await;
    let app = home.start().await;
    app.window.find_text(".composer .menu-button", "Read only · Opus").await;
    app.window.wait_until_gone("[data-testid=paused]").await;
    app.quit().await;
}

/// Keeps the diary from models, and lets them only read.
async fn set_private_and_read_only(app: &DesktopApp, device: InputDevice) {
    device.open_settings(app, "private", "Private notes").await;
    let rules = "#settings-private textarea";
    if device == InputDevice::Keyboard {
        app.window.press_keys(&[Key::Tab]).await;
    }
    device.replace_text(app, rules, "Diary").await;
    // The rule counts once one has left the field.
    app.window.press_keys(&[Key::Tab]).await;
    device.open_settings(app, "answering", "Model").await;
    device.choose_setting(app, "answering", "Read only").await;
    app.save_screenshot("settings-answering").await;
    device.close_settings(app).await;
    app.window.find_text(".composer .menu-button", "Read only").await;
}

/// While models are paused nothing is sent; afterwards it is.
async fn pause_and_resume_models(app: &DesktopApp, device: InputDevice, model: &ScriptedModel) {
    let asked = model.requests().len();
    device.open_settings(app, "spending", "Spending").await;
    match device {
        InputDevice::Pointer => app.window.click("#settings-spending [role=switch]").await,
        InputDevice::Keyboard => {
            app.window.press_keys(&[Key::Tab]).await;
            app.window.press_keys(&[Key::Space]).await;
        }
    }
    device.close_settings(app).await;
    app.window.find_text("[data-testid=paused]", "Models are paused").await;
    device.send_message(app, "Are you there?").await;
    app.window.find_text(LOG, "nothing was sent").await;
    app.save_screenshot("settings-paused").await;
    assert_eq!(model.requests().len(), asked, "nothing is sent");
    device.press(app, "[data-testid=paused] button", "Resume").await;
    app.window.wait_until_gone("[data-testid=paused]").await;
    device.focus_composer(app).await;
    device.send_message(app, "And now?").await;
    app.window.find_text(LOG, "I only look.").await;
}

/// Another model is chosen where messages are written, and answers the next one.
async fn switch_model(app: &DesktopApp, device: InputDevice, model: &ScriptedModel) {
    device.start_conversation(app).await;
    device.press(app, ".composer .menu-button", "Read only").await;
    let choices = "[role=menu] [role=menuitemradio]";
    app.window.find_text(choices, "claude-opus-4-5").await;
    match device {
        InputDevice::Pointer => app.window.click_text(choices, "claude-opus-4-5").await,
        InputDevice::Keyboard => {
            // From the mode over the first model.
            app.window.press_keys(&[Key::ArrowDown]).await;
            app.window.press_keys(&[Key::ArrowDown]).await;
            app.window.press_keys(&[Key::Enter]).await;
        }
    }
    app.window.find_text(".composer .menu-button", "Read only · Opus").await;
    device.focus_composer(app).await;
    device.send_message(app, "Who are you?").await;
    app.window.find_text(LOG, "I only look.").await;
    let requests = model.requests();
    assert_eq!(requests.last().expect("one")["model"], "claude-opus-4-5");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_mode_and_pause_take_effect_at_once_by_pointer() {
    change_each_setting(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_mode_and_pause_take_effect_at_once_by_keyboard() {
    change_each_setting(InputDevice::Keyboard).await;
}

/// Resolves once the page is as light as this, 0 to 255, or darker.
async fn wait_for_background(app: &DesktopApp, wanted: &str) {
    let script = format!(
        "const parts = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g);
        const light = parts.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
        return light {wanted}"
    );
    app.window.wait_until(&format!("the page to be {wanted}"), &script).await;
}

async fn change_language_and_theme(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault);
    let app = home.start().await;
    app.wait_until_opened().await;
    wait_for_background(&app, "> 200").await;
    device.open_settings(&app, "general", "General").await;
    device.choose_setting(&app, "general", "Dark").await;
    wait_for_background(&app, "< 60").await;
    device.choose_setting(&app, "general", "Deutsch").await;
    app.window.find_text("#settings-general h2", "Allgemein").await;
    app.window.find_text(".side h1", "Einstellungen").await;
    app.window
        .wait_until("a page in German", "return document.documentElement.lang === 'de'")
        .await;
    app.save_screenshot("settings-german-dark").await;
    device.close_settings(&app).await;
    device.send_message(&app, "Kurkuma").await;
    app.window.find_text(LOG, "Kurkuma").await;
    app.quit().await;

    let app = home.start().await;
    app.window.find_text(".side", "Einstellungen").await;
    wait_for_background(&app, "< 60").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn language_and_theme_change_at_once_and_stay_by_pointer() {
    change_language_and_theme(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn language_and_theme_change_at_once_and_stay_by_keyboard() {
    change_language_and_theme(InputDevice::Keyboard).await;
}
