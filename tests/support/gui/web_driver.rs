//! A W3C WebDriver client for the real window, talking to WebKitWebDriver directly.
//!
//! Nothing waits for a fixed time: a missing element is looked for again until it is there or the
//! time is up.

mod keys;
mod process;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::polling::poll_until;

pub use keys::Key;
use process::DrivenProcess;

/// The browser that comes with WebKit: the engine of the window, without the application around it.
/// It wants `--automation` to be driven.
pub const MINI_BROWSER: &str = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

/// The name under which WebDriver hands out elements.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The button of the pointer, down and up.
const BUTTON_EVENTS: [&str; 2] = ["pointerDown", "pointerUp"];

/// The program to start, and its surroundings.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The program whose window is driven.
    pub binary: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables on top of this process's own; an empty value takes one away.
    pub env: Vec<(String, String)>,
    /// The X display.
    pub display: String,
    /// Where the driver and the program write what they print.
    pub log: PathBuf,
}

/// A driven window. Dropping it ends the driver and the program.
#[derive(Debug)]
pub struct WebDriver {
    client: reqwest::Client,
    session: String,
    driver: Child,
    app: DrivenProcess,
}

/// An element of the page, valid until the page drops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebElement(String);

impl WebDriver {
    /// Starts the driver and, through it, the program; resolves when its page can be asked.
    pub async fn start(launch: &LaunchOptions) -> Self {
        let port = free_port();
        let driver = spawn_driver(launch, port);
        // From here on a panic must not leave the driver behind.
        let mut window = Self {
            client: crate::http_client::loopback_client(),
            session: format!("http://127.0.0.1:{port}"),
            driver,
            app: DrivenProcess::none(),
        };
        poll_until("WebKitWebDriver", async || window.request(Method::GET, "/status", None).await)
            .await;
        let options = json!({ "binary": launch.binary, "args": launch.args });
        let wanted = json!({ "alwaysMatch": { "webkitgtk:browserOptions": options } });
        let wanted = json!({ "capabilities": wanted });
        let session = window.request(Method::POST, "/session", Some(&wanted)).await;
        let session = session.unwrap_or_else(|why| {
            let log = std::fs::read_to_string(&launch.log).unwrap_or_default();
            panic!("{} shows no window: {why}\n{log}", launch.binary.display())
        });
        window.app = DrivenProcess::child_of(window.driver.id(), &launch.binary);
        let id = session["sessionId"].as_str().expect("a session has an id");
        window.session = format!("{}/session/{id}", window.session);
        window
    }

    /// The first element that matches `css`, once there is one.
    pub async fn find(&self, css: &str) -> WebElement {
        let wanted = json!({ "using": "css selector", "value": css });
        poll_until(css, async || {
            self.post("/element", &wanted).await.and_then(|found| parse_element(&found))
        })
        .await
    }

    /// The first element that matches `css` and shows `needle`, or is called so, once there is one.
    pub async fn find_text(&self, css: &str, needle: &str) -> WebElement {
        let script = "const [css, needle] = arguments;
            const shown = (e) => e.tagName === 'SELECT' ? e.textContent : e.innerText;
            const words = (e) => `${shown(e)} ${e.getAttribute('aria-label') ?? ''}`;
            return [...document.querySelectorAll(css)].find((e) => words(e).includes(needle));";
        poll_until(&format!("`{needle}` in {css}"), async || {
            let found = self.try_execute(script, &json!([css, needle])).await?;
            if found.is_null() {
                Err(self.displayed_text(css).await)
            } else {
                parse_element(&found)
            }
        })
        .await
    }

    /// Resolves with the text of the first `css` that shows `needle`.
    pub async fn wait_for_text(&self, css: &str, needle: &str) -> String {
        let found = self.find_text(css, needle).await;
        self.text(&found).await
    }

    /// Resolves once nothing matches `css`.
    pub async fn wait_until_gone(&self, css: &str) {
        let script = "return document.querySelectorAll(arguments[0]).length";
        poll_until(&format!("{css} to go"), async || {
            match self.try_execute(script, &json!([css])).await?.as_u64() {
                Some(0) => Ok(()),
                left => Err(format!("{left:?} still there")),
            }
        })
        .await;
    }

