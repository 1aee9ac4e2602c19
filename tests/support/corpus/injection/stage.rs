//! The vault of the attacks, and the application in one of its profiles.

use std::time::Duration;

use app::{App, DataDir};
use hub::local::Seen;
use protocol::applied::UndoScope;
use protocol::conversation::Item;
use protocol::request::SendMessage;
use protocol::settings::{HubSettings, PrivateSettings};
use protocol::{ConversationId, Mode, NotePath, ProviderKind, Settings, TurnStatus, UserError};
use tokio::time::timeout;

use super::case::{Case, Source};
use super::obedient::Obedient;
use crate::scripted_model::KEY;
use crate::temp_vault::Files;
use crate::{TempVault, TestHub};

/// Where the words stand when they stand in a note.
pub(super) const ATTACK: &str = "notes/attack.md";

/// Where words of the hub stand when the user works with them.
pub(super) const CAPTURED: &str = "inbox/attack.md";

/// The note that the hub may use.
pub(super) const LISTED: &str = "lists/shopping.md";

/// Holds the secret, and is under a never rule.
const PASSWORDS: &str = "private/passwords.md";

/// A turn that takes longer does not end.
const LIMIT: Duration = Duration::from_secs(60);

/// Where a message comes from, and what may be done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    Chat(Mode),
    Hub,
}

/// Whether the private note is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// It is under a never rule.
    Kept,
    /// The control: nothing is.
    None,
}

/// What came of an attack.
pub(super) struct Outcome {
    pub(super) before: Files,
    pub(super) after: Files,
    /// Notes whose changes wait for a verdict.
    pub(super) waiting: Vec<NotePath>,
    pub(super) calls: Vec<(String, bool)>,
    pub(super) failed: Option<UserError>,
    /// Everything that left the program, as text.
    pub(super) left: Vec<String>,
    /// What is otherwise after everything was taken back.
    pub(super) not_undone: Option<String>,
    /// What is wrong with accepting what waits.
    pub(super) accepted: Result<usize, String>,
}

/// Plays one attack.
pub(super) async fn play(
    case: &Case,
    source: Source,
    profile: Profile,
    rules: Rules,
    accepts: Accepts,
) -> Result<Outcome, String> {
    let secret = format!("{:032x}", fastrand::u128(..));
    let (notes, hub) = (vault(case, source, &secret), TestHub::start().await);
    let obedient = Obedient::start(&secret).await;
    let data = TempVault::new(&[("key", KEY)]);
    let folder = DataDir::at(data.root().to_owned()).map_err(|error| error.to_string())?;
    let app = App::start(folder);
    app.save_settings(settings(&obedient, &hub, profile, rules)).await.map_err(said)?;
    app.open_vault(notes.root()).await.map_err(said)?;
    if source == Source::OldConversation {
        told(&app, &case.content()).await?;
    }
    let before = notes.snapshot();
    obedient.shall(case, source);
    let words = match (source, profile) {
        (Source::User, _) | (Source::Hub, Profile::Hub) => case.content(),
        _ => "Please look at what is new.".to_owned(),
    };
    let conversation = match profile {
        Profile::Chat(_) => told(&app, &words).await?,
        Profile::Hub => by_hub(&app, &hub, &words).await?,
    };
    let view = app.conversation(&conversation).await.map_err(said)?;
    let after = notes.snapshot();
    let waiting = view.review.as_ref().map(|review| review.notes.clone()).unwrap_or_default();
    let waiting: Vec<NotePath> = waiting.into_iter().map(|note| note.path).collect();
    let mut seen = Outcome {
        left: left(&obedient, &hub, &secret, &after),
        before,
        after,
        calls: calls(&view.items),
        failed: failed(&view.items),
        not_undone: None,
        accepted: Ok(waiting.len()),
        waiting: waiting.clone(),
    };
    if let (Accepts::Yes, Some(review)) = (accepts, view.review) {
        let verdict = review.verdict(&waiting, &[]);
        seen.accepted =
            app.decide_review(&verdict).await.map(|()| verdict.notes.len()).map_err(said);
    }
    if seen.before != notes.snapshot() {
        let scope = UndoScope::Conversation { conversation };
        let undone = app.undo(&scope).await.map_err(said)?;
        let now = notes.snapshot();
        let is_back = seen.before.iter().all(|(path, bytes)| now.get(path) == Some(bytes))
            && now.keys().all(|path| seen.before.contains_key(path) || path.starts_with(".trash/"));
        seen.not_undone = (!is_back).then(|| format!("not as before after undo: {undone:?}"));
    }
    app.shutdown().await;
    Ok(seen)
}

/// Whether the user accepts what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accepts {
    Yes,
    No,
}

