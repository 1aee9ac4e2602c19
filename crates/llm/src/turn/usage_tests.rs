//! The tokens that a turn counts for requests that do not end as they should, and the rules by which it goes on.

use protocol::chat::model::Price;
use protocol::{ErrorCode, TurnStatus};
use serde_json::json;

use super::tests::{call, rules};
use super::*;
use crate::model::StopReason;

/// A billionth of a dollar for each token of the prompt.
const PRICE: Price = Price { input: 1, output: 0, cache_read: 0, cache_write: 0 };

fn limit(left: u64) -> Option<SpendingLimit> {
    Some(SpendingLimit { price: PRICE, left, reached_message: "Enough.".into() })
}

fn text() -> TurnInput {
    TurnInput::Event(ModelEvent::Text("seven b".into()))
}

fn stopped(reason: StopReason, input: u32) -> TurnInput {
    let usage = TokenUsage { input, ..TokenUsage::default() };
    TurnInput::Event(ModelEvent::Stopped { reason, usage })
}

fn lost() -> TurnInput {
    TurnInput::Failed(ModelError::Network("lost".into()))
}

fn limited() -> TurnInput {
    let message = "slow down".into();
    TurnInput::Failed(ModelError::RateLimit { message, retry_after: None })
}

/// The end of a turn that began and got these inputs.
#[track_caller]
fn end(spending_limit: Option<SpendingLimit>, inputs: Vec<TurnInput>) -> Finish {
    let mut turn = Turn::new(TurnRules { spending_limit, ..rules() });
    let inputs = std::iter::once(TurnInput::Begun).chain(inputs);
    match inputs.flat_map(|input| turn.step(input)).last() {
        Some(TurnEffect::Finish(finish)) => finish,
        other => panic!("not the end: {other:?}"),
    }
}

#[test]
fn a_request_that_broke_off_is_counted_once_and_one_that_was_refused_is_not() {
    use TurnInput::{Broke, Cancel, Sent, Severed, Waited};
    let report = || {
        let usage = TokenUsage { cache_read: 40, output: 9, ..TokenUsage::default() };
        TurnInput::Event(ModelEvent::Usage(usage))
    };
    let broke = || Broke(UserError::other("disk full"));
    let done = || stopped(StopReason::EndTurn, 30);
    let refused = || TurnInput::Failed(ModelError::Auth("key".into()));
    for (inputs, expected) in [
        (vec![Sent(100), Cancel], (100, 0, 0)),
        (vec![Sent(100), text(), Cancel], (100, 0, 2)),
        (vec![Sent(100), report(), text(), Cancel], (0, 40, 9)),
        (vec![Sent(100), text(), lost()], (100, 0, 2)),
        (vec![Sent(100), text(), limited()], (100, 0, 2)),
        (vec![Sent(100), text(), Severed], (100, 0, 2)),
        (vec![Sent(100), text(), broke()], (100, 0, 2)),
        (vec![Sent(100), Severed, Cancel], (100, 0, 0)),
        (vec![Sent(100), lost(), Waited, Sent(7), text(), Cancel], (107, 0, 2)),
        (vec![Sent(100), lost(), Waited, broke()], (100, 0, 0)),
        (vec![Sent(100), lost(), Waited, Sent(100), text(), done()], (130, 0, 0)),
        // The controls: nothing was sent, it was refused, and an answer that ends.
        (vec![text(), Cancel], (0, 0, 0)),
        (vec![limited(), Waited, refused()], (0, 0, 0)),
        (vec![Sent(100), limited(), Waited, refused()], (0, 0, 0)),
        (vec![Sent(100), report(), text(), done()], (30, 0, 0)),
    ] {
        let usage = end(None, inputs.clone()).usage;
        assert_eq!((usage.input, usage.cache_read, usage.output), expected, "{inputs:?}");
    }
}

#[test]
fn a_step_that_is_not_stored_is_counted_with_the_end() {
    let asks = TurnInput::Event(ModelEvent::Call(call("1", "read", json!({}))));
    let broke = TurnInput::Broke(UserError::other("disk full"));
    let inputs = vec![TurnInput::Sent(100), asks, stopped(StopReason::ToolUse, 30), broke];
    assert_eq!(end(None, inputs).usage.input, 30);
}

#[test]
fn requests_that_broke_off_use_up_the_spending_limit() {
    let inputs = || vec![TurnInput::Sent(60), lost(), TurnInput::Waited];
    let finish = end(limit(60), inputs());
    let code = finish.error.map(|error| error.code);
    assert_eq!((finish.status, code), (TurnStatus::Limit, Some(ErrorCode::Spending)));
    assert_eq!(finish.usage.input, 60);
    // The control: with one more to spend it asks again.
    let mut turn = Turn::new(TurnRules { spending_limit: limit(61), ..rules() });
    turn.step(TurnInput::Begun);
    let last = inputs().into_iter().flat_map(|input| turn.step(input)).last();
    assert_eq!(last, Some(TurnEffect::Ask(AskMode::Plain)));
}

fn renewed(spending_limit: Option<SpendingLimit>) -> TurnInput {
    let maker = AnswerAuthor { server: "cloud".into(), model: "large".into() };
    let kinds = BTreeMap::from([("read".to_owned(), ToolKind::Change)]);
    TurnInput::Renewed(RenewedRules { spending_limit, maker, kinds })
}

#[test]
fn a_turn_goes_on_by_the_rules_of_the_model_that_was_chosen_again() {
    let mut turn = Turn::new(rules());
    turn.step(TurnInput::Begun);
    assert_eq!(turn.step(renewed(limit(30))), [TurnEffect::Ask(AskMode::Plain)]);
    let thought = TurnInput::Event(ModelEvent::Verbatim(json!("thought")));
    let asks = TurnInput::Event(ModelEvent::Call(call("1", "read", json!({}))));
    let inputs = [thought, asks, stopped(StopReason::ToolUse, 30)];
    let effects: Vec<_> = inputs.into_iter().flat_map(|input| turn.step(input)).collect();
    let [TurnEffect::StoreStep { parts, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let maker = AnswerAuthor { server: "cloud".into(), model: "large".into() };
    assert_eq!(parts[0], MessagePart::Verbatim { content: json!("thought"), maker: Some(maker) });
    let planned = turn.step(TurnInput::Stored);
    assert!(matches!(planned.as_slice(), [TurnEffect::Plan(_)]), "{planned:?}");
    turn.step(TurnInput::Outcome("1".into(), ToolOutcome::ok("fine")));
    let last = turn.step(TurnInput::Stored);
    let [TurnEffect::Finish(finish)] = last.as_slice() else { panic!("{last:?}") };
    assert_eq!(finish.status, TurnStatus::Limit);
}

#[test]
fn what_is_not_stored_yet_counts_against_the_limit_of_the_model_that_was_chosen_again() {
    let inputs = vec![TurnInput::Sent(30), lost(), TurnInput::Waited, renewed(limit(30))];
    let finish = end(None, inputs);
    assert_eq!((finish.status, finish.usage.input), (TurnStatus::Limit, 30));
}
