//! How full the context window is: told with each request and at the end of a turn, and when it is asked for.

use std::sync::Arc;

use llm::TurnEvent;
use protocol::{ContextKind, ContextUse, OpenTurn, Origin, Timestamp, TurnStatus};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixtures::scripted_provider::{
    ProviderScript, ScriptedProvider, answers, call, calls, text,
};
use crate::fixtures::service_world::{ServiceWorld, within};

fn told(world: &mut ServiceWorld) -> Vec<Option<ContextUse>> {
    let told = world.told().into_iter().filter_map(|event| match event {
        TurnEvent::Context(context) => Some(context),
        _ => None,
    });
    told.collect()
}

fn tokens(context: &ContextUse, kind: ContextKind) -> u32 {
    context.parts.iter().filter(|part| part.kind == kind).map(|part| part.tokens).sum()
}

/// The last turn of the conversation, as somebody who looks at it afterwards knows it.
fn last_turn(world: &ServiceWorld) -> OpenTurn {
    let turns = world.memory.statuses().len();
    OpenTurn {
        conversation: "c".into(),
        turn: format!("turn {}", turns - 1).into(),
        message: format!("message {}", turns - 1).into(),
        origin: Origin::Window,
        at: Timestamp(0),
        status: TurnStatus::Done,
        resumed: 0,
    }
}

#[tokio::test]
async fn a_turn_that_reads_fills_the_window_and_counts_as_earlier_once_it_has_ended() {
    let mut world = ServiceWorld::new();
    world.shrink(10_000, &[]);
    let look = call("1", "look", json!({ "path": "Sky.md", "what": "sky" }));
    world.model.enqueue(calls(vec![look])).enqueue(answers(&"It is blue. ".repeat(50)));
    world.say(&"Look. ".repeat(100)).await;
    let all = told(&mut world);
    let [asked, read, ended] = <[_; 3]>::try_from(all).expect("two requests and an end");
    let (asked, read, ended) = (asked.expect("told"), read.expect("told"), ended.expect("told"));
    for context in [&asked, &read, &ended] {
        assert_eq!(context.used, context.parts.iter().map(|part| part.tokens).sum::<u32>());
        // The window without a thousand tokens for the answer.
        assert_eq!(context.window, 9_000);
        assert!(!context.can_summarize);
        let kind = ContextKind::Instructions;
        assert_eq!(tokens(context, kind), tokens(&asked, kind));
    }
    let open = |context| tokens(context, ContextKind::OpenTurn);
    assert_eq!(asked.used, tokens(&asked, ContextKind::Instructions) + open(&asked));
    assert!(open(&read) > open(&asked), "the call and its result came");
    assert_eq!(open(&ended), 0);
    let results = tokens(&ended, ContextKind::ToolResults);
    assert!(results > 0);
    let messages = tokens(&ended, ContextKind::Messages);
    // The next request also holds the answer that came last.
    assert!(messages + results > open(&read) + 150, "{ended:?}");
    assert_eq!(ended.used, read.used + (messages + results - open(&read)));
    world.model.enqueue(answers("Yes."));
    world.say("?").await;
    let next = told(&mut world).into_iter().next().flatten().expect("told");
    assert_eq!(next.used - tokens(&next, ContextKind::OpenTurn), ended.used);
}

#[tokio::test]
async fn at_rest_it_is_told_when_it_is_asked_for_and_not_while_a_turn_runs() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers(&"words ".repeat(100)));
    world.say(&"words ".repeat(100)).await;
    world.rest().await;
    let ended = told(&mut world).pop().expect("told");
    within(world.service.measure(&last_turn(&world))).await.expect("measured");
    assert_eq!(told(&mut world), std::slice::from_ref(&ended));
    assert_eq!(world.at_rest(), 0, "nobody hears the turn any more");
    // Another model answers now.
    world.shrink(1_000, &[]);
    within(world.service.measure(&last_turn(&world))).await.expect("measured");
    let smaller = told(&mut world).pop().flatten().expect("told");
    assert_eq!(smaller.window, 750);
    assert_eq!(smaller.parts, ended.expect("told").parts);

    let held = CancellationToken::new();
    world.model.enqueue(ProviderScript::SaysAndHolds(vec![text("It")], held.clone()));
    world.send("c", "Go on.").await;
    world.hear(|event| matches!(event, TurnEvent::Delta { .. })).await;
    told(&mut world);
    within(world.service.measure(&last_turn(&world))).await.expect("nothing is done");
    assert_eq!(told(&mut world), []);
    world.service.stop(&"c".into());
    world.quiet().await;
}

#[tokio::test]
async fn after_a_summary_on_request_it_is_told_what_is_left() {
    let mut world = ServiceWorld::new();
    let summarizer = Arc::new(ScriptedProvider::default());
    world.set_summarizer(summarizer.clone(), None);
    for _ in 0..9 {
        world.model.enqueue(answers(&"words ".repeat(100)));
        world.say(&"words ".repeat(100)).await;
    }
    world.rest().await;
    let before = told(&mut world).pop().flatten().expect("told");
    assert!(before.can_summarize);
    summarizer.enqueue(answers("They talked."));
    world.service.summarize(&last_turn(&world)).await.expect("summarized");
    let after = told(&mut world).pop().flatten().expect("told");
    assert!(after.used < before.used - 800, "{} of {}", after.used, before.used);
    assert!(tokens(&after, ContextKind::Summary) > 0);
    assert!(!after.can_summarize, "six exchanges stay");
}
