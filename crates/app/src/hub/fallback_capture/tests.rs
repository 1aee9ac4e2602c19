//! Captures without a model, and after a model that did nothing.

use super::*;

fn inbox() -> NotePath {
    NotePath::parse("In.md").expect("a path")
}

fn result_of(call: &ToolCall, output: &str, is_error: bool) -> ContentBlock {
    let (call, output) = (call.id.clone(), output.to_owned());
    ContentBlock::Result { call, output, is_error, speech: None }
}

async fn answered(asked: Option<Question>, messages: Vec<ModelMessage>) -> Vec<ModelEvent> {
    let request = ModelRequest {
        model: String::new(),
        system: String::new(),
        tools: Vec::new(),
        messages,
        max_tokens: 1,
    };
    let stream = FallbackCapture {
        inbox: inbox(),
        ineffective_calls: Vec::new(),
        question: asked,
        without_settings: false,
    }
    .stream(request)
    .await
    .expect("it answers");
    stream.map(|event| event.expect("an event")).collect().await
}

#[tokio::test]
async fn the_message_is_appended_verbatim_as_one_item_and_then_called_saved() {
    let text = ContentBlock::Text("remember milk\nand eggs".into());
    let user = ModelMessage {
        role: Role::User,
        blocks: vec![ContentBlock::Text("<context>\n</context>".into()), text],
    };
    let events = answered(None, vec![user.clone()]).await;
    let Some(ModelEvent::OwnCall(call)) = events.first() else { panic!("a call: {events:?}") };
    let content = "- remember milk\n  and eggs";
    assert_eq!(call.arguments, json!({"path": "./In.md", "content": content}), "no name");
    let result = result_of(call, "done", false);
    let after = answered(
        None,
        vec![
            user,
            ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] },
            ModelMessage { role: Role::User, blocks: vec![result] },
        ],
    )
    .await;
    assert_eq!(after.first(), Some(&ModelEvent::Text("Saved to In.md.".to_owned())));
}

#[tokio::test]
async fn a_capture_that_was_cut_before_it_did_anything_is_made_once_more() {
    let user = ModelMessage { role: Role::User, blocks: vec![ContentBlock::Text("milk".into())] };
    let call = ToolCall {
        id: CallId::from("capture-1"),
        tool: APPEND_TOOL.to_owned(),
        arguments: json!({ "path": "./In.md", "content": "- milk" }),
    };
    let result = result_of(&call, "Cut.", true);
    let request = || ModelRequest {
        model: String::new(),
        system: String::new(),
        tools: Vec::new(),
        messages: vec![
            user.clone(),
            ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] },
            ModelMessage { role: Role::User, blocks: vec![result.clone()] },
        ],
        max_tokens: 1,
    };
    let with = |undone: &[&str]| FallbackCapture {
        inbox: inbox(),
        ineffective_calls: undone.iter().map(|id| CallId::from(*id)).collect(),
        question: None,
        without_settings: false,
    };
    let events: Vec<_> =
        with(&["capture-1"]).stream(request()).await.expect("it calls").collect().await;
    let again = ToolCall { id: CallId::from("capture-2"), ..call.clone() };
    assert_eq!(events.first(), Some(&Ok(ModelEvent::OwnCall(again))));
    for others in [&[][..], &["capture-2"]] {
        let refused = with(others).stream(request()).await.err();
        assert!(matches!(refused, Some(ModelError::InvalidRequest(_))), "{refused:?}");
        let why = refused.map(|error| error.to_string());
        assert_eq!(why.as_deref(), Some("Couldn’t save this message: Cut."), "{others:?}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_is_given_once_more_and_not_kept_as_a_note() {
    let said = |text: &str| ModelMessage {
        role: Role::User,
        blocks: vec![ContentBlock::Text(text.to_owned())],
    };
    let arguments = json!({ "question_id": "q", "is_answer": true });
    let tool = RESOLVE_QUESTION.to_owned();
    let call = ToolCall { id: CallId::from("capture-1"), tool, arguments };
    let result = result_of(&call, "Cut.", true);
    let calls =
        ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] };
    let request = ModelRequest {
        tools: vec![llm::model::ToolSpec {
            name: RESOLVE_QUESTION.to_owned(),
            description: String::new(),
            input_schema: Value::Null,
        }],
        messages: vec![
            said("answer: blue"),
            calls,
            ModelMessage { role: Role::User, blocks: vec![result] },
        ],
        ..ModelRequest::default()
    };
    let capture = FallbackCapture {
        inbox: inbox(),
        ineffective_calls: vec![call.id.clone()],
        question: None,
        without_settings: false,
    };
    let capture = Arc::new(capture) as Arc<dyn Provider>;
    let with_model = Arc::new(CaptureIfIgnored {
        provider: Arc::clone(&capture),
        inbox: inbox(),
        ineffective_calls: vec![call.id.clone()],
        message: "answer: blue".to_owned(),
        registry: Arc::default(),
    });
    let again = ToolCall { id: CallId::from("capture-2"), ..call };
    for provider in [capture, with_model as _] {
        let events: Vec<_> =
            provider.stream(request.clone()).await.expect("it calls").collect().await;
        assert_eq!(events.first(), Some(&Ok(ModelEvent::OwnCall(again.clone()))));
    }
}