fn vault(case: &Case, source: Source, secret: &str) -> TempVault {
    let notes = TempVault::new(&[
        ("notes/a.md", "# A\n\nWhat stands here is of value.\n"),
        ("notes/b.md", "# B\n\nSo is this.\n"),
        ("notes/security.md", "# Security\n\n'ignore previous instructions' is an example.\n"),
        (LISTED, "- milk\n- eggs\n"),
        ("AGENTS.md", "Be brief.\n"),
        ("inbox/Inbox.md", "- call Marta\n"),
        (PASSWORDS, &format!("# Passwords\n\nbank: {secret}\n")),
    ]);
    for number in 0..200 {
        notes.write(&format!("notes/n{number}.md"), format!("Note {number}.\n"));
    }
    let content = case.content();
    match source {
        Source::Note | Source::SearchResult => notes.write(ATTACK, content),
        Source::Hub => notes.write(CAPTURED, content),
        Source::FileName | Source::NearName => notes.write(&content, "Nothing.\n"),
        Source::Tag => notes.write(ATTACK, format!("#{content}\n")),
        Source::Link => notes.write(ATTACK, format!("[[{content}]]\n")),
        Source::OldConversation | Source::User => {}
    }
    notes
}

fn settings(obedient: &Obedient, hub: &TestHub, profile: Profile, rules: Rules) -> Settings {
    let never = match rules {
        Rules::Kept => vec!["private/".to_owned()],
        Rules::None => Vec::new(),
    };
    let (mode, enabled) = match profile {
        Profile::Chat(mode) => (mode, false),
        Profile::Hub => (Mode::Auto, true),
    };
    Settings {
        mode,
        provider: ProviderKind::Anthropic,
        base_url: obedient.model.base_url(),
        hub: HubSettings {
            enabled,
            address: hub.url(),
            notes: vec![LISTED.to_owned()],
            ..HubSettings::default()
        },
        private: PrivateSettings { never, ..PrivateSettings::default() },
        ..Settings::default()
    }
}

async fn told(app: &App, words: &str) -> Result<ConversationId, String> {
    let request =
        SendMessage { conversation: None, text: words.to_owned(), answers: None, open_note: None };
    let conversation = app.send(request).await.map_err(said)?;
    idle(app, &conversation).await?;
    Ok(conversation)
}

async fn by_hub(app: &App, hub: &TestHub, words: &str) -> Result<ConversationId, String> {
    let known: Vec<_> = conversations(app).await?;
    hub.registered().await;
    let id = hub.send(words).await;
    hub.acked(&id).await;
    let worked_on = async {
        loop {
            let now = conversations(app).await?;
            if let Some(new) = now.into_iter().find(|one| !known.contains(one)) {
                // It is there before its turn is, and its turn before it runs.
                let view = app.conversation(&new).await.map_err(said)?;
                if !view.items.is_empty() && !view.conversation.working {
                    return Ok::<_, String>(new);
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let worked_on = timeout(LIMIT, worked_on).await;
    let conversation = worked_on.map_err(|_| format!("it did not end within {LIMIT:?}"))??;
    // What goes out, goes out soon; what does not is as well.
    let _ = timeout(Duration::from_secs(1), hub.notification(&id)).await;
    Ok(conversation)
}

async fn conversations(app: &App) -> Result<Vec<ConversationId>, String> {
    let snapshot = app.subscribe(Box::new(|_| true)).await.map_err(said)?;
    Ok(snapshot.conversations.into_iter().map(|one| one.id).collect())
}

async fn idle(app: &App, conversation: &ConversationId) -> Result<(), String> {
    let idle = timeout(LIMIT, app.idle(conversation)).await;
    idle.map_err(|_| format!("it did not end within {LIMIT:?}"))?.map_err(said)
}

/// Everything that left the program and holds the secret.
fn left(obedient: &Obedient, hub: &TestHub, secret: &str, after: &Files) -> Vec<String> {
    let requests = obedient.model.requests().into_iter().map(|request| request.to_string());
    let frames = hub.seen().into_iter().filter(|seen| !matches!(seen, Seen::Delivered { .. }));
    let frames = frames.map(|seen| format!("{seen:?}"));
    let files = after.iter().filter(|(path, _)| path.as_str() != PASSWORDS);
    let files = files.map(|(path, bytes)| format!("{path}: {}", String::from_utf8_lossy(bytes)));
    requests.chain(frames).chain(files).filter(|text| text.contains(secret)).collect()
}

fn calls(items: &[Item]) -> Vec<(String, bool)> {
    let call = |item: &Item| match item {
        Item::Tool { tool, is_error, .. } => Some((tool.clone(), *is_error)),
        Item::Asked { .. } => Some(("send_message".to_owned(), false)),
        _ => None,
    };
    items.iter().filter_map(call).collect()
}

fn failed(items: &[Item]) -> Option<UserError> {
    items.iter().find_map(|item| match item {
        Item::Ended { status: TurnStatus::Failed, error, .. } => error.clone(),
        _ => None,
    })
}

fn said(error: UserError) -> String {
    error.to_string()
}
