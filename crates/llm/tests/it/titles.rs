//! Titles are requested while nothing else is done, and nobody waits for them.

use std::sync::Arc;
use std::time::Duration;

use llm::titles::TitleOutcome;
use llm::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, Provider as _, StopReason,
};
use protocol::{
    OpenTurn, Origin, Role, Timestamp, TitleRequest, TokenUsage, TurnStatus, UserError,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixtures::byte_server::{ByteServer, respond, stream};
use crate::fixtures::log_recorder;
use crate::fixtures::scripted_provider::{ProviderScript, ScriptedProvider, answers, text};
use crate::fixtures::service_world::{ServiceWorld, within};
use crate::providers::openai::openai;

const USAGE: TokenUsage = TokenUsage { input: 30, output: 5, cache_read: 0, cache_write: 0 };

/// A world with a model for titles, in which one exchange was had.
async fn world() -> (ServiceWorld, Arc<ScriptedProvider>) {
    let mut world = ServiceWorld::new();
    let titles = Arc::new(ScriptedProvider::default());
    world.set_summarizer(titles.clone(), None);
    world.model.enqueue(answers("Hi."));
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

fn says(words: &str, reason: StopReason) -> ProviderScript {
    ProviderScript::Says(vec![Ok(text(words)), Ok(ModelEvent::Stopped { reason, usage: USAGE })])
}

fn hangs() -> ProviderScript {
    ProviderScript::SaysAndHolds(Vec::new(), CancellationToken::new())
}

#[tokio::test]
async fn it_is_asked_in_one_request_without_tools_and_paid_for_whatever_comes_of_it() {
    for (script, wanted, told, paid) in [
        (says("Greetings", StopReason::EndTurn), TitleRequest::Title, true, true),
        (
            says("Greetings\n\nThey met.", StopReason::EndTurn),
            TitleRequest::TitleAndSummary,
            true,
            true,
        ),
        (says("Greetings", StopReason::EndTurn), TitleRequest::TitleAndSummary, false, true),
        (says("Greet", StopReason::MaxTokens), TitleRequest::Title, false, true),
        (
            ProviderScript::Refuses(ModelError::Network("lost".into())),
            TitleRequest::Title,
            false,
            false,
        ),
    ] {
        let (world, titles) = world().await;
        titles.enqueue(script);
        let asked = world.service.suggest_title(&turn(), wanted).await.expect("asked");
        match asked {
            TitleOutcome::Told(generated, asked) => {
                assert_eq!(
                    (told, generated.title.as_str(), asked.usage),
                    (true, "Greetings", USAGE)
                );
            }
            TitleOutcome::Failed(asked) => assert_eq!((told, asked.is_some()), (false, paid)),
            other => panic!("{other:?}"),
        }
        let [request] = <[_; 1]>::try_from(titles.requests()).expect("one request");
        assert!(request.tools.is_empty());
        assert_eq!(world.at_rest(), 0);
    }
}

#[tokio::test]
async fn without_anybody_to_ask_nothing_is_sent() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers("Hi."));
    world.say("Hello").await;
    let asked = world.service.suggest_title(&turn(), TitleRequest::Title).await.expect("asked");
    assert_eq!(asked, TitleOutcome::Nobody);
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn a_message_in_any_conversation_ends_it_and_while_a_turn_runs_it_does_not_begin() {
    let (world, titles) = world().await;
    titles.enqueue(hangs());
    let service = world.service.clone();
    let asking =
        world.tasks.spawn(async move { service.suggest_title(&turn(), TitleRequest::Title).await });
    within(titles.asked(1)).await;
    world.model.enqueue(hangs());
    world.send("another", "And you?").await;
    let asked = within(asking).await.expect("joined").expect("asked");
    assert_eq!((asked, world.at_rest()), (TitleOutcome::Disturbed, 0));
    let asked = world.service.suggest_title(&turn(), TitleRequest::Title).await.expect("asked");
    assert_eq!((asked, titles.requests().len()), (TitleOutcome::Disturbed, 1));
    let calm = world.service.wait_until_idle_for(Duration::from_secs(1));
    assert!(tokio::time::timeout(Duration::from_millis(50), calm).await.is_err(), "it works");
    world.service.stop(&"another".into());
    world.quiet().await;
    within(world.service.wait_until_idle_for(Duration::from_secs(1))).await;
}

#[tokio::test]
async fn a_request_that_was_given_up_or_broke_off_is_paid_for() {
    let (world, titles) = world().await;
    titles.enqueue(ProviderScript::Says(vec![Ok(text("Greet"))]));
    let asked = world.service.suggest_title(&turn(), TitleRequest::Title).await.expect("asked");
    let TitleOutcome::Failed(Some(broken)) = asked else { panic!("{asked:?}") };
    assert!(broken.usage.input > 100 && broken.usage.output == 2, "{broken:?}");

    let given_up = CancellationToken::new();
    titles.enqueue(ProviderScript::SaysAndHolds(vec![text("Greet")], given_up.clone()));
    let service = world.service.clone();
    let asking =
        world.tasks.spawn(async move { service.suggest_title(&turn(), TitleRequest::Title).await });
    within(titles.asked(2)).await;
    world.model.enqueue(answers("Hi."));
    world.send("another", "And you?").await;
    assert_eq!(within(asking).await.expect("joined").expect("asked"), TitleOutcome::Disturbed);
    within(given_up.cancelled()).await;
    world.close().await;
    let [asked] = <[_; 1]>::try_from(world.memory.charged()).expect("one request");
    assert_eq!((asked.model.as_str(), asked.usage.input), ("summarizer", broken.usage.input));
}

fn one_message() -> ModelRequest {
    let blocks = vec![ContentBlock::Text("Hello".into())];
    ModelRequest {
        model: "summarizer".into(),
        system: "Be good.".into(),
        tools: Vec::new(),
        messages: vec![ModelMessage { role: Role::User, blocks }],
        max_tokens: 100,
    }
}

#[tokio::test]
async fn an_error_that_quotes_a_note_is_logged_without_the_quotation() {
    const CANARY: &str = "canary-77b0";
    // As llama.cpp answers when it cannot parse what the model wrote.
    let message = format!("Failed to parse input at pos 3: {CANARY} is the code");
    let error = json!({ "error": { "code": 500, "type": "server_error", "message": message } });
    let refusal = || respond("500 Internal Server Error", "", &error.to_string());
    let cut = stream(&format!("data: {error}\n\n"));
    let server = ByteServer::serving(vec![refusal(), cut, refusal()]).await;
    let provider = Arc::new(openai(&server.url(), "").unwrap());
    let mut world = ServiceWorld::new();
    world.set_summarizer(provider.clone(), None);
    world.model.enqueue(answers("Hi."));
    world.say("Hello").await;
    log_recorder::start();
    for (paid, entry) in [(false, "got no title"), (true, "nobody waits for was cut")] {
        let asked = within(world.service.suggest_title(&turn(), TitleRequest::Title)).await;
        let TitleOutcome::Failed(asked) = asked.expect("asked") else { panic!("no failure") };
        assert_eq!(asked.is_some(), paid);
        let logged = log_recorder::take();
        assert!(logged.contains(entry) && logged.contains("server_error"), "{logged}");
        assert!(!logged.contains(CANARY), "{logged}");
    }
    // The control: the user is told the server's words.
    let Err(error) = within(provider.stream(one_message())).await else { panic!("no refusal") };
    assert!(UserError::from(error).message.contains(CANARY));
}