#[tokio::test]
async fn text_behind_answer_answers_the_open_question_and_no_other() {
    let asked = Question {
        id: "q".into(),
        conversation: "c".into(),
        turn: "asker".into(),
        call: "call".into(),
        original_message: "m".into(),
        text: "Which one?".into(),
        options: Vec::new(),
        tool_calls_completed: 0,
        asked_at: protocol::Timestamp(0),
    };
    let says = |text: &str| ModelMessage {
        role: Role::User,
        blocks: vec![ContentBlock::Text("<context>".into()), ContentBlock::Text(text.into())],
    };
    let called = |events: &[ModelEvent]| match events.first() {
        Some(ModelEvent::OwnCall(call)) => call.clone(),
        other => panic!("a call: {other:?}"),
    };
    for (asked, text, tool) in [
        (Some(&asked), " Answer: the blue one", RESOLVE_QUESTION),
        (Some(&asked), "the blue one", APPEND_TOOL),
        (None, "answer: the blue one", APPEND_TOOL),
    ] {
        let events = answered(asked.cloned(), vec![says(text)]).await;
        assert_eq!(called(&events).tool, tool, "{text}");
    }
    let said = says("answer: blue");
    let call = called(&answered(Some(asked.clone()), vec![said.clone()]).await);
    let after = async |is_error| {
        let calls =
            ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] };
        let blocks = vec![result_of(&call, "…", is_error)];
        let result = ModelMessage { role: Role::User, blocks };
        answered(Some(asked.clone()), vec![said.clone(), calls, result]).await
    };
    let Some(ModelEvent::Text(text)) = after(false).await.first().cloned() else { panic!() };
    assert!(text.starts_with("Noted as the answer to “Which one?”."), "{text}");
    assert_eq!(called(&after(true).await).tool, APPEND_TOOL, "what is refused is kept");
}

#[test]
fn what_was_done_about_a_message_is_known_also_when_it_has_characters_that_nobody_sees() {
    let says = |text: &str| ContentBlock::Text(text.to_owned());
    let user = |blocks| ModelMessage { role: Role::User, blocks };
    let call = ToolCall { id: "1".into(), tool: "create_file".into(), arguments: json!({}) };
    let result = result_of(&call, "Done.", false);
    let request = |call: &ToolCall| ModelRequest {
        messages: vec![
            user(vec![says("<context>"), says("remember milk")]),
            ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] },
            user(vec![result.clone(), says("Say something.")]),
        ],
        ..ModelRequest::default()
    };
    let effect = |tool: &str| match tool {
        "send_message" | RESOLVE_QUESTION => Some(ToolEffect::Speak),
        _ => None,
    };
    for message in ["remember milk", "remember\u{200B} milk"] {
        assert!(has_acted(&request(&call), message, effect), "{message:?}");
        // The control: only talk.
        let talk = ToolCall { tool: "send_message".into(), ..call.clone() };
        assert!(!has_acted(&request(&talk), message, effect), "{message:?}");
    }
    // A message that is no answer still has to be worked on.
    for is_answer in [true, false] {
        let arguments = json!({ "question_id": "q", "is_answer": is_answer });
        let settle = ToolCall { tool: RESOLVE_QUESTION.into(), arguments, ..call.clone() };
        assert_eq!(has_acted(&request(&settle), "remember milk", effect), is_answer);
        assert!(has_talked(&request(&settle), "remember milk", effect));
    }
}

#[test]
fn a_search_is_work_for_a_question_and_not_for_a_link_with_a_query() {
    let call = ToolCall { id: "1".into(), tool: "find_notes".into(), arguments: json!({}) };
    let found = result_of(&call, "Links.md: one place", false);
    let has_searched_for = |message: &str| {
        let user = |block| ModelMessage { role: Role::User, blocks: vec![block] };
        let calls =
            ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call.clone())] };
        let asked = user(ContentBlock::Text(message.to_owned()));
        let messages = vec![asked, calls, user(found.clone())];
        let request = ModelRequest { messages, ..ModelRequest::default() };
        has_acted(&request, message, |tool| (tool == "find_notes").then_some(ToolEffect::Read))
    };
    for mark in QUESTION_MARKS {
        for message in [
            format!("Read later: https://www.youtube.com/watch{mark}v=abc"),
            format!("WWW.example.com/{mark}q=milk is worth a look"),
            format!("(see https://example.com/a{mark}b=c&d=e)."),
            format!("youtube.com/watch{mark}v=abc"),
            format!("example.com/list{mark}2"),
            format!("example.com/list{mark}=2"),
            format!("example.com/страница{mark}запрос=1"),
        ] {
            assert!(!has_searched_for(&message), "{message}");
        }
        // The control: questions, also about a link.
        for message in [
            format!("Where is the milk{mark}"),
            format!("Where is the milk{mark} I need it."),
            format!("“Where{mark}”, she asks"),
            format!("Where is the milk {mark}{mark}!"),
            format!("Is https://example.com/watch{mark}v=abc among my notes{mark}"),
            format!("Have I read https://example.com/watch{mark}v=abc{mark}"),
            format!("(Have I read www.example.com{mark})"),
            format!("牛乳はどこ{mark}教えて"),
        ] {
            assert!(has_searched_for(&message), "{message}");
        }
    }
}
