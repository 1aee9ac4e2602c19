//! The program on a desktop of its own: notifications, a tray, a second start, and services that
//! never answer.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::gui::desktop_app::WindowVisibility;
use testkit::{
    DesktopApp, DesktopHome, FakeNotificationServer, FakeTrayHost, Gate, Key, PrivateBus, Reply,
    ScriptedModel, TempVault, TestHub,
};

use crate::lock_display;

const QUESTION: &str = "Which list, says the diary of KRYPTON?";
const KEY: &str = "sk-CANARY-7f3a9c0d";

/// Resolves when the window is seen, or is not.
async fn wait_for_visibility(app: &DesktopApp, seen: bool) {
    let wanted = if seen { "visible" } else { "hidden" };
    let script = format!("return document.visibilityState === '{wanted}'");
    app.window.wait_until(&format!("the window to be {wanted}"), &script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_notified_without_its_text_and_a_click_leads_to_it() {
    let _turn = lock_display().await;
    let bus = PrivateBus::start();
    let board = FakeNotificationServer::start(bus.address()).await;
    let vault = TempVault::from_fixture("sample");
    let asks = json!({ "message": QUESTION, "is_question": true });
    let gate = Gate::closed();
    let question = Reply::calls(vec![("send_message", asks)]).gated(&gate);
    let model = ScriptedModel::start(vec![question]).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model).with_bus(&bus);
    let app = home.start().await;
    let words = format!("Put <b>turmeric</b> somewhere, {KEY}");
    app.window.type_into("[data-testid=composer]", &words).await;
    app.window.click("[data-testid=send]").await;
    model.wait_for_request(1).await;
    // No notification for the conversation in front of the user: they look at something else.
    app.window.press_keys(&[Key::Control, Key::Char(',')]).await;
    app.window.find("[data-testid=settings]").await;
    gate.open();

    let shown = board
        .wait_for_notification("the question", |shown| shown.summary.contains("question"))
        .await;
    let all = format!("{:?}", board.shown());
    assert!(!all.contains("KRYPTON") && !all.contains("CANARY"), "{all}");
    assert!(!shown.body.contains('<'), "{}", shown.body);
    assert_eq!(shown.actions.first().map(String::as_str), Some("default"));
    board.click(shown.id).await;
    app.window.find_text("[data-testid=question-card]", "KRYPTON").await;
    app.window.type_into("[data-testid=composer]", "not now").await;
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_hub_on_the_program_stands_in_the_tray_and_never_hides_where_there_is_none() {
    let _turn = lock_display().await;
    let (bus, hub) = (PrivateBus::start(), TestHub::start().await);
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault).with_hub(&hub.url()).with_bus(&bus);
    let app = home.start().await;
    app.wait_until_opened().await;
    hub.wait_for_registration().await;
    let answer =
        "return window.__TAURI_INTERNALS__.invoke('answer_close_request', { answer: 'tray' })";
    // Nobody shows a tray yet.
    app.window.execute(answer, &json!([])).await;
    wait_for_visibility(&app, true).await;

    let tray = FakeTrayHost::start(bus.address()).await;
    tray.wait_for_item().await;
    let menu = tray.wait_for_menu_line("Connected").await;
    assert!(menu.iter().all(|line| !line.label.contains("Questions")), "{menu:?}");
    assert_eq!(tray.status().await, "Active");
    let in_tray = "return window.__TAURI_INTERNALS__.invoke('desktop_state').then(s => s.inTray)";
    app.window.wait_until("the program to stand in the tray", in_tray).await;
    app.window.execute(answer, &json!([])).await;
    wait_for_visibility(&app, false).await;
    tray.choose("Open Vaultmate").await;
    wait_for_visibility(&app, true).await;
    app.window.execute(answer, &json!([])).await;
    wait_for_visibility(&app, false).await;
    // The tray goes: a hidden window that could not be shown again comes back automatically.
    drop(tray);
    wait_for_visibility(&app, true).await;

    let tray = FakeTrayHost::start(bus.address()).await;
    tray.wait_for_item().await;
    tray.choose("Quit").await;
    // Everything comes home and the hub is left; a driven page may keep the process a while longer.
    hub.wait_until_left().await;
    app.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_close_button_asks_once_hides_into_the_tray_then_and_ends_the_program_without_one() {
    let _turn = lock_display().await;
    let (bus, hub) = (PrivateBus::start(), TestHub::start().await);
    let tray = FakeTrayHost::start(bus.address()).await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault).with_hub(&hub.url()).with_bus(&bus);
    let app = home.start().await;
    app.wait_until_opened().await;
    hub.wait_for_registration().await;
    let in_tray = "return window.__TAURI_INTERNALS__.invoke('desktop_state').then(s => s.inTray)";
    app.window.wait_until("the program to stand in the tray", in_tray).await;
    home.wait_for_window(WindowVisibility::Shown).await;

    home.press_close_button();
    app.window.find_text("dialog", "Keep running in the tray?").await;
    home.wait_for_window(WindowVisibility::Shown).await;
    // A driver's click waits for a frame of the clicked element, which a hidden window never draws.
    let stay = "setTimeout(() => document.querySelector('dialog .btn.primary').click())";
    app.window.execute(stay, &json!([])).await;
    home.wait_for_window(WindowVisibility::Gone).await;
    tray.choose("Open Vaultmate").await;
    home.wait_for_window(WindowVisibility::Shown).await;
    app.window.wait_until_gone("dialog").await;

    // Once is enough.
    home.press_close_button();
    home.wait_for_window(WindowVisibility::Gone).await;
    // The tray goes: the window comes back, and closing it is the end.
    drop(tray);
    home.wait_for_window(WindowVisibility::Shown).await;
    home.press_close_button();
    hub.wait_until_left().await;
    app.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn started_hidden_at_login_it_has_no_window_until_it_is_called_and_quit_ends_the_process() {
    let _turn = lock_display().await;
    let (bus, hub) = (PrivateBus::start(), TestHub::start().await);
    let tray = FakeTrayHost::start(bus.address()).await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault).with_hub(&hub.url()).with_bus(&bus);
    let app = home.start_undriven(&["--hidden"]);
    hub.wait_for_registration().await;
    tray.wait_for_item().await;
    tray.wait_for_menu_line("Connected").await;
    home.wait_for_window(WindowVisibility::Gone).await;
    // Somebody starts it once more, without the option.
    assert!(home.start_second_instance().await.success());
    home.wait_for_window(WindowVisibility::Shown).await;

    tray.choose("Quit").await;
    hub.wait_until_left().await;
    let ended = app.wait_for_exit().await;
    assert!(ended.success(), "{ended:?}");
    home.wait_for_window(WindowVisibility::Gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_shows_a_tray_the_close_button_ends_the_process_and_leaves_the_hub() {
    let _turn = lock_display().await;
    let hub = TestHub::start().await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault).with_hub(&hub.url());
    let app = home.start_undriven(&[]);
    hub.wait_for_registration().await;
    home.wait_for_window(WindowVisibility::Shown).await;
    home.press_close_button();
    hub.wait_until_left().await;
    let ended = app.wait_for_exit().await;
    assert!(ended.success(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_brings_the_first_window_to_the_front_and_ends() {
    let _turn = lock_display().await;
    let (bus, hub) = (PrivateBus::start(), TestHub::start().await);
    let tray = FakeTrayHost::start(bus.address()).await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault).with_hub(&hub.url()).with_bus(&bus);
    let app = home.start().await;
    app.wait_until_opened().await;
    tray.wait_for_item().await;
    let hide =
        "return window.__TAURI_INTERNALS__.invoke('answer_close_request', { answer: 'tray' })";
    let in_tray = "return window.__TAURI_INTERNALS__.invoke('desktop_state').then(s => s.inTray)";
    app.window.wait_until("the program to stand in the tray", in_tray).await;
    app.window.execute(hide, &json!([])).await;
    wait_for_visibility(&app, false).await;

    let began = Instant::now();
    let second = home.start_second_instance().await;
    assert!(second.success(), "{second:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    wait_for_visibility(&app, true).await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_are_started_and_never_come_do_not_hold_up_the_start() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let bus = PrivateBus::with_unresponsive_services(&[
        "org.freedesktop.portal.Desktop",
        "org.freedesktop.portal.Documents",
        "org.freedesktop.Notifications",
        "org.freedesktop.secrets",
        "org.kde.StatusNotifierWatcher",
    ]);
    let mut took = Vec::new();
    for home in [DesktopHome::new(), DesktopHome::new().with_bus(&bus)] {
        let model = ScriptedModel::start(vec![Reply::text("I hear you.")]).await;
        let home = home.with_vault(&vault).with_model(&model);
        let began = Instant::now();
        let app = home.start().await;
        app.wait_until_opened().await;
        took.push(began.elapsed());
        // After the restart it has the key that it was started with.
        app.window.type_into("[data-testid=composer]", "Are you there?").await;
        app.window.click("[data-testid=send]").await;
        app.window.find_text("[data-testid=chat-log]", "I hear you.").await;
        app.quit().await;
        model.finish();
    }
    println!("without a bus {:?}, with services that never come {:?}", took[0], took[1]);
    assert!(took[1] < took[0] + Duration::from_secs(10), "{took:?}");
}
