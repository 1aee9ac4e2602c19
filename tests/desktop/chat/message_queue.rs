//! Messages that are typed while an answer is written are queued, can be changed and removed, and
//! are answered in order.

use testkit::scripted_model::last_message_text;
use testkit::{DesktopApp, DesktopHome, Gate, Key, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";
const QUEUED: &str = "[data-testid=queued]";

/// Where the message stands that is so far back in the queue, from 1, with all that can be done with it.
fn queued_control(number: usize, control: &str) -> String {
    format!("{LOG} :nth-child({number} of .row-of:has(.me.queued, textarea)) {control}")
}

async fn edit_and_remove_queued(device: InputDevice) {
    let _turn = lock_display().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let model = ScriptedModel::start(vec![
        Reply::text("Lentils, rice and many other things.").gated(&gate),
        Reply::text("Two bags of it."),
        Reply::text("On the lower shelf."),
    ])
    .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    device.send_message(&app, "What is in the pantry?").await;
    gate.wait_until_reached(1).await;
    queue_three_remove_one(&app, device).await;
    expect_queue_below_answer(&app).await;
    app.save_screenshot("queue").await;

    gate.open();
    app.window.find_text(LOG, "On the lower shelf.").await;
    app.window.wait_until_gone(QUEUED).await;
    for (number, words) in [(2, "How much sugar?"), (3, "And the vinegar?")] {
        let asked = last_message_text(&model.wait_for_request(number).await);
        assert!(asked.trim().ends_with(words), "{asked}");
    }
    app.quit().await;
    model.finish();
}

/// Says three things, takes the second out and puts the first differently.
async fn queue_three_remove_one(app: &DesktopApp, device: InputDevice) {
    for (number, words) in ["How much salt?", "Is it dry?", "And the vinegar?"].iter().enumerate() {
        device.send_message(app, words).await;
        app.window.find_text(&queued_control(number + 1, ".me"), words).await;
    }
    device.press(app, &queued_control(2, "button"), "Remove").await;
    app.window.find_text(&queued_control(2, ".me"), "And the vinegar?").await;
    app.window.wait_until_gone(&queued_control(3, ".me")).await;
    device.press(app, &queued_control(1, "button"), "Edit").await;
    device.replace_text(app, &queued_control(1, "textarea"), "How much sugar?").await;
    match device {
        InputDevice::Pointer => app.window.click_text(&queued_control(1, "button"), "Save").await,
        InputDevice::Keyboard => app.window.press_keys(&[Key::Enter]).await,
    }
    app.window.find_text(&queued_control(1, ".me"), "How much sugar?").await;
    app.window.wait_for_focus("composer").await;
}

/// Queued messages stand below the answer that is being written, also after an edit.
async fn expect_queue_below_answer(app: &DesktopApp) {
    let script = "const top = (css) => document.querySelector(css)?.getBoundingClientRect().top;
        return top('[data-testid=chat-log] .says') < top('[data-testid=chat-log] .me.queued')";
    app.window.wait_until("the queue to stand below the answer", script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_messages_are_edited_and_removed_by_pointer() {
    edit_and_remove_queued(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_messages_are_edited_and_removed_by_keyboard() {
    edit_and_remove_queued(InputDevice::Keyboard).await;
}
