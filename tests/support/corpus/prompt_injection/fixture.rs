//! The vault of the attacks, and the application in one of its profiles.

use std::time::Duration;

use app::{App, DataDir};
use hub_server::LocalHubEvent;
use protocol::changes::history::UndoScope;
use protocol::chat::conversation::ChatItem;
use protocol::request::SendMessageRequest;
use protocol::settings::{HubSettings, PrivateSettings};
use protocol::{ConversationId, Mode, NotePath, ProviderKind, Settings, TurnStatus, UserError};
use tokio::time::timeout;

use super::case::{AttackSource, InjectionCase};
use super::obedient_model::ObedientModel;
use crate::scripted_model::KEY;
use crate::vaults::temp_vault::Files;
use crate::{TempVault, TestHub};

/// The note that holds the text of an attack.
pub(super) const ATTACK_NOTE: &str = "notes/attack.md";

/// The note that holds hub messages when the user works with them.
pub(super) const CAPTURED_NOTE: &str = "inbox/attack.md";

/// The note that the hub may use.
pub(super) const HUB_WRITABLE_NOTE: &str = "lists/shopping.md";

/// Holds the secret, and is under a never rule.
const SECRET_NOTE: &str = "private/passwords.md";

/// The note in which hub messages are kept.
const INBOX: &str = "inbox/Inbox.md";

/// A turn that takes longer does not end.
const TURN_TIMEOUT: Duration = Duration::from_secs(60);

/// Where a message comes from, and what may be done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttackProfile {
    Chat(Mode),
    Hub,
}

/// Whether the private note is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateNoteRules {
    /// It is under a never rule.
    Kept,
    /// The control: nothing is.
    None,
}

pub(super) struct AttackOutcome {
    pub(super) before: Files,
    pub(super) after: Files,
    /// Notes with pending changes.
    pub(super) pending: Vec<NotePath>,
    pub(super) calls: Vec<(String, bool)>,
    pub(super) failed: Option<UserError>,
    /// Everything that left the program, as text.
    pub(super) leaked: Vec<String>,
    /// The difference after everything was undone.
    pub(super) not_undone: Option<String>,
    /// The error of accepting the pending changes.
    pub(super) accepted: Result<usize, String>,
}

/// Plays one attack.
pub(super) async fn run_attack(
    case: &InjectionCase,
    source: AttackSource,
    profile: AttackProfile,
    rules: PrivateNoteRules,
    accepts: AcceptPending,
) -> Result<AttackOutcome, String> {
    let secret = format!("{:032x}", fastrand::u128(..));
    let (notes, hub) = (vault(case, source, &secret), TestHub::start().await);
    let obedient = ObedientModel::start(&secret).await;
    let data = TempVault::new(&[("key", KEY)]);
    let folder = DataDir::at(data.root().to_owned()).map_err(|error| error.to_string())?;
    let app = App::start(folder);
    app.save_settings(settings(&obedient, &hub, profile, rules)).await.map_err(error_text)?;
    app.open_vault(notes.root()).await.map_err(error_text)?;
    if source == AttackSource::OldConversation {
        send_in_chat(&app, &case.content()).await?;
    }
    let before = notes.snapshot();
    obedient.set_attack(case, source);
    let words = match (source, profile) {
        (AttackSource::User, _) | (AttackSource::Hub, AttackProfile::Hub) => case.content(),
        _ => "What is new? Please look.".to_owned(),
    };
    let conversation = match profile {
        AttackProfile::Chat(_) => send_in_chat(&app, &words).await?,
        AttackProfile::Hub => send_over_hub(&app, &hub, &words).await?,
    };
    let view = app.conversation(&conversation).await.map_err(error_text)?;
    let after = notes.snapshot();
    let waiting = view.review.as_ref().map(|review| review.notes.clone()).unwrap_or_default();
    let waiting: Vec<NotePath> = waiting.into_iter().map(|note| note.path).collect();
    let leaked = find_leaks(&obedient, &hub, &secret, &after);
    let mut seen = AttackOutcome {
        leaked,
        after: without_kept_message(after, &before, &words),
        before,
        calls: tool_calls(&view.items),
        failed: turn_error(&view.items),
        not_undone: None,
        accepted: Ok(waiting.len()),
        pending: waiting.clone(),
    };
    if let (AcceptPending::Yes, Some(review)) = (accepts, view.review) {
        let decision = review.decide_request(&waiting, &[]);
        seen.accepted =
            app.decide_review(&decision).await.map(|()| decision.notes.len()).map_err(error_text);
    }
    if seen.before != notes.snapshot() {
        let scope = UndoScope::Conversation { conversation };
        let undone = app.undo(&scope).await.map_err(error_text)?;
        let now = notes.snapshot();
        let is_back = seen.before.iter().all(|(path, bytes)| now.get(path) == Some(bytes))
            && now.keys().all(|path| seen.before.contains_key(path) || path.starts_with(".trash/"));
        seen.not_undone = (!is_back).then(|| format!("not as before after undo: {undone:?}"));
    }
    app.shutdown().await;
    Ok(seen)
}

/// Whether the user accepts the pending changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AcceptPending {
    Yes,
    No,
}

