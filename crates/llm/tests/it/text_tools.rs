//! Calls in plain text, over HTTP, with servers that take no tools.

use std::sync::Arc;

use llm::{Deadlines, OpenAi, OpenAiConfig, TextToolProvider, ToollessModels, TurnEvent};
use protocol::{TurnEnding, TurnStatus};
use serde_json::{Value, json};

use crate::fixtures::byte_server::{ByteServer, CannedAnswer, respond, stream};
use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;
use crate::providers::openai::{data, words};

mod repairs;
mod thoughts;

const CALL: &str = r#"{"tool": "look", "parameters": {"what": "sky"}, "reasoning": "to see"}"#;
const BROKEN: &str = r#"{"tool": "look", "parameters": {}}"#;

enum ServerAddress {
    /// Somewhere else.
    Else,
    /// On this computer, as it is.
    Own,
}

/// Runs a turn with these answers; returns how it ended and the bodies of the requests.
async fn turn(
    toolless_models: &ToollessModels,
    answers: Vec<CannedAnswer>,
) -> (TurnEnding, Vec<Value>) {
    turn_at(ServerAddress::Else, toolless_models, answers).await
}

async fn turn_at(
    address: ServerAddress,
    toolless_models: &ToollessModels,
    answers: Vec<CannedAnswer>,
) -> (TurnEnding, Vec<Value>) {
    turn_of(address, "What colour is the sky?", toolless_models, answers).await
}

async fn turn_saying(
    words: &str,
    toolless_models: &ToollessModels,
    answers: Vec<CannedAnswer>,
) -> (TurnEnding, Vec<Value>) {
    turn_of(ServerAddress::Else, words, toolless_models, answers).await
}

async fn turn_of(
    address: ServerAddress,
    words: &str,
    toolless_models: &ToollessModels,
    answers: Vec<CannedAnswer>,
) -> (TurnEnding, Vec<Value>) {
    let (mut server, mut world) = serve(address, toolless_models, answers).await;
    let ending = world.say(words).await;
    let mut bodies = Vec::new();
    while let Ok(request) = server.requests.try_recv() {
        bodies.push(request.body);
    }
    (ending, bodies)
}

/// A server that gives these answers, and a service that asks it.
async fn serve(
    address: ServerAddress,
    toolless_models: &ToollessModels,
    answers: Vec<CannedAnswer>,
) -> (ByteServer, ServiceWorld) {
    let server = ByteServer::serving(answers).await;
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let wire = OpenAi::new(OpenAiConfig {
        base_url,
        key: "".into(),
        deadlines,
        parameters: llm::RequestParameters::default(),
    })
    .unwrap();
    let address = match address {
        ServerAddress::Else => "here".to_owned(),
        ServerAddress::Own => server.url(),
    };
    let provider = TextToolProvider::new(Arc::new(wire), address, toolless_models.clone());
    let world = ServiceWorld::asking(Arc::new(provider), Arc::new(ScriptedProvider::default()));
    (server, world)
}

/// How many tokens the context window holds, as it is told at the end of a turn with these answers.
async fn context_at_end(answers: Vec<CannedAnswer>) -> u32 {
    let no_tools = ToollessModels::default();
    let (_server, mut world) = serve(ServerAddress::Else, &no_tools, answers).await;
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    last_context(&mut world)
}

/// How many tokens the context window holds, as it was told last.
fn last_context(world: &mut ServiceWorld) -> u32 {
    let context = world.told().into_iter().rev().find_map(|event| match event {
        TurnEvent::Context(context) => context,
        _ => None,
    });
    context.expect("it is told").used
}

fn refusal() -> CannedAnswer {
    let said = json!({ "error": { "code": 400, "message": "this model does not support tools" } });
    respond("400 Bad Request", "", &said.to_string())
}

fn say(text: &str) -> CannedAnswer {
    data(&words(text))
}

/// The same, with a report that the prompt has so many tokens.
fn say_counted(text: &str, tokens: u32) -> CannedAnswer {
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": tokens, "completion_tokens": 1 } });
    data(&[words(text), vec![usage]].concat())
}

/// The same answer, cut off at the limit of its length.
fn say_cut(text: &str) -> CannedAnswer {
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "length" }] });
    let mut chunks = words(text);
    chunks.pop();
    chunks.push(end);
    data(&chunks)
}

