//! The first minutes: a folder of one's own or one to try things in, no model, and something useful
//! at once.

use std::path::Path;

use testkit::vaults::temp_vault::read_files;
use testkit::{DesktopHome, Key, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const FIRST_RUN: &str = "[data-testid=firstrun]";
const LOG: &str = "[data-testid=chat-log]";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_has_sample_notes_and_a_first_result_without_key_or_network() {
    let _turn = lock_display().await;
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find(FIRST_RUN).await;
    app.save_screenshot("first-run").await;

    for step in ["Try sample notes", "Continue without a model", "Skip"] {
        app.window
            .click_text(
                &format!("{FIRST_RUN} :is(button, label):not(:disabled *, :disabled)"),
                step,
            )
            .await;
    }
    InputDevice::Pointer.send_message(&app, "append bread to Groceries").await;
    app.window.find_text(LOG, "Added 1 line to Groceries").await;
    let notes = read_files(&home.data_dir().join("Sample notes"));
    let list = String::from_utf8_lossy(&notes["Groceries.md"]);
    assert!(list.ends_with("- [ ] Dishwasher salt\n- [ ] bread\n"), "{list}");

    InputDevice::Pointer.send_message(&app, "turmeric").await;
    app.window.find_text(LOG, "No turmeric left").await;
    app.save_screenshot("first-result").await;
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
