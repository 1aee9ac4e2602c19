//! `serve`: works on hub messages without a window, until it is stopped.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use app::{App, DataDir};
use clap::Args;
use protocol::{
    AppEvent, Conversation, ConversationId, ErrorCode, HubState, HubStatus, NumberedEvent,
    UserError,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::terminal::eprint_line;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Path to your vault [default: the last one opened].
    #[arg(long, value_name = "DIR")]
    vault: Option<PathBuf>,
}

/// Opens the vault and stays until SIGINT or SIGTERM.
pub(crate) async fn run(data: DataDir, arguments: ServeArgs) -> Result<ExitCode, UserError> {
    let folder = arguments.vault.or_else(|| data.last_vault()).ok_or_else(|| {
        UserError::new(
            ErrorCode::Vault,
            "No vault given, and none was opened before. Pass --vault DIR.",
        )
    })?;
    let mut terminate = signal(SignalKind::terminate())
        .map_err(|error| UserError::other(format!("Cannot listen for signals: {error}.")))?;
    let app = App::serve(data);
    let told = Mutex::new(PrintedLines::default());
    let snapshot = app
        .subscribe(Box::new(move |batch| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            batch.into_iter().filter_map(|event| told.event_line(event)).for_each(eprint_line);
            true
        }))
        .await?;
    snapshot.settings_trouble.iter().for_each(|trouble| eprint_line(&trouble.message));
    snapshot.problems.iter().for_each(eprint_line);
    app.open_vault(&folder).await?;
    eprint_line(format_args!("Serving {}. Stop with Ctrl+C.", folder.display()));
    if !app.is_hub_enabled() {
        eprint_line("The hub is off. Turn it on in Settings, or set VAULTMATE_HUB_URL.");
    }
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    let left = app.shutdown().await;
    if left > 0 {
        eprint_line(format_args!(
            "{left} tasks didn’t finish in time and will continue at the next start."
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The line printed last for each thing: a line comes when something changes, and not again before it does.
#[derive(Debug, Default)]
struct PrintedLines {
    hub: Option<String>,
    problem: Option<String>,
    settings: Option<String>,
    questions: HashMap<ConversationId, String>,
}

impl PrintedLines {
    /// The line for an event, if there is something new in it.
    fn event_line(&mut self, NumberedEvent { event, .. }: NumberedEvent) -> Option<String> {
        match event {
            AppEvent::HubChanged { hub } => {
                let line = hub_line(hub)?;
                if_changed(&mut self.hub, Some(line))
            }
            AppEvent::Problem { error } => if_changed(&mut self.problem, Some(error.to_string())),
            AppEvent::SettingsChanged { trouble, .. } => {
                if_changed(&mut self.settings, trouble.map(|trouble| trouble.message))
            }
            AppEvent::ConversationChanged { conversation } => self.question_line(conversation),
            _ => None,
        }
    }

    fn question_line(&mut self, conversation: Conversation) -> Option<String> {
        let Some(question) = conversation.waiting_question else {
            self.questions.remove(&conversation.id);
            return None;
        };
        let line = format!("Waiting for an answer in “{}”: {question}", conversation.title);
        let before = self.questions.insert(conversation.id, question.clone());
        (before.as_ref() != Some(&question)).then_some(line)
    }
}

/// The text, if it is another one than the one before.
fn if_changed(before: &mut Option<String>, now: Option<String>) -> Option<String> {
    if *before == now {
        return None;
    }
    before.clone_from(&now);
    now
}

/// On the way there is nothing to tell: what was wrong last still is.
fn hub_line(hub: HubStatus) -> Option<String> {
    match (hub.trouble, hub.state) {
        (Some(trouble), _) => Some(trouble),
        (None, HubState::Online) => Some("Connected to the hub.".to_owned()),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(state: HubState, trouble: Option<&str>) -> NumberedEvent {
        let trouble = trouble.map(str::to_owned);
        let hub = HubStatus { state, trouble, retry_at: None, ignored: 0 };
        NumberedEvent { seq: 1, event: AppEvent::HubChanged { hub } }
    }

    #[test]
    fn a_line_comes_when_something_changes_and_not_again() {
        let (away, busy) = (Some("The hub does not answer."), Some("The hub is busy."));
        let mut told = PrintedLines::default();
        let lines: Vec<Option<String>> = [
            (HubState::Connecting, None),
            (HubState::Waiting, away),
            (HubState::Connecting, away),
            (HubState::Waiting, away),
            (HubState::Waiting, busy),
            (HubState::Online, None),
            (HubState::Online, None),
            (HubState::Waiting, away),
        ]
        .into_iter()
        .map(|(state, trouble)| told.event_line(hub(state, trouble)))
        .collect();
        let printed: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
        let expected = [
            "The hub does not answer.",
            "The hub is busy.",
            "Connected to the hub.",
            "The hub does not answer.",
        ];
        assert_eq!(printed, expected);
    }
}
