//! The network at its worst, over real sockets and real TLS: what the user is told, what is tried
//! again, and that nothing is done by halves. `N-network-…` are the scenarios by their ids.

pub(crate) mod canned_server;
pub(crate) mod compressed_answers;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use app::TimeScale;
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::{ProviderKind, ResumePolicy, Settings, TurnStatus};
use testkit::scripted_model::{KEY, tool_results};
use testkit::stories::note_changes;
use testkit::stories::note_changes::{ADDED, NOTES};
use testkit::{Reply, ScriptedModel};
use tokio::process::Command;

use crate::harness::test_app::{
    CliOutput, TestHome, home_with_key, run_command, settings_with_model, turn_failure,
    user_messages,
};
use canned_server::{CannedResponse, CannedServer, make_certificate};

const CANARY: &str = "sk-CANARY-7f3a9c";

/// The beginning of an answer without any text yet.
const STREAM_START: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n";

/// The events of an answer with this text after [`STREAM_START`], up to but without the end.
fn text_events(words: &str) -> String {
    let (start, delta) = (r#"{"type":"text","text":""}"#, r#""type":"text_delta","text":"#);
    format!(
        "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{start}}}\n\n\
         data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{{delta}\"{words}\"}}}}\n\n"
    )
}

/// The beginning of a call, cut in its arguments.
fn partial_call_events() -> String {
    let start = r#"{"type":"tool_use","id":"toolu_1","name":"append_file","input":{}}"#;
    let delta = r#"{"type":"input_json_delta","partial_json":"{\"path\":\"List.md\",\"con"}"#;
    format!(
        "data: {{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{start}}}\n\n\
         data: {{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{delta}}}\n\n"
    )
}

fn complete_stream(said: &str) -> String {
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}"#;
    let (words, stop) =
        (text_events(said), "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n");
    format!("{STREAM_START}{words}{stop}data: {end}\n\ndata: {{\"type\":\"message_stop\"}}\n\n")
}

fn settings(base_url: String) -> Settings {
    let provider = ProviderKind::Anthropic;
    Settings { provider, base_url, resume: ResumePolicy::Never, ..Settings::default() }
}

/// The error of one message to a model at this URL, and how long that took. The clocks are divided
/// by `pace`.
async fn error_and_duration(base_url: String, pace: u32) -> (String, Duration) {
    let home = home_with_key(&NOTES);
    let running = home.open_with_time_scale(settings(base_url), TimeScale::divided_by(pace)).await;
    let begun = Instant::now();
    let chat = running.send_and_wait(None, "Is it there?").await;
    let took = begun.elapsed();
    let error = turn_failure(&running.view(&chat).await).expect("it fails");
    running.quit().await;
    (error.message, took)
}

