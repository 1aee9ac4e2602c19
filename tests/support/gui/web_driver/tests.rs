//! The driver drives a real page in the small browser that comes with WebKit.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;
use crate::VirtualDisplay;

const PAGE: &str = r#"<!doctype html><title>page</title>
<input data-testid="words"><button data-testid="say">Say</button><p data-testid="said"></p>
<script>
  const [words, say, said] = ['input', 'button', 'p'].map((name) => document.querySelector(name));
  const tell = () => setTimeout(() => (said.innerText = `you said ${words.value}`), 100);
  say.addEventListener('click', tell);
  words.addEventListener('keydown', (event) => event.ctrlKey && event.key === 'Enter' && tell());
</script>"#;

/// A page on loopback, a screen and a browser that shows the page.
struct BrowserFixture {
    window: WebDriver,
    folder: TempDir,
    _display: VirtualDisplay,
    _server: JoinSet<()>,
}

async fn open_page() -> BrowserFixture {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let page = format!("http://{}", listener.local_addr().expect("its address"));
    let mut server = JoinSet::new();
    let router = Router::new().route("/", get(async || Html(PAGE)));
    server.spawn(async move { axum::serve(listener, router).await.expect("the server runs") });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let display = VirtualDisplay::start();
    let launch = LaunchOptions {
        binary: MINI_BROWSER.into(),
        args: vec!["--automation".into()],
        env: vec![("XDG_DATA_HOME".into(), folder.path().display().to_string())],
        display: display.name().into(),
        log: folder.path().join("driver.log"),
    };
    let window = WebDriver::start(&launch).await;
    window.navigate_to(&page).await;
    BrowserFixture { window, folder, _display: display, _server: server }
}

#[tokio::test]
async fn typed_and_clicked_text_comes_back() {
    let BrowserFixture { window, folder, .. } = &open_page().await;
    window.type_into("[data-testid=words]", "Zoë ✓").await;
    window.click("[data-testid=say]").await;
    assert_eq!(window.wait_for_text("[data-testid=said]", "Zoë").await, "you said Zoë ✓");
    let screenshot = folder.path().join("page.png");
    window.screenshot(&screenshot).await;
    let png = std::fs::read(&screenshot).expect("the screenshot");
    assert!(png.starts_with(b"\x89PNG") && png.len() > 1000);
}

#[tokio::test]
async fn the_keyboard_alone_reaches_the_page() {
    let BrowserFixture { window, .. } = &open_page().await;
    window.find("[data-testid=words]").await;
    window.press_keys(&[Key::Tab]).await;
    assert_eq!(window.focused_testid().await, "words");
    window.type_text("by hand").await;
    window.press_keys(&[Key::Control, Key::Enter]).await;
    window.find_text("p", "you said by hand").await;
}

#[tokio::test]
async fn a_killed_window_and_a_closed_one_leave_no_process_behind() {
    for close in [true, false] {
        let BrowserFixture { window, _display, .. } = open_page().await;
        let (driver, app) = (window.driver.id(), window.app.id().expect("the browser was found"));
        assert!(process::is_running(driver) && process::is_running(app), "both run before");
        if close {
            window.quit().await
        } else {
            window.kill_app().await
        }
        assert!(!process::is_running(driver) && !process::is_running(app), "neither runs after");
    }
}
