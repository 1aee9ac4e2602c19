//! The permissions of the window's page: its policy refuses everything foreign, and its calls to
//! the application use a scheme of their own.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::gui::web_driver::{LaunchOptions, MINI_BROWSER};
use testkit::{DesktopHome, Gate, Reply, ScriptedModel, TempVault, VirtualDisplay, WebDriver};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::lock_display;

/// Tries what a hostile page would; what ran stands in `ran`, what was refused in `refused`.
const PROBE_SCRIPT: &str = "
    const [base] = arguments;
    window.ran = {};
    window.refused = [];
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
        const what = blockedURI.startsWith('http') ? 'foreign' : blockedURI;
        window.refused.push(`${effectiveDirective} ${what}`);
    });
    const put = (tag, properties) => {
        const element = Object.assign(document.createElement(tag), properties);
        document.body.append(element);
        return element;
    };
    const attempts = [
        () => put('script', { textContent: 'window.ran.inline = true' }),
        () => {
            const pressed = put('p', {});
            pressed.setAttribute('onclick', 'window.ran.handler = true');
            pressed.click();
        },
        () => { put('p', {}).innerHTML = '<b></b>'; window.ran.markup = true; },
        () => { window.ran.eval = (0, eval)('true'); },
        () => { window.ran.made = new Function('return true')(); },
        () => put('script', { src: `${base}/script.js` }),
        () => put('link', { rel: 'stylesheet', href: `${base}/style.css` }),
        () => put('img', { src: `${base}/photo.png` }),
        () => put('iframe', { src: `${base}/frame` }),
        () => put('object', { data: `${base}/object`, type: 'text/html' }),
        () => fetch(`${base}/fetch`, { mode: 'no-cors' }).catch(() => {}),
    ];
    // A load that throws is refused as well.
    for (const attempt of attempts) try { attempt(); } catch {}
    new FontFace('foreign', `url(${base}/font.woff2)`).load().catch(() => {});";

/// The loads of the probe, in the order of their names.
const FOREIGN_LOADS: [&str; 7] =
    ["/fetch", "/font.woff2", "/frame", "/object", "/photo.png", "/script.js", "/style.css"];

/// A server on loopback that tells which of it was asked for.
pub(crate) struct TrapServer {
    pub(crate) base: String,
    pub(crate) requested: watch::Sender<BTreeSet<String>>,
    _server: JoinSet<()>,
}

impl TrapServer {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let asked = watch::Sender::new(BTreeSet::new());
        let router = Router::new().fallback(handle_request).with_state(asked.clone());
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.expect("the server runs") });
        Self { base, requested: asked, _server: server }
    }

    /// Resolves once this was asked for.
    pub(crate) async fn wait_for_request(&self, path: &str) {
        let mut asked = self.requested.subscribe();
        let found = asked.wait_for(|asked| asked.contains(path));
        let found = tokio::time::timeout(Duration::from_secs(30), found).await.map(drop);
        found.unwrap_or_else(|_| panic!("{path} was not asked for"));
    }

    /// Resolves once all of it was asked for.
    async fn wait_for_all_requests(&self) {
        let mut asked = self.requested.subscribe();
        let all = asked.wait_for(|asked| asked.len() == FOREIGN_LOADS.len());
        let all = tokio::time::timeout(Duration::from_secs(30), all).await.map(drop);
        all.unwrap_or_else(|_| panic!("only this was asked for: {:?}", *self.requested.borrow()));
    }
}

async fn handle_request(
    State(asked): State<watch::Sender<BTreeSet<String>>>,
    uri: Uri,
) -> Html<String> {
    if FOREIGN_LOADS.contains(&uri.path()) {
        asked.send_modify(|asked| _ = asked.insert(uri.path().to_owned()));
    }
    Html("<!doctype html><title>page</title><body></body>".to_owned())
}