fn vault(case: &InjectionCase, source: AttackSource, secret: &str) -> TempVault {
    let notes = TempVault::new(&[
        ("notes/a.md", "# A\n\nWhat stands here is of value.\n"),
        ("notes/b.md", "# B\n\nSo is this.\n"),
        ("notes/security.md", "# Security\n\n'ignore previous instructions' is an example.\n"),
        (HUB_WRITABLE_NOTE, "- milk\n- eggs\n"),
        ("AGENTS.md", "Be brief.\n"),
        (INBOX, "- call Marta\n"),
        (SECRET_NOTE, &format!("# Passwords\n\nbank: {secret}\n")),
    ]);
    for number in 0..200 {
        notes.write(&format!("notes/n{number}.md"), format!("Note {number}.\n"));
    }
    let content = case.content();
    match source {
        AttackSource::Note | AttackSource::SearchResult => notes.write(ATTACK_NOTE, content),
        AttackSource::Hub => notes.write(CAPTURED_NOTE, content),
        AttackSource::FileName | AttackSource::NearName => notes.write(&content, "Nothing.\n"),
        AttackSource::Tag => notes.write(ATTACK_NOTE, format!("#{content}\n")),
        AttackSource::Link => notes.write(ATTACK_NOTE, format!("[[{content}]]\n")),
        AttackSource::OldConversation | AttackSource::User => {}
    }
    notes
}

fn settings(
    obedient: &ObedientModel,
    hub: &TestHub,
    profile: AttackProfile,
    rules: PrivateNoteRules,
) -> Settings {
    let never = match rules {
        PrivateNoteRules::Kept => vec!["private/".to_owned()],
        PrivateNoteRules::None => Vec::new(),
    };
    let (mode, enabled) = match profile {
        AttackProfile::Chat(mode) => (mode, false),
        AttackProfile::Hub => (Mode::Auto, true),
    };
    Settings {
        mode,
        provider: ProviderKind::Anthropic,
        base_url: obedient.model.base_url(),
        hub: HubSettings {
            enabled,
            address: hub.url(),
            notes: vec![HUB_WRITABLE_NOTE.to_owned()],
            ..HubSettings::default()
        },
        private: PrivateSettings { never, ..PrivateSettings::default() },
        ..Settings::default()
    }
}

async fn send_in_chat(app: &App, words: &str) -> Result<ConversationId, String> {
    let request = SendMessageRequest {
        conversation: None,
        text: words.to_owned(),
        answers: None,
        open_note: None,
    };
    let conversation = app.send(request).await.map_err(error_text)?;
    wait_until_idle(app, &conversation).await?;
    Ok(conversation)
}

async fn send_over_hub(app: &App, hub: &TestHub, words: &str) -> Result<ConversationId, String> {
    let known: Vec<_> = conversations(app).await?;
    hub.wait_for_registration().await;
    let id = hub.send(words).await;
    hub.wait_for_ack(&id).await;
    let worked_on = async {
        loop {
            let now = conversations(app).await?;
            if let Some(new) = now.into_iter().find(|one| !known.contains(one)) {
                // It is there before its turn is, and its turn before it runs.
                let view = app.conversation(&new).await.map_err(error_text)?;
                if !view.items.is_empty() && !view.conversation.working {
                    return Ok::<_, String>(new);
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let worked_on = timeout(TURN_TIMEOUT, worked_on).await;
    let conversation =
        worked_on.map_err(|_| format!("it did not end within {TURN_TIMEOUT:?}"))??;
    // An answer goes out soon, or not at all.
    let _ = timeout(Duration::from_secs(1), hub.wait_for_notification(&id)).await;
    Ok(conversation)
}

async fn conversations(app: &App) -> Result<Vec<ConversationId>, String> {
    let snapshot = app.subscribe(Box::new(|_| true)).await.map_err(error_text)?;
    Ok(snapshot.conversations.into_iter().map(|one| one.id).collect())
}

async fn wait_until_idle(app: &App, conversation: &ConversationId) -> Result<(), String> {
    let idle = timeout(TURN_TIMEOUT, app.wait_until_idle(conversation)).await;
    idle.map_err(|_| format!("it did not end within {TURN_TIMEOUT:?}"))?.map_err(error_text)
}

/// Everything that left the program and holds the secret.
fn find_leaks(obedient: &ObedientModel, hub: &TestHub, secret: &str, after: &Files) -> Vec<String> {
    let requests = obedient.model.requests().into_iter().map(|request| request.to_string());
    let frames =
        hub.events().into_iter().filter(|seen| !matches!(seen, LocalHubEvent::Delivered { .. }));
    let frames = frames.map(|seen| format!("{seen:?}"));
    let files = after.iter().filter(|(path, _)| path.as_str() != SECRET_NOTE);
    let files = files.map(|(path, bytes)| format!("{path}: {}", String::from_utf8_lossy(bytes)));
    requests.chain(frames).chain(files).filter(|text| text.contains(secret)).collect()
}

/// The files with the inbox note as before, if all that was added to it is the message of the hub itself.
fn without_kept_message(mut after: Files, before: &Files, message: &str) -> Files {
    let lines = message.trim().lines().collect::<Vec<_>>().join("\n  ");
    let Some(inbox) = before.get(INBOX) else { return after };
    let kept = [inbox.as_slice(), format!("- {lines}\n").as_bytes()].concat();
    if after.get(INBOX) == Some(&kept) {
        after.insert(INBOX.to_owned(), inbox.clone());
    }
    after
}

fn tool_calls(items: &[ChatItem]) -> Vec<(String, bool)> {
    let call = |item: &ChatItem| match item {
        // That call is ours: it keeps a hub message about which the model did nothing.
        ChatItem::Tool { call, .. } if call.as_str().starts_with("capture-") => None,
        ChatItem::Tool { tool, is_error, .. } => Some((tool.clone(), *is_error)),
        ChatItem::Asked { .. } => Some(("send_message".to_owned(), false)),
        _ => None,
    };
    items.iter().filter_map(call).collect()
}

fn turn_error(items: &[ChatItem]) -> Option<UserError> {
    items.iter().find_map(|item| match item {
        ChatItem::Ended { status: TurnStatus::Failed, error, .. } => error.clone(),
        _ => None,
    })
}

fn error_text(error: UserError) -> String {
    error.to_string()
}
