//! The scripted model streams as the provider does, and complains about requests that the provider
//! refuses.

use serde_json::json;

use super::*;
use crate::http_client::loopback_client;

fn user_request(words: &str) -> Value {
    json!({
        "model": "any", "max_tokens": 100, "stream": true,
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": words }] }],
    })
}

async fn post(model: &ScriptedModel, request: &Value) -> reqwest::Response {
    loopback_client()
        .post(format!("{}/v1/messages", model.base_url()))
        .header("x-api-key", KEY)
        .header("anthropic-version", "2023-06-01")
        .json(request)
        .send()
        .await
        .expect("an answer")
}

fn violations_for(messages: Value) -> Vec<String> {
    let mut request = user_request("");
    let schema = json!({ "type": "object" });
    request["tools"] = json!([{ "name": "t", "description": "d", "input_schema": schema }]);
    request["messages"] = messages;
    api_rules::request_violations(&request)
}

#[tokio::test]
async fn text_comes_in_small_pieces_and_ends_with_a_stop() {
    let model = ScriptedModel::start(vec![Reply::text("Milk is on the list already.")]).await;
    let body = post(&model, &user_request("milk?")).await.text().await.expect("the whole stream");
    assert_eq!(body.matches("text_delta").count(), 3);
    assert!(body.starts_with("event: message_start\n"), "{body}");
    assert!(body.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), "{body}");
    assert_eq!(last_message_text(&model.wait_for_request(1).await), "milk?");
    model.finish();
}

