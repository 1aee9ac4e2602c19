//! Drags from other programs into the window never replace the page.

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use testkit::gui::web_driver::{LaunchOptions, MINI_BROWSER};
use testkit::gui::x11::{DragData, DragSourceBehavior, DropOutcome};
use testkit::{
    DesktopApp, DesktopHome, Key, Reply, ScriptedModel, TempVault, VirtualDisplay, WebDriver,
    X11Client,
};

use super::content_security_policy::TrapServer;
use crate::lock_display;

/// A program that data is dragged from.
struct DragSource {
    trap: TrapServer,
    folder: TempDir,
}

impl DragSource {
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    async fn with_a_page() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let page = "<!doctype html><title>outside</title><script>window.__pwned = 1</script>";
        std::fs::write(folder.path().join("page.html"), page).expect("written");
        Self { trap: TrapServer::start().await, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("page.html")
    }

    fn link(&self) -> String {
        format!("{}/frame", self.trap.base)
    }

    /// A file, and a link.
    fn all(&self) -> [DragData; 2] {
        [DragData::file(&self.file()), DragData::link(&self.link())]
    }
}

/// Marks the page that stands in the window: another one has no mark.
async fn mark_page(app: &DesktopApp) {
    app.window.execute("window.__mark = 'ours'", &json!([])).await;
}

/// That the marked page still stands there and nothing else was asked for.
async fn expect_page_unchanged(app: &DesktopApp, outside: &DragSource, where_it_was: &str) {
    let script = "return [window.__mark, location.href, '__pwned' in window]";
    for _ in 0..2 {
        let found = app.window.execute(script, &json!([])).await;
        assert_eq!(found, json!(["ours", "tauri://localhost", false]), "{where_it_was}");
    }
    assert!(outside.trap.requested.borrow().is_empty(), "{where_it_was}");
}

/// Drops this in the middle of `css`.
async fn drop_on(
    home: &DesktopHome,
    app: &DesktopApp,
    css: &str,
    dragged: &DragData,
    manners: DragSourceBehavior,
) -> DropOutcome {
    let (x, y) = app.window.visible_center(css).await;
    let mut screen = home.connect_x11();
    let window = DesktopHome::find_window(&mut screen).expect("the window");
    let (left, top) = screen.window_position(window).expect("it is on the screen");
    // Reading what the window says blocks the thread.
    let dragged = dragged.clone();
    let dropping = tokio::task::spawn_blocking(move || {
        screen.drop_onto(window, (left + x, top + y), &dragged, manners)
    });
    dropping.await.expect("it is dropped")
}