    /// Resolves once `script` (a body with `return`) answers true.
    pub async fn wait_until(&self, what: &str, script: &str) {
        poll_until(what, async || match self.try_execute(script, &json!([])).await? {
            Value::Bool(true) => Ok(()),
            other => Err(other.to_string()),
        })
        .await;
    }

    /// Clicks the first `css` once it can be clicked.
    pub async fn click(&self, css: &str) {
        let element = self.find(css).await;
        self.click_element(&element).await;
    }

    /// Clicks an element once it can be clicked.
    pub async fn click_element(&self, WebElement(id): &WebElement) {
        let path = format!("/element/{id}/click");
        poll_until("a click", async || self.post(&path, &json!({})).await).await;
    }

    /// Clicks the first `css` that shows `needle`, once it can be clicked.
    pub async fn click_text(&self, css: &str, needle: &str) {
        // It may be redrawn between the look and the click.
        poll_until("a click", async || {
            let WebElement(id) = self.find_text(css, needle).await;
            self.post(&format!("/element/{id}/click"), &json!({})).await
        })
        .await;
    }

    /// Clicks twice on the first `css` that shows `needle`.
    pub async fn double_click_text(&self, css: &str, needle: &str) {
        let WebElement(id) = self.find_text(css, needle).await;
        let to = json!({ "type": "pointerMove", "origin": { ELEMENT_KEY: id }, "x": 0, "y": 0 });
        let [down, up] = BUTTON_EVENTS.map(|kind| json!({ "type": kind, "button": 0 }));
        self.perform_pointer_actions(&[&to, &down, &up, &down, &up]).await;
    }

    /// Presses the button on the first `css` and lets it go at a place of the page.
    pub async fn drag(&self, css: &str, x: u32, y: u32) {
        let WebElement(id) = self.find(css).await;
        let from = json!({ "type": "pointerMove", "origin": { ELEMENT_KEY: id }, "x": 0, "y": 0 });
        let to = json!({ "type": "pointerMove", "origin": "viewport", "x": x, "y": y });
        let [down, up] = BUTTON_EVENTS.map(|kind| json!({ "type": kind, "button": 0 }));
        self.perform_pointer_actions(&[&from, &down, &to, &up]).await;
    }

    /// Clicks at a place of the page.
    pub async fn click_at(&self, x: u32, y: u32) {
        let to = json!({ "type": "pointerMove", "origin": "viewport", "x": x, "y": y });
        let [down, up] = BUTTON_EVENTS.map(|kind| json!({ "type": kind, "button": 0 }));
        self.perform_pointer_actions(&[&to, &down, &up]).await;
    }

    /// Where on the page the middle of the first `css` is that stands on it.
    pub async fn visible_center(&self, css: &str) -> (u16, u16) {
        let script = "const shown = [...document.querySelectorAll(arguments[0])]
                .map((element) => element.getBoundingClientRect())
                .find(({ width, height }) => width > 0 && height > 0);
            if (!shown) return null;
            const within = (least, size, most) => Math.round((Math.max(0, least) + Math.min(most, least + size)) / 2);
            return [within(shown.x, shown.width, innerWidth), within(shown.y, shown.height, innerHeight)];";
        poll_until(&format!("{css} on the page"), async || {
            let found = self.try_execute(script, &json!([css])).await?;
            serde_json::from_value(found).map_err(|_| "it is not shown".to_owned())
        })
        .await
    }

    async fn perform_pointer_actions(&self, actions: &[&Value]) {
        let pointer = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        let done = self.post("/actions", &json!({ "actions": [pointer] })).await;
        done.unwrap_or_else(|why| panic!("the pointer: {why}"));
    }

    /// Shows another page in the window.
    pub async fn navigate_to(&self, url: &str) {
        let shown = self.post("/url", &json!({ "url": url })).await;
        shown.unwrap_or_else(|why| panic!("the page {url}: {why}"));
    }

