//! A host for the crash tests: the real application, one story, and a hand on the plug.
//!
//! `story DATA VAULT NAME` plays a story; `story DATA VAULT go-on` is the start after a crash.
//! With `KILL_AT=n` the process kills itself at its n-th fault point, with `KILL_ON=name` at the
//! first one of that name (see `plug`). At the end it prints how many it passed. `listen` opens the
//! vault and waits to be killed. `sum-up` talks until earlier messages can be summed up, and does so. `t1` to `t60` are the long stories, in which everything goes on by
//! itself; `go-on t1` is the start after a crash of one, and both print what became of it. `forget` forgets the history of what was played before. `naive` is
//! the control: it edits in place, without a ledger. `panic` gives up, saying what `SAYS` holds.
//! `question option` and the others of `question_story` are played from wherever they stand, and so is
//! `titled named`.
//! `settings turn` and `settings month` change a setting each over and over, and wait to be killed.
//! `read 5` is five turns that say `play read`, of one conversation.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test's tool fails the test by panicking; the control edits in place on purpose"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use app::{App, DataDir};
use protocol::applied::{ListApplied, UndoScope};
use protocol::conversation::{Interruption, Item};
use protocol::history::Age;
use protocol::request::{DecideReview, HunkVerdict, NoteVerdict, SendMessage, Verdict};
use protocol::{ConversationId, Mode, QuestionId, Resume, Settings, TurnStatus};
use serde_json::{Value, json};
use testkit::long_story::STORIES;
use testkit::story::{EDITED, NOTES};
use testkit::{plug, question_story, titled_story};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    let (data, vault, name) = (next("DATA"), next("VAULT"), next("NAME"));
    if name == "panic" {
        return panic_aloud(data);
    }
    plug::hold();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (data, vault) = (PathBuf::from(data), Path::new(&vault));
    let (again, story) =
        name.strip_prefix("go-on ").map_or((Start::First, &*name), |story| (Start::Again, story));
    if let Some(story) = name.strip_prefix("question ") {
        println!("{}", runtime.block_on(question_story::play(data, vault, story)));
    } else if let Some(story) = name.strip_prefix("titled ") {
        println!("{}", runtime.block_on(titled_story::play(data, vault, story)));
    } else if let Some(setting) = name.strip_prefix("settings ") {
        runtime.block_on(change_one_setting(data, vault, setting));
    } else if STORIES.contains(&story) {
        let said = runtime.block_on(long(data, vault, story, again));
        println!("{said}");
    } else {
        runtime.block_on(play(data, vault, &name));
        println!("{}", plug::passed());
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

/// What a part of the program says as it gives up, with a key among it.
fn panic_aloud(data: String) {
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
    } else if name == "forget" {
        app.forget_history(Age::Any).await.expect("forgotten");
    } else if name == "go-on" {
        go_on(&app, last).await;
    } else if let Some((name, turns)) = name.split_once(' ') {
        say_again(&app, name, turns.parse().expect("a number of turns")).await;
    } else if name == "sum-up" {
        sum_up(&app).await;
    } else {
        let text = format!("play {name}");
        let request = SendMessage { conversation: None, text, answers: None, open_note: None };
        let conversation = app.send(request).await.expect("sent");
        app.idle(&conversation).await.expect("idle");
        if name == "hunks" {
            decide_by_hunk(&app, &conversation).await;
        } else {
            decide(&app, &conversation).await;
        }
        answer(&app, &conversation).await;
    }
    app.shutdown().await;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    First,
    Again,
}

/// A long story from wherever it stands to its end; what became of it as JSON.
async fn long(data: PathBuf, vault: &Path, story: &str, start: Start) -> Value {
    let began = Instant::now();
    let app = App::start(DataDir::at(data).expect("a data directory"));
    let choice = std::env::var("CHOICE").ok();
    let resume = if choice.is_some() { Resume::Ask } else { Resume::Always };
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
            let request =
                SendMessage { conversation: last, text: words, answers: None, open_note: None };
            app.send(request).await.expect("sent")
        }
    };
    app.idle(&conversation).await.expect("idle");
    let offered = match &choice {
        Some(choice) => choose(&app, &conversation, choice).await,
        None => None,
    };
    if offered.is_some() && choice.as_deref() != Some("continue") {
        let said = told(&app, &conversation, usable, offered).await;
        app.shutdown().await;
        return said;
    }
    decide(&app, &conversation).await;
    answer(&app, &conversation).await;
    decide(&app, &conversation).await;
    if start == Start::Again {
        // The history is one that a model accepts.
        let (to, text) = (Some(conversation.clone()), "and now?".to_owned());
        app.send(SendMessage { conversation: to, text, answers: None, open_note: None })
            .await
            .expect("sent");
        app.idle(&conversation).await.expect("idle");
    }
    let said = told(&app, &conversation, usable, offered).await;
    app.shutdown().await;
    said
}