/// The same answer, broken off before its end.
fn say_broken_off(text: &str) -> CannedAnswer {
    let chunks: String =
        words(text).iter().take(1).map(|chunk| format!("data: {chunk}\n\n")).collect();
    stream(&chunks)
}

fn last_words(body: &Value) -> &str {
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_asked_in_text_and_that_is_remembered() {
    let no_tools = ToollessModels::default();
    let fenced = format!("Let me look.\n```json\n{CALL}\n```");
    let answers = vec![refusal(), say(&fenced), say("It is blue.")];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
    assert_eq!(with_tools, [true, false, false]);
    assert!(bodies[1]["messages"][0]["content"].as_str().unwrap().contains("\n## look("));
    assert_eq!(last_words(&bodies[2]), "<tool_result tool=\"look\">\nsky 0\n</tool_result>");
    assert!(!bodies[2].to_string().contains("tool_call"), "{}", bodies[2]);

    let (ending, bodies) = turn(&no_tools, vec![say("Hello.")]).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert!(bodies[0].get("tools").is_none());
}

#[tokio::test]
async fn an_answer_that_is_only_a_call_is_one_although_the_server_took_it_for_text() {
    let bare = r#"{"name": "look", "arguments": {"what": "sky"}}"#;
    for call in [CALL, bare, &format!("<tool_call>\n{bare}\n</tool_call>")] {
        let answers = vec![say(call), say("It is blue.")];
        let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
        assert_eq!(ending.message.unwrap().text(), "It is blue.", "{call}");
        let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
        assert_eq!(with_tools, [true, true], "it takes tools");
    }
    // A call that is quoted in text is none: a note may hold one.
    let quoted = format!("The note says {CALL}");
    let (ending, bodies) = turn(&ToollessModels::default(), vec![say(&quoted)]).await;
    assert_eq!((ending.message.unwrap().text(), bodies.len()), (quoted, 1));
}

#[tokio::test]
async fn a_call_with_words_around_it_is_one_from_a_server_on_this_computer() {
    let bare = r#"{"name": "look", "arguments": {"what": "sky"}}"#;
    let fenced = format!("I will look.\n```json\n{CALL}\n```\nOne moment.");
    let tagged = format!("Sure. <tool_call>\n{bare}\n</tool_call>");
    for text in [&format!("Sure: {bare}"), &fenced, &tagged] {
        // Also once tools are known to reach the model, and its text is no longer held back.
        for known in [false, true] {
            let models = ToollessModels::default();
            let first = known.then(|| say_counted(CALL, 400));
            let answers = first.into_iter().chain([say_counted(text, 400), say("It is blue.")]);
            let (ending, bodies) = turn_at(ServerAddress::Own, &models, answers.collect()).await;
            assert_eq!(ending.message.unwrap().text(), "It is blue.", "{text}");
            assert_eq!(bodies.len(), 2 + usize::from(known), "{text}");
            let history = bodies.last().unwrap()["messages"].to_string();
            assert!(history.contains("sky 0") && !history.contains("```"), "{text}: {history}");
        }
    }
    // One that cannot be read goes back to the model, and one that was cut off is a failure.
    let broken = format!("Sure: {BROKEN}");
    let answers = vec![say_counted(&broken, 400), say("It is blue.")];
    let (ending, bodies) = turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    assert!(bodies[1]["messages"].to_string().contains("`parameters.what` is missing"));
    let cut = vec![say_counted("Hello.", 400), say_cut(&format!("Sure: {}", &CALL[..40]))];
    let models = ToollessModels::default();
    let (_server, mut world) = serve(ServerAddress::Own, &models, cut).await;
    assert_eq!(world.say("Hello").await.status, TurnStatus::Done);
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.status, TurnStatus::Failed, "{ending:?}");
    assert!(!format!("{:?}", ending.message).contains("\"look\""), "{ending:?}");
    // One that the server finds as well is made once.
    let written = format!("Sure: {}", CALL.replace("sky", "sea"));
    let native = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0,
        "id": "1", "function": { "name": "look", "arguments": "{\"what\": \"sky\"}" } }] },
        "finish_reason": "tool_calls" }] });
    let mut chunks = words(&written);
    chunks.pop();
    let answers = vec![data(&[chunks, vec![native]].concat()), say("It is blue.")];
    let (ending, bodies) = turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let history = bodies[1]["messages"].to_string();
    assert!(history.contains("sky 0") && !history.contains("sea 0"), "{history}");
    // The controls: other objects, and calls of other tools, are text.
    for text in ["Try {\"name\": \"Alice\", \"arguments\": {}} there.", "Use {{date}} {\"a\": 1}"] {
        let answers = vec![say_counted(text, 400)];
        let models = ToollessModels::default();
        let (ending, bodies) = turn_at(ServerAddress::Own, &models, answers).await;
        assert_eq!((ending.message.unwrap().text().as_str(), bodies.len()), (text, 1));
    }
}

