//! The first minutes: a folder to try things in, no model, and something useful at once.

use testkit::DesktopHome;
use testkit::temp_vault::files;

use super::one_at_a_time;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_has_sample_notes_and_a_first_result_without_key_or_network() {
    let _turn = one_at_a_time().await;
    let home = DesktopHome::fresh();
    let app = home.start().await;
    app.window.find("[data-testid=firstrun]").await;
    app.picture("first-run").await;

    for step in ["Try it with sample notes", "No model yet", "Go to the window"] {
        let control = "[data-testid=firstrun] :is(button, label)";
        let control = app.window.find_text(control, step).await;
        app.window.click_element(&control).await;
    }
    app.window.type_into("[data-testid=composer]", "append bread to Groceries").await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text("[data-testid=chat-log]", "Added 1 line to Groceries").await;
    let notes = files(&home.data_dir().join("Sample notes"));
    let list = String::from_utf8_lossy(&notes["Groceries.md"]);
    assert!(list.ends_with("- [ ] Dishwasher salt\n- [ ] bread\n"), "{list}");

    app.window.type_into("[data-testid=composer]", "turmeric").await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text("[data-testid=chat-log]", "No turmeric left").await;
    app.picture("first-result").await;
    app.quit().await;

    let app = home.start().await;
    app.window.find_text("[data-testid=conversation-list]", "bread").await;
    app.quit().await;
}
