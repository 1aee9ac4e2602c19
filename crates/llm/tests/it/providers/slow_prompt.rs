//! A server on this computer that reads its prompt for longer than anybody waits for another one.
//!
//! The limit follows the measured speed, so a first prompt that is read at once makes it the usual one.

use std::sync::Arc;
use std::time::Duration;

use llm::{
    Anthropic, AnthropicConfig, Deadlines, OpenAi, OpenAiConfig, Provider, RequestParameters,
    TurnEvent,
};
use protocol::event::ModelWait;
use protocol::{TurnEnding, TurnStatus};

use crate::fixtures::byte_server::{
    self, AfterBytes, ByteServer, CannedAnswer, respond, stop, stream,
};
use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::{ServiceWorld, within};
use crate::providers::openai;

/// The wait for the first event of an answer that ends soon, and the one that does not end in a test.
const FIRST_EVENT: Duration = Duration::from_millis(600);
const TIMEOUT: Duration = Duration::from_secs(30);

/// A comment of an event stream.
const COMMENT: &str = ":\n\n";
/// Progress as llama.cpp's server tells it: a chunk without a choice.
const PROGRESS: &str = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\
     \"prompt_progress\":{\"total\":5000,\"cache\":0,\"processed\":2048,\"time_ms\":900}}\n\n";
/// The event with which Anthropic's API says only that the line is open.
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

/// Which API the server on loopback speaks, and with it whether it counts as one of this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    /// OpenAI's, which servers on this computer speak.
    Local,
    /// Anthropic's, which only a remote provider speaks.
    Remote,
}

impl Api {
    fn provider(self, base_url: String, first_event: Duration) -> Arc<dyn Provider> {
        let deadlines = Deadlines { connect: TIMEOUT, first_event, idle: first_event };
        let (key, parameters) = ("sk-test".into(), RequestParameters::default());
        match self {
            Self::Local => {
                let config = OpenAiConfig { base_url, key, deadlines, parameters };
                Arc::new(OpenAi::new(config).unwrap())
            }
            Self::Remote => {
                let config = AnthropicConfig { base_url, key, deadlines, parameters };
                Arc::new(Anthropic::new(config).unwrap())
            }
        }
    }

    fn answer(self, text: &str) -> CannedAnswer {
        match self {
            Self::Local => openai::data(&openai::words(text)),
            Self::Remote => stream(&format!("{}{}", byte_server::words(text), stop("end_turn"))),
        }
    }

    /// An answer that says `text` after these bytes, again and again for three times as long as
    /// the limit.
    fn slow_answer(self, text: &str, bytes: &'static str) -> CannedAnswer {
        let answer = self.answer(text).bytes;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let every = FIRST_EVENT / 6;
        let then = AfterBytes::KeepAlive { bytes, times: 18, every, rest: body.to_owned() };
        CannedAnswer { bytes: format!("{head}\r\n\r\n"), at_a_time: usize::MAX, then }
    }
}

fn silent() -> CannedAnswer {
    CannedAnswer { bytes: String::new(), at_a_time: 1, then: AfterBytes::Hold }
}

/// A world whose server has read a prompt of 5,000 bytes at once, and gives `answers` from now on.
async fn world_with_measured_speed(
    api: Api,
    first_event: Duration,
    answers: Vec<CannedAnswer>,
) -> (ServiceWorld, ByteServer) {
    let mut all = vec![api.answer("Yes.")];
    all.extend(answers);
    let mut server = ByteServer::serving(all).await;
    let provider = api.provider(server.url(), first_event);
    let mut world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    if api == Api::Local {
        world.runs_here();
    }
    assert_eq!(world.say(&"beans ".repeat(900)).await.status, TurnStatus::Done);
    server.requests.recv().await.unwrap();
    world.told();
    (world, server)
}

/// The end of a turn, and how often the server was asked for its answer.
async fn ending_and_requests(api: Api, answers: Vec<CannedAnswer>) -> (TurnEnding, usize) {
    let (mut world, mut server) = world_with_measured_speed(api, FIRST_EVENT, answers).await;
    let ending = world.say("What grows?").await;
    let requests = std::iter::from_fn(|| server.requests.try_recv().ok()).count();
    (ending, requests)
}

fn failure(ending: &TurnEnding) -> &str {
    &ending.error.as_ref().unwrap_or_else(|| panic!("no failure: {ending:?}")).message
}

