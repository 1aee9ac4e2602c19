//! A computer that sleeps while a model answers. `N-network-12` is the scenario by its id.

use std::sync::Arc;
use std::time::Duration;

use llm::{Anthropic, AnthropicConfig, Deadlines, RequestParameters, TurnEvent};
use protocol::TurnStatus;

use crate::fixtures::byte_server::{AfterBytes, ByteServer, CannedAnswer, stop, stream, words};
use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::{ServiceWorld, within};

/// A server that begins its first answer so and goes on no more, and who asks it.
async fn asking(begun: String) -> (ByteServer, ServiceWorld) {
    let lost = CannedAnswer { bytes: begun, at_a_time: usize::MAX, then: AfterBytes::Hold };
    let whole = stream(&(words("I am here.") + &stop("end_turn")));
    let server = ByteServer::serving(vec![lost, whole]).await;
    let config = AnthropicConfig {
        base_url: server.url(),
        key: "key".into(),
        deadlines: Deadlines::default(),
        parameters: RequestParameters::default(),
    };
    let provider = Arc::new(Anthropic::new(config).unwrap());
    let world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    world.send("c", "Is it there?").await;
    (server, world)
}

async fn sleep_an_hour() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3600)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_request_that_was_under_way_is_given_up_on_waking_and_sent_again() {
    let (mut server, world) = asking(String::new()).await;
    within(server.requests.recv()).await.expect("it is asked");
    sleep_an_hour().await;
    within(server.requests.recv()).await.expect("it is asked again");
    world.quiet().await;
    let ended = world.memory.endings().pop().expect("the turn ended");
    assert_eq!(ended.status, TurnStatus::Done, "{ended:?}");
}

#[tokio::test]
async fn text_that_was_shown_before_the_sleep_stays_and_is_marked_as_cut() {
    let (_server, mut world) = asking(stream(&words("I begin to")).bytes).await;
    world.hear(|event| matches!(event, TurnEvent::Delta { .. })).await;
    sleep_an_hour().await;
    world.quiet().await;
    let ended = world.memory.endings().pop().expect("the turn ended");
    let error = ended.error.expect("it says why");
    assert!(
        ended.cut && error.message.contains("stopped responding. Check the network"),
        "{error:?}"
    );
}
