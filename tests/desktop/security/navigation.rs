//! The window stays on its own page, whatever asks for another one: scripts, links, frames, downloads,
//! the history, buttons of the pointer, the engine's menu.

use std::path::Path;

use serde_json::{Value, json};
use testkit::gui::desktop_app::WindowVisibility;
use testkit::gui::web_driver::{LaunchOptions, MINI_BROWSER};
use testkit::gui::x11::SpecialKey;
use testkit::{DesktopApp, DesktopHome, TempVault, VirtualDisplay, WebDriver};

use super::content_security_policy::TrapServer;
use crate::lock_display;

/// Ways to another page, for a script that knows its address as `to`. `put` makes an element.
const NAVIGATION_ATTEMPTS: [(&str, &str); 9] = [
    ("location", "location = to"),
    ("assign", "location.assign(to)"),
    ("replace", "location.replace(to)"),
    ("a link", "put('a', { href: to }).click()"),
    ("a link for another window", "put('a', { href: to, target: '_blank' }).click()"),
    ("another window", "window.open(to)"),
    ("a refresh", "put('meta', { httpEquiv: 'refresh', content: `0;url=${to}` })"),
    ("a form", "put('form', { action: to }).submit()"),
    ("a download", "put('a', { href: to, download: 'page.html' }).click()"),
];

/// Goes one of the ways, and answers once the page has drawn twice since: by then it went, or not.
const ATTEMPT_SCRIPT: &str = "
    const [way, to] = arguments;
    const put = (tag, properties) => {
        const element = Object.assign(document.createElement(tag), properties);
        document.body.append(element);
        return element;
    };
    const ways = { WAYS };
    try { ways[way](); } catch {}
    return new Promise((done) => {
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));
    });";

fn attempt_script() -> String {
    let ways = NAVIGATION_ATTEMPTS.map(|(name, script)| format!("'{name}': () => {{ {script} }}"));
    ATTEMPT_SCRIPT.replace("WAYS", &ways.join(", "))
}

/// Where else a page could lead than to a server.
const OTHER_URLS: [&str; 14] = [
    "data:text/html,<script>window.__pwned=1</script>",
    "file:///etc/hostname",
    "about:blank",
    "about:srcdoc",
    "vault-image://localhost/?link=Beds.png&note=Projects%2FHerb%20bed.md",
    "vault-image://localhost/",
    "ipc://localhost/desktop_state",
    "tauri://localhost/other.html",
    "tauri://localhost/?question",
    "tauri://elsewhere/",
    "mailto:a@example.org",
    "obsidian://open",
    "ftp://127.0.0.1/",
    "webkit://gpu",
];

async fn start_app(vault: &TempVault) -> (DesktopHome, DesktopApp) {
    let home = DesktopHome::new().with_vault(vault);
    let app = home.start().await;
    app.wait_until_opened().await;
    app.window.execute("window.__mark = 'ours'", &json!([])).await;
    (home, app)
}

