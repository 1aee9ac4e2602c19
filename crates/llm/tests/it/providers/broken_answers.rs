//! Answers that are stopped or break off are counted as far as they came.

use std::sync::Arc;

use llm::{
    Anthropic, AnthropicConfig, Deadlines, OpenAi, OpenAiConfig, Provider, RequestParameters,
    TurnEvent,
};
use protocol::{TokenUsage, TurnEnding, TurnStatus};
use serde_json::{Value, json};

use crate::fixtures::byte_server::{
    AfterBytes, ByteServer, CannedAnswer, respond, stop, stream, words,
};
use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;

fn anthropic(base_url: String) -> Arc<dyn Provider> {
    let (deadlines, parameters) = (Deadlines::default(), RequestParameters::default());
    let config = AnthropicConfig { base_url, key: "sk-test".into(), deadlines, parameters };
    Arc::new(Anthropic::new(config).unwrap())
}

fn openai(base_url: String) -> Arc<dyn Provider> {
    let (deadlines, parameters) = (Deadlines::default(), RequestParameters::default());
    let config = OpenAiConfig { base_url, key: "sk-test".into(), deadlines, parameters };
    Arc::new(OpenAi::new(config).unwrap())
}

fn chunk(delta: &Value) -> String {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    format!("data: {chunk}\n\n")
}

/// A thought of 350 bytes, which nobody is shown, and a text of 3.
fn openai_words() -> String {
    let thought = chunk(&json!({ "reasoning_content": "t".repeat(350) }));
    format!("{thought}{}", chunk(&json!({ "content": "Yes" })))
}

fn anthropic_words() -> String {
    let thinks = json!({ "type": "content_block_start", "index": 1,
        "content_block": { "type": "thinking", "thinking": "t".repeat(350), "signature": "" } });
    format!("{}data: {thinks}\n\n", words("Yes"))
}

fn held(body: &str) -> CannedAnswer {
    CannedAnswer { then: AfterBytes::Hold, ..stream(body) }
}

/// The end of a turn that is stopped once text is shown.
async fn stopped(provider: fn(String) -> Arc<dyn Provider>, body: &str) -> TurnEnding {
    let server = ByteServer::serving(vec![held(body)]).await;
    let mut world =
        ServiceWorld::asking(provider(server.url()), Arc::new(ScriptedProvider::default()));
    world.send("c", "What grows?").await;
    world.hear(|event| matches!(event, TurnEvent::Delta { .. })).await;
    world.service.stop(&"c".into());
    world.quiet().await;
    world.memory.endings().pop().unwrap()
}

async fn ended(provider: fn(String) -> Arc<dyn Provider>, answer: CannedAnswer) -> TurnEnding {
    let server = ByteServer::serving(vec![answer]).await;
    let mut world =
        ServiceWorld::asking(provider(server.url()), Arc::new(ScriptedProvider::default()));
    world.say("What grows?").await
}

#[tokio::test]
async fn a_stopped_answer_counts_what_was_reported_and_its_text_and_thoughts() {
    let ending = stopped(anthropic, &anthropic_words()).await;
    assert_eq!(ending.status, TurnStatus::Cancelled);
    let usage = TokenUsage { input: 5, output: 101, ..TokenUsage::default() };
    assert_eq!(ending.usage, usage, "the prompt as reported");
    let ending = stopped(openai, &openai_words()).await;
    assert_eq!(ending.status, TurnStatus::Cancelled);
    assert!((20..2_000).contains(&ending.usage.input), "estimated: {:?}", ending.usage);
    assert_eq!(ending.usage.output, 101);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_counted_and_a_refusal_is_not() {
    let ending = ended(anthropic, stream(&anthropic_words())).await;
    assert_eq!((ending.status, ending.usage.input), (TurnStatus::Failed, 5));
    let error = r#"data: {"type":"error","error":{"type":"invalid_request_error","message":"x"}}"#;
    let ending = ended(anthropic, stream(&format!("{}{error}\n\n", words("Yes")))).await;
    assert_eq!((ending.status, ending.usage.input), (TurnStatus::Failed, 5));
    // The controls: refusals before the answer began, and an answer that ends.
    for refused in [respond("400 Bad Request", "", "{}"), stream(&format!("{error}\n\n"))] {
        let ending = ended(anthropic, refused).await;
        assert_eq!((ending.status, ending.usage), (TurnStatus::Failed, TokenUsage::default()));
    }
    let ending = ended(anthropic, stream(&format!("{}{}", words("Yes"), stop("end_turn")))).await;
    let usage = TokenUsage { input: 5, output: 9, ..TokenUsage::default() };
    assert_eq!((ending.status, ending.usage), (TurnStatus::Done, usage));
}

#[tokio::test]
async fn a_whole_answer_without_a_report_costs_as_much_as_its_text_and_its_prompt_are_worth() {
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let whole = |usage: &str| format!("{}data: {end}\n\n{usage}data: [DONE]\n\n", openai_words());
    // The stream may also end before the report comes.
    let cut = format!("{}data: {end}\n\n", openai_words());
    for body in [whole(""), cut] {
        let ending = ended(openai, stream(&body)).await;
        assert_eq!(ending.status, TurnStatus::Done);
        assert!((20..2_000).contains(&ending.usage.input), "estimated: {:?}", ending.usage);
        assert_eq!(ending.usage.output, 101);
    }
    // The control: a report counts as it is.
    let report = json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 9 } });
    let ending = ended(openai, stream(&whole(&format!("data: {report}\n\n")))).await;
    let usage = TokenUsage { input: 5, output: 9, ..TokenUsage::default() };
    assert_eq!((ending.status, ending.usage), (TurnStatus::Done, usage));
}
