//! The list of models that a server gave: its names, windows and prices stay until another server is selected.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use protocol::chat::model::Price;
use protocol::{ModelInfo, ProviderKind, Settings};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::harness::test_app::{RunningApp, TestHome};

/// The URL of a server that lists one model as OpenRouter does, for as long as `serving` lives.
async fn start_list_server(serving: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let answer = || async {
        let pricing = json!({ "prompt": "0.000001", "completion": "0.000005" });
        let model = json!({ "id": "maker/far", "name": "Maker: Far", "context_length": 65_536,
            "pricing": pricing });
        ([(CONTENT_TYPE, "application/json")], json!({ "data": [model] }).to_string())
    };
    let router = Router::new().fallback(answer);
    serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
    url
}

async fn listed_models(running: &RunningApp) -> Vec<ModelInfo> {
    running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot").provider.models
}

async fn change(running: &RunningApp, change: impl FnOnce(&mut Settings) + Send) {
    running.app.change_settings(change).await.expect("saved");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_a_server_is_kept_when_settings_change_until_another_server_is_selected() {
    let mut serving = JoinSet::new();
    let url = start_list_server(&mut serving).await;
    let other = start_list_server(&mut serving).await;
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let (provider, base_url) = (ProviderKind::OpenAi, url.clone());
    let running = home.open(Settings { provider, base_url, ..Settings::default() }).await;
    assert_eq!(listed_models(&running).await, []);
    assert_eq!(running.app.test_provider().await.message, "Connected. Choose a model.");
    let price = Price { input: 1_000, output: 5_000, cache_read: 1_000, cache_write: 1_000 };
    let far = ModelInfo {
        id: "maker/far".into(),
        name: Some("Maker: Far".into()),
        window: Some(65_536),
        price: Some(price),
        ..ModelInfo::default()
    };
    assert_eq!(listed_models(&running).await, std::slice::from_ref(&far));

    change(&running, |settings| settings.model = "maker/far".into()).await;
    change(&running, |settings| settings.mode = protocol::Mode::ReadOnly).await;
    assert_eq!(listed_models(&running).await, std::slice::from_ref(&far));
    // The user's own facts come first, and go again.
    let own = ModelInfo { id: "maker/far".into(), window: Some(9_000), ..ModelInfo::default() };
    change(&running, |settings| settings.models = vec![own]).await;
    let with_own = ModelInfo { window: Some(9_000), ..far.clone() };
    assert_eq!(listed_models(&running).await, [with_own]);
    change(&running, |settings| settings.models.clear()).await;
    assert_eq!(listed_models(&running).await, [far]);

    // The control: another server may list others.
    change(&running, |settings| settings.base_url = other).await;
    assert_eq!(listed_models(&running).await, []);
    running.quit().await;
}