/// Resolves with what the page says of `name` once that holds so many entries.
async fn wait_for_entries(window: &WebDriver, name: &str, entries: usize) -> Value {
    let script = format!("return Object.keys(window.{name}).length >= {entries}");
    window.wait_until(&format!("{entries} entries in {name}"), &script).await;
    window.execute(&format!("return window.{name}"), &json!([])).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_runs_nothing_foreign_and_loads_nothing_from_anywhere() {
    let _turn = lock_display().await;
    let (vault, lure) = (TempVault::from_fixture("sample"), TrapServer::start().await);
    let home = DesktopHome::new().with_vault(&vault);
    let app = home.start().await;
    app.wait_until_opened().await;
    app.window.execute(PROBE_SCRIPT, &json!([lure.base])).await;

    let mut refused: Vec<String> =
        serde_json::from_value(wait_for_entries(&app.window, "refused", 12).await).expect("words");
    refused.sort();
    // Code that would run, or become markup, is refused before the policy of scripts is asked.
    let sinks = vec!["require-trusted-types-for trusted-types-sink"; 6];
    let foreign =
        ["connect-src", "font-src", "frame-src", "img-src", "object-src", "style-src-elem"];
    let mut expected: Vec<String> = foreign.map(|what| format!("{what} foreign")).to_vec();
    expected.extend(sinks.into_iter().map(str::to_owned));
    expected.sort();
    assert_eq!(refused, expected);
    assert_eq!(wait_for_entries(&app.window, "ran", 0).await, json!({}));
    assert!(lure.requested.borrow().is_empty(), "{:?}", *lure.requested.borrow());
    app.quit().await;
}

/// The control: where there is no policy, all of it runs and loads.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_engine_without_a_policy_runs_and_loads_all_of_it() {
    let _turn = lock_display().await;
    let lure = TrapServer::start().await;
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
    window.navigate_to(&lure.base).await;
    window.execute(PROBE_SCRIPT, &json!([lure.base])).await;
    let ran = wait_for_entries(&window, "ran", 5).await;
    let all =
        json!({ "inline": true, "handler": true, "markup": true, "eval": true, "made": true });
    assert_eq!(ran, all);
    lure.wait_for_all_requests().await;
    assert_eq!(wait_for_entries(&window, "refused", 0).await, json!([]));
    window.quit().await;
}

/// Counts the calls to the application: over its scheme, and through the fallback `postMessage`.
const COUNT_SCRIPT: &str = "
    window.told = { scheme: [], fallback: 0 };
    const fetched = window.fetch;
    window.fetch = (address, options) => {
        if (window.cut) return Promise.reject(new TypeError('cut'));
        if (String(address).startsWith('ipc:')) {
            window.told.scheme.push(new URL(address).pathname.slice(1));
        }
        return fetched(address, options);
    };
    const fallback = Object.getPrototypeOf(window.webkit.messageHandlers.ipc);
    const post = fallback.postMessage;
    fallback.postMessage = function (...message) {
        window.told.fallback += 1;
        return post.apply(this, message);
    };";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_asks_of_the_application_goes_over_its_own_scheme() {
    let _turn = lock_display().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let reply = Reply::text("Lentils, rice and many other things.").gated(&gate);
    let model = ScriptedModel::start(vec![reply]).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;
    app.wait_until_opened().await;
    app.window.execute(COUNT_SCRIPT, &json!([])).await;

    app.window.type_into("[data-testid=composer]", "What is in the pantry?").await;
    app.window.click("[data-testid=send]").await;
    gate.open();
    app.window.find_text("[data-testid=chat-log]", "many other things.").await;
    app.window.click("[data-testid=open-settings]").await;
    app.window.find("[data-testid=settings]").await;
    let told = wait_for_entries(&app.window, "told.scheme", 3).await;
    for command in ["send_message", "open_conversation", "history"] {
        let there = told.as_array().expect("a list").contains(&json!(command));
        assert!(there, "`{command}` is not in {told}");
    }
    assert_eq!(app.window.execute("return window.told.fallback", &json!([])).await, 0);

    // The control: without the scheme a call falls back to `postMessage` without an error, and the
    // count sees that.
    let cut = "window.cut = true;
        return window.__TAURI_INTERNALS__.invoke('desktop_state').then(() => window.told.fallback)";
    assert_eq!(app.window.execute(cut, &json!([])).await, 1);
    app.quit().await;
    model.finish();
}
