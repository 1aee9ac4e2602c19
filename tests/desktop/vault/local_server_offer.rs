//! At the first run a model server on this computer is offered, also where `OLLAMA_HOST` has it listen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use serde_json::json;
use testkit::DesktopHome;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::input_device::InputDevice;
use crate::lock_display;

const FIRST_RUN: &str = "[data-testid=firstrun]";

/// A server on a port of its own that lists one model, as Ollama does.
struct ListingOllama {
    model: &'static str,
    address: String,
    requests: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl ListingOllama {
    async fn with_model(model: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let requests = Arc::new(AtomicUsize::new(0));
        let answer = move |State(asked): State<Arc<AtomicUsize>>| async move {
            asked.fetch_add(1, Ordering::SeqCst);
            let list = json!({ "models": [{ "name": model }] });
            ([(CONTENT_TYPE, "application/json")], list.to_string())
        };
        let router = Router::new().fallback(answer).with_state(Arc::clone(&requests));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { model, address, requests, _serving: serving }
    }

    /// How often it was asked so far.
    fn request_count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_that_ollama_host_names_is_offered_and_no_other() {
    let _turn = lock_display().await;
    let one = ListingOllama::with_model("model-of-one").await;
    let other = ListingOllama::with_model("model-of-other").await;
    let mut home = DesktopHome::new();
    for (named, unnamed) in [(&one, &other), (&other, &one)] {
        let asked = unnamed.request_count();
        home.set_env_vars([("OLLAMA_HOST", named.address.clone())]);
        let app = home.start().await;
        let ways = format!("{FIRST_RUN} label");
        let shown = app.window.wait_for_text(&ways, "Use Ollama on this computer").await;
        assert!(shown.contains(&format!("Uses {}.", named.model)), "{shown}");
        assert_eq!(unnamed.request_count(), asked, "nobody named it");
        app.quit().await;
    }
    // The control: without the variable neither is asked.
    let asked = [one.request_count(), other.request_count()];
    home.set_env_vars([("OLLAMA_HOST", String::new())]);
    let app = home.start().await;
    let enabled = format!("{FIRST_RUN} :is(button, label):not(:disabled *, :disabled)");
    for step in ["Try sample notes", "Continue without a model", "Start"] {
        app.window.click_text(&enabled, step).await;
    }
    InputDevice::Pointer.send_message(&app, "append bread to Groceries").await;
    app.window.find_text("[data-testid=chat-log]", "Added 1 line to Groceries").await;
    let page = app.window.execute("return document.body.innerText", &json!([])).await;
    assert!(!page.to_string().contains("model-of-"), "{page}");
    assert_eq!([one.request_count(), other.request_count()], asked);
    app.quit().await;
}
