//! Calls in text, whole, broken and in any pieces.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, input_schema| ToolSpec {
        name: name.into(),
        description: String::new(),
        input_schema,
    };
    let path = json!({ "type": "object", "properties": { "path": { "type": "string" } },
        "required": ["path"] });
    vec![tool("read", path), tool("list", json!({ "type": "object" }))]
}

/// Everything found, neighboring texts joined.
fn scan<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<ExtractedPart> {
    let mut scan = CallScanner::new(tools());
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(scan.feed(piece));
    }
    all.extend(scan.end(false));
    all.into_iter().fold(Vec::new(), |mut joined, found| {
        match (joined.last_mut(), found) {
            (Some(ExtractedPart::Text(before)), ExtractedPart::Text(more)) => {
                before.push_str(&more)
            }
            (_, found) => joined.push(found),
        }
        joined
    })
}

fn words(text: &str) -> ExtractedPart {
    ExtractedPart::Text(text.into())
}

fn call(tool: &str, parameters: Value) -> ExtractedPart {
    ExtractedPart::Call { tool: tool.into(), parameters }
}

fn read() -> ExtractedPart {
    call("read", json!({ "path": "a {b} \"c\".md" }))
}

const READ: &str =
    r#"{"tool": "read", "parameters": {"path": "a {b} \"c\".md"}, "reasoning": "It is }."}"#;

#[test]
fn a_call_is_found_wherever_it_stands() {
    for (text, before) in [
        (READ.to_owned(), ""),
        (format!("I shall look.\n{READ}"), "I shall look.\n"),
        (format!("Look:\n```json\n{READ}\n```\nThat was it."), "Look:\n"),
        (format!("```{READ}```"), ""),
        (
            format!("A set {{a, b}} and {{}} and {{\"x\": 1}}. {READ}"),
            "A set {a, b} and {} and {\"x\": 1}. ",
        ),
        (READ.replace("tool", "name").replace("parameters", "arguments"), ""),
        (format!("So:\n<tool_call>\n{READ}\n</tool_call>"), "So:\n"),
        (format!("[TOOL_CALLS]{READ}"), ""),
        (format!("a < b [x] <tool {READ}"), "a < b [x] <tool "),
        (format!("[{READ}]"), "["),
        (format!("{{\"calls\": [{READ}]}}"), "{\"calls\": ["),
        (format!("{{\"never\": \"closed, {{ \n{READ}"), "{\"never\": \"closed, { \n"),
        (format!("It's {{ \"odd\": {READ}"), "It's { \"odd\": "),
        (format!("[\"{{\",{READ}]"), "[\"{\","),
        (format!("A set begins with \"{{\", so: {READ}"), "A set begins with \"{\", so: "),
    ] {
        let mut expected = vec![words(before), read()];
        expected.retain(|found| *found != words(""));
        assert_eq!(scan([text.as_str()]), expected, "{text}");
    }
}

