//! Keeps the window on the application's own page. A link, a script, a drop or the engine's menu
//! may ask for another page: the window stays, opens no other and downloads nothing.

use tauri::ipc::Invoke;
use tauri::webview::NewWindowResponse;
use tauri::{Manager, Runtime, Url, Webview, WebviewWindowBuilder};

/// The scheme and the host of the page.
const OWN_ORIGIN: (&str, &str) =
    if cfg!(windows) { ("http", "tauri.localhost") } else { ("tauri", "localhost") };

/// Where all requests to the web are sent: no server is at this port, so none of them gets anywhere.
const DEAD_PROXY: &str = "socks5://127.0.0.1:0";

/// The window with all ways out of its page closed. What still gets through, such as a download from
/// the engine's own menu, reaches nobody: the page itself asks only the application.
pub(crate) fn restrict_navigation<'a, R: Runtime, M: Manager<R>>(
    window: WebviewWindowBuilder<'a, R, M>,
) -> WebviewWindowBuilder<'a, R, M> {
    let window = window
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false);
    match DEAD_PROXY.parse() {
        Ok(proxy) => window.proxy_url(proxy),
        Err(_) => window,
    }
}

/// Whether this is the page that came with the application. A place within it is; another file of
/// the package, or the page with a query behind it, is not.
pub(crate) fn is_own_page(url: &Url) -> bool {
    let is_own = (url.scheme(), url.host_str().unwrap_or_default()) == OWN_ORIGIN;
    let is_plain = url.port().is_none() && url.username().is_empty() && url.password().is_none();
    is_own && is_plain && url.query().is_none() && matches!(url.path(), "" | "/" | "/index.html")
}

/// The address of that page.
pub(crate) fn own_page_url() -> String {
    format!("{}://{}", OWN_ORIGIN.0, OWN_ORIGIN.1)
}

/// Whether a webview shows the page now. Where it is on its way to another one it does not.
pub(crate) fn shows_own_page<R: Runtime>(webview: &Webview<R>) -> bool {
    webview.url().is_ok_and(|url| is_own_page(&url))
}

/// The commands, for the page alone. The framework lets in every scheme that the application answers.
pub(crate) fn only_for_own_page<R: Runtime>(
    commands: impl Fn(Invoke<R>) -> bool + Send + Sync + 'static,
) -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    move |invoke| {
        if shows_own_page(invoke.message.webview_ref()) {
            return commands(invoke);
        }
        invoke.resolver.reject("This page isn’t allowed to send requests to Vaultmate.");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_stays_on_its_own_page() {
        let base = own_page_url();
        let is_own = |address: &str| is_own_page(&address.parse().expect("an address"));
        for path in ["", "/", "/index.html", "/#section", "/index.html#/tag"] {
            assert!(is_own(&format!("{base}{path}")), "{path}");
        }
        for path in ["/?fake=chat", "/assets/index.js", "/..%2f", "/index.html/x", "//x", ":1/"] {
            assert!(!is_own(&format!("{base}{path}")), "{path}");
        }
        for address in [
            "tauri://elsewhere/",
            "tauri://me@localhost/",
            "tauri://me:word@localhost/",
            "tauri:localhost",
            "http://localhost/",
            "https://tauri.localhost/",
            "https://example.org/",
            "http://ipc.localhost/",
            "vault-image://localhost/?link=a.png",
            "http://vault-image.localhost/?link=a.png",
            "ipc://localhost/",
            "file:///etc/passwd",
            "data:text/html,x",
            "blob:tauri://localhost/5b1d2c6e",
            "about:blank",
            "about:srcdoc",
            "javascript:1",
            "mailto:a@example.org",
            "obsidian://open",
            "view-source:tauri://localhost/",
        ] {
            assert!(!is_own(address), "{address}");
        }
    }
}
