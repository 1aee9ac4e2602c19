//! The words of a call for the user: its result has them, if the call talked.

use protocol::Speech;
use serde_json::json;

use super::tests::{call, rules};
use super::*;
use crate::model::StopReason;

fn message() -> Option<Speech> {
    Some(Speech::Say { text: "Done!".into() })
}

/// The speech in the result of a call that comes back with a message.
fn stored_speech(tool: &str, is_error: bool) -> Option<Speech> {
    let mut turn = Turn::new(rules());
    turn.step(TurnInput::Begun);
    turn.step(TurnInput::Event(ModelEvent::Call(call("1", tool, json!({})))));
    let (reason, usage) = (StopReason::ToolUse, TokenUsage::default());
    turn.step(TurnInput::Event(ModelEvent::Stopped { reason, usage }));
    turn.step(TurnInput::Stored);
    let outcome = ToolOutcome { is_error, speech: message(), ..ToolOutcome::ok("ok") };
    let effects = turn.step(TurnInput::Outcome("1".into(), outcome));
    match effects.as_slice() {
        [TurnEffect::StoreResults(results)] => results[0].speech.clone(),
        other => panic!("no results: {other:?}"),
    }
}

#[test]
fn only_a_call_that_talked_and_did_not_fail_has_its_speech_in_its_result() {
    assert_eq!(stored_speech("say", false), message());
    assert_eq!(stored_speech("say", true), None);
    assert_eq!(stored_speech("read", false), None);
}
