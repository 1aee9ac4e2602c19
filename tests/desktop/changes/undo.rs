//! A note is moved with the links to it. The move is undone from the list of changes, which keeps
//! the user's own later line, and redone by keyboard.

use serde_json::json;
use testkit::{DesktopHome, Key, Reply, ScriptedModel, TempVault};

use crate::lock_display;

const USER_MESSAGE: &str = "Move Groceries to the archive";

#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_undone_from_the_list_of_changes_and_redone_by_keyboard() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    vault.write("Shopping.md", "See [[Groceries]] first.\n");
    let call = json!({ "source": "Groceries.md", "destination": "Archive/Shopping list.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("move_file", call)]),
        Reply::text("The list and the link to it need your review."),
    ])
    .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    app.window.type_into("[data-testid=composer]", USER_MESSAGE).await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text("[data-testid=chat-log]", "the link to it need your review").await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    let groceries = vault.read("Groceries.md");
    app.window.click("[data-testid=review-open]").await;
    app.save_screenshot("undo-review").await;
    app.window.click("[data-testid=review-accept]").await;
    app.window.click("[data-testid=review-apply]").await;
    vault.wait_for("Archive/Shopping list.md", &groceries).await;
    vault.wait_for("Shopping.md", "See [[Shopping list]] first.\n").await;

    // The user goes on writing in the note that was rewritten.
    vault.write("Shopping.md", "See [[Shopping list]] first.\nAnd bring bags.\n");
    app.window.click("[data-testid=open-changes]").await;
    app.window.find_text("[data-testid=change]", "Shopping").await;
    app.save_screenshot("undo-changes").await;
    app.window.click("[data-testid=change-undo]").await;
    vault.wait_for("Groceries.md", &groceries).await;
    vault.wait_for("Shopping.md", "See [[Groceries]] first.\nAnd bring bags.\n").await;
    app.save_screenshot("undo-undone").await;

    app.window.find("[data-testid=undo-notice]").await;
    app.window.press_keys(&[Key::Control, Key::Shift, Key::Char('z')]).await;
    vault.wait_for("Archive/Shopping list.md", &groceries).await;
    vault.wait_for("Shopping.md", "See [[Shopping list]] first.\nAnd bring bags.\n").await;
    app.quit().await;
    model.finish();
}
