//! A hub name belongs to one vault.

use protocol::{AppEvent, Settings};
use testkit::{TempVault, TestHub};

use crate::harness::test_app::{RunningApp, TestHome, settings_without_model, with_hub};

const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n")];

fn settings_with_name(app: &RunningApp, name: &str, description: &str) -> Settings {
    let mut settings = app.app.settings();
    settings.hub.name = name.into();
    settings.hub.description = description.into();
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_is_never_linked_under_the_name_of_another_and_finds_its_own_again() {
    let (home, other) = (TestHome::new(&NOTES), TempVault::new(&NOTES));
    let mut hub = TestHub::start().await;
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    assert_eq!(hub.wait_for_registration().await, "Notes");

    running.app.open_vault(other.root()).await.expect("it opens");
    running
        .wait_for_event("whose name it is", |event| match event {
            AppEvent::Problem { error }
                if error.message.contains("The hub already knows the vault") =>
            {
                Some(())
            }
            _ => None,
        })
        .await;
    let again = settings_with_name(&running, "Notes", "Other notes.");
    let refused = running.app.save_settings(again).await.expect_err("it is taken");
    assert!(refused.message.contains("nother name"), "{refused}");
    hub.restart().await;
    running
        .app
        .save_settings(settings_with_name(&running, "Work", "Other notes."))
        .await
        .expect("it is free");
    assert_eq!(hub.wait_for_registration().await, "Work");

    running.app.open_vault(home.notes.root()).await.expect("it opens");
    assert_eq!(running.app.settings().hub.name, "Notes");
    hub.restart().await;
    assert_eq!(hub.wait_for_registration().await, "Notes");
    running.quit().await;
}