/// That the marked page still stands there, answers, and nothing was asked for.
async fn expect_page_unchanged(app: &DesktopApp, lure: &TrapServer, way: &str) {
    let script = "return [window.__mark, location.href, '__pwned' in window]";
    let found = app.window.execute(script, &json!([])).await;
    assert_eq!(found, json!(["ours", "tauri://localhost", false]), "{way}");
    assert!(lure.requested.borrow().is_empty(), "{way}: {:?}", *lure.requested.borrow());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_script_leads_the_window_to_another_page() {
    let _turn = lock_display().await;
    let (vault, lure) = (TempVault::from_fixture("sample"), TrapServer::start().await);
    let (home, app) = start_app(&vault).await;
    let remote = format!("{}/frame", lure.base);
    for to in OTHER_URLS.into_iter().chain([remote.as_str()]) {
        for (way, _) in NAVIGATION_ATTEMPTS {
            println!("{way} to {to}");
            app.window.execute(&attempt_script(), &json!([way, to])).await;
            expect_page_unchanged(&app, &lure, &format!("{way} to {to}")).await;
        }
    }
    for script in [
        "location = URL.createObjectURL(new Blob(['<h1>x'], { type: 'text/html' }))",
        "const a = document.createElement('a'); a.download = 'blob.html';
         a.href = URL.createObjectURL(new Blob(['<h1>x'], { type: 'text/html' })); a.click()",
        "history.back()",
        "history.go(-2)",
        "history.forward()",
    ] {
        app.window.execute(script, &json!([])).await;
        app.window.execute(&attempt_script(), &json!(["none", ""])).await;
        expect_page_unchanged(&app, &lure, script).await;
    }
    for to in [remote.as_str(), "data:text/html,x", "vault-image://localhost/", "about:srcdoc"] {
        let frame = "const frame = document.createElement('iframe');
            frame.src = arguments[0]; document.body.append(frame);";
        app.window.execute(frame, &json!([to])).await;
        app.window.execute(&attempt_script(), &json!(["none", ""])).await;
        expect_page_unchanged(&app, &lure, &format!("a frame of {to}")).await;
    }
    let state = "return window.__TAURI_INTERNALS__.invoke('desktop_state').then(() => true)";
    assert_eq!(
        app.window.execute(state, &json!([])).await,
        true,
        "the page still has its commands"
    );
    // Without a guard the engine puts a download where the program was started, or into the home.
    for name in ["page.html", "blob.html"] {
        let home = home.data_dir().with_file_name("home");
        for place in
            [Path::new(name).to_owned(), home.join(name), home.join("Downloads").join(name)]
        {
            assert!(!place.exists(), "{} was downloaded", place.display());
        }
    }
    app.quit().await;
}

/// The framework lets pass what it cannot read, and the engine makes an empty page of it.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_nobody_can_read_leads_back_to_the_page() {
    let _turn = lock_display().await;
    let (vault, lure) = (TempVault::from_fixture("sample"), TrapServer::start().await);
    let (_home, app) = start_app(&vault).await;
    let to = format!("{}/frame", lure.base).replace("127.0.0.1", "xn--a.localhost");
    // The engine may drop a click while it is busy, and then the page stays; it is clicked until the page is gone.
    let leave = format!(
        "if (!('__mark' in window)) return true;
        const link = document.createElement('a');
        link.href = '{to}'; document.body.append(link); link.click();
        return false"
    );
    app.window.wait_until("a page without the mark", &leave).await;
    app.wait_until_opened().await;
    app.window.wait_until("our page", "return location.href === 'tauri://localhost'").await;
    app.window.type_into("[data-testid=composer]", "list").await;
    app.window.click("[data-testid=send]").await;
    app.window.find_text("[data-testid=chat-log]", "Listed").await;
    assert!(lure.requested.borrow().is_empty(), "{:?}", *lure.requested.borrow());
    app.quit().await;
}

/// The engine without a guard. Scripts may open windows in it without a click, as in our window, and it puts
/// downloads into the folder `Downloads` of `home`.
async fn start_without_guard(home: &TempVault, display: &VirtualDisplay) -> WebDriver {
    let (root, config) = (home.root().display(), home.root().join("config"));
    home.write("config/user-dirs.dirs", format!("XDG_DOWNLOAD_DIR=\"{root}/Downloads\"\n"));
    home.write("Downloads/.keep", "");
    let opens_windows = "--javascript-can-open-windows-automatically=true";
    WebDriver::start(&LaunchOptions {
        binary: MINI_BROWSER.into(),
        args: vec!["--automation".into(), opens_windows.into()],
        env: vec![
            ("XDG_DATA_HOME".into(), root.to_string()),
            ("XDG_CONFIG_HOME".into(), config.display().to_string()),
        ],
        display: display.name().into(),
        log: home.root().join("driver.log"),
    })
    .await
}

/// The control: where nothing keeps the window on its page, each of the ways leads to the other one, into
/// another window, or into a file.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_engine_without_a_guard_goes_all_these_ways() {
    let _turn = lock_display().await;
    let lure = TrapServer::start().await;
    let (home, display) = (TempVault::new(&[]), VirtualDisplay::start());
    let window = start_without_guard(&home, &display).await;
    for (way, _) in NAVIGATION_ATTEMPTS {
        println!("{way}");
        window.navigate_to(&lure.base).await;
        lure.requested.send_modify(std::collections::BTreeSet::clear);
        let leave = attempt_script().replace("return new Promise", "new Promise");
        window.execute(&leave, &json!([way, format!("{}/frame", lure.base)])).await;
        lure.wait_for_request("/frame").await;
        if way == "a download" {
            home.wait_for("Downloads/page.html", "<title>page</title>").await;
        }
        if way == "a download" || way.contains("window") {
            let stays = window.execute("return location.pathname", &json!([])).await;
            assert_eq!(stays, "/", "{way} leaves the page where it is");
        }
    }
    window.quit().await;
}

