//! Serves images of the vault to the page, over a URI scheme of its own.
//!
//! Only the window `main` gets them, while it shows the application's page, and only with GET: the file that the link means
//! in its note, with the type that its bytes have. Any other request gets 404.

use app::{App, NoteImage};
use protocol::NotePath;
use tauri::http::{Method, Request, Response, StatusCode, header};
use tauri::{Manager as _, Runtime, UriSchemeContext, UriSchemeResponder, Url, Webview};

use crate::navigation;

/// The scheme. Where a page can only be given addresses of the web it is `http://SCHEME.localhost`.
pub(crate) const SCHEME: &str = "vault-image";

/// The image that is asked for.
#[derive(Debug, PartialEq, Eq)]
struct ImageRequest {
    /// As it stands in the note or the answer.
    link: String,
    /// The note; an answer is none.
    source: Option<NotePath>,
}

/// Answers with the image that is asked for. Any other request, and one from another window or from
/// a page that is not the application's, is not told whether there is one.
pub(crate) fn handle_request<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let host = context.app_handle();
    let app = host.try_state::<App>();
    let window = host.get_webview_window(context.webview_label());
    let asked = window.and_then(|window| ImageRequest::from_window(window.as_ref(), &request));
    let Some((app, asked)) = app.zip(asked) else { return responder.respond(not_found_response()) };
    let reading = app.inner().clone();
    // The web engine calls from a thread that is in no runtime.
    let runtime = tauri::async_runtime::handle();
    let _inside = runtime.inner().enter();
    app.spawn(async move {
        let read = reading.image(asked.link, asked.source).await;
        responder.respond(read.map_or_else(|_| not_found_response(), image_response));
    });
}

impl ImageRequest {
    /// `None` for all that is not to be answered.
    fn from_window<R: Runtime>(window: &Webview<R>, request: &Request<Vec<u8>>) -> Option<Self> {
        if window.label() != "main" || !navigation::shows_own_page(window) {
            return None;
        }
        Self::parse(request)
    }

    fn parse(request: &Request<Vec<u8>>) -> Option<Self> {
        if request.method() != Method::GET {
            return None;
        }
        let address = Url::parse(&request.uri().to_string()).ok()?;
        let part = |name: &str| {
            let mut parts = address.query_pairs().filter(|(part, _)| part == name);
            parts.next().map(|(_, value)| value.into_owned())
        };
        let source = match part("note") {
            Some(note) => Some(NotePath::parse(&note).ok()?),
            None => None,
        };
        Some(Self { link: part("link")?, source })
    }
}

fn image_response(image: NoteImage) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    let headers = response.headers_mut();
    let kind = header::HeaderValue::from_static(image.kind().media_type());
    headers.insert(header::CONTENT_TYPE, kind);
    // The type is what the bytes are: nobody shall guess another.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    *response.body_mut() = image.into_bytes();
    response
}

fn not_found_response() -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests {
    use tauri::test::{MockRuntime, mock_builder};
    use tauri::{WebviewUrl, WebviewWindow, WebviewWindowBuilder};

    use super::*;
    use crate::context;

    fn request(method: Method, address: &str) -> Request<Vec<u8>> {
        let request = Request::builder().method(method).uri(address);
        request.body(Vec::new()).expect("a request")
    }

    #[test]
    fn the_window_asks_for_a_link_as_it_stands_in_a_note_or_in_an_answer() {
        let asked = |address: &str| ImageRequest::parse(&request(Method::GET, address));
        let source = NotePath::parse("Haus & Hof/Über.md").ok();
        for base in ["vault-image://localhost/", "http://vault-image.localhost/"] {
            let note = "note=Haus%20%26%20Hof%2F%C3%9Cber.md";
            let both = format!("{base}?link=a%2Bb%20%25%3F.png&{note}");
            let in_a_note = ImageRequest { link: "a+b %?.png".to_owned(), source: source.clone() };
            assert_eq!(asked(&both), Some(in_a_note), "{both}");
            let in_an_answer = ImageRequest { link: "../x.png".to_owned(), source: None };
            assert_eq!(asked(&format!("{base}?link=..%2Fx.png")), Some(in_an_answer));
        }
    }

    #[test]
    fn an_image_for_another_window_or_another_page_is_not_looked_for() {
        let host = mock_builder().build(context()).expect("a host");
        let open = |label| {
            let window = WebviewWindowBuilder::new(&host, label, WebviewUrl::default());
            window.build().expect("a window")
        };
        let (main, other) = (open("main"), open("other"));
        let asked = |window: &WebviewWindow<MockRuntime>| {
            let address = "vault-image://localhost/?link=a.png";
            ImageRequest::from_window(window.as_ref(), &request(Method::GET, address)).is_some()
        };
        assert!(asked(&main), "the control");
        assert!(!asked(&other));
        for page in [
            "https://example.org/",
            "vault-image://localhost/?link=a.png",
            "file:///tmp/a.html",
            "data:text/html,x",
            "about:blank",
        ] {
            main.navigate(page.parse().expect("an address")).expect("the mock goes there");
            assert!(!asked(&main), "{page}");
        }
    }

    #[test]
    fn what_is_asked_in_another_way_is_not_looked_for() {
        let address = "vault-image://localhost/?link=a.png";
        assert!(ImageRequest::parse(&request(Method::GET, address)).is_some(), "the control");
        for method in [Method::POST, Method::PUT, Method::HEAD, Method::OPTIONS] {
            assert_eq!(ImageRequest::parse(&request(method.clone(), address)), None, "{method}");
        }
        for address in [
            "vault-image://localhost/",
            "vault-image://localhost/a.png",
            "vault-image://localhost/?link=a.png&note=..%2Fout.md",
            "vault-image://localhost/?link=a.png&note=%2Fetc%2Fpasswd",
            "vault-image://localhost/?link=a.png&note=",
        ] {
            assert_eq!(ImageRequest::parse(&request(Method::GET, address)), None, "{address}");
        }
        let refused = not_found_response();
        assert_eq!((refused.status(), refused.body().len()), (StatusCode::NOT_FOUND, 0));
        assert!(refused.headers().is_empty());
    }
}
