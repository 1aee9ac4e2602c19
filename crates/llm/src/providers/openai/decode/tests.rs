//! Chunks of Chat Completions, whole, broken and in any pieces.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::ToolCall;
use crate::transport::decoder::read_all;

fn delta(delta: &Value) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn text(text: &str) -> Value {
    delta(&json!({"content": text}))
}

fn calls(calls: &Value) -> Value {
    delta(&json!({"tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 3}}})
}

fn wire(chunks: &[Value]) -> String {
    let mut wire = chunks.iter().fold(String::new(), |mut wire, chunk| {
        writeln!(wire, "data: {chunk}\n").unwrap();
        wire
    });
    wire.push_str("data: [DONE]\n\n");
    wire
}

fn read(bytes: &str) -> (Vec<ModelEvent>, Option<DecodeError>) {
    read_all(ChatDecoder::default(), [bytes.as_bytes()])
}

#[track_caller]
fn check(chunks: &[Value], expected: &[ModelEvent]) {
    assert_eq!(read(&wire(chunks)), (expected.to_vec(), None));
}

fn said(text: &str) -> ModelEvent {
    ModelEvent::Text(text.into())
}

fn stopped(reason: StopReason) -> ModelEvent {
    ModelEvent::Stopped { reason, usage: TokenUsage::default() }
}

fn called(id: &str, arguments: Value) -> ModelEvent {
    ModelEvent::Call(ToolCall { id: id.into(), tool: "read".into(), arguments })
}

fn broken(id: &str, tool: &str) -> impl Fn(&ModelEvent) -> bool {
    move |event| matches!(event, ModelEvent::BrokenCall { id: i, tool: t, .. } if i.as_str() == id && t == tool)
}

fn two_calls() -> Vec<Value> {
    vec![
        delta(&json!({"role": "assistant", "content": null})),
        text("Loök"),
        calls(&json!([{"index": 0, "id": "a", "type": "function",
            "function": {"name": "read", "arguments": ""}}])),
        calls(&json!([{"index": 0, "function": {"arguments": "{\"path\":\"ä"}}])),
        calls(&json!([{"index": 1, "id": "b", "type": "function",
            "function": {"name": "read", "arguments": "{}"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": ".md\"}"}}])),
        finish("tool_calls"),
        usage(),
    ]
}

#[test]
fn text_comes_as_it_streams_and_the_usage_comes_last() {
    let cost = TokenUsage { input: 5, output: 9, cache_read: 3, cache_write: 0 };
    let stop = ModelEvent::Stopped { reason: StopReason::EndTurn, usage: cost };
    check(
        &[text("Hello "), text("world"), finish("stop"), usage()],
        &[said("Hello "), said("world"), stop],
    );
}

#[test]
fn parallel_calls_are_joined_by_their_index_and_given_out_at_the_end() {
    let (events, error) = read(&wire(&two_calls()));
    assert_eq!(error, None);
    let expected = [said("Loök"), called("a", json!({"path": "ä.md"})), called("b", json!({}))];
    assert_eq!(events[..3], expected);
    assert!(matches!(events[3], ModelEvent::Stopped { reason: StopReason::ToolUse, .. }));
    let (events, _) = read_all(ChatDecoder::default(), [wire(&two_calls()[..6]).as_bytes()]);
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{events:?}");
}

#[test]
fn every_reason_is_read() {
    for (word, reason) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
        ("tool_calls", StopReason::ToolUse),
        ("function_call", StopReason::ToolUse),
        ("brand_new", StopReason::Unknown),
    ] {
        check(&[text("x"), finish(word)], &[said("x"), stopped(reason)]);
    }
    let refused = delta(&json!({"refusal": "No."}));
    check(&[refused, finish("stop")], &[said("No."), stopped(StopReason::Refusal)]);
}

#[test]
fn an_empty_reason_does_not_end_an_answer() {
    for word in ["", "null"] {
        let first = json!({"choices": [{"index": 0, "delta": {"content": "Hello "},
            "finish_reason": word}]});
        check(
            &[first, finish(word), text("world"), finish("stop"), finish(word)],
            &[said("Hello "), said("world"), stopped(StopReason::EndTurn)],
        );
    }
}

#[test]
fn the_older_single_call_is_a_call() {
    let (name, rest) =
        (json!({"name": "read", "arguments": "{\"a\""}), json!({"arguments": ":1}"}));
    let chunks = [
        delta(&json!({"function_call": name})),
        delta(&json!({"function_call": rest})),
        finish("function_call"),
    ];
    check(&chunks, &[called("", json!({"a": 1})), stopped(StopReason::ToolUse)]);
}

#[test]
fn calls_that_share_an_index_are_told_apart_by_their_ids() {
    let call =
        |id: &str| json!([{"index": 0, "id": id, "function": {"name": "read", "arguments": "{}"}}]);
    let chunks = [calls(&call("a")), calls(&call("b")), finish("tool_calls")];
    let expected = [called("a", json!({})), called("b", json!({})), stopped(StopReason::ToolUse)];
    check(&chunks, &expected);
    let bare = json!([{"function": {"name": "read", "arguments": "{}"}}]);
    let chunks = [calls(&bare), calls(&bare), finish("tool_calls")];
    check(&chunks, &[called("", json!({})), called("", json!({})), stopped(StopReason::ToolUse)]);
    let piece = |text: &str| json!([{"id": "a", "function": {"name": "read", "arguments": text}}]);
    let chunks = [calls(&piece("{\"a\"")), calls(&piece(":1}")), finish("tool_calls")];
    check(&chunks, &[called("a", json!({"a": 1})), stopped(StopReason::ToolUse)]);
}

#[test]
fn another_name_at_the_same_index_begins_a_call_and_a_repeated_one_does_not() {
    let piece = |index: Option<u32>, name: &str, text: &str| {
        calls(&json!([{"index": index, "function": {"name": name, "arguments": text}}]))
    };
    let of = |tool: &str, arguments: Value| {
        ModelEvent::Call(ToolCall { id: "".into(), tool: tool.into(), arguments })
    };
    for index in [Some(0), None] {
        let chunks = [
            piece(index, "list", ""),
            piece(index, "read", ""),
            piece(index, "read", "{\"a\""),
            piece(index, "", ":1"),
            piece(index, "read", "}"),
            piece(index, "list", ""),
            piece(index, "list", "{}"),
            finish("tool_calls"),
        ];
        let expected = [
            of("list", json!({})),
            of("read", json!({"a": 1})),
            of("list", json!({})),
            stopped(StopReason::ToolUse),
        ];
        check(&chunks, &expected);
    }
}

#[test]
fn a_repeated_id_gives_two_calls_where_the_index_says_so() {
    let call = |index: u32| json!([{"index": index, "id": "a", "function": {"name": "read", "arguments": "{}"}}]);
    let chunks = [calls(&call(0)), calls(&call(1)), finish("tool_calls")];
    let expected = [called("a", json!({})), called("a", json!({})), stopped(StopReason::ToolUse)];
    check(&chunks, &expected);
}

#[test]
fn a_call_that_is_no_call_is_told_as_broken() {
    for (function, tool) in [
        (json!({"arguments": "{}"}), ""),
        (json!({"name": "read", "arguments": "[1]"}), "read"),
        (json!({"name": "read", "arguments": "{\"a\":NaN}"}), "read"),
        (json!({"name": "read", "arguments": "{'a':1}"}), "read"),
        (json!({"name": "read", "arguments": 7}), "read"),
        (json!({"name": "read", "arguments": "{\"a\":\"\\ud800\"}"}), "read"),
    ] {
        let (events, error) = read(&wire(&[
            calls(&json!([{"index": 0, "function": function}])),
            finish("tool_calls"),
        ]));
        assert!(error.is_none() && broken("", tool)(&events[0]), "{events:?} {error:?}");
        // It is a call also where the server ends the answer as one without.
        let (events, _) =
            read(&wire(&[calls(&json!([{"index": 0, "function": function}])), finish("stop")]));
        assert!(broken("", tool)(&events[0]), "{events:?}");
        assert_eq!(events[1..], [stopped(StopReason::ToolUse)]);
    }
    // An object in place of its text is what some servers send.
    let function = json!({"name": "read", "arguments": {"a": 1}});
    let chunks = [calls(&json!([{"index": 0, "function": function}])), finish("tool_calls")];
    check(&chunks, &[called("", json!({"a": 1})), stopped(StopReason::ToolUse)]);
}

#[test]
fn an_answer_cut_off_has_no_whole_call() {
    let call = json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}]);
    for chunks in [vec![calls(&call), finish("length")], vec![calls(&call)]] {
        let (events, error) = read(&wire(&chunks));
        assert!(error.is_none() && broken("a", "read")(&events[0]), "{events:?}");
    }
    let severed = format!("data: {}\n\n", calls(&call));
    assert_eq!(read(&severed), (Vec::new(), None));
}

