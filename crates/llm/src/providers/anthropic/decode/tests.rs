//! Anthropic's events, whole, broken and in any pieces.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::ToolCall;
use crate::transport::decoder::read_all;

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "m", "usage":
        {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 3}}})
}

fn text_block(index: u32) -> Value {
    json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "text", "text": ""}})
}

fn tool_block(index: u32) -> Value {
    json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}})
}

fn text(index: u32, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "text_delta", "text": text}})
}

fn json_piece(index: u32, piece: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": piece}})
}

fn close(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn delta(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

fn wire(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut wire, event| {
        let name = event["type"].as_str().unwrap();
        writeln!(wire, "event: {name}\ndata: {event}\n").unwrap();
        wire
    })
}

/// Everything that came of the bytes, up to the first error.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ModelEvent>, Option<DecodeError>) {
    read_all(MessagesDecoder::default(), pieces)
}

#[track_caller]
fn check(events: &[Value], expected: &[ModelEvent]) {
    assert_eq!(read([wire(events).as_bytes()]), (expected.to_vec(), None));
}

#[track_caller]
fn check_unreadable(events: &[Value]) {
    let (_, error) = read([wire(events).as_bytes()]);
    assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{error:?}");
}

fn said(text: &str) -> ModelEvent {
    ModelEvent::Text(text.into())
}

fn stopped(reason: StopReason) -> ModelEvent {
    let usage = TokenUsage { input: 5, output: 9, cache_read: 3, cache_write: 0 };
    ModelEvent::Stopped { reason, usage }
}

fn called(arguments: Value) -> ModelEvent {
    ModelEvent::Call(ToolCall { id: "toolu_1".into(), tool: "read".into(), arguments })
}

fn hello() -> Vec<Value> {
    let (one, two) = (text(0, "Hello "), text(0, "wörld"));
    vec![start(), text_block(0), one, two, close(0), delta("end_turn"), stop()]
}

