//! A host for the crash tests: the real application and one story that can be killed at any point.
//!
//! `story DATA VAULT NAME` plays a story; `story DATA VAULT go-on` is the start after a crash. With
//! `KILL_AT=n` the process kills itself at its n-th fault point, with `KILL_ON=name` at the first
//! one of that name (see `fault_points`). At the end it prints how many it passed. `listen` opens
//! the vault and waits to be killed. `summarize` sends messages until earlier ones can be
//! summarized, and does so. `t1` to `t60` are the long stories, in which everything continues
//! automatically; `go-on t1` is the start after a crash of one, and both print the outcome.
//! `delete-history` deletes the history of the stories before. `naive` is the control: it edits in
//! place, without a ledger. `panic` panics with the text in `SAYS`. `question option` and the
//! others of `question` are played from wherever they stand, and so is `titled named`. `settings
//! turn` and `settings month` change a setting each over and over, and wait to be killed. `read 5`
//! is five turns that say `play read`, of one conversation. `key` saves the key in `SAYS` in a file, for
//! the server in `SERVER`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test's tool fails the test by panicking; the control edits in place on purpose"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use app::{App, DataDir};
use protocol::changes::history::{ListApplied, UndoScope};
use protocol::changes::retention::HistoryAge;
use protocol::chat::conversation::{ChatItem, Interruption};
use protocol::request::{
    DecideReview, HunkDecision, KeyStorage, NoteDecision, ReviewDecision, SendMessageRequest,
};
use protocol::{
    ConversationId, Mode, ProviderKind, QuestionId, ResumePolicy, Settings, TurnStatus,
};
use serde_json::{Value, json};
use testkit::fault_injection::fault_points;
use testkit::stories::multi_call::MULTI_CALL_STORIES;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::stories::{question, title};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    let (data, vault, name) = (next("DATA"), next("VAULT"), next("NAME"));
    if name == "panic" {
        return panic_with_key(data);
    }
    fault_points::install_from_env();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (data, vault) = (PathBuf::from(data), Path::new(&vault));
    let (again, story) = name
        .strip_prefix("go-on ")
        .map_or((StoryStart::First, &*name), |story| (StoryStart::Again, story));
    if let Some(story) = name.strip_prefix("question ") {
        println!("{}", runtime.block_on(question::play(data, vault, story)));
    } else if let Some(story) = name.strip_prefix("titled ") {
        println!("{}", runtime.block_on(title::play(data, vault, story)));
    } else if let Some(setting) = name.strip_prefix("settings ") {
        runtime.block_on(change_one_setting(data, vault, setting));
    } else if name == "key" {
        runtime.block_on(save_key(data));
    } else if MULTI_CALL_STORIES.contains(&story) {
        let said = runtime.block_on(run_multi_call(data, vault, story, again));
        println!("{said}");
    } else {
        runtime.block_on(play(data, vault, &name));
        println!("{}", fault_points::passed_count());
    }
}

/// Changes one setting over and over, until it is killed.
async fn change_one_setting(data: PathBuf, vault: &Path, setting: &str) {
    let app = App::start(DataDir::at(data).expect("a data directory"));
    app.open_vault(vault).await.expect("the vault opens");
    loop {
        let change = |settings: &mut Settings| match setting {
            "turn" => settings.spending.turn_cents += 1,
            _ => settings.spending.month_cents += 1,
        };
        app.change_settings(change).await.expect("saved");
    }
}

/// Saves a key as its user does in the settings.
async fn save_key(data: PathBuf) {
    let given = |name: &str| std::env::var(name).expect("the test sets it");
    let app = App::start(DataDir::at(data).expect("a data directory"));
    let (provider, base_url) = (ProviderKind::OpenAi, given("SERVER"));
    let settings = Settings { provider, base_url, ..Settings::default() };
    app.save_settings(settings).await.expect("saved");
    app.set_key(given("SAYS").into(), KeyStorage::File).await.expect("saved");
    app.shutdown().await;
}

/// Panics in a part of the program, with a key in the message.
fn panic_with_key(data: String) {
    let _log = app::start_log(&DataDir::at(data.into()).expect("a data directory"));
    let says = std::env::var("SAYS").expect("something to say");
    let part = std::thread::spawn(move || panic!("refused {says}"));
    assert!(part.join().is_err(), "it gave up");
}

