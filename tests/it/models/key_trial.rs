//! A key is tried before it is stored, and the models that cannot be listed are told.

use protocol::request::{KeyStorage, KeyTrial};
use protocol::{ProviderKind, Settings};
use secrecy::SecretString;
use testkit::scripted_model::KEY;
use testkit::{Gate, Reply, ScriptedModel};

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

/// A change of the settings while a key waits.
type SettingsChange = fn(&mut Settings);

/// Selects another provider.
fn select_openai(settings: &mut Settings) {
    settings.provider = ProviderKind::OpenAi;
}

/// Selects another server of the same provider.
fn move_server(settings: &mut Settings) {
    settings.base_url = "https://proxy.example".into();
}

/// Changes nothing about providers.
fn follow_links(settings: &mut Settings) {
    settings.follow_links = true;
}

const CHANGED: &str = "The provider was changed meanwhile. Paste the API key again.";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_tried_while_the_provider_changes_counts_as_untried() {
    let untried = KeyTrial::Untried { message: CHANGED.to_owned() };
    let cases: [(SettingsChange, KeyTrial); 3] = [
        (select_openai, untried.clone()),
        (move_server, untried),
        // The control: a change of something else.
        (follow_links, KeyTrial::Works),
    ];
    for (change, expected) in cases {
        let gate = Gate::closed();
        let model =
            ScriptedModel::start(vec![Reply::text("ready").in_chunks_of(2).gated(&gate)]).await;
        let home = TestHome::new(&[]);
        let running = home.open(settings_with_model(&model)).await;
        let changing = async {
            gate.wait_until_reached(1).await;
            running.app.change_settings(change).await.expect("saved");
            gate.open();
        };
        let (tried, ()) = tokio::join!(trial(&running, KEY), changing);
        assert_eq!(tried, expected);
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_stored_for_no_other_provider_or_server_than_it_was_pasted_for() {
    // The last one is the control: a change of something else.
    let cases: [(SettingsChange, bool); 3] =
        [(select_openai, false), (move_server, false), (follow_links, true)];
    for (change, is_stored) in cases {
        let home = TestHome::new(&[]);
        let anthropic = ProviderKind::Anthropic;
        let running = home.start(Settings { provider: anthropic, ..Settings::default() }).await;
        let storing = running.app.set_key(SecretString::from(KEY), KeyStorage::File);
        let stored = running.while_settings_change(change, storing).await;
        let message = stored.as_ref().err().map(|error| error.message.as_str());
        assert_eq!(message, (!is_stored).then_some(CHANGED));
        running.quit().await;
        assert_eq!(is_kept(&home, KEY), is_stored);
    }
}
