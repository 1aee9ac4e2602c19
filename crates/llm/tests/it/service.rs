//! The guarantees of the service, with any model.

use std::time::{Duration, Instant};

use llm::{ContentBlock, ModelError, ModelEvent, SpendingLimit, StopReason, TurnEvent, TurnLimits};
use protocol::chat::model::Price;
use protocol::{ErrorCode, TokenUsage, TurnStatus, UserError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixtures::memory_transcript::FailingWrite;
use crate::fixtures::scripted_provider::{ProviderScript, answers, call, calls, text};
use crate::fixtures::service_world::{ServiceWorld, within};

fn is_delta(event: &TurnEvent) -> bool {
    matches!(event, TurnEvent::Delta { .. })
}

fn is_call(event: &TurnEvent) -> bool {
    matches!(event, TurnEvent::Called(_))
}

fn is_end(event: &TurnEvent) -> bool {
    matches!(event, TurnEvent::Ended(_))
}

fn outputs(world: &ServiceWorld) -> Vec<String> {
    world.memory.results().into_iter().map(|(call, output)| format!("{call}: {output}")).collect()
}

#[tokio::test]
async fn an_answer_is_shown_and_kept() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers("Hello"));
    let ending = world.say("hi").await;
    assert_eq!(ending.status, TurnStatus::Done);
    let message = ending.message.clone().unwrap();
    assert_eq!(message.text(), "Hello");
    let delta = TurnEvent::Delta { message: message.id, text: "Hello".into() };
    let mut told = world.told();
    told.retain(|event| !matches!(event, TurnEvent::Context(_)));
    assert_eq!(told, [TurnEvent::Began, delta, TurnEvent::Ended(ending)]);
    let request = &world.model.requests()[0];
    assert_eq!(request.system, "Be good.");
    assert_eq!(request.tools.len(), 4);
}

#[tokio::test]
async fn reads_of_one_message_run_side_by_side_and_answer_in_call_order() {
    let mut world = ServiceWorld::new();
    let meet = |id, what| call(id, "meet", json!({ "what": what }));
    world.model.enqueue(calls(vec![meet("1", "a"), meet("2", "b")])).enqueue(answers("met"));
    assert_eq!(world.say("go").await.status, TurnStatus::Done);
    assert_eq!(outputs(&world), ["1: a", "2: b"]);
}

#[tokio::test]
async fn changes_are_planned_in_order_each_on_top_of_the_one_before() {
    let mut world = ServiceWorld::new();
    let make = |id, what| call(id, "make", json!({ "what": what }));
    let look = call("3", "look", json!({ "what": "all" }));
    world
        .model
        .enqueue(calls(vec![make("1", "a.md"), make("2", "b.md"), look]))
        .enqueue(answers("ok"));
    world.say("go").await;
    assert_eq!(outputs(&world), ["1: saw 0", "2: saw 1", "3: all 2"]);
    let told = world.told();
    let called: Vec<&TurnEvent> = told.iter().filter(|event| is_call(event)).collect();
    assert_eq!(called.len(), 3);
}

#[tokio::test]
async fn a_question_ends_the_turn_and_its_answer_joins_the_results() {
    let mut world = ServiceWorld::new();
    let ask = call("1", "ask", json!({ "what": "Which one?" }));
    let make = call("2", "make", json!({ "what": "a.md" }));
    world.model.enqueue(calls(vec![text("Hm."), ask, make])).enqueue(answers("The blue one then."));
    let ending = world.say("paint it").await;
    assert_eq!(ending.status, TurnStatus::Asked);
    let question = ending.question.unwrap();
    assert_eq!(question.text, "Which one?");
    assert_eq!(question.original_message.as_str(), "message 0");
    assert!(outputs(&world)[0].contains(question.id.as_str()));
    assert!(world.changes.overlay.lock().unwrap().is_empty(), "nothing runs after a question");

    world.say("blue").await;
    let request = &world.model.requests()[1];
    let [.., last] = request.messages.as_slice() else { panic!("{request:?}") };
    assert!(matches!(
        last.blocks.as_slice(),
        [ContentBlock::Result { .. }, ContentBlock::Result { .. }, ContentBlock::Text(answer)] if answer == "blue"
    ));
}

#[tokio::test]
async fn stopping_keeps_the_text_and_hangs_up() {
    let mut world = ServiceWorld::new();
    let hung_up = CancellationToken::new();
    world.model.enqueue(ProviderScript::SaysAndHolds(vec![text("Once upon")], hung_up.clone()));
    world.send("c", "tell").await;
    world.hear(is_delta).await;
    let stopped = Instant::now();
    world.service.stop(&"c".into());
    world.quiet().await;
    assert!(stopped.elapsed() < Duration::from_millis(300));
    within(hung_up.cancelled()).await;
    let ending = world.memory.endings().pop().unwrap();
    assert_eq!((ending.status, ending.cut), (TurnStatus::Cancelled, true));
    assert_eq!(ending.message.unwrap().text(), "Once upon");
}

