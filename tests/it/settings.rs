//! Settings that are changed at once are all kept, whoever changes them.

use protocol::desktop::OnClose;

use crate::stage::{Running, keyed, without_model};

fn chosen(running: &Running) -> (bool, OnClose) {
    let settings = running.app.settings();
    (settings.spending.paused, settings.desktop.on_close)
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_at_the_same_time_are_all_kept_and_in_two_steps_one_is_lost() {
    let home = keyed(&[("Alpha.md", "one\n")]);
    let running = home.open(without_model()).await;
    let app = &running.app;

    let ((), done) = tokio::join!(
        app.pause_or_go_on(),
        app.change_settings(|settings| settings.desktop.on_close = OnClose::Quit),
    );
    done.expect("saved");
    assert_eq!(chosen(&running), (true, OnClose::Quit));

    // Both are read before one of them is saved: what a host must not do by itself.
    let (mut goes_on, mut asks) = (app.settings(), app.settings());
    goes_on.spending.paused = false;
    asks.desktop.on_close = OnClose::Ask;
    app.save_settings(goes_on).await.expect("saved");
    app.save_settings(asks).await.expect("saved");
    assert_eq!(chosen(&running), (true, OnClose::Ask), "the control finds what is lost");
    running.quit().await;
}