#[test]
fn a_body_that_ends_after_the_reason_is_whole() {
    let body = format!("data: {}\n\n", finish("stop"));
    assert_eq!(read(&body), (vec![stopped(StopReason::EndTurn)], None));
    assert_eq!(read(&format!("data: {}\n\n", text("x"))), (vec![said("x")], None));
}

#[test]
fn an_error_inside_the_stream_is_an_error() {
    for error in [
        json!({"error": {"code": 502, "message": "m"}, "choices": [{"finish_reason": "error"}]}),
        json!({"error": {"type": "server_error", "message": "m"}}),
    ] {
        let (events, error) = read(&wire(&[text("x"), error]));
        assert_eq!(events, [said("x")]);
        assert!(matches!(error, Some(DecodeError::Reported(_))), "{error:?}");
    }
}

#[test]
fn what_means_nothing_is_passed_over_and_nonsense_is_refused() {
    let noise = ": comment\n\ndata: \n\ndata: {\"choices\":[]}\n\ndata: {}\n\n";
    let body = format!("{noise}{}data: more\n\n", wire(&[text("x"), finish("stop"), text("y")]));
    assert_eq!(read(&body), (vec![said("x"), stopped(StopReason::EndTurn)], None));
    for odd in
        [json!({"choices": "x"}), json!([1]), json!({"choices": [{"delta": {"tool_calls": 1}}]})]
    {
        let (_, error) = read(&wire(std::slice::from_ref(&odd)));
        assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{odd}: {error:?}");
    }
    let cut =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\"\n\n{}", wire(&[finish("stop")]));
    assert!(matches!(read(&cut).1, Some(DecodeError::Unreadable(_))), "a part would be missing");
}

