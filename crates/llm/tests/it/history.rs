//! The history that a model is sent.

use llm::{ContentBlock, ModelError, ModelEvent, ModelRequest, StopReason, TurnLimits};
use proptest::prelude::*;
use protocol::{ErrorCode, Role, TokenUsage, TurnStatus};
use serde_json::json;

use crate::fixtures::scripted_provider::{
    ProviderScript, answers, call, calls, check_request, text,
};
use crate::fixtures::service_world::ServiceWorld;

#[tokio::test]
async fn messages_that_do_not_fit_are_dropped_from_the_oldest_on() {
    let mut world = ServiceWorld::new();
    world.shrink(4_000, &[]);
    for n in 0..8 {
        world.model.enqueue(answers("noted"));
        world.say(&format!("{n}{}", "x".repeat(3_000))).await;
    }
    let last = world.model.requests().pop().unwrap();
    let words = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.chars().take(1).collect::<String>(),
        _ => String::new(),
    };
    let heard: Vec<String> =
        last.messages.iter().flat_map(|m| m.blocks.iter().map(words)).collect();
    assert_eq!(heard, ["(", "5", "n", "6", "n", "7"]);
}

#[tokio::test]
async fn an_estimate_that_was_too_low_is_corrected_by_what_the_model_reports() {
    let mut world = ServiceWorld::new();
    world.shrink(4_000, &[]);
    let usage = TokenUsage { input: 2_500, ..TokenUsage::default() };
    let stop = ModelEvent::Stopped { reason: StopReason::EndTurn, usage };
    for word in ["one", "two"] {
        world.model.enqueue(ProviderScript::Says(vec![Ok(text("noted")), Ok(stop.clone())]));
        world.say(&format!("{word}{}", "x".repeat(3_500))).await;
    }
    let heard = |request: &ModelRequest| request.messages.len();
    // Two fit by the estimate; that the first alone takes all the room is known by then.
    assert_eq!(world.model.requests().iter().map(heard).collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn a_message_that_does_not_fit_is_not_sent_and_the_error_says_how_large_it_is() {
    let mut world = ServiceWorld::new();
    world.shrink(4_000, &[]);
    let ending = world.say(&"x".repeat(35_000)).await;
    let error = ending.error.unwrap();
    assert_eq!((ending.status, error.code), (TurnStatus::Failed, ErrorCode::TooLarge));
    assert!(error.message.contains("Your message"), "{error}");
    assert!(error.message.contains("about 10016 tokens"), "{error}");
    assert_eq!(world.model.requests(), []);
}

#[derive(Debug, Clone)]
enum AnswerScript {
    Says(&'static str),
    Calls(Vec<&'static str>, &'static str),
    Pauses,
    Asks,
    Nothing,
    Breaks,
}

impl AnswerScript {
    fn script(&self) -> ProviderScript {
        let stop = |reason| Ok(ModelEvent::Stopped { reason, usage: TokenUsage::default() });
        match self {
            Self::Says(words) => answers(words),
            Self::Calls(what, words) => {
                let calls_ = what.iter().zip(1..).map(|(what, n): (_, u8)| {
                    call(&format!("c{n}"), "look", json!({ "what": what }))
                });
                calls(std::iter::once(text(words)).chain(calls_).collect())
            }
            Self::Pauses => {
                ProviderScript::Says(vec![Ok(text("well, ")), stop(StopReason::PauseTurn)])
            }
            Self::Asks => calls(vec![
                call("c1", "look", json!({ "what": "it" })),
                call("q", "ask", json!({ "what": "which?" })),
                call("c2", "look", json!({ "what": "more" })),
            ]),
            Self::Nothing => ProviderScript::Says(vec![stop(StopReason::EndTurn)]),
            Self::Breaks => ProviderScript::Refuses(ModelError::Network("lost".into())),
        }
    }
}

fn answer() -> impl Strategy<Value = AnswerScript> {
    let what = || prop_oneof![Just("sky"), Just("void"), Just("")];
    prop_oneof![
        3 => prop_oneof![Just("done"), Just("end \n"), Just("a\n\nb")].prop_map(AnswerScript::Says),
        6 => (proptest::collection::vec(what(), 1..4), prop_oneof![Just(""), Just(" "), Just("hm")])
            .prop_map(|(what, words)| AnswerScript::Calls(what, words)),
        1 => Just(AnswerScript::Pauses),
        1 => Just(AnswerScript::Asks),
        1 => Just(AnswerScript::Nothing),
        1 => Just(AnswerScript::Breaks),
    ]
}

/// All that a request says, piece by piece. The open end of a paused answer is cut.
fn said(request: &ModelRequest) -> Vec<(Role, ContentBlock)> {
    let pieces = |message: &llm::ModelMessage| {
        let role = message.role;
        message.blocks.iter().cloned().map(move |block| (role, block)).collect::<Vec<_>>()
    };
    let mut said: Vec<_> = request.messages.iter().flat_map(pieces).collect();
    if let Some((Role::Assistant, ContentBlock::Text(_))) = said.last() {
        said.pop();
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Each request is the one before, and what came of it: so rows say all that was sent.
    #[test]
    fn any_history_is_sent_again_as_it_was_sent(
        story in proptest::collection::vec(answer(), 1..14),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let requests = runtime.block_on(async {
            let mut world = ServiceWorld::new();
            world.limit(TurnLimits { round_trips: 2, ..TurnLimits::default() });
            let asked = story.len();
            for answer in story {
                world.model.enqueue(answer.script());
            }
            for n in 0.. {
                world.say(&format!("message {n}")).await;
                if world.model.requests().len() >= asked {
                    break;
                }
            }
            world.model.requests()
        });
        requests.iter().for_each(check_request);
        for (before, after) in requests.iter().zip(requests.iter().skip(1)) {
            let (before, after) = (said(before), said(after));
            // A nudge or a last request that nobody answered is not told again.
            let told = before.len() - usize::from(is_note(before.last()) && !starts(&after, &before));
            prop_assert_eq!(&before[..told], after.get(..told).unwrap_or_default());
        }
    }
}

fn is_note(piece: Option<&(Role, ContentBlock)>) -> bool {
    matches!(piece, Some((Role::User, ContentBlock::Text(text))) if !text.starts_with("message"))
}

fn starts(after: &[(Role, ContentBlock)], before: &[(Role, ContentBlock)]) -> bool {
    after.get(..before.len()) == Some(before)
}
