//! Several keys, over HTTP.

use std::sync::Arc;

use llm::{Deadlines, KeyPool, OpenAi, OpenAiConfig, Provider, TimeScale};
use protocol::settings::KeyPolicy;
use protocol::{TurnEnding, TurnStatus};
use serde_json::json;

use crate::fixtures::byte_server::{ByteServer, CannedAnswer, respond, stream};
use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;
use crate::providers::openai::{data, words};

/// Sends a message so often; returns how it ended at last and the key of each request.
async fn turns(
    policy: KeyPolicy,
    keys: &[&str],
    answers: Vec<CannedAnswer>,
    often: usize,
) -> (TurnEnding, Vec<String>) {
    let mut server = ByteServer::serving(answers).await;
    let provider = |key: &str| -> Arc<dyn Provider> {
        let (base_url, deadlines) = (server.url(), Deadlines::default());
        Arc::new(
            OpenAi::new(OpenAiConfig {
                base_url,
                key: key.into(),
                deadlines,
                parameters: llm::RequestParameters::default(),
            })
            .unwrap(),
        )
    };
    let mut all = keys.iter().map(|key| provider(key));
    let (first, others) = (all.next().unwrap(), all.collect());
    let pool = Arc::new(KeyPool::new(policy, TimeScale::divided_by(1000), first, others));
    let mut world = ServiceWorld::asking(pool, Arc::new(ScriptedProvider::default()));
    let mut ending = world.say("Hello").await;
    for n in 1..often {
        ending = world.say(&format!("Hello {n}")).await;
    }
    let mut used = Vec::new();
    while let Ok(request) = server.requests.try_recv() {
        let key = request.head.lines().find_map(|line| line.strip_prefix("authorization: bearer "));
        used.push(key.unwrap_or_default().to_owned());
    }
    (ending, used)
}

fn ok() -> CannedAnswer {
    data(&words("Yes."))
}

fn refused(status: &str) -> CannedAnswer {
    respond(status, "", &json!({ "error": { "message": "x" } }).to_string())
}

#[tokio::test]
async fn the_next_key_takes_over_at_once_and_stays() {
    for status in ["401 Unauthorized", "429 Too Many Requests"] {
        let answers = vec![refused(status), ok(), ok()];
        let (ending, used) = turns(KeyPolicy::Failover, &["a", "b"], answers, 2).await;
        assert_eq!(
            (ending.status, used),
            (TurnStatus::Done, vec!["a".into(), "b".into(), "b".into()])
        );
    }
}

#[tokio::test]
async fn a_call_is_sent_once_with_each_key_until_one_does() {
    let keys = ["a", "b", "c", "d", "e"];
    for status in ["401 Unauthorized", "429 Too Many Requests"] {
        let mut answers: Vec<_> = (0..4).map(|_| refused(status)).collect();
        answers.push(ok());
        let (ending, used) = turns(KeyPolicy::Failover, &keys, answers, 1).await;
        assert_eq!((ending.status, used.concat().as_str()), (TurnStatus::Done, "abcde"));
        // The control: when none does, none is tried twice.
        let answers = (0..9).map(|_| refused(status)).collect();
        let (ending, used) = turns(KeyPolicy::Failover, &keys, answers, 1).await;
        assert_eq!((ending.status, used.concat().as_str()), (TurnStatus::Failed, "abcde"));
    }
}

#[tokio::test]
async fn in_turn_each_call_has_the_next_key_and_a_malformed_answer_keeps_its_own() {
    let nonsense = || stream("data: {\"choices\": 7}\n\n");
    let answers = vec![ok(), nonsense(), ok(), ok()];
    let (ending, used) = turns(KeyPolicy::RoundRobin, &["a", "b"], answers, 3).await;
    assert_eq!((ending.status, used.concat().as_str()), (TurnStatus::Done, "abba"));
}

#[tokio::test]
async fn keys_that_all_rest_are_waited_for() {
    let limited = || respond("429 Too Many Requests", "retry-after: 1\r\n", "");
    let answers = vec![limited(), limited(), ok()];
    let (ending, used) = turns(KeyPolicy::Failover, &["a", "b"], answers, 1).await;
    assert_eq!((ending.status, used.concat().as_str()), (TurnStatus::Done, "aba"));
}
