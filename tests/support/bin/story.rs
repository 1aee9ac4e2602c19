//! A host for the crash tests: the real application, one story, and a hand on the plug.
//!
//! `story DATA VAULT NAME` plays a story; `story DATA VAULT go-on` is the start after a crash.
//! With `KILL_AT=n` the process kills itself at its n-th fault point, with `KILL_ON=name` at the
//! first one of that name (see `plug`). At the end it prints how many it passed. `listen` opens the
//! vault and waits to be killed. `forget` forgets the history of what was played before. `naive` is
//! the control: it edits in place, without a ledger.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test's tool fails the test by panicking; the control edits in place on purpose"
)]

use std::path::{Path, PathBuf};

use app::{App, DataDir};
use protocol::history::Age;
use protocol::request::{DecideReview, SendMessage};
use protocol::{ConversationId, Mode, QuestionId, Settings};
use testkit::plug;
use testkit::story::{EDITED, NOTES};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    let (data, vault, name) = (next("DATA"), next("VAULT"), next("NAME"));
    plug::hold();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(play(PathBuf::from(data), Path::new(&vault), &name));
    println!("{}", plug::passed());
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
    } else {
        let request =
            SendMessage { conversation: None, text: format!("play {name}"), answers: None };
        let conversation = app.send(request).await.expect("sent");
        app.idle(&conversation).await.expect("idle");
        decide(&app, &conversation).await;
        answer(&app, &conversation).await;
    }
    app.shutdown().await;
}

async fn conversations(app: &App) -> Vec<ConversationId> {
    let snapshot = app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    snapshot.conversations.into_iter().map(|conversation| conversation.id).collect()
}

/// What a user does after a crash: decides what waits, answers what was asked, and asks on.
async fn go_on(app: &App, last: Option<ConversationId>) {
    if let Some(conversation) = &last {
        app.idle(conversation).await.expect("idle");
        decide(app, conversation).await;
        answer(app, conversation).await;
    }
    let request = SendMessage { conversation: last, text: "go on".to_owned(), answers: None };
    let conversation = app.send(request).await.expect("sent");
    app.idle(&conversation).await.expect("idle");
}

/// Accepts everything that waits.
async fn decide(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(review) = view.review {
        let accepted = review.notes.into_iter().map(|note| note.path).collect();
        let request = DecideReview { review: review.id, accepted, rejected: Vec::new() };
        app.decide_review(&request).await.expect("applied");
    }
}

/// Answers the question that waits.
async fn answer(app: &App, conversation: &ConversationId) {
    let view = app.conversation(conversation).await.expect("a view");
    if let Some(question) = view.question {
        let answers: Option<QuestionId> = Some(question.id);
        let text = "the first".to_owned();
        let request = SendMessage { conversation: Some(conversation.clone()), text, answers };
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
