//! `serve`: works on hub messages without a window, until it is stopped.

use std::path::PathBuf;
use std::process::ExitCode;

use app::{App, DataDir};
use clap::Args;
use protocol::{AppEvent, ErrorCode, HubState, HubStatus, Numbered, UserError};
use tokio::signal::unix::{SignalKind, signal};

use crate::terminal::note;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of notes; the one that was open last when it is left out.
    #[arg(long, value_name = "DIR")]
    vault: Option<PathBuf>,
}

/// Opens the vault and stays until SIGINT or SIGTERM.
pub(crate) async fn run(data: DataDir, arguments: Arguments) -> Result<ExitCode, UserError> {
    let folder = arguments.vault.or_else(|| data.last_vault()).ok_or_else(|| {
        UserError::new(ErrorCode::Vault, "Which folder of notes? Name it with --vault DIR.")
    })?;
    let mut terminate = signal(SignalKind::terminate())
        .map_err(|error| UserError::other(format!("Cannot listen for signals: {error}.")))?;
    let app = App::serve(data);
    let snapshot = app
        .subscribe(Box::new(|batch| {
            batch.into_iter().for_each(report);
            true
        }))
        .await?;
    snapshot.settings_trouble.iter().for_each(|trouble| note(&trouble.message));
    snapshot.problems.iter().for_each(note);
    app.open_vault(&folder).await?;
    note(format_args!("Serving {}. Stop with Ctrl+C.", folder.display()));
    if !app.wants_hub() {
        note("The hub is off: switch it on in Settings, or set VAULTMATE_HUB_URL.");
    }
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    let left = app.shutdown().await;
    if left > 0 {
        note(format_args!(
            "{left} tasks did not end in time; what they were doing goes on at the next start."
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn report(numbered: Numbered) {
    match numbered.event {
        AppEvent::HubChanged { hub } => report_hub(&hub),
        AppEvent::Problem { error } => note(error),
        AppEvent::SettingsChanged { trouble: Some(trouble), .. } => note(trouble.message),
        AppEvent::ConversationChanged { conversation } => {
            if let Some(question) = conversation.waiting_question {
                note(format_args!("Waiting for an answer in “{}”: {question}", conversation.title));
            }
        }
        _ => {}
    }
}

fn report_hub(hub: &HubStatus) {
    match (&hub.trouble, hub.state) {
        (Some(trouble), _) => note(trouble),
        (None, HubState::Online) => note("Online: the hub knows us."),
        (None, _) => {}
    }
}