#[tokio::test]
async fn a_call_in_text_that_was_cut_off_fails_in_words_and_is_not_shown() {
    let cut = CALL.get(..40).unwrap();
    let in_name = r#"{"name": "lo"#;
    for call in [cut, &format!("<tool_call>\n{cut}"), &format!("[{cut}"), CALL, in_name] {
        let answers = vec![say_cut(call)];
        let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
        assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 1), "{call}: {ending:?}");
        let error = ending.error.unwrap().to_string();
        assert!(error.contains("cut off at its length limit"), "{call}: {error}");
        assert_eq!(ending.message, None, "{call}");
    }
    // A model that takes no tools writes calls in the same forms.
    let (ending, bodies) =
        turn(&ToollessModels::default(), vec![refusal(), say_cut(in_name)]).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 2), "{ending:?}");
    let error = ending.error.unwrap().to_string();
    assert!(error.contains("the answer was cut before its end"), "{error}");
    assert_eq!(ending.message, None);
    // The controls: text that was cut off is shown.
    for text in ["{braces} are", r#"{"name": "Alice", "age""#] {
        for refusals in [vec![], vec![refusal()]] {
            let answers = refusals.into_iter().chain([say_cut(text)]).collect();
            let (ending, _) = turn(&ToollessModels::default(), answers).await;
            assert_eq!((ending.status, ending.cut), (TurnStatus::Done, true), "{ending:?}");
            assert_eq!(ending.message.unwrap().text(), text);
        }
    }
}

#[tokio::test]
async fn a_request_whose_held_text_breaks_off_is_sent_again() {
    let begun = CALL.get(..40).unwrap();
    let no_tools = ToollessModels::default();
    for prior in ["takes tools", "takes no tools"] {
        let mut answers = vec![say_broken_off(begun), say(CALL), say("It is blue.")];
        if prior == "takes no tools" {
            answers.insert(0, refusal());
        }
        let asked = answers.len();
        let (ending, bodies) = turn(&no_tools, answers).await;
        assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, asked), "{prior}: {ending:?}");
        assert_eq!(ending.message.unwrap().text(), "It is blue.", "{prior}");
    }
    // The control: text that was shown is not requested again.
    let (ending, bodies) = turn(&ToollessModels::default(), vec![say_broken_off("It is")]).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 1), "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is");
}

#[tokio::test]
async fn words_that_were_held_back_are_shown_when_no_attempt_gives_a_whole_answer() {
    // Whether tools reach the model is not known, so all of its first answer is held back.
    let broken_off = || say_broken_off("It is");
    let answers = vec![broken_off(), broken_off(), broken_off()];
    let (ending, bodies) = turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 3), "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is");
    // The control: they are not shown before an answer that is whole.
    let answers = vec![broken_off(), say_counted("It is blue.", 400)];
    let (ending, bodies) = turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, 2), "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
}

#[tokio::test]
async fn a_server_that_drops_tools_in_silence_is_found_out_before_it_is_believed() {
    let no_tools = ToollessModels::default();
    let answers = vec![say_counted("I remembered it.", 5), say(CALL), say("It is blue.")];
    let (ending, bodies) = turn_at(ServerAddress::Own, &no_tools, answers).await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.", "the first answer is not heard");
    let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
    assert_eq!(with_tools, [true, false, false]);

    // The control: one that read all of it is believed.
    let answers = vec![say_counted("It is blue.", 400)];
    let (ending, bodies) = turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
    assert_eq!((ending.message.unwrap().text().as_str(), bodies.len()), ("It is blue.", 1));
}