/// Between three attempts it waits so long, with clocks that are divided by ten.
const MIN_RETRY_TIME: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_reached_is_tried_three_times_and_the_network_is_named() {
    // N-network-01
    let (message, took) = error_and_duration("https://nowhere.invalid".to_owned(), 10).await;
    assert_eq!(message, "Couldn’t reach nowhere.invalid. Check the network, then try again.");
    assert!(took >= MIN_RETRY_TIME, "{took:?}");
    // N-network-02
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port");
    let (message, took) = error_and_duration(format!("http://{closed}"), 10).await;
    assert_eq!(message, format!("Couldn’t reach {closed}. Check the network, then try again."));
    assert!(took >= MIN_RETRY_TIME, "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_hangs_is_given_up_at_its_deadline() {
    // N-network-03. A listener that accepts no connection has room for one or two.
    let listener = tokio::net::TcpSocket::new_v4().expect("a socket");
    listener.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let listener = listener.listen(0).expect("it listens");
    let address = listener.local_addr().expect("its address");
    let mut waiting = Vec::new();
    while let Ok(Ok(taken)) =
        tokio::time::timeout(Duration::from_millis(200), tokio::net::TcpStream::connect(address))
            .await
    {
        waiting.push(taken);
    }
    let (message, took) = error_and_duration(format!("http://{address}"), 100).await;
    assert_eq!(message, format!("Couldn’t reach {address}. Check the network, then try again."));
    let three_deadlines = Duration::from_millis(3 * 100);
    assert!(took >= three_deadlines && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_nobody_vouches_for_ends_it_and_nothing_is_sent() {
    // N-network-04
    let server = CannedServer::over_tls(
        vec![CannedResponse::Whole(complete_stream("Yes."))],
        &make_certificate(),
    )
    .await;
    let (message, _) = error_and_duration(server.url("https"), 1).await;
    assert!(message.contains("has a certificate that this computer doesn’t trust"), "{message}");
    let seen = server.log();
    assert_eq!((seen.connections, seen.heads.len()), (1, 0), "{seen:?}");
}

/// `ask` with the key CANARY and nothing of the tester's own network.
fn ask_command(test_home: &TestHome, url: &str) -> Command {
    let vault = test_home.notes.root().to_str().expect("a path in UTF-8");
    let mut command = test_home.cli_command(&["ask", "--vault", vault, "Is it there?"]);
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    command.env("ANTHROPIC_API_KEY", CANARY).env("ANTHROPIC_BASE_URL", url);
    command
}

/// The places with the canary: files of the data folder, or the output.
fn find_leaks(test_home: &TestHome, said: &CliOutput) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    let files = test_home.data.snapshot().into_iter();
    let mut found: Vec<String> =
        files.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect();
    found.extend(holds(said.stdout.as_bytes()).then(|| "the output".to_owned()));
    found.extend(holds(said.stderr.as_bytes()).then(|| "the errors".to_owned()));
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_wants_a_login_is_named_and_the_one_it_has_is_told_nobody() {
    // N-network-05, K-secrets-10
    let refusal = "HTTP/1.1 407 Log In\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let proxy = CannedServer::over_tcp(vec![CannedResponse::Whole(refusal.to_owned())]).await;
    let home = TestHome::new(&NOTES);
    let address = format!("http://ann:{CANARY}@{}", proxy.address);
    let mut command = ask_command(&home, "https://models.invalid");
    let said = run_command(command.env("HTTPS_PROXY", address).env("VAULTMATE_LOG", "trace")).await;
    assert!(
        said.stderr.contains("models.invalid is behind a proxy that requires a login"),
        "{said:?}"
    );
    let heads = proxy.log().heads;
    assert_eq!(heads.len(), 1, "it is not tried again: {heads:?}");
    assert!(heads[0].starts_with("CONNECT models.invalid:443 "), "{heads:?}");
    assert!(heads[0].to_lowercase().contains("\r\nproxy-authorization: basic "), "{heads:?}");
    assert!(!heads[0].contains("x-api-key"), "the key is for the model's server: {heads:?}");
    assert_eq!(find_leaks(&home, &said), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_computer_is_asked_through_no_proxy() {
    for (url, through) in
        [("https://127.0.0.1:9", 0), ("https://localhost:9", 0), ("https://models.invalid", 1)]
    {
        let refusal = "HTTP/1.1 407 Log In\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let proxy = CannedServer::over_tcp(vec![CannedResponse::Whole(refusal.to_owned())]).await;
        let home = TestHome::new(&NOTES);
        let mut command = ask_command(&home, url);
        let said =
            run_command(command.env("HTTPS_PROXY", format!("http://{}", proxy.address))).await;
        assert_eq!(proxy.log().connections, through, "{url}: {said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_says_nothing_is_asked_once_more() {
    // N-network-06
    let server = CannedServer::over_tcp(vec![CannedResponse::AndThenSilence(String::new())]).await;
    let (message, took) = error_and_duration(server.url("http"), 100).await;
    assert!(message.contains("took too long to answer. Check the network"), "{message}");
    assert_eq!(server.log().heads.len(), 2);
    assert!(took >= Duration::from_millis(2 * 1200), "{took:?}");
}

/// Sends a message to a server that answers so and goes silent, and stops as soon as `is_time`;
/// then sends the next one. The request is cancelled within a second.
async fn stop_turn_when(
    begun: String,
    is_time: impl Fn(&ConversationView) -> bool,
) -> ConversationView {
    let answers = vec![
        CannedResponse::AndThenSilence(begun),
        CannedResponse::Whole(complete_stream("I am here.")),
    ];
    let server = CannedServer::over_tcp(answers).await;
    let home = home_with_key(&NOTES);
    let before = home.notes.snapshot();
    let running = home.open(settings(server.url("http"))).await;
    let chat = running.send(None, "Please add milk.", None).await.expect("taken");
    server.wait_until(|seen| seen.heads.len() == 1).await;
    while !is_time(&running.view(&chat).await) {
        tokio::task::yield_now().await;
    }
    let stopped = Instant::now();
    running.app.stop(&chat).await.expect("stopped");
    server.wait_until(|seen| seen.closed_by_client == 1).await;
    assert!(stopped.elapsed() < Duration::from_secs(1), "{:?}", stopped.elapsed());
    running.app.wait_until_idle(&chat).await.expect("idle");
    let view = running.view(&chat).await;
    assert!(matches!(
        view.items.last(),
        Some(ChatItem::Ended { status: TurnStatus::Cancelled, .. })
    ));
    running.send_and_wait(Some(&chat), "And now?").await;
    assert_eq!(turn_failure(&running.view(&chat).await), None, "the conversation goes on");
    assert_eq!(home.notes.snapshot(), before);
    running.quit().await;
    view
}

fn visible_texts(view: &ConversationView) -> Vec<(&str, bool)> {
    let said = view.items.iter().filter_map(|item| match item {
        ChatItem::Assistant { text, cut, .. } => Some((text.as_str(), *cut)),
        _ => None,
    });
    said.collect()
}

fn count_calls(view: &ConversationView) -> usize {
    view.items.iter().filter(|item| matches!(item, ChatItem::Tool { .. })).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_lets_go_of_the_server_and_leaves_nothing_half_done() {
    // N-network-07
    let view = stop_turn_when(String::new(), |_| true).await;
    assert_eq!((visible_texts(&view), count_calls(&view)), (Vec::new(), 0));
    // N-network-08
    let view = stop_turn_when(format!("{STREAM_START}{}", text_events("I begin to")), |view| {
        !visible_texts(view).is_empty()
    })
    .await;
    assert_eq!((visible_texts(&view), count_calls(&view)), (vec![("I begin to", true)], 0));
    // N-network-09. The text comes before the call, so it tells that the answer is under way.
    let begun = format!("{STREAM_START}{}{}", text_events("I add it."), partial_call_events());
    let view = stop_turn_when(begun, |view| !visible_texts(view).is_empty()).await;
    assert_eq!((visible_texts(&view), count_calls(&view)), (vec![("I add it.", true)], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_cut_by_the_end_of_the_application_is_shown_as_cut() {
    // N-network-11
    let begun = format!("{STREAM_START}{}{}", text_events("I add it."), partial_call_events());
    let server = CannedServer::over_tcp(vec![CannedResponse::AndThenSilence(begun)]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings(server.url("http"))).await;
    let chat = running.send(None, "Please add milk.", None).await.expect("taken");
    while visible_texts(&running.view(&chat).await).is_empty() {
        tokio::task::yield_now().await;
    }
    running.quit().await;

    // The model's rules tell a call without its result.
    let model = ScriptedModel::start(vec![Reply::text("I am here.")]).await;
    let running =
        home.open(Settings { resume: ResumePolicy::Never, ..settings_with_model(&model) }).await;
    let view = running.view(&chat).await;
    assert!(view.conversation.interrupted, "{:#?}", view.items);
    assert_eq!((user_messages(&view), count_calls(&view)), (vec!["Please add milk."], 0));
    let cut = view.items.iter().find_map(|item| match item {
        ChatItem::Ended { turn, status: TurnStatus::Interrupted, .. } => Some(turn.clone()),
        _ => None,
    });
    running.app.dismiss_interrupted_turn(&cut.expect("the cut turn is shown")).await.expect("left");
    running.send_and_wait(Some(&chat), "And now?").await;
    assert_eq!(visible_texts(&running.view(&chat).await).last(), Some(&("I am here.", false)));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_over_tls_is_whole_without_close_notify_and_http_2_is_not_used() {
    // N-network-13, N-network-14: a protocol that is not used can neither send GOAWAY nor empty
    // frames.
    let certificate = make_certificate();
    let server = CannedServer::over_tls(
        vec![CannedResponse::Whole(complete_stream("Yes, it is."))],
        &certificate,
    )
    .await;
    let home = TestHome::new(&NOTES);
    home.data.write("authority.pem", &certificate.authority);
    let mut command = ask_command(&home, &server.url("https"));
    let said =
        run_command(command.env("SSL_CERT_FILE", home.data.root().join("authority.pem"))).await;
    assert_eq!((said.code, said.stdout.trim()), (Some(0), "Yes, it is."), "{said:?}");
    let seen = server.log();
    assert!(seen.protocols.iter().all(|agreed| agreed != "h2"), "{seen:?}");
    assert_eq!(seen.protocols.len(), 1, "{seen:?}");
    assert_eq!(find_leaks(&home, &said), Vec::<String>::new());
}

/// A story that adds to a note is killed at this point and continues automatically.
async fn kill_and_resume(point: &str) {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())];
    home.run_story_killed_at(point, "add", &env).await;
    let running =
        home.open(Settings { resume: ResumePolicy::Always, ..settings_with_model(&model) }).await;
    let chat = running.only_conversation().await;
    running.app.wait_until_idle(&chat).await.expect("idle");
    let view = running.view(&chat).await;
    assert_eq!(turn_failure(&view), None, "{point}");
    assert_eq!(visible_texts(&view).last(), Some(&("All of it is done.", false)), "{point}");
    assert_eq!(home.notes.read("List.md"), ADDED[0].1, "{point}: once");
    assert_eq!(model.requests().len(), 2, "{point}: it goes on once");
    assert_eq!(
        tool_results(&model.wait_for_request(2).await).len(),
        2,
        "{point}: each call has one result"
    );
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_an_effect_its_result_and_the_next_request_does_nothing_twice() {
    // N-network-15
    kill_and_resume("llm.results.before").await;
    // N-network-16
    kill_and_resume("llm.results.after").await;
}
