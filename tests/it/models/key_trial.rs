//! A key is tried before it is stored, and the models that cannot be listed are told.

use protocol::request::{KeyStorage, KeyTrial};
use protocol::{ProviderKind, Settings};
use secrecy::SecretString;
use testkit::scripted_model::KEY;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{TestHome, settings_with_model};

const TRIED: &str = "sk-CANARY-tried-and-refused";

async fn trial(app: &crate::harness::test_app::RunningApp, key: &str) -> KeyTrial {
    app.app.try_key(SecretString::from(key)).await
}

/// Whether a file of the data folder has the key in it.
fn is_kept(test_home: &TestHome, key: &str) -> bool {
    let holds = |bytes: &[u8]| bytes.windows(key.len()).any(|part| part == key.as_bytes());
    test_home.data.snapshot().into_iter().any(|(_, bytes)| holds(&bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_not_stored_and_the_one_before_stays() {
    // It refuses every other key.
    let model = ScriptedModel::start(vec![Reply::text("ready")]).await;
    let home = TestHome::new(&[]);
    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(trial(&running, KEY).await, KeyTrial::Works);
    assert!(!is_kept(&home, KEY), "trying stores nothing");
    running.app.set_key(SecretString::from(KEY), KeyStorage::File).await.expect("stored");
    let refused = trial(&running, TRIED).await;
    assert!(matches!(&refused, KeyTrial::Refused { .. }), "{refused:?}");
    assert!(!format!("{refused:?}").contains(TRIED), "{refused:?}");
    running.quit().await;
    assert!(is_kept(&home, KEY) && !is_kept(&home, TRIED));
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_could_not_be_tried_is_told_apart_from_a_refused_one() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    let home = TestHome::new(&[]);
    let provider = ProviderKind::Anthropic;
    let running = home.open(Settings { provider, base_url: address, ..Settings::default() }).await;
    let untried = trial(&running, TRIED).await;
    assert!(matches!(&untried, KeyTrial::Untried { .. }), "{untried:?}");
    running.quit().await;
    assert!(!is_kept(&home, TRIED));
}