#[tokio::test]
async fn a_server_that_refuses_both_is_not_taken_for_one_without_tools() {
    let no_tools = ToollessModels::default();
    for _ in 0..2 {
        let (ending, bodies) = turn(&no_tools, vec![refusal(), refusal()]).await;
        assert_eq!(ending.status, TurnStatus::Failed);
        let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
        assert_eq!(with_tools, [true, false]);
    }
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_sent_back_once() {
    let no_tools = ToollessModels::default();
    let answers = vec![refusal(), say(BROKEN), say(CALL), say("It is blue.")];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let told = last_words(&bodies[2]);
    assert!(told.contains("`parameters.what` is missing"), "{told}");
    assert_eq!(last_words(&bodies[3]), "<tool_result tool=\"look\">\nsky 0\n</tool_result>");
    assert!(!bodies[3].to_string().contains("Invalid tool call"), "what was repaired is not kept");

    let answers = vec![say(BROKEN), say(BROKEN)];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 2));
    let error = ending.error.unwrap().to_string();
    assert!(error.contains("its call can’t be read (`parameters.what` is missing)"), "{error}");
    assert_eq!(ending.message.map(|message| message.text()).unwrap_or_default(), "");
}

#[tokio::test]
async fn a_call_that_is_no_json_is_sent_back_once_and_never_shown() {
    let real_line_end = CALL.replace("sky", "the\nsky");
    let bare_key = CALL.replace("\"what\"", "what");
    let single = CALL.replace("\"what\": \"sky\"", "'what': 'sky'");
    for broken in [&real_line_end, &bare_key, &single] {
        for before in ["", "I will look.\n"] {
            let text = format!("{before}{broken}");
            let answers = vec![refusal(), say(&text), say(CALL), say("It is blue.")];
            let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
            assert_eq!(ending.message.unwrap().text(), "It is blue.", "{text}");
            assert!(last_words(&bodies[2]).contains("Invalid tool call"), "{}", bodies[2]);
            let answers = vec![refusal(), say(&text), say(&text)];
            let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
            assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 3), "{text}");
            let shown = ending.message.map(|message| message.text()).unwrap_or_default();
            assert!(!shown.contains("look\""), "{shown}");
        }
        // Of a server that takes tools, the model is told in the result of the call.
        let answers = vec![say(broken), say(CALL), say("It is blue.")];
        let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
        assert_eq!(ending.message.unwrap().text(), "It is blue.", "{broken}");
        assert!(bodies[2].to_string().contains("sky 0"), "{broken}: {}", bodies[2]);
    }
    // The control: braces and line ends of prose are text.
    let prose = "{\"a\nb\": 'c'} and {'tool': 'look'}";
    let (ending, bodies) = turn(&ToollessModels::default(), vec![refusal(), say(prose)]).await;
    assert_eq!((ending.message.unwrap().text().as_str(), bodies.len()), (prose, 2));
}

#[tokio::test]
async fn a_call_that_the_model_was_told_is_never_repaired() {
    let unknown = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
    let misnamed = r#"{"tool": "lock", "parameters": {"what": "a door that nobody opens"}}"#;
    let unended = misnamed.trim_end_matches('}');
    for told in [unknown, misnamed, unended] {
        let quoted = format!("It shows: ```json\n{told}\n``` and then more.");
        for is_told in [true, false] {
            let asked =
                if is_told { format!("What does {told} mean?") } else { "What?".to_owned() };
            let answers = vec![refusal(), say(&quoted), say(CALL), say("It is blue.")];
            let (ending, _) = turn_saying(&asked, &ToollessModels::default(), answers).await;
            let said = ending.message.map(|message| message.text()).unwrap_or_default();
            // The control: without it in the question the model is asked for a call.
            let expected = if is_told { quoted.as_str() } else { "It is blue." };
            assert_eq!(said, expected, "{told}");
        }
    }
}

#[tokio::test]
async fn the_tokens_of_a_repaired_call_do_not_correct_the_estimate_of_one_request() {
    const REPORTED: u32 = 50_000;
    let repaired = |tokens: Option<u32>| {
        let counted = |text: &str| tokens.map_or_else(|| say(text), |it| say_counted(text, it));
        vec![refusal(), counted(BROKEN), counted(CALL), say("It is blue.")]
    };
    let estimated = context_at_end(repaired(None)).await;
    assert_eq!(context_at_end(repaired(Some(REPORTED))).await, estimated);

    // The control: the report about an answer to one request does correct it.
    let answers = vec![refusal(), say_counted(CALL, REPORTED), say("It is blue.")];
    assert!(context_at_end(answers).await > 2 * estimated);
}

