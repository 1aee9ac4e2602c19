//! Errors are shown with a way on, and navigation that must not happen in the window is refused.

use testkit::{DesktopHome, Gate, Key, Reply, ScriptedModel, TempVault};

use crate::lock_display;

const LOG: &str = "[data-testid=chat-log]";

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_leads_to_the_settings_and_the_message_can_be_tried_again() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let model = ScriptedModel::start(vec![
        Reply::status(401, "invalid x-api-key"),
        Reply::text("Now I can hear you."),
    ])
    .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);

    let app = home.start().await;
    app.window.type_into("[data-testid=composer]", "Are you there?").await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text(LOG, "didn’t accept the API key").await;
    app.save_screenshot("trouble-key").await;
    let settings = app.window.find_text(&format!("{LOG} button"), "Open settings").await;
    app.window.click_element(&settings).await;
    app.window.find("[data-testid=settings]").await;
    app.window.press_keys(&[Key::Escape]).await;
    app.window.find_text(LOG, "Are you there?").await;
    let again = app.window.find_text(&format!("{LOG} button"), "Try again").await;
    app.window.click_element(&again).await;
    app.window.find_text(LOG, "Now I can hear you.").await;
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_keeps_the_text_so_far_and_cancels_the_request() {
    let _turn = lock_display().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let long = "The pantry holds lentils, rice, and a long list of other things.";
    let model = ScriptedModel::start(vec![Reply::text(long).gated(&gate)]).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);

    let app = home.start().await;
    app.window.type_into("[data-testid=composer]", "What is in the pantry?").await;
    app.window.click("[data-testid=send]").await;
    gate.let_through(1);
    app.window.find_text(LOG, "The pan").await;
    app.window.press_keys(&[Key::Escape]).await;
    app.window.find_text(LOG, "You stopped this").await;
    model.wait_for_disconnects(1).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    app.window.find_text(LOG, "The pan").await;
    app.window.wait_for_focus("composer").await;
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_web_engine_never_has_the_key_and_the_model_is_asked_with_it() {
    // K-secrets-07
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let model = ScriptedModel::start(vec![Reply::text("I hear you.")]).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);

    let app = home.start().await;
    app.window.type_into("[data-testid=composer]", "Are you there?").await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text(LOG, "I hear you.").await;
    let children = app.window.environments_of_children();
    assert!(children.len() >= 2, "the engine has processes of its own: {}", children.len());
    for environment in children {
        // The control: what else the program was started with is there.
        assert!(environment.contains(&model.base_url()), "{environment}");
        assert!(!environment.contains("ANTHROPIC_API_KEY"), "{environment}");
        assert!(!environment.contains(testkit::scripted_model::KEY), "{environment}");
    }
    app.quit().await;
    model.finish();
}
