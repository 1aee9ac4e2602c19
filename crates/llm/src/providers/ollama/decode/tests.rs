//! Lines of Ollama, whole, broken and in any pieces.

use serde_json::{Value, json};

use super::super::context_window::prompt_size;
use super::*;
use crate::model::{ContentBlock, ModelMessage, ModelRequest, ToolCall};
use crate::transport::decoder::read_all;

fn decoder(bytes: usize) -> LineDecoder {
    let blocks = vec![ContentBlock::Text("x".repeat(bytes))];
    let messages = vec![ModelMessage { role: protocol::Role::User, blocks }];
    LineDecoder::new(prompt_size(&ModelRequest { messages, ..ModelRequest::default() }))
}

fn say(text: &str) -> Value {
    json!({ "message": { "role": "assistant", "content": text }, "done": false })
}

fn done(reason: &str, read: u64) -> Value {
    json!({ "message": { "content": "" }, "done": true, "done_reason": reason,
        "prompt_eval_count": read, "eval_count": 9 })
}

fn call(function: &Value) -> Value {
    json!({ "message": { "content": "", "tool_calls": [{ "function": function }] } })
}

fn wire(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn read(lines: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    read_all(decoder(60), [wire(lines).as_bytes()])
}

fn stopped(reason: StopReason) -> ModelEvent {
    let usage = TokenUsage { input: 20, output: 9, ..TokenUsage::default() };
    ModelEvent::Stopped { reason, usage }
}

fn said(text: &str) -> ModelEvent {
    ModelEvent::Text(text.into())
}

#[test]
fn text_calls_and_reasons_are_read() {
    let lines = [say("Grü"), say("ße"), done("stop", 20)];
    let expected = vec![said("Grü"), said("ße"), stopped(StopReason::EndTurn)];
    assert_eq!(read(&lines), (expected, None));
    let arguments = json!({ "path": "a" });
    let look = call(&json!({ "name": "read", "arguments": arguments }));
    let tool = ToolCall { id: "".into(), tool: "read".into(), arguments };
    let called = ModelEvent::Call(tool);
    let (twice, none) = ([look.clone(), look.clone(), done("stop", 20)], None);
    let expected = vec![called.clone(), called.clone(), stopped(StopReason::ToolUse)];
    assert_eq!(read(&twice), (expected, none));
    let expected = vec![called, stopped(StopReason::MaxTokens)];
    assert_eq!(read(&[look, done("length", 20)]), (expected, None));
    assert_eq!(read(&[done("load", 20)]).0, [stopped(StopReason::Unknown)]);
    assert_eq!(read(&[done("", 20)]).0, [stopped(StopReason::EndTurn)], "as without a reason");
}

#[test]
fn a_call_that_is_no_call_is_told_as_broken() {
    for function in [json!({}), json!({ "name": "read", "arguments": "{}" }), json!(null)] {
        let (events, error) = read(&[call(&function), done("stop", 20)]);
        assert!(matches!(events[0], ModelEvent::BrokenCall { .. }), "{events:?} {error:?}");
    }
}

#[test]
fn a_prompt_that_was_not_read_whole_is_told() {
    let of = |bytes, read| {
        let lines = wire(&[say("x"), done("stop", read)]);
        read_all(decoder(bytes), [lines.as_bytes()]).1
    };
    assert_eq!(of(120_000, 4_096), Some(DecodeError::Cut { sent: 20_000, read: 4_096 }));
    for (bytes, read) in [(120_000, 20_000), (120_000, 40_000), (120_000, 0), (100, 4_096)] {
        assert_eq!(of(bytes, read), None, "{read} of {bytes}");
    }
}

#[test]
fn errors_nonsense_and_ends_that_come_early_are_no_answers() {
    let (events, error) = read(&[say("x"), json!({ "error": "out of memory" })]);
    assert_eq!(events, [said("x")]);
    assert!(matches!(error, Some(DecodeError::Reported(_))), "{error:?}");
    assert_eq!(read(&[say("x")]), (vec![said("x")], None));
    for odd in ["nonsense\n", "[1]\n", "{\"message\":1}\n"] {
        let (_, error) = read_all(decoder(0), [odd.as_bytes()]);
        assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{odd}: {error:?}");
    }
    let long = "x".repeat(500_000);
    for message in [json!({ "content": long }), json!({ "thinking": long })] {
        let lines = |count| read(&vec![json!({ "message": message }); count]).1;
        assert!(matches!(lines(3), Some(DecodeError::TooLarge(_))));
        assert_eq!(lines(2), None, "the control");
    }
}

#[test]
fn a_sign_that_is_cut_over_two_lines_arrives_whole_or_nothing_does() {
    let spelled = |text: &str| format!("{{\"message\":{{\"content\":\"{text}\"}}}}\n");
    let read = |lines: String| {
        let end = wire(&[done("stop", 20)]);
        read_all(decoder(60), [format!("{lines}{end}").as_bytes()])
    };
    let pieces = [r"cake \ud83c", r"\udf82 for Mia \ud83e", r"\udd73!"];
    let (events, error) = read(pieces.map(spelled).concat());
    let text = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!((text.collect::<String>().as_str(), error), ("cake 🎂 for Mia 🥳!", None));

    let called = |text: &str| {
        let function = format!("{{\"name\":\"read\",\"arguments\":{{\"text\":\"{text}\"}}}}");
        format!(
            "{{\"message\":{{\"content\":\"\",\"tool_calls\":[{{\"function\":{function}}}]}}}}\n"
        )
    };
    let (events, error) = read(called(r"cake \ud83c\udf82"));
    let arguments = json!({ "text": "cake 🎂" });
    let call = ToolCall { id: "".into(), tool: "read".into(), arguments };
    assert_eq!((events.first(), error), (Some(&ModelEvent::Call(call)), None));

    for half in [r"a\ud83c", r"\udf82"] {
        for lines in [spelled(half), called(half)] {
            let (events, error) = read(lines);
            assert!(matches!(error, Some(DecodeError::Unreadable(_))), "{half}: {error:?}");
            assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{events:?}");
        }
    }
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    let look = call(&json!({ "name": "read", "arguments": { "path": "ä" } }));
    let lines = [say("Lo"), say("ök"), look, done("stop", 20)];
    let (body, whole) = (wire(&lines), read(&lines));
    for at in 0..body.len() {
        let (one, two) = body.as_bytes().split_at(at);
        assert_eq!(read_all(decoder(60), [one, two]), whole, "cut at {at}");
    }
}