#[tokio::test]
async fn the_tokens_of_an_answer_that_was_thrown_away_do_not_correct_the_estimate() {
    const REPORTED: u32 = 50_000;
    let mut used = Vec::new();
    for tokens in [1, REPORTED] {
        let no_tools = ToollessModels::default();
        // The server drops the tools, so its first answer counts too few tokens.
        let answers = vec![say_counted("I remembered it.", 5), say_counted("It is blue.", tokens)];
        let (_server, mut world) = serve(ServerAddress::Own, &no_tools, answers).await;
        let ending = world.say("What colour is the sky?").await;
        assert_eq!(ending.message.unwrap().text(), "It is blue.");
        used.push(last_context(&mut world));
    }
    assert_eq!(used[0], used[1]);
}

#[tokio::test]
async fn each_call_has_an_id_of_its_own() {
    let no_tools = ToollessModels::default();
    let answers = vec![refusal(), say(CALL), say(CALL), say("Done.")];
    let (mut server, mut world) = serve(ServerAddress::Else, &no_tools, answers).await;
    assert_eq!(world.say("Look twice.").await.status, TurnStatus::Done);
    let results = world.memory.results().into_iter();
    let ids: std::collections::BTreeSet<_> = results.map(|(call, _)| call).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(server.requests.try_recv().is_ok());
}

#[tokio::test]
async fn a_call_that_the_model_was_told_is_text_when_it_repeats_it() {
    let reason = "because ".repeat(20);
    let name_last = format!(
        r#"{{"parameters": {{"what": "s\u006by"}}, "reasoning": "{reason}", "tool": "look"}}"#
    );
    let another = name_last.replace("look", "hear");
    for (server, told, is_text) in [
        ("refuses tools", CALL, true),
        ("takes tools", CALL, true),
        ("refuses tools", name_last.as_str(), true),
        ("takes tools", name_last.as_str(), true),
        // The controls: a text that holds another call.
        ("refuses tools", another.as_str(), false),
        ("takes tools", another.as_str(), false),
    ] {
        let no_tools = ToollessModels::default();
        let answers = match server {
            "refuses tools" => vec![refusal(), say(&format!("You said: ```json\n{CALL}\n```"))],
            _ => vec![say(CALL)],
        };
        let answers = answers.into_iter().chain([say("It is blue.")]).collect();
        let (ending, _) = turn_saying(&format!("What does {told} mean?"), &no_tools, answers).await;
        assert_eq!(ending.status, TurnStatus::Done, "{server}: {ending:?}");
        let said = ending.message.map(|message| message.text()).unwrap_or_default();
        assert_eq!(said.contains("\"look\""), is_text, "{server}, {told}: {said}");
    }
}

#[tokio::test]
async fn a_call_that_the_model_quoted_is_text_also_once_its_source_is_left_out() {
    let sea = CALL.replace("sky", "sea");
    for refused in [true, false] {
        // The control is another call, which the model makes of its own.
        for (call, expected) in [(CALL, CALL), (sea.as_str(), "It is blue.")] {
            let later = [say("A call."), say(CALL), say(call), say("It is blue.")];
            let answers = refused.then(refusal).into_iter().chain(later).collect();
            let no_tools = ToollessModels::default();
            let (mut server, mut world) = serve(ServerAddress::Else, &no_tools, answers).await;
            world.say(&format!("What does {CALL} mean? {}", "words ".repeat(3_000))).await;
            let quoted = world.say("Show me its JSON.").await;
            assert_eq!(quoted.message.unwrap().text(), CALL, "{refused}");
            // From now on only the quotation has room.
            world.shrink(4_000, &["turn 1"]);
            let ending = world.say("Show me that JSON again.").await;
            assert_eq!(ending.message.unwrap().text(), expected, "{refused}, {call}");
            let bodies = std::iter::from_fn(|| server.requests.try_recv().ok());
            let last = bodies.last().unwrap().body.to_string();
            assert!(last.contains("its JSON") && !last.contains("What does"), "{last}");
        }
    }
}