/// A chunk with this spelling of its text, as JavaScript and some servers in C++ write it.
fn spelled(field: &str, spelling: &str) -> String {
    let delta = match field {
        "content" => format!("{{\"content\":\"{spelling}\"}}"),
        _ => format!(
            "{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"name\":\"read\",\"arguments\":\"{spelling}\"}}}}]}}"
        ),
    };
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

#[test]
fn a_sign_that_is_cut_over_two_chunks_arrives_whole_or_nothing_does() {
    let pieces = [r"cake \ud83c", r"\udf82 for Mia \ud83e", r"\udd73!"];
    let words: String = pieces.iter().map(|piece| spelled("content", piece)).collect();
    let (events, error) = read(&format!("{words}{}", wire(&[finish("stop")])));
    let text = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!((text.collect::<String>().as_str(), error), ("cake 🎂 for Mia 🥳!", None));

    let pieces = [r#"{\"text\":\"cake \ud83c"#, r#"\udf82\"}"#];
    let call: String = pieces.iter().map(|piece| spelled("arguments", piece)).collect();
    let (events, error) = read(&format!("{call}{}", wire(&[finish("tool_calls")])));
    assert_eq!(events.first(), Some(&called("", json!({"text": "cake 🎂"}))));
    assert_eq!(error, None);

    for field in ["content", "arguments"] {
        let (events, error) =
            read(&format!("{}{}", spelled(field, r"a\ud83c"), wire(&[finish("stop")])));
        assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{error:?}");
        assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{events:?}");
    }
}

#[test]
fn an_answer_of_any_size_is_bounded() {
    let many = vec![text(&"x".repeat(500_000)); 3];
    assert!(matches!(read(&wire(&many)).1, Some(DecodeError::TooLarge(_))));
    let piece = json!([{"index": 0, "function": {"arguments": "x".repeat(500_000)}}]);
    let many = vec![calls(&piece); 3];
    assert!(matches!(read(&wire(&many)).1, Some(DecodeError::TooLarge(_))));
    let thoughts = |count| {
        let thought = delta(&json!({ "reasoning_content": "x".repeat(500_000) }));
        read(&wire(&vec![thought; count])).1
    };
    assert!(matches!(thoughts(3), Some(DecodeError::TooLarge(_))));
    assert_eq!(thoughts(2), None, "the control");
    let many: Vec<_> = (0..2_000).map(|n| calls(&json!([{"index": n, "id": "a"}]))).collect();
    assert!(matches!(read(&wire(&many)).1, Some(DecodeError::TooLarge(_))));
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    let body = wire(&two_calls());
    let whole = read(&body);
    for at in 0..body.len() {
        let (one, two) = body.as_bytes().split_at(at);
        assert_eq!(read_all(ChatDecoder::default(), [one, two]), whole, "cut at {at}");
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_change_nothing(sizes in prop::collection::vec(1_usize..40, 1..200)) {
        let body = wire(&two_calls());
        let mut rest = body.as_bytes();
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, left) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = left;
        }
        prop_assert_eq!(read_all(ChatDecoder::default(), pieces), read(&body));
    }

    #[test]
    fn any_data_is_read_without_a_panic(data in prop::collection::vec("\\PC{0,60}", 0..8)) {
        let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
        read(&body);
    }
}