    /// Makes the window this large, in pixels of the screen; resolves once its page is no larger.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = "return [innerWidth, innerHeight]";
        let frame = json!({ "x": 0, "y": 0, "width": width, "height": height });
        poll_until(&format!("a page of {width}×{height}"), async || {
            self.post("/window/rect", &frame).await?;
            let page = self.try_execute(size, &json!([])).await?;
            match serde_json::from_value::<(u32, u32)>(page.clone()) {
                Ok((across, down)) if across <= width && down <= height => Ok(()),
                _ => Err(format!("it is {page}")),
            }
        })
        .await;
    }

    /// Writes `text` into the first `css`, in place of what stands there.
    pub async fn replace_text(&self, css: &str, text: &str) {
        let WebElement(id) = self.find(css).await;
        let path = format!("/element/{id}/clear");
        poll_until("an empty field", async || self.post(&path, &json!({})).await).await;
        self.type_into(css, text).await;
    }

    /// Types into the first `css`: it gets the focus first.
    pub async fn type_into(&self, css: &str, text: &str) {
        let WebElement(id) = self.find(css).await;
        let path = format!("/element/{id}/value");
        poll_until("typing", async || self.post(&path, &json!({ "text": text })).await).await;
    }

    /// Types on the keyboard, wherever the focus is.
    pub async fn type_text(&self, text: &str) {
        let keys = text.chars().flat_map(|letter| Key::Char(letter).key_press()).collect();
        self.perform_key_actions(keys).await;
    }

    /// Presses keys together, the first held longest: `press_keys(&[Key::Control, Key::Enter])`.
    pub async fn press_keys(&self, chord: &[Key]) {
        let down = chord.iter().map(Key::key_down);
        let up = chord.iter().rev().map(Key::key_up);
        self.perform_key_actions(down.chain(up).collect()).await;
    }

    async fn perform_key_actions(&self, keys: Vec<Value>) {
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": keys });
        let done = self.post("/actions", &json!({ "actions": [keyboard] })).await;
        done.unwrap_or_else(|why| panic!("the keyboard: {why}"));
    }

    /// The text of an element.
    pub async fn text(&self, WebElement(id): &WebElement) -> String {
        let text = self.request(Method::GET, &format!("/element/{id}/text"), None).await;
        text.unwrap_or_default().as_str().unwrap_or_default().to_owned()
    }

    /// Runs `script` in the page, with `arguments`; answers what it returns.
    pub async fn execute(&self, script: &str, arguments: &Value) -> Value {
        let result = self.try_execute(script, arguments).await;
        result.unwrap_or_else(|why| panic!("the script `{script}`: {why}"))
    }

    /// The `data-testid` of what has the focus; empty when it has none.
    pub async fn focused_testid(&self) -> String {
        let script = "return document.activeElement?.dataset?.testid ?? ''";
        self.execute(script, &json!([])).await.as_str().unwrap_or_default().to_owned()
    }

    /// Resolves once what has the `data-testid` has the focus.
    pub async fn wait_for_focus(&self, testid: &str) {
        poll_until(&format!("the focus on {testid}"), async || match self.focused_testid().await {
            focus if focus == testid => Ok(()),
            focus => Err(format!("it is on `{focus}`")),
        })
        .await;
    }

    /// Presses Tab until what has the `data-testid` has the focus; gives up after a whole round.
    pub async fn tab_to(&self, testid: &str) {
        for _ in 0..100 {
            if self.focused_testid().await == testid {
                return;
            }
            self.press_keys(&[Key::Tab]).await;
        }
        panic!("Tab never comes to {testid}");
    }

    /// Presses Tab until something that matches `css` and shows `needle`, or is called so, has the
    /// focus; gives up after a whole round.
    pub async fn tab_to_text(&self, css: &str, needle: &str) {
        self.step_focus_to(&[Key::Tab], css, needle).await;
    }

    /// The same with Shift+Tab.
    pub async fn tab_back_to_text(&self, css: &str, needle: &str) {
        self.step_focus_to(&[Key::Shift, Key::Tab], css, needle).await;
    }

    async fn step_focus_to(&self, step: &[Key], css: &str, needle: &str) {
        let script = "const [css, needle] = arguments;
            const on = document.activeElement;
            const label = on?.getAttribute('aria-label') ?? '';
            const shown = on?.tagName === 'SELECT' ? on.textContent : on?.innerText;
            const words = on === document.body ? '' : `${shown ?? ''} ${label}`;
            return [Boolean(on?.matches(css)) && words.includes(needle), words.trim()]";
        let mut passed = Vec::new();
        for _ in 0..120 {
            let mut on = self.execute(script, &json!([css, needle])).await;
            if on[0] == true {
                return;
            }
            passed.push(on[1].take());
            self.press_keys(step).await;
        }
        panic!("{step:?} never comes to `{needle}` in {css}, only to {passed:?}");
    }

    /// Saves what the window shows as a PNG, once all that the page holds now is painted.
    pub async fn screenshot(&self, file: &Path) {
        // Two frames later what stands in the page stands on the screen too.
        let frames = "const done = arguments[0];
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
        let painted = self.post("/execute/async", &json!({ "script": frames, "args": [] })).await;
        painted.unwrap_or_else(|why| panic!("the page is not painted: {why}"));
        let image = self.request(Method::GET, "/screenshot", None).await.expect("a screenshot");
        let png = base64::engine::general_purpose::STANDARD
            .decode(image.as_str().expect("a screenshot is text"))
            .expect("a screenshot is Base64");
        std::fs::write(file, png).expect("the screenshot can be written");
    }

    /// Ends the program as a power cut would, then the driver; resolves when both are gone.
    pub async fn kill_app(mut self) {
        self.app.kill();
        self.app.wait_until_gone().await;
        self.end_driver();
    }

    /// The environment of the processes that the program started.
    #[must_use]
    pub fn environments_of_children(&self) -> Vec<String> {
        self.app.environments_of_children()
    }

    /// Closes the window and waits until the program is gone.
    pub async fn quit(mut self) {
        // The driver must outlive the program, or the program may live on.
        let closed = self.request(Method::DELETE, "", None).await;
        closed.unwrap_or_else(|why| panic!("the window does not close: {why}"));
        if tokio::time::timeout(Duration::from_secs(5), self.app.wait_until_gone()).await.is_err() {
            self.app.kill();
            self.app.wait_until_gone().await;
        }
        self.end_driver();
    }

    fn end_driver(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }

    async fn try_execute(&self, script: &str, arguments: &Value) -> Result<Value, String> {
        self.post("/execute/sync", &json!({ "script": script, "args": arguments })).await
    }

    async fn displayed_text(&self, css: &str) -> String {
        let script = "const on = document.activeElement;
            const focus = on?.dataset?.testid ?? on?.tagName;
            const shown = [...document.querySelectorAll(arguments[0])].map(e => e.innerText);
            return `it shows ${JSON.stringify(shown)}, and the focus is on ${focus} with ${on?.value}`";
        match self.try_execute(script, &json!([css])).await {
            Ok(text) => text.as_str().unwrap_or_default().to_owned(),
            Err(why) => why,
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.request(Method::POST, path, Some(body)).await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, String> {
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.session))
            .timeout(Duration::from_secs(60));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| format!("{path}: {error:?}"))?;
        let fine = response.status().is_success();
        let mut answer: Value = response.json().await.map_err(|error| error.to_string())?;
        let value = answer["value"].take();
        if fine { Ok(value) } else { Err(format!("{path}: {value}")) }
    }
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        self.app.kill();
        self.end_driver();
    }
}

fn spawn_driver(launch: &LaunchOptions, port: u16) -> Child {
    let log = File::create(&launch.log).expect("the log can be written");
    let (removed, set): (Vec<_>, Vec<_>) =
        launch.env.iter().partition(|(_, value)| value.is_empty());
    let mut command = Command::new("WebKitWebDriver");
    for (name, _) in removed {
        command.env_remove(name);
    }
    command
        .arg(format!("--port={port}"))
        .env("DISPLAY", &launch.display)
        // Without it the program never tells the driver that it is there.
        .env("TAURI_WEBVIEW_AUTOMATION", "true")
        // With a session bus a second window would hand over to the first and leave.
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("WAYLAND_DISPLAY")
        .envs(set.into_iter().map(|(name, value)| (name, value)))
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log);
    command.spawn().expect("WebKitWebDriver starts: install the package webkit2gtk-driver")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn parse_element(found: &Value) -> Result<WebElement, String> {
    let id = found[ELEMENT_KEY].as_str().ok_or_else(|| format!("no element but {found}"))?;
    Ok(WebElement(id.to_owned()))
}