/// A server on this computer that sends these bytes while it reads is waited for, and asked once. The
/// control: a remote provider is not waited for longer because it sends `remote`.
async fn check_kept_alive_by(local: &'static str, remote: &'static str) {
    let slow = Api::Local.slow_answer("Beans.", local);
    let (ending, requests) = ending_and_requests(Api::Local, vec![slow]).await;
    assert_eq!((ending.status, requests), (TurnStatus::Done, 1), "{local}: {:?}", ending.error);
    assert_eq!(ending.message.unwrap().text(), "Beans.");
    let slow = || Api::Remote.slow_answer("Beans.", remote);
    let (ending, requests) = ending_and_requests(Api::Remote, vec![slow(), slow()]).await;
    assert_eq!((ending.status, requests), (TurnStatus::Failed, 2), "{remote}");
    let message = failure(&ending);
    assert!(message.contains("stopped responding. Check the network"), "{message}");
}

#[tokio::test]
async fn comments_keep_the_wait_for_a_server_on_this_computer_alive() {
    check_kept_alive_by(COMMENT, COMMENT).await;
}

#[tokio::test]
async fn progress_keeps_the_wait_for_a_server_on_this_computer_alive_and_its_end_is_noticed() {
    check_kept_alive_by(PROGRESS, PING).await;
    // The control: a server that tells progress once and no more is given up.
    let stuck = CannedAnswer { then: AfterBytes::Hold, ..stream(PROGRESS) };
    let (ending, requests) = ending_and_requests(Api::Local, vec![stuck, silent()]).await;
    assert_eq!((ending.status, requests), (TurnStatus::Failed, 1));
    let message = failure(&ending);
    assert!(message.contains("A long prompt takes time on this computer"), "{message}");
}

#[tokio::test]
async fn a_silent_server_on_this_computer_is_asked_once_and_the_reason_is_told() {
    for answer in [silent(), CannedAnswer { then: AfterBytes::Hold, ..stream("") }] {
        let (ending, requests) = ending_and_requests(Api::Local, vec![answer, silent()]).await;
        assert_eq!((ending.status, requests), (TurnStatus::Failed, 1));
        let message = failure(&ending);
        assert!(message.contains("A long prompt takes time on this computer"), "{message}");
    }
    // The control: a remote provider is asked once more.
    let (ending, requests) = ending_and_requests(Api::Remote, vec![silent(), silent()]).await;
    assert_eq!((ending.status, requests), (TurnStatus::Failed, 2));
    assert!(failure(&ending).contains("Check the network"), "{}", failure(&ending));
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for_longer_than_one_that_fails() {
    let body = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let busy = r#"{"error":{"code":503,"message":"Busy","type":"unavailable_error"}}"#;
    let refusals = |body: &str, times: usize| {
        let answers = (0..times).map(|_| respond("503 Service Unavailable", "", body));
        answers.chain([Api::Local.answer("Beans.")]).collect::<Vec<_>>()
    };
    for times in [2, 5] {
        let (mut world, mut server) =
            world_with_measured_speed(Api::Local, TIMEOUT, refusals(body, times)).await;
        let ending = world.say("What grows?").await;
        assert_eq!(ending.status, TurnStatus::Done, "{:?}", ending.error);
        let requests = std::iter::from_fn(|| server.requests.try_recv().ok()).count();
        assert_eq!(requests, times + 1);
        let told = world.told();
        assert!(told.contains(&TurnEvent::Waits(Some(ModelWait::Loading))), "{told:?}");
    }
    // A request that fails after that is tried again as often as ever.
    let cut = CannedAnswer { then: AfterBytes::Close, ..stream("") };
    let mut answers = refusals(body, 5);
    answers.insert(5, cut);
    let (ending, requests) = ending_and_requests(Api::Local, answers).await;
    assert_eq!((ending.status, requests), (TurnStatus::Done, 7), "{:?}", ending.error);
    // The control: any other 503 is given up.
    let (ending, requests) = ending_and_requests(Api::Local, refusals(busy, 5)).await;
    assert_eq!((ending.status, requests), (TurnStatus::Failed, 3));
}

#[tokio::test]
async fn the_wait_for_a_server_on_this_computer_can_be_stopped() {
    let every = Duration::from_millis(20);
    let (bytes, rest) = (COMMENT, String::new());
    let then = AfterBytes::KeepAlive { bytes, times: u32::MAX, every, rest };
    let comments = CannedAnswer { then, ..stream("") };
    for answer in [silent(), comments] {
        let (mut world, mut server) =
            world_with_measured_speed(Api::Local, TIMEOUT, vec![answer]).await;
        world.send("c", "What grows?").await;
        let reading =
            |event: &TurnEvent| matches!(event, TurnEvent::Waits(Some(ModelWait::Reading { .. })));
        world.hear(reading).await;
        world.service.stop(&"c".into());
        world.quiet().await;
        let ending = world.memory.endings().pop().unwrap();
        assert_eq!(ending.status, TurnStatus::Cancelled, "{ending:?}");
        within(server.hung_up.recv()).await.expect("the request is dropped");
        assert!(world.told().contains(&TurnEvent::Waits(None)), "the end of the wait is told");
    }
}
