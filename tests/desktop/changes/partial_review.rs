//! A review decided hunk by hunk: one is accepted, one rejected, one edited by the user. All of it
//! is undone afterwards, and redone.

use serde_json::{Value, json};
use testkit::scripted_model::last_message_text;
use testkit::{DesktopApp, DesktopHome, Key, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const NOTE: &str = "Trip.md";
const LOG: &str = "[data-testid=chat-log]";

/// The note with these three words in it, far from each other.
fn note_text(when: &str, how: &str, who: &str) -> String {
    let between = "\nNothing else is known.\n\nIt is written down here.\n\nThat is all.\n\n";
    format!("# Trip\n\nWe go in {when}.\n{between}We go by {how}.\n{between}Ask {who}.\n")
}

/// Plans three changes of the note, says so, and answers once more.
async fn start_model() -> ScriptedModel {
    let edit = |old: &str, new: &str| {
        ("edit_file", json!({ "path": NOTE, "old_text": old, "new_text": new }))
    };
    let edits = vec![
        edit("We go in May.", "We go in June."),
        edit("We go by train.", "We go by plane."),
        edit("Ask Mara.", "Ask Tom."),
    ];
    ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": NOTE }))]),
        Reply::calls(edits),
        Reply::text("Three changes need your review."),
        Reply::text("Then by train."),
    ])
    .await
}

/// Decides the three hunks, the last one with the user's own text.
async fn decide_hunks(app: &DesktopApp, device: InputDevice) {
    let stop = |index: u8| format!(".note > div:nth-of-type({}) [data-stop]", index + 1);
    let part = |index: u8, control: &str| format!("{} {control}", stop(index));
    let edited = part(2, "textarea");
    match device {
        InputDevice::Pointer => {
            app.window.click(&part(0, "[data-testid=review-accept]")).await;
            app.window.click(&part(1, "[data-testid=review-reject]")).await;
            app.window.click(&part(2, "[data-testid=review-edit]")).await;
            device.replace_text(app, &edited, "Ask Ines, or Tom.").await;
            app.window.click_text(&part(2, "button"), "Save and accept").await;
        }
        InputDevice::Keyboard => {
            app.window.find(&format!("{}:focus", stop(0))).await;
            for key in ['a', 'r', 'e'] {
                app.window.press_keys(&[Key::Char(key)]).await;
            }
            device.replace_text(app, &edited, "Ask Ines, or Tom.").await;
            app.window.press_keys(&[Key::Control, Key::Enter]).await;
        }
    }
    app.window.wait_until_gone(&edited).await;
    app.window.find_text(".bar", "1 of 1 reviewed").await;
    app.save_screenshot("hunks-decided").await;
    match device {
        InputDevice::Pointer => app.window.click("[data-testid=review-apply]").await,
        InputDevice::Keyboard => app.window.press_keys(&[Key::Control, Key::Enter]).await,
    }
}

async fn decide_undo_and_redo(device: InputDevice) {
    let _turn = lock_display().await;
    let before = note_text("May", "train", "Mara");
    let vault = TempVault::new(&[(NOTE, &before), ("Other.md", "Another note.\n")]);
    let model = start_model().await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    device.send_message(&app, "June, by plane, and Tom is asked").await;
    app.window.find_text(LOG, "Three changes need your review.").await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    assert_eq!(vault.read(NOTE), before, "nothing is written before the decision");
    device.press(&app, "[data-testid=review-open]", "Review").await;
    decide_hunks(&app, device).await;

    let decided = note_text("June", "train", "Ines, or Tom");
    app.window.find_text(LOG, "Partly changed 1 note").await;
    assert_eq!(vault.read(NOTE), decided);
    device.press(&app, "[data-testid=turn-undo] button", "Undo 1").await;
    app.window.find_text("[data-testid=turn-undo]", "Redo 1").await;
    assert_eq!(vault.read(NOTE), before);
    device.press(&app, "[data-testid=turn-undo] button", "Redo 1").await;
    app.window.find_text("[data-testid=turn-undo]", "Undo 1").await;
    assert_eq!(vault.read(NOTE), decided);
    assert_eq!(vault.read("Other.md"), "Another note.\n");

    device.focus_composer(&app).await;
    device.send_message(&app, "So by what?").await;
    app.window.find_text(LOG, "Then by train.").await;
    expect_rejection_reported(&model.wait_for_request(4).await);
    app.quit().await;
    model.finish();
}

fn expect_rejection_reported(request: &Value) {
    let told = last_message_text(request);
    assert!(told.contains("We go by plane."), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_rejected_and_another_edited_then_undone_and_redone_by_pointer() {
    decide_undo_and_redo(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_rejected_and_another_edited_then_undone_and_redone_by_keyboard() {
    decide_undo_and_redo(InputDevice::Keyboard).await;
}