#[test]
fn the_first_call_counts_and_parameters_may_be_omitted() {
    let text = format!(r#"{{"tool":"list"}} {READ}"#);
    assert_eq!(scan([text.as_str()]), [call("list", json!({}))]);
    let nested = r#"{"tool":"list","parameters":{"tool":"read","parameters":{"path":"x"}}}"#;
    let inner = json!({"tool":"read","parameters":{"path":"x"}});
    assert_eq!(scan([nested]), [call("list", inner)]);
}

#[test]
fn a_call_in_a_thought_is_text() {
    for text in [
        format!("<think>I could write {READ}, but no.</think>\nMilk. "),
        format!("A thought: <think>{READ}</think> Milk. "),
        "<think>It is {\"tool\": \"raed\", \"parameters\": {}}.</think>Milk. ".to_owned(),
        "<think>It is {\"tool\": \"read\", \"parameters\": </think>Milk. ".to_owned(),
        "<think>It is {\"tool\": \"read\", \"par</think>Milk. ".to_owned(),
    ] {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(scan(letters.iter().map(String::as_str)), [words(&text)], "{text}");
        assert_eq!(scan([text.as_str(), READ]), [words(&text), read()], "{text}");
        // The control: a thought that the answer does not end is text, and may hold a call.
        let unended = text.replace("</think>", "");
        assert!(!matches!(scan([unended.as_str()])[..], [ExtractedPart::Text(_)]), "{unended}");
    }
}

#[test]
fn a_call_before_the_end_of_a_thought_that_the_prompt_began_is_text() {
    for text in [format!("I could write {READ}.</think>Milk. "), format!("```{READ}```</think> ")] {
        assert_eq!(scan([text.as_str()]), [words(&text)]);
        assert_eq!(scan([text.as_str(), READ]), [words(&text), read()]);
    }
    // The controls: a tag in the call, the end of a later thought, and a second end.
    let quoting = r#"{"tool":"read","parameters":{"path":"</think>"}}"#;
    assert_eq!(scan([quoting]), [call("read", json!({ "path": "</think>" }))]);
    assert_eq!(scan([READ, "<think>Done?</think> Done."]), [read()]);
    assert_eq!(scan(["So.</think>", READ, "</think>"]), [words("So.</think>"), read()]);
}

#[test]
fn a_thought_that_does_not_end_holds_a_call_unless_the_answer_is_cut() {
    let before = "Models begin with <think> and then: ";
    assert_eq!(scan([before, READ, " So."]), [words(before), read()]);
    let mut cut = CallScanner::new(tools());
    assert_eq!(cut.feed("<think>"), [words("<think>")]);
    assert_eq!(cut.feed(READ), []);
    assert_eq!(cut.end(true), [words(READ)]);
}

#[test]
fn text_without_a_call_is_text() {
    for text in [
        "",
        "Plain words, with `code` and ``` a fence.",
        "{",
        "{{{}}}",
        "}{",
        "fn main() { println!(\"{}\", 1); }",
        r#"{"path": "a.md"}"#,
        r#"Your JSON: {"a": {"b": [1, 2, {"c": null}]}} is fine."#,
        r#"{"name": "x", "tool": "hammer"}"#,
        "a `",
    ] {
        let expected = if text.is_empty() { vec![] } else { vec![words(text)] };
        assert_eq!(scan([text]), expected, "{text}");
    }
}

#[test]
fn what_was_meant_as_a_call_is_told_with_what_is_wrong() {
    for (text, problem) in [
        (r#"{"tool": "raed", "parameters": {}}"#, "there is no tool `raed`"),
        (r#"{"tool": "read", "parameters": {}}"#, "`parameters.path` is missing"),
        (r#"{"tool": "list", "parameters": []}"#, "`parameters` must be of type \"object\""),
        (r#"{"tool": "read", "parameters": {"path": 'x'}}"#, "it is no JSON: "),
        (r#"{"tool": "read", "parameters": {"path": "x""#, "the object does not end"),
    ] {
        let found = scan([format!("Now: {text}").as_str()]);
        let [before, ExtractedPart::NoCall { text: said, problem: found }] = &found[..] else {
            panic!("{text}: {found:?}")
        };
        assert_eq!((before, said.as_str()), (&words("Now: "), text));
        assert!(found.starts_with(problem), "{found}");
    }
}

#[test]
fn an_object_is_as_large_and_as_deep_as_is_honest() {
    let of = |length: usize| {
        format!(r#"{{"tool":"read","parameters":{{"path":"{}"}}}}"#, "x".repeat(length))
    };
    assert!(matches!(scan([of(60_000).as_str()])[..], [ExtractedPart::Call { .. }]));
    assert!(matches!(scan([of(70_000).as_str()])[..], [ExtractedPart::Text(_)]));
    let deep = |depth: usize| {
        let (open, close) = ("{\"a\":".repeat(depth), "}".repeat(depth));
        format!(r#"{{"tool":"list","parameters":{open}1{close}}}"#)
    };
    assert!(matches!(scan([deep(31).as_str()])[..], [ExtractedPart::Call { .. }]));
    assert!(matches!(scan([deep(32).as_str()])[..], [ExtractedPart::Text(_)]));
}

#[test]
fn time_grows_with_the_text_whatever_it_is() {
    let half = |unit: &str| unit.repeat(500_000 / unit.len());
    for unit in
        ["{", "{\"", "{\"a\":", "{}", "{\"a\":{}}", "{\"a\":\"\\\"", "```", "{\"tool\":", "`{"]
    {
        let text = half(unit);
        let begun = std::time::Instant::now();
        scan(text.as_bytes().chunks(1_000).map(|piece| std::str::from_utf8(piece).unwrap()));
        // A scan that looks again from each brace needs minutes.
        assert!(begun.elapsed().as_secs() < 20, "{unit}: {:?}", begun.elapsed());
    }
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("```json\n".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("\"tool\":".to_owned()),
        Just("\"read\",\"parameters\":{\"path\":\"x\"}}".to_owned()),
        Just(READ.to_owned()),
        "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..24)
}

proptest! {
    #[test]
    fn how_the_text_is_cut_changes_nothing(pieces in pieces()) {
        let text = pieces.concat();
        let whole = scan([text.as_str()]);
        prop_assert_eq!(&scan(pieces.iter().map(String::as_str)), &whole);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        prop_assert_eq!(&scan(letters.iter().map(String::as_str)), &whole);
    }

    #[test]
    fn without_a_call_every_word_comes_out_as_it_went_in(pieces in pieces()) {
        let text = pieces.concat();
        let found = scan([text.as_str()]);
        if !found.iter().any(|found| matches!(found, ExtractedPart::Call { .. })) {
            let out: String = found.into_iter().map(|found| match found {
                ExtractedPart::Text(text) | ExtractedPart::NoCall { text, .. } => text,
                ExtractedPart::Call { .. } => String::new(),
            }).collect();
            prop_assert_eq!(out, text);
        }
    }

    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>()) {
        scan([text.as_str()]);
    }
}