/// Puts a link into the page, and tells where on the screen it is.
async fn insert_link(home: &DesktopHome, app: &DesktopApp, to: &str, target: &str) -> (u16, u16) {
    let put = "document.querySelector('#lure')?.remove();
        const link = document.createElement('a');
        Object.assign(link, { id: 'lure', href: arguments[0], target: arguments[1] });
        link.style = 'position:fixed;z-index:99;left:500px;top:300px;width:200px;height:90px;';
        document.body.append(link);
        // The page's own handling of clicks and the menu is not tested here.
        for (const name of ['click', 'auxclick', 'contextmenu']) {
            link.addEventListener(name, (event) => event.stopPropagation());
        }";
    app.window.execute(put, &json!([to, target])).await;
    let (x, y) = app.window.visible_center("#lure").await;
    let mut screen = home.connect_x11();
    let window = DesktopHome::find_window(&mut screen).expect("the window");
    let (left, top) = screen.window_position(window).expect("it is on the screen");
    (left + x, top + y)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_button_of_the_pointer_leads_the_window_to_another_page() {
    let _turn = lock_display().await;
    let (vault, lure) = (TempVault::from_fixture("sample"), TrapServer::start().await);
    let (home, app) = start_app(&vault).await;
    let heard = "for (const name of ['mouseup', 'click', 'auxclick']) {
            addEventListener(name, () => (window.__pressed += 1), true);
        }";
    app.window.execute(heard, &json!([])).await;
    let mut screen = home.connect_x11();
    for target in ["", "_blank"] {
        let at = insert_link(&home, &app, &format!("{}/frame", lure.base), target).await;
        for button in [1, 2] {
            app.window.execute("window.__pressed = 0", &json!([])).await;
            screen.press_button(button, at);
            let pressed = "return window.__pressed >= 2 || window.__pressed";
            app.window.wait_until("the press", pressed).await;
            app.window.execute(&attempt_script(), &json!(["none", ""])).await;
            expect_page_unchanged(&app, &lure, &format!("button {button} on a link to `{target}`"))
                .await;
        }
        // Back and forward.
        for button in [8, 9] {
            screen.press_button(button, at);
            app.window.execute(&attempt_script(), &json!(["none", ""])).await;
            expect_page_unchanged(&app, &lure, &format!("button {button}")).await;
        }
    }
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_menu_of_the_engine_cannot_navigate_the_window() {
    let _turn = lock_display().await;
    let (vault, lure) = (TempVault::from_fixture("sample"), TrapServer::start().await);
    let (home, app) = start_app(&vault).await;
    let at = insert_link(&home, &app, &format!("{}/frame", lure.base), "").await;
    let mut screen = home.connect_x11();
    let window = DesktopHome::find_window(&mut screen).expect("the window");
    screen.focus_window(window);
    // Over a link it offered to open it, to open it in another window, and to download it.
    for entry in 1..=3 {
        screen.press_button(3, at);
        app.window.execute(&attempt_script(), &json!(["none", ""])).await;
        for _ in 0..entry {
            screen.press_special_key(SpecialKey::Down);
        }
        screen.press_special_key(SpecialKey::Enter);
        screen.wait_for_menu(WindowVisibility::Gone).await;
        app.window.execute(&attempt_script(), &json!(["none", ""])).await;
        expect_page_unchanged(&app, &lure, &format!("entry {entry}")).await;
    }
    // Where the page has its say, there is no such menu over a link.
    app.window.execute("document.querySelector('#lure').remove()", &json!([])).await;
    let seen = "window.__menu = null;
        addEventListener('contextmenu', (event) => {
            queueMicrotask(() => (window.__menu = event.defaultPrevented));
        });";
    app.window.execute(seen, &json!([])).await;
    screen.press_button(3, at);
    app.window.wait_until("the press", "return window.__menu !== null").await;
    assert_eq!(app.window.execute("return window.__menu", &json!([])).await, true);
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_cannot_name_a_folder() {
    let _turn = lock_display().await;
    let (vault, other) = (TempVault::from_fixture("sample"), TempVault::new(&[("a.md", "a\n")]));
    let (_home, app) = start_app(&vault).await;
    let invoke = "const [command, given] = arguments;
        return window.__TAURI_INTERNALS__.invoke(command, given)
            .then(() => 'done', (error) => String(error.message ?? error));";
    let other = other.root().display().to_string();
    for command in ["open_vault", "pick_folder"] {
        let said = app.window.execute(invoke, &json!([command, { "folder": other }])).await;
        assert!(said.as_str().is_some_and(|said| said.contains("not allowed")), "{said}");
    }
    let subscribed = "return window.__TAURI_INTERNALS__
        .invoke('subscribe', { onEvents: '__CHANNEL__:1' }).then(({ settings }) => settings)";
    let mut settings = app.window.execute(subscribed, &json!([])).await;
    let before = settings.clone();
    settings["extraRoots"] = json!([{ "folder": other, "name": "" }]);
    let given = json!({ "settings": settings, "before": before });
    let said = app.window.execute(invoke, &json!(["save_settings", given])).await;
    let refused = format!("{other} wasn’t chosen in a dialog of the system.");
    assert!(said.as_str().is_some_and(|said| said.starts_with(&refused)), "{said}");
    settings["extraRoots"] = json!([]);
    let given = json!({ "settings": settings, "before": before });
    let said: Value = app.window.execute(invoke, &json!(["save_settings", given])).await;
    assert_eq!(said, "done", "the control");
    app.quit().await;
}
