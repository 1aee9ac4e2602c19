//! A note is changed: asked for, prepared, looked at, applied, and then it is so on disk.

use serde_json::json;
use testkit::{DesktopApp, DesktopHome, Gate, Key, Reply, ScriptedModel, TempVault};

use crate::lock_display;

const USER_MESSAGE: &str = "Make it a big bunch of carrots";
const ANSWER: &str = "The list asks for a big bunch now; have a look before it is written.";
const BEFORE: &str = "- [ ] Carrots\n";
const AFTER: &str = "- [ ] Carrots, a big bunch\n";

/// Reads the list, prepares the change, and says so while `gate` holds it back.
async fn start_model(gate: &Gate) -> ScriptedModel {
    let change =
        json!({ "path": "Groceries.md", "old_text": BEFORE.trim(), "new_text": AFTER.trim() });
    ScriptedModel::start(vec![
        Reply::text_and_calls(
            "Let me look at the list.",
            vec![("read_file", json!({ "path": "Groceries.md" }))],
        ),
        Reply::calls(vec![("edit_file", change)]),
        Reply::text(ANSWER).gated(gate),
    ])
    .await
}

/// The answer streams: its first words are there before the model has finished.
async fn expect_streamed_answer(app: &DesktopApp, gate: &Gate) {
    let log = "[data-testid=chat-log]";
    app.window.find_text(log, "Let me look at the list.").await;
    app.window.find_text(log, "Read Groceries").await;
    app.window.find_text(log, "Proposed changes to Groceries").await;
    gate.wait_until_reached(1).await;
    app.window.find_text(log, "The list ask").await;
    app.window.find("[data-testid=stop]").await;
    app.save_screenshot("change-streaming").await;
    gate.open();
    app.window.find_text(log, ANSWER).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
}

/// Exactly the one line is changed, and the window says so.
async fn expect_applied_change(app: &DesktopApp, vault: &TempVault) {
    vault.wait_for("Groceries.md", AFTER).await;
    let mut wanted = TempVault::from_fixture("sample").snapshot();
    let list = TempVault::from_fixture("sample").read("Groceries.md").replace(BEFORE, AFTER);
    wanted.insert("Groceries.md".into(), list.into_bytes());
    assert_eq!(vault.snapshot(), wanted);
    app.window.find_text("[data-testid=chat-log]", "Changed 1 note").await;
    app.window.wait_until_gone("[data-testid=review-open]").await;
    app.save_screenshot("change-applied").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_asked_for_reviewed_applied_and_then_on_disk() {
    let _turn = lock_display().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let model = start_model(&gate).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    app.window.type_into("[data-testid=composer]", USER_MESSAGE).await;
    app.window.click("[data-testid=send]").await;
    expect_streamed_answer(&app, &gate).await;

    let untouched = TempVault::from_fixture("sample").snapshot();
    assert_eq!(vault.snapshot(), untouched, "nothing is written before the decision");
    app.window.click("[data-testid=review-open]").await;
    app.window.click("[data-testid=review-accept]").await;
    app.window.find_text("[data-testid=review-apply]", "Apply changes to 1 note").await;
    app.save_screenshot("change-review").await;
    app.window.click("[data-testid=review-apply]").await;

    expect_applied_change(&app, &vault).await;
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_asked_for_and_applied_by_keyboard_alone() {
    let _turn = lock_display().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let model = start_model(&gate).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    app.window.wait_for_focus("composer").await;
    app.window.type_text(USER_MESSAGE).await;
    app.window.press_keys(&[Key::Enter]).await;
    expect_streamed_answer(&app, &gate).await;
    app.window.wait_for_focus("composer").await;

    app.window.find("[data-testid=review-open]").await;
    app.window.tab_to("review-open").await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.find("[data-testid=review-accept]").await;
    app.window.press_keys(&[Key::Char('a')]).await;
    app.window.find_text("[data-testid=review-apply]", "Apply changes to 1 note").await;
    app.window.press_keys(&[Key::Control, Key::Enter]).await;

    expect_applied_change(&app, &vault).await;
    app.window.wait_for_focus("composer").await;
    app.quit().await;
    model.finish();
}