#[tokio::test]
async fn stopping_while_a_tool_runs_gives_its_call_a_result() {
    let mut world = ServiceWorld::new();
    let lonely = call("1", "meet", json!({ "what": "nobody" }));
    let make = call("2", "make", json!({ "what": "a.md" }));
    world.model.enqueue(calls(vec![lonely, make]));
    world.send("c", "go").await;
    world.hear(is_call).await;
    world.service.stop(&"c".into());
    world.quiet().await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Cancelled]);
    assert_eq!(world.memory.results().len(), 2);
    assert!(world.changes.overlay.lock().unwrap().is_empty());
}

#[tokio::test]
async fn stopping_while_a_plan_is_applied_lets_it_finish_and_keeps_its_result() {
    let mut world = ServiceWorld::new();
    world.changes.gate.forget_permits(100);
    let make = |id, what| call(id, "make", json!({ "what": what }));
    world.model.enqueue(calls(vec![make("1", "a.md"), make("2", "b.md")]));
    world.send("c", "go").await;
    world.hear(is_call).await;
    world.service.stop(&"c".into());
    world.changes.gate.add_permits(1);
    world.quiet().await;
    // The stop may come before the decision or within it; an applied plan is never lost.
    let applied = world.changes.overlay.lock().unwrap().len();
    let kept = outputs(&world).iter().filter(|output| output.contains("saw")).count();
    assert_eq!(applied, kept);
    assert_eq!(world.memory.results().len(), 2);
    assert_eq!(world.memory.statuses(), [TurnStatus::Cancelled]);
}

#[tokio::test]
async fn a_request_that_failed_is_sent_again() {
    let mut world = ServiceWorld::new();
    let lost = || ModelError::Network("lost".into());
    world
        .model
        .enqueue(ProviderScript::Refuses(lost()))
        .enqueue(ProviderScript::Says(vec![Err(lost())]));
    world.model.enqueue(answers("Hello"));
    assert_eq!(world.say("hi").await.status, TurnStatus::Done);
    let requests = world.model.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0], requests[2]);
}

#[tokio::test]
async fn an_answer_that_broke_off_is_kept_and_marked_and_not_asked_for_again() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(ProviderScript::Says(vec![Ok(text("Hel"))])).enqueue(answers("Hello"));
    let ending = world.say("hi").await;
    assert_eq!((ending.status, ending.cut), (TurnStatus::Failed, true));
    assert_eq!(ending.message.unwrap().text(), "Hel");
    assert_eq!(ending.error.unwrap().code, ErrorCode::Network);
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn at_the_limit_the_model_closes_without_tools() {
    let mut world = ServiceWorld::new();
    world.limit(TurnLimits { round_trips: 1, ..TurnLimits::default() });
    let look = call("1", "look", json!({ "what": "a" }));
    world.model.enqueue(calls(vec![look])).enqueue(answers("That is all so far."));
    let ending = world.say("go").await;
    assert_eq!(ending.status, TurnStatus::Limit);
    assert_eq!(ending.message.unwrap().text(), "That is all so far.");
    let closing = &world.model.requests()[1];
    assert!(closing.tools.is_empty());
    let [.., last] = closing.messages.as_slice() else { panic!("{closing:?}") };
    assert!(matches!(last.blocks.as_slice(), [ContentBlock::Result { .. }, ContentBlock::Text(_)]));
}

#[tokio::test]
async fn a_call_whose_step_was_not_stored_never_runs() {
    let mut world = ServiceWorld::new();
    world.memory.break_at(FailingWrite::Step);
    world.model.enqueue(calls(vec![call("1", "make", json!({ "what": "a.md" }))]));
    let ending = world.say("go").await;
    assert_eq!(ending.error, Some(UserError::other("disk full")));
    assert!(world.changes.overlay.lock().unwrap().is_empty());
    assert!(!world.told().iter().any(is_call));
}

#[tokio::test]
async fn results_that_were_not_stored_are_stored_with_the_end() {
    let mut world = ServiceWorld::new();
    world.memory.break_at(FailingWrite::Results);
    world.model.enqueue(calls(vec![call("1", "make", json!({ "what": "a.md" }))]));
    let ending = world.say("go").await;
    assert_eq!(ending.status, TurnStatus::Failed);
    assert_eq!(outputs(&world), ["1: saw 0"]);
}

