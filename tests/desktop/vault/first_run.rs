//! The first minutes: a folder of one's own or one to try things in, no model, and something useful
//! at once; or a model whose key is wrong at first, or lies in a keyring that is locked.

use std::path::Path;

use serde_json::{Value, json};
use testkit::scripted_model::KEY;
use testkit::vaults::temp_vault::read_files;
use testkit::{
    DesktopApp, DesktopHome, Key, KeyringDaemon, PrivateBus, Reply, ScriptedModel, TempVault,
};

use crate::input_device::InputDevice;
use crate::lock_display;

const FIRST_RUN: &str = "[data-testid=firstrun]";
const LOG: &str = "[data-testid=chat-log]";
/// The controls of the first run that can be used now.
const ENABLED: &str = "[data-testid=firstrun] :is(button, label):not(:disabled *, :disabled)";
const PANE: &str = "[data-testid=note-pane]";
/// Says whether the beginning of the passages stands in the part of the chat that is in sight.
const ARE_PASSAGES_IN_SIGHT: &str = "const lead = document.querySelector('[data-lead]');
    if (!lead) return false;
    const { top, bottom } = lead.closest('.scroll').getBoundingClientRect();
    const first = lead.getBoundingClientRect().top;
    return top <= first && first < bottom";
const KEY_FIELD: &str = "[data-testid=firstrun] input[type=password]";
const KEY_NEWS: &str = "[data-testid=key-news]";
const LOCKED: &str = "The keyring is locked. Unlock it to use your API key.";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_has_sample_notes_and_a_first_result_without_key_or_network() {
    let _turn = lock_display().await;
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find(FIRST_RUN).await;
    app.save_screenshot("first-run").await;

    for step in ["Try sample notes", "Continue without a model", "Start"] {
        app.window.click_text(ENABLED, step).await;
    }
    InputDevice::Pointer.send_message(&app, "append bread to Groceries").await;
    app.window.find_text(LOG, "Added 1 line to Groceries").await;
    let notes = read_files(&home.data_dir().join("Sample notes"));
    let list = String::from_utf8_lossy(&notes["Groceries.md"]);
    assert!(list.ends_with("- [ ] Dishwasher salt\n- [ ] bread\n"), "{list}");

    InputDevice::Pointer.send_message(&app, "turmeric").await;
    app.window.find_text(LOG, "No turmeric left").await;
    app.window.wait_until("the passages in sight", ARE_PASSAGES_IN_SIGHT).await;
    app.save_screenshot("first-result").await;
    let up = "document.querySelector('[data-lead]').style.transform = 'translateY(-100vh)'";
    app.window.execute(up, &json!([])).await;
    let in_sight = app.window.execute(ARE_PASSAGES_IN_SIGHT, &json!([])).await;
    assert_eq!(in_sight, json!(false), "the control");

    app.window.wait_until_gone(PANE).await;
    InputDevice::Pointer.send_message(&app, "open Groceries").await;
    let shown = app.window.wait_for_text(PANE, "Dishwasher salt").await;
    assert!(!shown.contains("Soften onion"), "the control: {shown}");
    // Part of a name suffices where only one note has it.
    InputDevice::Pointer.send_message(&app, "open lentil").await;
    app.window.find_text(PANE, "Soften onion").await;
    app.quit().await;

    let app = home.start().await;
    app.window.find_text("[data-testid=conversation-list]", "bread").await;
    app.quit().await;
}