async fn play(data: PathBuf, vault: &Path, name: &str) {
    if name == "naive" {
        return edit_in_place(vault);
    }
    let app = App::start(DataDir::at(data).expect("a data directory"));
    let mode = if name == "auto" { Mode::Auto } else { Mode::Review };
    app.save_settings(Settings { mode, ..Settings::default() }).await.expect("saved");
    app.open_vault(vault).await.expect("the vault opens");
    let last = conversations(&app).await.into_iter().next();
    if name == "listen" {
        std::future::pending::<()>().await;
    } else if name == "delete-history" {
        app.delete_history(HistoryAge::Any).await.expect("deleted");
    } else if name == "go-on" {
        resume_after_crash(&app, last).await;
    } else if let Some((name, turns)) = name.split_once(' ') {
        send_repeatedly(&app, name, turns.parse().expect("a number of turns")).await;
    } else if name == "summarize" {
        summarize(&app).await;
    } else {
        let text = format!("play {name}");
        let request =
            SendMessageRequest { conversation: None, text, answers: None, open_note: None };
        let conversation = app.send(request).await.expect("sent");
        app.wait_until_idle(&conversation).await.expect("idle");
        if name == "hunks" {
            decide_by_hunk(&app, &conversation).await;
        } else {
            accept_pending(&app, &conversation).await;
        }
        answer_question(&app, &conversation).await;
    }
    app.shutdown().await;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StoryStart {
    First,
    Again,
}

/// A long story from wherever it stands to its end; what became of it as JSON.
async fn run_multi_call(data: PathBuf, vault: &Path, story: &str, start: StoryStart) -> Value {
    let began = Instant::now();
    let app = App::start(DataDir::at(data).expect("a data directory"));
    let choice = std::env::var("CHOICE").ok();
    let resume = if choice.is_some() { ResumePolicy::Ask } else { ResumePolicy::Always };
    app.save_settings(Settings { resume, ..Settings::default() }).await.expect("saved");
    app.open_vault(vault).await.expect("the vault opens");
    let last = conversations(&app).await.into_iter().next();
    let words = format!("play {story}");
    let heard = match &last {
        Some(last) => !app.conversation(last).await.expect("a view").items.is_empty(),
        None => false,
    };
    let usable = began.elapsed().as_millis();
    let conversation = match last {
        Some(last) if heard => last,
        last => {
            let request = SendMessageRequest {
                conversation: last,
                text: words,
                answers: None,
                open_note: None,
            };
            app.send(request).await.expect("sent")
        }
    };
    app.wait_until_idle(&conversation).await.expect("idle");
    let offered = match &choice {
        Some(choice) => resolve_interruption(&app, &conversation, choice).await,
        None => None,
    };
    if offered.is_some() && choice.as_deref() != Some("continue") {
        let said = outcome_json(&app, &conversation, usable, offered).await;
        app.shutdown().await;
        return said;
    }
    accept_pending(&app, &conversation).await;
    answer_question(&app, &conversation).await;
    accept_pending(&app, &conversation).await;
    if start == StoryStart::Again {
        // The history is one that a model accepts.
        let (to, text) = (Some(conversation.clone()), "and now?".to_owned());
        app.send(SendMessageRequest { conversation: to, text, answers: None, open_note: None })
            .await
            .expect("sent");
        app.wait_until_idle(&conversation).await.expect("idle");
    }
    let said = outcome_json(&app, &conversation, usable, offered).await;
    app.shutdown().await;
    said
}

/// The user's answer about the interrupted turn; returns the offer.
async fn resolve_interruption(
    app: &App,
    conversation: &ConversationId,
    choice: &str,
) -> Option<Interruption> {
    let view = app.conversation(conversation).await.expect("a view");
    let offer = view.items.iter().find_map(|item| match item {
        ChatItem::Ended { turn, offer: Some(offer), .. } => Some((turn.clone(), *offer)),
        _ => None,
    });
    assert_eq!(offer.is_some(), view.conversation.interrupted, "the list says so too");
    let (turn, offer) = offer?;
    match choice {
        "continue" => {
            app.continue_turn(conversation).await.expect("it goes on");
            app.wait_until_idle(conversation).await.expect("idle");
        }
        "undo" if offer.changed > 0 => {
            app.undo(&UndoScope::Turn { turn: turn.clone() }).await.expect("undone");
            app.dismiss_interrupted_turn(&turn).await.expect("left");
        }
        _ => app.dismiss_interrupted_turn(&turn).await.expect("left"),
    }
    Some(offer)
}

async fn outcome_json(
    app: &App,
    conversation: &ConversationId,
    usable: u128,
    offered: Option<Interruption>,
) -> Value {
    let view = app.conversation(conversation).await.expect("a view");
    let request = ListApplied { conversation: Some(conversation.clone()), before: None };
    let sets = app.list_applied(&request).await.expect("a list").sets;
    let unanswered = |item: &&ChatItem| matches!(item, ChatItem::Tool { output: None, .. });
    let asked = |item: &&ChatItem| matches!(item, ChatItem::Asked { .. });
    let failed = view.items.iter().filter_map(|item| match item {
        // A turn that was left stays as it was cut.
        ChatItem::Ended { status: TurnStatus::Interrupted, .. } if offered.is_some() => None,
        ChatItem::Ended { status, error, .. } => Some(format!("{status:?} {error:?}")),
        _ => None,
    });
    json!({
        "points": fault_points::passed_count(),
        "usable": u64::try_from(usable).unwrap_or(u64::MAX),
        "unanswered": view.items.iter().filter(unanswered).count(),
        "effects": sets.iter().map(|set| set.notes.len()).sum::<usize>(),
        "asked": view.items.iter().filter(asked).count(),
        "offered": offered,
        "waiting": view.review.map_or(0, |review| review.notes.len()),
        "failed": failed.collect::<Vec<_>>(),
    })
}

async fn conversations(app: &App) -> Vec<ConversationId> {
    let snapshot = app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    snapshot.conversations.into_iter().map(|conversation| conversation.id).collect()
}

/// Sends the same text so many times, in one conversation.
async fn send_repeatedly(app: &App, name: &str, turns: usize) {
    let mut conversation = None;
    for _ in 0..turns {
        let text = format!("play {name}");
        let request = SendMessageRequest {
            conversation: conversation.clone(),
            text,
            answers: None,
            open_note: None,
        };
        let sent = app.send(request).await.expect("sent");
        app.wait_until_idle(&sent).await.expect("idle");
        conversation = Some(sent);
    }
}

/// A conversation that is long enough to be summarized, and its summary.
async fn summarize(app: &App) {
    let mut chat = None;
    for n in 0..9 {
        let text = format!("Number {n}. {}", "and so on ".repeat(50));
        let request =
            SendMessageRequest { conversation: chat, text, answers: None, open_note: None };
        let conversation = app.send(request).await.expect("sent");
        app.wait_until_idle(&conversation).await.expect("idle");
        chat = Some(conversation);
    }
    app.compact(&chat.expect("a conversation")).await.expect("summarized");
}

/// A user after a crash: decides about pending changes, answers the question, and sends the next
/// message.
async fn resume_after_crash(app: &App, last: Option<ConversationId>) {
    if let Some(conversation) = &last {
        app.wait_until_idle(conversation).await.expect("idle");
        accept_pending(app, conversation).await;
        answer_question(app, conversation).await;
    }
    let request = SendMessageRequest {
        conversation: last,
        text: "go on".to_owned(),
        answers: None,
        open_note: None,
    };
    let conversation = app.send(request).await.expect("sent");
    app.wait_until_idle(&conversation).await.expect("idle");
}

/// Of the four hunks of a note one is accepted, one rejected, one edited, one left pending.
async fn decide_by_hunk(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    let review = view.review.expect("a note is pending");
    let note = review.notes.first().expect("a note is pending");
    let edit = HunkDecision::Edit { text: "mine\nand more".into() };
    let hunks = vec![HunkDecision::Accept, HunkDecision::Reject, edit, HunkDecision::Wait];
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteDecision { path, seen, decision: ReviewDecision::Hunks { hunks } }];
    app.decide_review(&DecideReview { review: review.id, notes }).await.expect("decided");
}

/// Accepts every pending change.
async fn accept_pending(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(review) = view.review {
        let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
        let request = review.decide_request(&accepted, &[]);
        app.decide_review(&request).await.expect("applied");
    }
}

/// Answers the open question.
async fn answer_question(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(question) = view.question {
        let answers: Option<QuestionId> = Some(question.id);
        let text = "the first".to_owned();
        let request = SendMessageRequest {
            conversation: Some(conversation.clone()),
            text,
            answers,
            open_note: None,
        };
        app.send(request).await.expect("answered");
        app.wait_until_idle(conversation).await.expect("idle");
    }
}

/// A program without a ledger: opens the note for writing and writes it in two halves.
fn edit_in_place(vault: &Path) {
    for (path, _) in NOTES {
        let after = EDITED.iter().find(|(edited, _)| *edited == path);
        let Some((path, text)) = after else { continue };
        let (first, second) = text.split_at(text.len() / 2);
        let file = vault.join(path);
        protocol::fault_injection::point("naive.open.before");
        std::fs::write(&file, first).expect("written");
        protocol::fault_injection::point("naive.half");
        std::fs::write(&file, format!("{first}{second}")).expect("written");
        protocol::fault_injection::point("naive.whole");
    }
}