#[tokio::test]
async fn an_end_that_was_not_stored_is_told_as_a_failure_and_left_to_recovery() {
    let mut world = ServiceWorld::new();
    world.memory.break_at(FailingWrite::Finish);
    world.model.enqueue(answers("Hello"));
    world.send("c", "hi").await;
    let TurnEvent::Ended(ending) = world.hear(is_end).await else { panic!("not the end") };
    world.quiet().await;
    assert_eq!(ending.error, Some(UserError::other("disk full")));
    assert_eq!(world.memory.statuses(), [TurnStatus::Running]);
}

#[tokio::test]
async fn nobody_to_ask_ends_the_turn_with_the_reason() {
    let mut world = ServiceWorld::new();
    world.refuse_setup(UserError::new(ErrorCode::Key, "no key"));
    let ending = world.say("hi").await;
    assert_eq!(ending.error, Some(UserError::new(ErrorCode::Key, "no key")));
    assert_eq!(ending.status, TurnStatus::Failed);
}

#[tokio::test]
async fn a_tool_that_panics_fails_alone() {
    let mut world = ServiceWorld::new();
    let look = |id, what| call(id, "look", json!({ "what": what }));
    world.model.enqueue(calls(vec![look("1", "void"), look("2", "sky")])).enqueue(answers("ok"));
    assert_eq!(world.say("go").await.status, TurnStatus::Done);
    assert!(outputs(&world)[0].contains("failed unexpectedly"));
    assert_eq!(outputs(&world)[1], "2: sky 0");
}

#[tokio::test]
async fn a_tool_that_was_not_offered_is_refused_with_the_nearest_name() {
    let mut world = ServiceWorld::new();
    let lok = call("1", "lok", json!({ "what": "a" }));
    world.model.enqueue(calls(vec![lok])).enqueue(answers("sorry"));
    world.say("go").await;
    assert_eq!(outputs(&world), ["1: There is no tool `lok`. Did you mean `look`?"]);
}

#[tokio::test]
async fn messages_sent_while_it_works_run_in_order() {
    let mut world = ServiceWorld::new();
    let hung_up = CancellationToken::new();
    world
        .model
        .enqueue(ProviderScript::SaysAndHolds(vec![text("One")], hung_up))
        .enqueue(answers("Two"));
    world.send("c", "first").await;
    world.hear(is_delta).await;
    world.send("c", "second").await;
    assert!(world.service.is_working(&"c".into()));
    assert_eq!(world.memory.statuses(), [TurnStatus::Running, TurnStatus::Queued]);
    world.service.stop(&"c".into());
    world.quiet().await;
    assert!(!world.service.is_working(&"c".into()));
    assert_eq!(world.memory.statuses(), [TurnStatus::Cancelled, TurnStatus::Done]);
}

#[tokio::test]
async fn at_most_four_conversations_work_at_once_and_the_fifth_follows() {
    let mut world = ServiceWorld::new();
    let conversations = ["c1", "c2", "c3", "c4", "c5"];
    for conversation in conversations {
        let hold = ProviderScript::SaysAndHolds(vec![text("…")], CancellationToken::new());
        world.model.enqueue(hold);
        world.send(conversation, "hi").await;
    }
    for _ in 0..4 {
        world.hear(is_delta).await;
    }
    let running = |world: &ServiceWorld| {
        let statuses = world.memory.statuses();
        statuses.iter().filter(|status| **status == TurnStatus::Running).count()
    };
    assert_eq!(running(&world), 4);
    world.service.stop(&"c1".into());
    within(world.service.wait_until_idle(&"c1".into())).await;
    world.hear(is_delta).await;
    assert_eq!(running(&world), 4);
}

#[tokio::test]
async fn a_turn_that_waits_for_other_conversations_is_stopped_at_once_and_the_next_one_waits_on() {
    let mut world = ServiceWorld::new();
    for conversation in ["c1", "c2", "c3", "c4"] {
        let hold = ProviderScript::SaysAndHolds(vec![text("…")], CancellationToken::new());
        world.model.enqueue(hold);
        world.send(conversation, "hi").await;
    }
    for _ in 0..4 {
        world.hear(is_delta).await;
    }
    world.send("c", "first").await;
    world.send("c", "second").await;
    world.service.stop(&"c".into());
    let TurnEvent::Ended(ending) = world.hear(is_end).await else { panic!("not the end") };
    assert_eq!(ending.status, TurnStatus::Cancelled);
    assert_eq!(world.memory.statuses()[4..], [TurnStatus::Cancelled, TurnStatus::Queued]);
    // The control: the one behind it is not stopped, and answered when there is a slot.
    world.model.enqueue(answers("Second"));
    world.service.stop(&"c1".into());
    world.quiet().await;
    assert_eq!(world.memory.statuses()[4..], [TurnStatus::Cancelled, TurnStatus::Done]);
    assert_eq!(world.model.requests().len(), 5, "the stopped one asked nobody");
}

