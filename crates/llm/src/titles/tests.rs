//! The text of a conversation that a model gets when it is asked for a title.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{Message, MessagePart, Timestamp, TurnId};

use super::*;
use crate::context::tokens::TokenCalibrations;

/// Nobody asks it.
struct UnaskedProvider;

#[async_trait::async_trait]
impl crate::Provider for UnaskedProvider {
    async fn stream(&self, _: ModelRequest) -> Result<crate::ModelStream, crate::ModelError> {
        Err(crate::ModelError::Network("nobody".into()))
    }
}

fn row(turn: usize, role: Role, text: &str) -> Message {
    Message {
        id: format!("{turn}{role:?}").into(),
        conversation: "c".into(),
        turn: TurnId::from(format!("t{turn}")),
        role,
        parts: vec![
            MessagePart::Context { text: "<context>".into() },
            MessagePart::Text { text: text.into() },
        ],
        at: Timestamp(0),
    }
}

fn title_request(rows: Vec<Message>, window: u32, wanted: TitleRequest) -> Option<ModelRequest> {
    let originals = FullHistory {
        compaction: None,
        rows,
        questions: BTreeMap::new(),
        privacy_view: String::new(),
    };
    let by = Summarizer {
        provider: Arc::new(UnaskedProvider),
        model: "m".into(),
        price: None,
        window,
        prompt: String::new(),
    };
    request(originals, &by, TokenCalibrations::default().for_model("m"), wanted)
}

fn shown_text(request: &ModelRequest) -> &str {
    let [message] = request.messages.as_slice() else { panic!("one message: {request:?}") };
    let [ContentBlock::Text(text)] = message.blocks.as_slice() else {
        panic!("a text: {message:?}")
    };
    text
}

#[test]
fn a_title_is_asked_for_in_one_message_without_tools_and_without_context() {
    let rows = vec![row(1, Role::User, "Buy\nmilk"), row(1, Role::Assistant, "Noted.")];
    let request = title_request(rows.clone(), 50_000, TitleRequest::Title).expect("a request");
    assert_eq!(shown_text(&request), "> User: Buy\n> milk\n> Assistant: Noted.\n\nWrite it now.");
    assert!(request.tools.is_empty() && request.system.contains("Write nothing else"));
    assert!(!request.system.contains("summary"));
    let both = title_request(rows, 50_000, TitleRequest::TitleAndSummary).expect("a request");
    assert!(both.system.contains("a summary: two or three"));
    assert!(title_request(Vec::new(), 50_000, TitleRequest::Title).is_none());
    assert!(title_request(vec![row(1, Role::User, " ")], 50_000, TitleRequest::Title).is_none());
}

#[test]
fn of_a_long_conversation_the_first_exchange_and_the_newest_are_shown() {
    let talk = (0..400).flat_map(|n| {
        let text = format!("Number {n}. {}", "and so on ".repeat(20));
        [row(n, Role::User, &text), row(n, Role::Assistant, &text)]
    });
    let rows: Vec<Message> = talk.collect();
    for (window, most) in [(200_000, MAX_INPUT_TOKENS), (4_000, 2_000)] {
        let request =
            title_request(rows.clone(), window, TitleRequest::TitleAndSummary).expect("a request");
        let text = shown_text(&request);
        assert!(text.contains("Number 0.") && text.contains("Number 399."), "{window}");
        assert!(!text.contains("Number 1.") && tokens::of_text(text) <= most + 20, "{window}");
    }
}
