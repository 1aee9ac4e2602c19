//! What conversations are about is asked while nothing else is done, and nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use llm::gist::Asked;
use llm::{ModelError, ModelEvent, StopReason};
use protocol::{OpenTurn, Origin, Timestamp, TurnStatus, Usage, Wanted};
use tokio_util::sync::CancellationToken;

use crate::model::{Script, ScriptedModel, answers, text};
use crate::world::{World, within};

const USAGE: Usage = Usage { input: 30, output: 5, cache_read: 0, cache_write: 0 };

/// A world with a model for titles, in which one exchange was had.
async fn world() -> (World, Arc<ScriptedModel>) {
    let mut world = World::new();
    let titles = Arc::new(ScriptedModel::default());
    world.sum_up_by(titles.clone(), None);
    world.model.will(answers("Hi."));
    world.say("Hello").await;
    (world, titles)
}

fn turn() -> OpenTurn {
    OpenTurn {
        turn: "turn 0".into(),
        conversation: "c".into(),
        message: "message 0".into(),
        origin: Origin::Window,
        status: TurnStatus::Done,
        at: Timestamp(0),
        resumed: 0,
    }
}

fn says(words: &str, reason: StopReason) -> Script {
    Script::Says(vec![Ok(text(words)), Ok(ModelEvent::Stopped { reason, usage: USAGE })])
}

fn hangs() -> Script {
    Script::SaysAndHolds(Vec::new(), CancellationToken::new())
}

#[tokio::test]
async fn it_is_asked_in_one_request_without_tools_and_paid_for_whatever_comes_of_it() {
    for (script, wanted, told, paid) in [
        (says("Greetings", StopReason::EndTurn), Wanted::Title, true, true),
        (says("Greetings\n\nThey met.", StopReason::EndTurn), Wanted::TitleAndSummary, true, true),
        (says("Greetings", StopReason::EndTurn), Wanted::TitleAndSummary, false, true),
        (says("Greet", StopReason::MaxTokens), Wanted::Title, false, true),
        (Script::Refuses(ModelError::Network("lost".into())), Wanted::Title, false, false),
    ] {
        let (world, titles) = world().await;
        titles.will(script);
        let asked = world.service.gist(&turn(), wanted).await.expect("asked");
        match asked {
            Asked::Told(gist, asked) => {
                assert_eq!((told, gist.title.as_str(), asked.usage), (true, "Greetings", USAGE));
            }
            Asked::Failed(asked) => assert_eq!((told, asked.is_some()), (false, paid)),
            other => panic!("{other:?}"),
        }
        let [request] = <[_; 1]>::try_from(titles.requests()).expect("one request");
        assert!(request.tools.is_empty());
        assert_eq!(world.at_rest(), 0);
    }
}

#[tokio::test]
async fn without_anybody_to_ask_nothing_is_sent() {
    let mut world = World::new();
    world.model.will(answers("Hi."));
    world.say("Hello").await;
    let asked = world.service.gist(&turn(), Wanted::Title).await.expect("asked");
    assert_eq!(asked, Asked::Nobody);
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn a_message_in_any_conversation_ends_it_and_while_a_turn_runs_it_does_not_begin() {
    let (world, titles) = world().await;
    titles.will(hangs());
    let service = world.service.clone();
    let asking = world.tasks.spawn(async move { service.gist(&turn(), Wanted::Title).await });
    within(titles.asked(1)).await;
    world.model.will(hangs());
    world.send("another", "And you?").await;
    let asked = within(asking).await.expect("joined").expect("asked");
    assert_eq!((asked, world.at_rest()), (Asked::Disturbed, 0));
    let asked = world.service.gist(&turn(), Wanted::Title).await.expect("asked");
    assert_eq!((asked, titles.requests().len()), (Asked::Disturbed, 1));
    let calm = world.service.calm(Duration::from_secs(1));
    assert!(tokio::time::timeout(Duration::from_millis(50), calm).await.is_err(), "it works");
    world.service.stop(&"another".into());
    world.quiet().await;
    within(world.service.calm(Duration::from_secs(1))).await;
}