#[tokio::test]
async fn shutting_down_leaves_the_turn_as_it_stands_and_every_task_comes_home() {
    let mut world = ServiceWorld::new();
    let hung_up = CancellationToken::new();
    world.model.enqueue(ProviderScript::SaysAndHolds(vec![text("Once")], hung_up.clone()));
    world.send("c", "tell").await;
    world.hear(is_delta).await;
    world.cancel.cancel();
    world.tasks.close();
    within(world.tasks.wait()).await;
    within(hung_up.cancelled()).await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Running]);
    assert!(!world.service.is_working(&"c".into()));
    world.send("c", "later").await;
    assert!(!world.service.is_working(&"c".into()), "nothing begins after the end");
}

#[tokio::test]
async fn an_answer_that_is_left_at_the_end_of_the_service_is_counted_as_far_as_it_came() {
    let price = Price { input: 1, output: 1, ..Price::default() };
    for is_begun in [true, false] {
        let mut world = ServiceWorld::new();
        world.give(SpendingLimit { price, left: 1_000_000, reached_message: "Enough.".into() });
        let begun = if is_begun { vec![text("Once upon a time")] } else { Vec::new() };
        world.model.enqueue(ProviderScript::SaysAndHolds(begun, CancellationToken::new()));
        world.send("c", "tell").await;
        world.model.asked(1).await;
        if is_begun {
            world.hear(is_delta).await;
        }
        assert_eq!(world.memory.charged(), [], "the control: nothing is counted while it runs");
        world.close().await;
        let [counted] = <[_; 1]>::try_from(world.memory.charged()).expect("one request");
        assert!(counted.usage.input > 0, "{counted:?}");
        assert_eq!(counted.usage.output > 0, is_begun, "{counted:?}");
        assert_eq!((counted.model.as_str(), counted.price), ("model", Some(price)));
        assert_eq!(world.memory.statuses(), [TurnStatus::Running]);
    }
}

#[tokio::test]
async fn an_answer_without_a_limit_that_is_left_is_counted_at_the_price_of_its_model() {
    for price in [Some(Price::default()), None] {
        let world = ServiceWorld::new();
        if let Some(price) = price {
            world.set_price(price);
        }
        world.model.enqueue(ProviderScript::SaysAndHolds(Vec::new(), CancellationToken::new()));
        world.send("c", "tell").await;
        world.model.asked(1).await;
        world.close().await;
        let [counted] = <[_; 1]>::try_from(world.memory.charged()).expect("one request");
        assert!(counted.usage.input > 0, "{counted:?}");
        assert_eq!(counted.price, price);
    }
}

#[tokio::test]
async fn a_turn_that_ended_before_the_end_of_the_service_is_not_counted_again() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers("Hello"));
    world.say("hi").await;
    world.close().await;
    assert_eq!(world.memory.charged(), []);
}

#[tokio::test]
async fn a_turn_that_has_cost_what_it_may_ends_as_at_a_limit_and_asks_nobody_more() {
    let mut world = ServiceWorld::new();
    let price = Price { input: 1, output: 1, ..Price::default() };
    world.give(SpendingLimit { price, left: 10, reached_message: "Enough.".into() });
    let look = |input: u32| {
        let usage = TokenUsage { input, ..TokenUsage::default() };
        let stop = ModelEvent::Stopped { reason: StopReason::ToolUse, usage };
        let call = call("1", "look", json!({ "what": "sky" }));
        ProviderScript::Says(vec![Ok(call), Ok(stop)])
    };
    world.model.enqueue(look(4)).enqueue(look(6));
    let ending = world.say("go").await;
    let error = ending.error.unwrap();
    assert_eq!((ending.status, error.code), (TurnStatus::Limit, ErrorCode::Spending));
    assert_eq!(error.message, "Enough.");
    assert_eq!(world.model.requests().len(), 2, "not even to close");
    // The control: with one more to spend it goes on.
    world.give(SpendingLimit { price, left: 11, reached_message: "Enough.".into() });
    world.model.enqueue(look(4)).enqueue(look(6)).enqueue(answers("done"));
    assert_eq!(world.say("go").await.status, TurnStatus::Done);
}

#[tokio::test]
async fn an_empty_answer_is_paid_for_with_the_one_that_follows() {
    let mut world = ServiceWorld::new();
    let usage = TokenUsage { input: 3, ..TokenUsage::default() };
    let stop = || Ok(ModelEvent::Stopped { reason: StopReason::EndTurn, usage });
    world
        .model
        .enqueue(ProviderScript::Says(vec![stop()]))
        .enqueue(ProviderScript::Says(vec![Ok(text("hi")), stop()]));
    assert_eq!(world.say("go").await.usage.input, 6);
}