fn tool() -> Vec<Value> {
    let (one, two) = (json_piece(1, r#"{"path":"no"#), json_piece(1, r#"tes/ä.md"}"#));
    let words = [start(), text_block(0), text(0, "Look"), close(0)];
    [&words[..], &[tool_block(1), one, two, close(1), delta("tool_use"), stop()]].concat()
}

#[test]
fn text_comes_as_it_streams() {
    check(&hello(), &[said("Hello "), said("wörld"), stopped(StopReason::EndTurn)]);
}

#[test]
fn a_call_comes_when_its_block_has_closed() {
    let arguments = json!({"path": "notes/ä.md"});
    check(&tool(), &[said("Look"), called(arguments), stopped(StopReason::ToolUse)]);
    let (events, _) = read([wire(&tool()[..7]).as_bytes()]);
    assert_eq!(events, [said("Look")]);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let events = [start(), tool_block(0), json_piece(0, ""), close(0), delta("tool_use"), stop()];
    check(&events, &[called(json!({})), stopped(StopReason::ToolUse)]);
}

#[test]
fn arguments_that_are_no_object_make_a_broken_call() {
    for arguments in [
        "{\"a\"",
        "null",
        "\"s\"",
        "[1]",
        "{'a': 1}",
        "{\"a\":1,}",
        "{\"a\":NaN}",
        r#"{"a":"\ud800"}"#,
        "{}{}",
    ] {
        // Some servers end an answer with calls as one without.
        for reason in ["tool_use", "end_turn"] {
            let piece = json_piece(0, arguments);
            let events = [start(), tool_block(0), piece, close(0), delta(reason), stop()];
            let (events, error) = read([wire(&events).as_bytes()]);
            assert_eq!(error, None);
            assert!(matches!(&events[0], ModelEvent::BrokenCall { .. }), "{arguments}: {events:?}");
            assert_eq!(events[1..], [stopped(StopReason::ToolUse)]);
        }
    }
}

#[test]
fn deep_arguments_do_not_exhaust_the_stack() {
    let piece = json_piece(0, &format!("{{\"a\":{}", "[".repeat(100_000)));
    let (events, error) = read([wire(&[start(), tool_block(0), piece, close(0)]).as_bytes()]);
    assert_eq!(error, None);
    assert!(matches!(events.as_slice(), [ModelEvent::BrokenCall { .. }]));
}

#[test]
fn a_block_that_is_open_at_the_end_is_a_broken_call() {
    let piece = json_piece(0, r#"{"a":1}"#);
    let (events, _) =
        read([wire(&[start(), tool_block(0), piece, delta("max_tokens"), stop()]).as_bytes()]);
    assert!(matches!(&events[0], ModelEvent::BrokenCall { .. }), "{events:?}");
    assert_eq!(events[1], stopped(StopReason::MaxTokens));
}

#[test]
fn nothing_stops_before_message_stop_and_nothing_follows_it() {
    let (events, _) = read([wire(&hello()[..6]).as_bytes()]);
    assert_eq!(events, [said("Hello "), said("wörld")]);
    let twice = [hello(), hello()].concat();
    assert_eq!(read([wire(&twice).as_bytes()]).0.len(), 3);
}

#[test]
fn each_stop_reason_has_its_meaning() {
    for (word, reason) in [
        ("stop_sequence", StopReason::StopSequence),
        ("pause_turn", StopReason::PauseTurn),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextExceeded),
        ("brand_new", StopReason::Unknown),
    ] {
        check(&[start(), delta(word), stop()], &[stopped(reason)]);
    }
    let (events, _) = read([wire(&[start(), stop()]).as_bytes()]);
    assert!(matches!(events[..], [ModelEvent::Stopped { reason: StopReason::Unknown, .. }]));
    check(&[start(), delta("end_turn"), delta(""), stop()], &[stopped(StopReason::EndTurn)]);
}

#[test]
fn what_we_do_not_know_is_no_matter() {
    let mut events = hello();
    events.insert(0, json!({"type": "new_kind", "x": 1}));
    events.insert(3, json!({"type": "ping"}));
    events.insert(4, json!({"type": "content_block_delta", "index": 0, "delta": {"type": "new"}}));
    events.insert(
        5,
        json!({"type": "content_block_start", "index": 7,
        "content_block": {"type": "thinking", "thinking": ""}}),
    );
    events.insert(
        6,
        json!({"type": "content_block_delta", "index": 7,
        "delta": {"type": "thinking_delta", "thinking": "hm"}}),
    );
    check(&events, &[said("Hello "), said("wörld"), stopped(StopReason::EndTurn)]);
    let odd = format!("data: not json\n\n{}", wire(&hello()));
    assert_eq!(read([odd.as_bytes()]).1, None);
}

#[test]
fn what_makes_no_sense_is_an_error() {
    check_unreadable(&[start(), start()]);
    check_unreadable(&[start(), text(9, "x")]);
    check_unreadable(&[start(), close(3)]);
    check_unreadable(&[start(), text_block(0), text_block(0)]);
    check_unreadable(&[start(), text_block(0), json_piece(0, "{}")]);
    let broken = "event: content_block_delta\ndata: {\"type\": \"content_bl\n\n";
    assert!(read([broken.as_bytes()]).1.is_some());
}

#[test]
fn an_error_event_is_reported_as_it_came() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
    let trouble =
        ErrorBody { kind: "overloaded_error".into(), message: "m".into(), ..ErrorBody::default() };
    let (events, reported) =
        read([wire(&[start(), text_block(0), text(0, "x"), error]).as_bytes()]);
    assert_eq!((events, reported), (vec![said("x")], Some(DecodeError::Reported(trouble))));
}

#[test]
fn endless_text_arguments_and_blocks_are_refused() {
    let kilobyte = "x".repeat(1024);
    let many = |piece: Value, block: Value| {
        let endless = std::iter::repeat_n(piece, 1025);
        let events: Vec<Value> = [start(), block].into_iter().chain(endless).collect();
        read([wire(&events).as_bytes()]).1
    };
    assert!(matches!(many(text(0, &kilobyte), text_block(0)), Some(DecodeError::TooLarge(_))));
    assert!(matches!(
        many(json_piece(0, &kilobyte), tool_block(0)),
        Some(DecodeError::TooLarge(_))
    ));
    let blocks: Vec<Value> = (0..=1024).map(text_block).collect();
    assert!(matches!(read([wire(&blocks).as_bytes()]).1, Some(DecodeError::TooLarge(_))));
}

#[test]
fn a_stream_cut_at_any_byte_reads_as_the_whole_one() {
    for events in [hello(), tool()] {
        let bytes = wire(&events).into_bytes();
        let whole = read([bytes.as_slice()]);
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read([head, tail]), whole, "cut at {cut}");
        }
        assert_eq!(read(bytes.chunks(1)), whole);
    }
}