/// The user chooses a folder, presses the example, and gets an answer from their own notes.
async fn choose_own_folder(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::new(&[("Seeds.md", "# Seeds\n\nLeeks in March.\n")]);
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find(FIRST_RUN).await;
    // A folder of the system is none, and the user is told so.
    let button = format!("{FIRST_RUN} button");
    let none = Path::new("/proc");
    device.choose_folder((&home, &app), (&button, "Choose a folder…"), none).await;
    app.window.find_text(FIRST_RUN, "/proc is a system folder, not one with notes.").await;
    device.choose_folder((&home, &app), (&button, "Choose another folder…"), vault.root()).await;
    app.window.find_text(FIRST_RUN, "1 note").await;
    app.save_screenshot("first-run-folder").await;
    let none = format!("{FIRST_RUN} input[type=radio]:checked");
    app.window.find(&none).await;
    device.press(&app, &format!("{FIRST_RUN} .try"), "list").await;
    app.window.find_text(LOG, "Listed").await;
    app.window.wait_for_focus("composer").await;
    device.send_message(&app, "leeks").await;
    app.window.find_text(LOG, "Leeks in March.").await;
    assert_eq!(vault.snapshot().len(), 1, "nothing was put into the folder");
    app.quit().await;

    // The next start has it, and the conversation.
    let app = home.start().await;
    app.window.find_text("[data-testid=conversation-list]", "list").await;
    app.window.wait_for_focus("composer").await;
    app.window.press_keys(&[Key::Control, Key::Char('p')]).await;
    app.window.find_text("[role=option]", "Seeds").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_chooses_a_folder_and_finds_something_in_it_by_pointer() {
    choose_own_folder(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_chooses_a_folder_and_finds_something_in_it_by_keyboard() {
    choose_own_folder(InputDevice::Keyboard).await;
}

/// A home whose provider is this model, without a key, in a session with this bus.
fn keyless_home(model: &ScriptedModel, bus: &PrivateBus) -> DesktopHome {
    let mut home = DesktopHome::new().with_bus(bus);
    home.set_env_vars([
        ("ANTHROPIC_BASE_URL", model.base_url()),
        ("OPENAI_API_KEY", String::new()),
    ]);
    home
}

/// Sends a message in the chat, which this answers.
async fn send_and_find_answer(app: &DesktopApp, answer: &str) {
    InputDevice::Pointer.send_message(app, "Are you there?").await;
    app.window.find_text(LOG, answer).await;
}

/// The text in the field for the API key.
async fn key_in_field(app: &DesktopApp) -> Value {
    let script = "return document.querySelector(arguments[0]).value";
    app.window.execute(script, &json!([KEY_FIELD])).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_told_beside_its_field_and_replaced_there() {
    const WRONG: &str = "sk-ant-wrong-0123456789";
    let _turn = lock_display().await;
    let bus = PrivateBus::start();
    let _keyring = KeyringDaemon::on(bus.address()).await;
    let answers = ["ready", "I hear you.", "I still hear you."].map(Reply::text);
    let model = ScriptedModel::start(answers.into()).await;
    let home = keyless_home(&model, &bus);
    let app = home.start().await;
    for step in ["Try sample notes", "Use an API key"] {
        app.window.click_text(ENABLED, step).await;
    }
    app.window.type_into(KEY_FIELD, WRONG).await;
    app.window.click_text(ENABLED, "Save").await;
    let failure = "[data-testid=firstrun] [data-testid=secret-failure]";
    let told = app.window.wait_for_text(failure, "The API key wasn’t saved.").await;
    assert!(told.contains("didn’t accept the API key"), "{told}");
    assert_eq!(key_in_field(&app).await, json!(WRONG), "it stays in the field");
    assert!(model.refused_key_count() > 0 && model.requests().is_empty());
    app.save_screenshot("first-run-wrong-key").await;

    // The field has the keyboard and the key is selected: what is typed takes its place.
    app.window.find(&format!("{KEY_FIELD}:focus")).await;
    app.window.type_text(KEY).await;
    assert_eq!(key_in_field(&app).await, json!(KEY));
    app.window.press_keys(&[Key::Enter]).await;
    // The control: at the same field the right key is not refused.
    app.window.find_text(KEY_NEWS, "The API key works.").await;
    assert_eq!(key_in_field(&app).await, json!(""));
    let left = app.window.find(failure).await;
    assert_eq!(app.window.text(&left).await, "");
    app.window.click_text(ENABLED, "Start").await;
    send_and_find_answer(&app, "I hear you.").await;
    app.quit().await;

    // The right one was kept.
    let app = home.start().await;
    send_and_find_answer(&app, "I still hear you.").await;
    app.quit().await;
    model.finish();
}

/// The keyring is locked: `text` says so. Its user cannot be asked at first, and then unlocks it.
async fn unlock_keyring(app: &DesktopApp, keyring: &KeyringDaemon, text: &str) {
    let unlock = "[data-testid=keyring-unlock]";
    app.window.find_text(text, LOCKED).await;
    // The control: a button alone does not unlock it.
    app.window.click_text(unlock, "Unlock keyring").await;
    app.window.find_text(text, "The keyring wasn’t unlocked.").await;
    keyring.unlock().await;
    app.window.click_text(unlock, "Unlock keyring").await;
    app.window.wait_until_gone(text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_keyring_is_told_at_the_first_run_and_in_the_chat_and_unlocked_there() {
    let _turn = lock_display().await;
    let bus = PrivateBus::start();
    let keyring = KeyringDaemon::on(bus.address()).await;
    keyring.store("anthropic", KEY).await;
    let answers = ["I hear you.", "I still hear you."].map(Reply::text);
    let model = ScriptedModel::start(answers.into()).await;
    let home = keyless_home(&model, &bus);
    let notice = "[data-testid=first-keyring]";
    // The control: while it is not locked, the key is found and nothing is told.
    let app = home.start().await;
    app.window.find_text(KEY_NEWS, "API key found").await;
    app.window.wait_until_gone(notice).await;
    app.quit().await;

    keyring.lock().await;
    let app = home.start().await;
    app.window.click_text(ENABLED, "Try sample notes").await;
    app.window.find_text(&format!("{FIRST_RUN} label.on"), "Use an API key").await;
    app.window.find_text(ENABLED, "Unlock keyring").await;
    app.save_screenshot("first-run-locked-keyring").await;
    unlock_keyring(&app, &keyring, notice).await;
    app.window.find_text(KEY_NEWS, "API key found").await;
    app.window.click_text(ENABLED, "Start").await;
    send_and_find_answer(&app, "I hear you.").await;
    app.quit().await;

    keyring.lock().await;
    let app = home.start().await;
    unlock_keyring(&app, &keyring, "[data-testid=keyring-notice]").await;
    send_and_find_answer(&app, "I still hear you.").await;
    app.quit().await;
    model.finish();
}

/// The controls within `css` that stand beyond the left or the right edge of the window, by name.
async fn controls_cut_off(app: &DesktopApp, css: &str) -> Value {
    let script = "const [css] = arguments;
        const kinds = ':is(button, label, input, select, textarea)';
        return [...document.querySelectorAll(`${css} ${kinds}`)]
            .filter((control) => {
                const { left, right, width } = control.getBoundingClientRect();
                return width > 1 && (left < -1 || right > innerWidth + 1);
            })
            .map((control) => control.innerText || control.ariaLabel || control.tagName)";
    app.window.execute(script, &json!([css])).await
}

/// Puts a button beyond the edge of the window, or takes it away.
async fn toggle_button_outside(app: &DesktopApp) {
    let script = "const before = document.getElementById('outside');
        if (before) return before.remove();
        const outside = document.createElement('button');
        outside.id = outside.textContent = 'outside';
        outside.style.position = 'fixed';
        outside.style.left = '110vw';
        document.querySelector(arguments[0]).append(outside);";
    app.window.execute(script, &json!([FIRST_RUN])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_with_a_narrow_window_has_everything_in_it() {
    let _turn = lock_display().await;
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find(FIRST_RUN).await;
    app.window.resize(460, 640).await;
    assert_eq!(controls_cut_off(&app, FIRST_RUN).await, json!([]));
    toggle_button_outside(&app).await;
    assert_eq!(controls_cut_off(&app, FIRST_RUN).await, json!(["outside"]), "the control");
    toggle_button_outside(&app).await;
    for step in ["Try sample notes", "Use an API key"] {
        app.window.click_text(ENABLED, step).await;
    }
    app.window.find(KEY_FIELD).await;
    assert_eq!(controls_cut_off(&app, FIRST_RUN).await, json!([]));
    app.save_screenshot("first-run-narrow").await;
    for step in ["Continue without a model", "Start"] {
        app.window.click_text(ENABLED, step).await;
    }
    InputDevice::Pointer.send_message(&app, "append bread to Groceries").await;
    app.window.find_text(LOG, "Added 1 line to Groceries").await;
    assert_eq!(controls_cut_off(&app, ".main").await, json!([]));
    // The list of conversations is in a drawer.
    app.window.click(".only-narrow[aria-expanded=false]").await;
    app.window.find_text(".side.open [data-row]", "bread").await;
    app.save_screenshot("narrow-list").await;
    app.window.click_text(".side.open [data-row]", "bread").await;
    app.window.wait_until_gone(".side.open").await;
    app.quit().await;
}
