//! A hundred thousand notes: the window is of use at once, and all of them are found.

use std::time::Instant;

use testkit::vaults::generated_vault;
use testkit::{DesktopHome, Key, TempVault};

use crate::lock_display;

const PANE: &str = "[data-testid=note-pane]";
const SUMMARY: &str = "[data-testid=search-summary]";
const LETTER_TYPED: &str = "return document.querySelector('[data-testid=composer]').value === 'a'";
const NOTES: usize = 100_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it writes a hundred thousand files: `./dev e2e` has it"]
async fn a_hundred_thousand_notes_are_of_use_at_once_and_all_found() {
    let _turn = lock_display().await;
    let vault = TempVault::new(&[]);
    generated_vault::write_vault(vault.root(), NOTES);
    let home = DesktopHome::new().with_vault(&vault);
    let started = Instant::now();
    let app = home.start().await;
    app.window.wait_for_focus("composer").await;
    app.window.type_text("a").await;
    app.window.wait_until("a letter in the composer", LETTER_TYPED).await;
    let usable = started.elapsed();
    app.window.press_keys(&[Key::Backspace]).await;
    app.save_screenshot("large-opened").await;

    // At second zero, while the notes are still being looked through.
    app.window.press_keys(&[Key::Control, Key::Shift, Key::Char('f')]).await;
    app.window.wait_for_focus("search-field").await;
    app.window.type_text("number-77777").await;
    app.window.find_text(SUMMARY, "1 line in 1 note").await;
    app.save_screenshot("large-search").await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.find_text(&format!("{PANE} [data-here]"), "number-77777").await;
    app.window.press_keys(&[Key::Escape]).await;
    app.window.wait_until_gone(PANE).await;

    app.window.press_keys(&[Key::Control, Key::Char('p')]).await;
    app.window.wait_for_focus("switcher-field").await;
    app.window.type_text(" 54321").await;
    app.window.find_text("[role=option][aria-selected=true]", " 54321").await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.find_text(PANE, "number-54321").await;

    app.window.wait_until_gone("[data-testid=status-indexing]").await;
    let looked_through = started.elapsed();
    vault.write("Fresh.md", "A fresh word: rhododendron.\n");
    app.window.press_keys(&[Key::Control, Key::Shift, Key::Char('f')]).await;
    app.window.wait_for_focus("search-field").await;
    app.window.press_keys(&[Key::Control, Key::Char('a')]).await;
    app.window.type_text("rhododendron").await;
    app.window.find_text("[role=option]", "A fresh word: rhododendron").await;
    app.save_screenshot("large-fresh").await;
    println!("notes={NOTES} usable={usable:.1?} looked_through<={looked_through:.1?}");
    app.quit().await;
}
