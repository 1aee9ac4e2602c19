//! A note is found by its name, a line by its text, and the results follow the disk.

use testkit::{DesktopApp, DesktopHome, Key, TempVault};

use crate::lock_display;

const PANE: &str = "[data-testid=note-pane]";
const SUMMARY: &str = "[data-testid=search-summary]";

async fn start_app(vault: &TempVault) -> (DesktopHome, DesktopApp) {
    let home = DesktopHome::new().with_vault(vault);
    let app = home.start().await;
    app.window.wait_for_focus("composer").await;
    (home, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_opened_by_some_letters_of_its_name_and_its_links_stand_below_it() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let (_home, app) = start_app(&vault).await;

    app.window.press_keys(&[Key::Control, Key::Char('p')]).await;
    app.window.wait_for_focus("switcher-field").await;
    app.window.type_text("grcer").await;
    app.window.find_text("[role=option][aria-selected=true]", "Groceries").await;
    app.save_screenshot("looking-switcher").await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.find_text(PANE, "Saturday market").await;
    app.window.wait_until_gone("[data-testid=switcher]").await;
    app.window.find_text("[data-testid=note-links] button", "Pantry").await;
    app.save_screenshot("looking-links").await;

    vault.write("Market.md", "What [[Groceries]] says, at nine.\n");
    app.window.find_text("[data-testid=note-links] button", "Market").await;

    app.window.press_keys(&[Key::Control, Key::Char('p')]).await;
    app.window.wait_for_focus("switcher-field").await;
    app.window.find_text("[role=option][aria-selected=true]", "Groceries").await;
    app.window.press_keys(&[Key::Escape]).await;
    app.window.wait_until_gone("[data-testid=switcher]").await;
    app.window.find_text(PANE, "Saturday market").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_found_as_one_types_and_the_note_opens_at_it() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let (_home, app) = start_app(&vault).await;

    app.window.press_keys(&[Key::Control, Key::Shift, Key::Char('f')]).await;
    app.window.wait_for_focus("search-field").await;
    app.window.type_text("plum tree").await;
    app.window.find_text(SUMMARY, "1 line in 1 note").await;
    app.window.find_text("[data-testid=search-preview] [data-here]", "second plum tree").await;
    app.save_screenshot("looking-search").await;
    vault.write("Plums.md", "# Plums\n\nThe plum tree bears every second year.\n");
    app.window.find_text(SUMMARY, "2 lines in 2 notes").await;
    app.window.press_keys(&[Key::ArrowDown]).await;
    app.window.find_text("[data-testid=search-row][aria-selected=true]", "plum tree").await;
    app.window.press_keys(&[Key::ArrowUp]).await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.find_text(&format!("{PANE} [data-here]"), "plum tree").await;
    app.save_screenshot("looking-opened").await;

    app.window.press_keys(&[Key::Control, Key::Shift, Key::Char('f')]).await;
    app.window.wait_for_focus("search-field").await;
    app.window.find_text(SUMMARY, "2 lines in 2 notes").await;
    app.window.press_keys(&[Key::Escape]).await;
    app.window.wait_for_focus("composer").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_are_found_by_name_by_text_and_by_their_links_with_the_pointer() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let (_home, app) = start_app(&vault).await;

    app.window.click("[data-testid=open-switcher]").await;
    app.window.drag("[data-testid=switcher-field]", 2, 2).await;
    app.window.wait_for_focus("switcher-field").await;
    app.window.click_at(2, 2).await;
    app.window.wait_until_gone("[data-testid=switcher]").await;
    app.window.click("[data-testid=open-switcher]").await;
    app.window.type_into("[data-testid=switcher-field]", "grcer").await;
    // The earlier results move away from under the pointer first.
    app.window.find_text("[role=option]:only-child[aria-selected=true]", "Groceries").await;
    app.window.click_text("[role=option]", "Groceries").await;
    app.window.find_text(PANE, "Saturday market").await;
    app.window.click_text("[data-testid=note-links] button", "Pantry").await;
    app.window.find_text(&format!("{PANE} h1, {PANE} h2"), "Pantry").await;

    app.window.click("[data-testid=open-search]").await;
    app.window.type_into("[data-testid=search-field]", "plum tree").await;
    app.window.find_text(SUMMARY, "1 line in 1 note").await;
    app.window.double_click_text("[data-testid=search-row]", "plum tree").await;
    app.window.find_text(&format!("{PANE} [data-here]"), "plum tree").await;
    app.window.click_text(&format!("{PANE} button"), "Close note").await;
    app.window.wait_until_gone(PANE).await;
    app.window.wait_for_focus("composer").await;
    app.quit().await;
}