/// Drops a file and a link in the middle of each of these, whatever the window says of it.
async fn drop_all_on(home: &DesktopHome, app: &DesktopApp, outside: &DragSource, places: &[&str]) {
    for css in places {
        for dragged in outside.all() {
            for manners in [DragSourceBehavior::Polite, DragSourceBehavior::Stubborn] {
                drop_on(home, app, css, &dragged, manners).await;
                expect_page_unchanged(app, outside, css).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_dropped_takes_the_place_of_the_page_at_the_first_run() {
    let _turn = lock_display().await;
    let outside = DragSource::with_a_page().await;
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find("[data-testid=firstrun]").await;
    mark_page(&app).await;
    drop_all_on(
        &home,
        &app,
        &outside,
        &["[data-testid=firstrun]", "[data-testid=firstrun] button"],
    )
    .await;
    app.quit().await;
}

/// Places of a conversation with a note beside it.
const CHAT: [&str; 10] = [
    "[data-testid=chat-log]",
    "[data-testid=chat-log] a",
    "[data-testid=conversation-list]",
    "[data-testid=conversation-list] [data-row]",
    "[data-testid=note-pane]",
    "[data-testid=note-pane] .markdown",
    "[data-testid=composer]",
    "[data-testid=attach]",
    "[data-testid=open-settings]",
    "h1",
];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_dropped_takes_the_place_of_the_page_on_any_screen() {
    let _turn = lock_display().await;
    let (outside, vault) = (DragSource::with_a_page().await, TempVault::from_fixture("sample"));
    let change =
        json!({ "path": "Groceries.md", "old_text": "- [ ] Carrots", "new_text": "- [ ] Leeks" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Groceries.md" }))]),
        Reply::calls(vec![("edit_file", change)]),
        Reply::text("See [[Groceries]] and <https://example.org/>."),
    ])
    .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;
    app.wait_until_opened().await;
    mark_page(&app).await;
    app.window.type_into("[data-testid=composer]", "Leeks, please").await;
    app.window.click("[data-testid=send]").await;
    app.window.find("[data-testid=review-open]").await;
    app.window.click_text("[data-testid=chat-log] a", "Groceries").await;
    drop_all_on(&home, &app, &outside, &CHAT).await;
    app.window.click_text("[data-testid=chat-log] a", "example.org").await;
    drop_all_on(&home, &app, &outside, &["[role=dialog], dialog[open]"]).await;
    app.window.press_keys(&[Key::Escape]).await;

    app.window.click("[data-testid=review-open]").await;
    app.window.find("[data-testid=review-apply]").await;
    drop_all_on(&home, &app, &outside, &["main", "[data-testid=review-accept]"]).await;
    app.window.press_keys(&[Key::Escape]).await;

    app.window.click("[data-testid=open-settings]").await;
    for (section, title) in [("vault", "Vault"), ("private", "Private"), ("hub", "Hub")] {
        app.window.click_text("nav button", title).await;
        let heading = format!("#settings-{section}");
        drop_all_on(&home, &app, &outside, &["[data-testid=settings]", &heading]).await;
    }
    app.window.press_keys(&[Key::Escape]).await;
    for (keys, there) in [
        ([Key::Control, Key::Char('k')], "[data-testid=palette]"),
        ([Key::Control, Key::Char('p')], "[data-testid=switcher]"),
    ] {
        app.window.press_keys(&keys).await;
        drop_all_on(&home, &app, &outside, &[there]).await;
        app.window.press_keys(&[Key::Escape]).await;
    }
    for (key, places) in [
        ('f', ["[data-testid=search]", "[data-testid=search-field]"]),
        ('h', ["[data-testid=changes]", "[data-testid=open-changes]"]),
    ] {
        app.window.press_keys(&[Key::Control, Key::Shift, Key::Char(key)]).await;
        drop_all_on(&home, &app, &outside, &places).await;
    }
    app.quit().await;
}

/// The backend does not rely on what the page refuses.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_dropped_takes_the_place_of_a_page_that_refuses_nothing() {
    let _turn = lock_display().await;
    let outside = DragSource::with_a_page().await;
    let home = DesktopHome::new();
    let app = home.start().await;
    app.window.find("[data-testid=firstrun]").await;
    mark_page(&app).await;
    let careless = "for (const name of ['dragenter', 'dragover', 'drop']) {
            addEventListener(name, (event) => event.stopImmediatePropagation(), true);
        }";
    app.window.execute(careless, &json!([])).await;
    for dragged in outside.all() {
        let taken = drop_on(&home, &app, "main", &dragged, DragSourceBehavior::Polite).await;
        assert_eq!(taken, DropOutcome::Yes, "the control: the engine would take it");
        expect_page_unchanged(&app, &outside, "main").await;
    }
    app.quit().await;
}

/// The control: the same link, and a window that nothing keeps on its page.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_engine_without_a_guard_goes_where_a_dropped_link_leads() {
    let _turn = lock_display().await;
    let outside = DragSource::with_a_page().await;
    let folder = TempDir::new().expect("a temporary folder");
    let display = VirtualDisplay::start();
    let window = WebDriver::start(&LaunchOptions {
        binary: MINI_BROWSER.into(),
        args: vec!["--automation".into()],
        env: vec![("XDG_DATA_HOME".into(), folder.path().display().to_string())],
        display: display.name().into(),
        log: folder.path().join("driver.log"),
    })
    .await;
    window.navigate_to(&outside.trap.base).await;
    let mut screen = X11Client::connect(display.name());
    let browser = screen.find_shown_window("page").expect("the browser's window");
    let dragged = DragData::link(&outside.link());
    let dropping = tokio::task::spawn_blocking(move || {
        screen.drop_onto(browser, (400, 300), &dragged, DragSourceBehavior::Polite)
    });
    assert_eq!(dropping.await.expect("it is dropped"), DropOutcome::Yes);
    outside.trap.wait_for_request("/frame").await;
    window.quit().await;
}