#[test]
fn a_stream_that_ends_at_any_byte_never_makes_up_a_call_or_a_stop() {
    let bytes = wire(&tool()).into_bytes();
    let (whole, _) = read([bytes.as_slice()]);
    for end in 0..bytes.len() {
        let (events, error) = read([&bytes[..end]]);
        assert_eq!(error, None);
        assert!(whole.starts_with(&events) && events.len() < whole.len(), "ends at {end}");
    }
}

/// A delta whose text is spelled as JSON spells it.
fn spelled(index: u32, kind: &str, field: &str, spelling: &str) -> String {
    format!(
        "data: {{\"type\":\"content_block_delta\",\"index\":{index},\
         \"delta\":{{\"type\":\"{kind}\",\"{field}\":\"{spelling}\"}}}}\n\n"
    )
}

#[test]
fn a_sign_that_is_cut_over_two_deltas_arrives_whole_or_nothing_does() {
    let whole = |block: Value, kind, field, pieces: &[&str]| {
        let deltas: String = pieces.iter().map(|piece| spelled(0, kind, field, piece)).collect();
        let end = wire(&[close(0), delta("end_turn"), stop()]);
        read([format!("{}{deltas}{end}", wire(&[start(), block])).as_bytes()])
    };
    let pieces = [r"cake \ud83c", r"\udf82 for Mia \ud83e", r"\udd73!"];
    let (events, error) = whole(text_block(0), "text_delta", "text", &pieces);
    let text = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!((text.collect::<String>().as_str(), error), ("cake 🎂 for Mia 🥳!", None));

    let pieces = [r#"{\"text\":\"cake \ud83c"#, r#"\udf82\"}"#];
    let (events, error) = whole(tool_block(0), "input_json_delta", "partial_json", &pieces);
    let arguments = json!({ "text": "cake 🎂" });
    let call = ToolCall { id: "toolu_1".into(), tool: "read".into(), arguments };
    assert_eq!((events.first(), error), (Some(&ModelEvent::Call(call)), None));

    for (block, kind, field) in
        [(text_block(0), "text_delta", "text"), (tool_block(0), "input_json_delta", "partial_json")]
    {
        for half in [r"a\ud83c", r"\udf82"] {
            let (events, error) = whole(block.clone(), kind, field, &[half]);
            assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{half}: {error:?}");
            assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{events:?}");
        }
    }
}

proptest! {
    #[test]
    fn chunks_of_any_size_read_the_same(sizes in proptest::collection::vec(1_usize..60, 1..40)) {
        let bytes = wire(&tool()).into_bytes();
        let mut rest = bytes.as_slice();
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, tail) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        prop_assert_eq!(read(pieces), read([bytes.as_slice()]));
    }

    #[test]
    fn no_events_in_any_order_make_it_panic_or_talk_after_the_stop(
        order in proptest::collection::vec(0_usize..10, 0..40),
    ) {
        let events = tool();
        let story: Vec<Value> = order.into_iter().map(|n| events[n].clone()).collect();
        let (events, _) = read([wire(&story).as_bytes()]);
        let stop = events.iter().position(|event| matches!(event, ModelEvent::Stopped { .. }));
        prop_assert!(stop.is_none_or(|stop| stop + 1 == events.len()));
    }
}
