//! What a model is shown of a conversation when it is asked what that is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{Message, Part, TurnId};

use super::*;
use crate::tokens::Gauges;

/// Nobody asks it.
struct Silent;

#[async_trait::async_trait]
impl crate::Provider for Silent {
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
        parts: vec![Part::Context { text: "<context>".into() }, Part::Text { text: text.into() }],
        at: Timestamp(0),
    }
}

fn asked(rows: Vec<Message>, window: u32, wanted: Wanted) -> Option<ModelRequest> {
    let originals =
        Originals { compaction: None, rows, questions: BTreeMap::new(), mark: String::new() };
    let by = SummingUp {
        provider: Arc::new(Silent),
        model: "m".into(),
        price: None,
        window,
        prompt: String::new(),
    };
    request(originals, &by, Gauges::default().of("m"), wanted)
}

fn heard(request: &ModelRequest) -> &str {
    let [message] = request.messages.as_slice() else { panic!("one message: {request:?}") };
    let [Block::Text(text)] = message.blocks.as_slice() else { panic!("a text: {message:?}") };
    text
}

#[test]
fn a_title_is_asked_for_in_one_message_without_tools_and_without_what_surrounds_the_words() {
    let rows = vec![row(1, Role::User, "Buy\nmilk"), row(1, Role::Assistant, "Noted.")];
    let request = asked(rows.clone(), 50_000, Wanted::Title).expect("a request");
    assert_eq!(heard(&request), "> User: Buy\n> milk\n> Assistant: Noted.\n\nWrite it now.");
    assert!(request.tools.is_empty() && request.system.contains("Write nothing else"));
    assert!(!request.system.contains("summary"));
    let both = asked(rows, 50_000, Wanted::TitleAndSummary).expect("a request");
    assert!(both.system.contains("a summary: two or three"));
    assert!(asked(Vec::new(), 50_000, Wanted::Title).is_none());
    assert!(asked(vec![row(1, Role::User, " ")], 50_000, Wanted::Title).is_none());
}

#[test]
fn of_a_long_conversation_the_first_exchange_and_the_newest_are_shown() {
    let talk = (0..400).flat_map(|n| {
        let text = format!("Number {n}. {}", "and so on ".repeat(20));
        [row(n, Role::User, &text), row(n, Role::Assistant, &text)]
    });
    let rows: Vec<Message> = talk.collect();
    for (window, most) in [(200_000, MOST_SHOWN), (4_000, 2_000)] {
        let request = asked(rows.clone(), window, Wanted::TitleAndSummary).expect("a request");
        let text = heard(&request);
        assert!(text.contains("Number 0.") && text.contains("Number 399."), "{window}");
        assert!(!text.contains("Number 1.") && tokens::of_text(text) <= most + 20, "{window}");
    }
}