#[tokio::test]
async fn a_call_streams_its_input_as_json_in_pieces() {
    let call = ("read_file", json!({ "path": "Recipes/Lentil soup.md" }));
    let model = ScriptedModel::start(vec![Reply::calls(vec![call])]).await;
    let body = post(&model, &user_request("soup?")).await.text().await.expect("the whole stream");
    let input: String = body
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
        .filter_map(|event| Some(event["delta"]["partial_json"].as_str()?.to_owned()))
        .collect();
    assert_eq!(input, r#"{"path":"Recipes/Lentil soup.md"}"#);
    assert!(body.contains(r#""stop_reason":"tool_use""#));
    model.finish();
}

#[tokio::test]
async fn a_gate_holds_the_answer_and_a_client_that_leaves_is_noticed() {
    let gate = Gate::closed();
    let reply = Reply::text("one two three four five six").gated(&gate);
    let model = ScriptedModel::start(vec![reply]).await;
    let mut answer = post(&model, &user_request("count")).await;
    gate.wait_until_reached(1).await;
    gate.let_through(1);
    gate.wait_until_reached(2).await;
    let mut heard = String::new();
    while heard.matches("text_delta").count() < 2 {
        let bytes = answer.chunk().await.expect("no error").expect("more to come");
        heard.push_str(&String::from_utf8_lossy(&bytes));
    }
    assert!(!heard.contains("message_stop"));
    drop(answer);
    model.wait_for_disconnects(1).await;
    model.finish();
}

#[tokio::test]
async fn a_cut_answer_is_an_error_and_no_end() {
    let model = ScriptedModel::start(vec![Reply::text("never to be heard").cut_after(4)]).await;
    let answer = post(&model, &user_request("go")).await;
    answer.text().await.expect_err("the connection is dropped in the middle");
    model.finish();
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_uses_up_no_reply() {
    let model = ScriptedModel::start(vec![]).await;
    let address = format!("{}/v1/messages", model.base_url());
    let sent = loopback_client()
        .post(address)
        .header("x-api-key", "wrong")
        .json(&user_request("hi"))
        .send()
        .await;
    assert_eq!(sent.expect("an answer").status(), 401);
    assert_eq!((model.refused_key_count(), model.requests().len()), (1, 0));
    model.finish();
}

#[tokio::test]
#[should_panic(expected = "nothing left to answer to: once more")]
async fn a_request_past_the_script_fails_the_test() {
    let model = ScriptedModel::start(vec![]).await;
    assert_eq!(post(&model, &user_request("once more")).await.status(), 500);
    model.finish();
}

#[tokio::test]
#[should_panic(expected = "1 replies of the script were never asked for")]
async fn a_reply_that_nobody_asks_for_fails_the_test() {
    ScriptedModel::start(vec![Reply::text("unheard")]).await.finish();
}

#[tokio::test]
#[should_panic(expected = "the key stands in the body")]
async fn a_key_in_the_body_fails_the_test() {
    let model = ScriptedModel::start(vec![Reply::text("oh")]).await;
    assert_eq!(post(&model, &user_request(KEY)).await.status(), 200);
}

#[tokio::test]
async fn a_responder_answers_by_what_is_asked() {
    let model =
        ScriptedModel::responder(|asked| Reply::text(&last_message_text(asked).to_uppercase()))
            .await;
    for words in ["one", "two"] {
        let body = post(&model, &user_request(words)).await.text().await.expect("the whole stream");
        assert!(body.contains(&words.to_uppercase()), "{body}");
    }
    model.finish();
}

#[test]
fn a_whole_exchange_with_calls_breaks_no_rule() {
    assert_eq!(
        violations_for(json!([
            { "role": "user", "content": "what is in the soup?" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Looking." },
                { "type": "tool_use", "id": "a", "name": "read_file", "input": {} },
                { "type": "tool_use", "id": "b", "name": "read_file", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a", "content": "lentils" },
                { "type": "tool_result", "tool_use_id": "b", "content": "", "is_error": true },
                { "type": "text", "text": "and quickly" },
            ] },
        ])),
        [""; 0]
    );
}

#[test]
fn each_kind_of_broken_history_is_named() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "t", "input": {} });
    let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "x" });
    let user = |blocks: Vec<Value>| json!({ "role": "user", "content": blocks });
    let model = |blocks: Vec<Value>| json!({ "role": "assistant", "content": blocks });
    let text = |words: &str| json!({ "type": "text", "text": words });
    let cases = [
        (json!([]), "no messages"),
        (json!([model(vec![text("hello")])]), "roles alternate"),
        (json!([user(vec![text("a")]), user(vec![text("b")])]), "roles alternate"),
        (json!([user(vec![])]), "message 0 is empty"),
        (json!([user(vec![text(" \n")])]), "an empty text block"),
        (json!([user(vec![text("a")]), model(vec![text("b")])]), "the last message is not"),
        (
            json!([user(vec![text("a")]), model(vec![call("c")]), user(vec![text("b")])]),
            "`c` has no result",
        ),
        (json!([user(vec![result("c")])]), "belongs to no call"),
        (
            json!([
                user(vec![text("a")]),
                model(vec![call("c")]),
                user(vec![text("b"), result("c")])
            ]),
            "results do not come first",
        ),
        (
            json!([
                user(vec![text("a")]),
                model(vec![call("c")]),
                user(vec![result("c"), result("c")])
            ]),
            "two results",
        ),
        (
            json!([
                user(vec![text("a")]),
                model(vec![call("c"), call("c")]),
                user(vec![result("c")])
            ]),
            "not unique",
        ),
        (json!([user(vec![call("c")])]), "a block `tool_use` of the user"),
    ];
    for (messages, complaint) in cases {
        let found = violations_for(messages.clone());
        assert!(
            found.iter().any(|what| what.contains(complaint)),
            "{complaint}: {found:?} for {messages}"
        );
    }
}

#[test]
fn each_kind_of_broken_envelope_is_named() {
    let broken = |change: fn(&mut Value)| {
        let mut request = user_request("hi");
        change(&mut request);
        api_rules::request_violations(&request).join("; ")
    };
    assert_eq!(broken(|_| ()), "");
    assert_eq!(broken(|r| r["model"] = json!("")), "no model");
    assert_eq!(broken(|r| r["max_tokens"] = json!(0)), "no max_tokens");
    assert_eq!(broken(|r| r["stream"] = json!(false)), "stream is not true");
    assert_eq!(broken(|r| r["max_token"] = json!(9)), "unknown field `max_token`");
    assert_eq!(broken(|r| r["system"] = json!(" ")), "the system prompt is empty or no text");
    let undeclared = broken(|r| {
        let call = json!({ "type": "tool_use", "id": "c", "name": "t", "input": {} });
        let result = json!({ "type": "tool_result", "tool_use_id": "c", "content": "x" });
        r["messages"] = json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": [call] },
            { "role": "user", "content": [result] },
        ]);
    });
    assert_eq!(undeclared, "calls, but no tools are declared");
    assert_eq!(
        broken(|r| r["tools"] = json!([{ "name": "t", "description": "d", "input_schema": {} }])),
        "the schema of tool `t` is not of an object"
    );
}