/// What the user is asked about the cut turn, and then does.
async fn choose(app: &App, conversation: &ConversationId, choice: &str) -> Option<Interruption> {
    let view = app.conversation(conversation).await.expect("a view");
    let offer = view.items.iter().find_map(|item| match item {
        Item::Ended { turn, offer: Some(offer), .. } => Some((turn.clone(), *offer)),
        _ => None,
    });
    assert_eq!(offer.is_some(), view.conversation.interrupted, "the list says so too");
    let (turn, offer) = offer?;
    match choice {
        "continue" => {
            app.continue_turn(conversation).await.expect("it goes on");
            app.idle(conversation).await.expect("idle");
        }
        "undo" if offer.changed > 0 => {
            app.undo(&UndoScope::Turn { turn: turn.clone() }).await.expect("taken back");
            app.leave_turn(&turn).await.expect("left");
        }
        _ => app.leave_turn(&turn).await.expect("left"),
    }
    Some(offer)
}

async fn told(
    app: &App,
    conversation: &ConversationId,
    usable: u128,
    offered: Option<Interruption>,
) -> Value {
    let view = app.conversation(conversation).await.expect("a view");
    let request = ListApplied { conversation: Some(conversation.clone()), before: None };
    let sets = app.list_applied(&request).await.expect("a list").sets;
    let unanswered = |item: &&Item| matches!(item, Item::Tool { output: None, .. });
    let asked = |item: &&Item| matches!(item, Item::Asked { .. });
    let failed = view.items.iter().filter_map(|item| match item {
        // A turn that was left stays as it was cut.
        Item::Ended { status: TurnStatus::Interrupted, .. } if offered.is_some() => None,
        Item::Ended { status, error, .. } => Some(format!("{status:?} {error:?}")),
        _ => None,
    });
    json!({
        "points": plug::passed(),
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

/// The same words so many times, in one conversation.
async fn say_again(app: &App, name: &str, turns: usize) {
    let mut conversation = None;
    for _ in 0..turns {
        let text = format!("play {name}");
        let request = SendMessage {
            conversation: conversation.clone(),
            text,
            answers: None,
            open_note: None,
        };
        let sent = app.send(request).await.expect("sent");
        app.idle(&sent).await.expect("idle");
        conversation = Some(sent);
    }
}

/// A conversation that is long enough to be summed up, and is.
async fn sum_up(app: &App) {
    let mut chat = None;
    for n in 0..9 {
        let text = format!("Number {n}. {}", "and so on ".repeat(50));
        let request = SendMessage { conversation: chat, text, answers: None, open_note: None };
        let conversation = app.send(request).await.expect("sent");
        app.idle(&conversation).await.expect("idle");
        chat = Some(conversation);
    }
    app.sum_up(&chat.expect("a conversation")).await.expect("summed up");
}

/// What a user does after a crash: decides what waits, answers what was asked, and asks on.
async fn go_on(app: &App, last: Option<ConversationId>) {
    if let Some(conversation) = &last {
        app.idle(conversation).await.expect("idle");
        decide(app, conversation).await;
        answer(app, conversation).await;
    }
    let request = SendMessage {
        conversation: last,
        text: "go on".to_owned(),
        answers: None,
        open_note: None,
    };
    let conversation = app.send(request).await.expect("sent");
    app.idle(&conversation).await.expect("idle");
}

/// Of the four hunks of a note one is accepted, one rejected, one put in other words, one left.
async fn decide_by_hunk(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    let review = view.review.expect("a note waits");
    let note = review.notes.first().expect("a note waits");
    let edit = HunkVerdict::Edit { text: "mine\nand more".into() };
    let hunks = vec![HunkVerdict::Accept, HunkVerdict::Reject, edit, HunkVerdict::Wait];
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteVerdict { path, seen, verdict: Verdict::Hunks { hunks } }];
    app.decide_review(&DecideReview { review: review.id, notes }).await.expect("decided");
}

/// Accepts everything that waits.
async fn decide(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(review) = view.review {
        let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
        let request = review.verdict(&accepted, &[]);
        app.decide_review(&request).await.expect("applied");
    }
}

/// Answers the question that waits.
async fn answer(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(question) = view.question {
        let answers: Option<QuestionId> = Some(question.id);
        let text = "the first".to_owned();
        let request = SendMessage {
            conversation: Some(conversation.clone()),
            text,
            answers,
            open_note: None,
        };
        app.send(request).await.expect("answered");
        app.idle(conversation).await.expect("idle");
    }
}

/// What a program without a ledger does: opens the note for writing and writes it in two halves.
fn edit_in_place(vault: &Path) {
    for (path, _) in NOTES {
        let after = EDITED.iter().find(|(edited, _)| *edited == path);
        let Some((path, text)) = after else { continue };
        let (first, second) = text.split_at(text.len() / 2);
        let file = vault.join(path);
        protocol::fault::point("naive.open.before");
        std::fs::write(&file, first).expect("written");
        protocol::fault::point("naive.half");
        std::fs::write(&file, format!("{first}{second}")).expect("written");
        protocol::fault::point("naive.whole");
    }
}
