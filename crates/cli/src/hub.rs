//! `hub`: a small hub on this computer; `hub send`: a message through it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use hub_server::{
    DeliveryReport, InputMethod, LocalHub, LocalHubEvent, ReportsWanted, SendProblem, Token,
};
use protocol::UserError;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::stop_signal::StopSignal;
use crate::terminal::{eprint_line, print_line};

/// How the process ends when no client has taken the message.
const EXIT_NOT_TAKEN: u8 = 5;

/// Arguments of `hub`.
#[derive(Debug, Args)]
pub(crate) struct HubArgs {
    #[command(subcommand)]
    command: Option<HubCommand>,
    #[command(flatten)]
    endpoint: HubEndpointArgs,
}

/// Where the hub is, and its token.
#[derive(Debug, Args)]
struct HubEndpointArgs {
    /// Port to listen on (127.0.0.1 only).
    #[arg(long, default_value_t = 9473, global = true)]
    port: u16,
    /// File with the token that clients must send, readable only by you. Without it,
    /// VAULTMATE_HUB_TOKEN is used if it is set.
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
    /// Accepted so that it can be refused with a message.
    #[arg(long, hide = true, global = true, num_args = 0..=1, default_missing_value = "")]
    token: Option<String>,
}

impl HubEndpointArgs {
    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    fn token(&self) -> Result<Option<Token>, UserError> {
        if self.token.is_some() {
            return Err(UserError::other(
                "A token on the command line can be read by every program on this computer. Set \
                 VAULTMATE_HUB_TOKEN, or name a file with --token-file FILE.",
            ));
        }
        app::hub_token(self.token_file.as_deref())
    }
}

#[derive(Debug, Subcommand)]
enum HubCommand {
    /// Send a message to the connected client, or to NAME with "NAME: text"; ends with exit code 5
    /// if no client takes it.
    Send {
        /// Mark the message as spoken.
        #[arg(long)]
        voice: bool,
        /// Keep running and print replies.
        #[arg(long)]
        wait: bool,
        /// The message.
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
    },
}

/// Runs the hub until it is stopped, or sends one message.
pub(crate) async fn run(arguments: HubArgs) -> Result<ExitCode, UserError> {
    match &arguments.command {
        None => run_hub(&arguments.endpoint).await,
        Some(HubCommand::Send { voice, wait, text }) => {
            let how = if *voice { InputMethod::Voice } else { InputMethod::Text };
            let wait = if *wait { ReportsWanted::Responses } else { ReportsWanted::Acceptance };
            send(&arguments.endpoint, &text.join(" "), how, wait).await
        }
    }
}

async fn run_hub(endpoint: &HubEndpointArgs) -> Result<ExitCode, UserError> {
    let mut stop = StopSignal::listen()?;
    let hub = LocalHub::bind(endpoint.address(), endpoint.token()?).await.map_err(|error| {
        UserError::other(format!(
            "The hub can’t listen on {}: {error}. Choose another port with --port.",
            endpoint.address()
        ))
    })?;
    eprint_line(format_args!("A hub listens on ws://{}. Stop with Ctrl+C.", hub.address()));
    let mut seen = hub.events();
    let cancel = CancellationToken::new();
    let running = hub.run(cancel.clone());
    tokio::pin!(running);
    tokio::select! {
        () = &mut running => return Ok(ExitCode::SUCCESS),
        () = print_hub_events(&mut seen) => {}
        () = stop.received() => {}
    }
    // Its clients are told that it goes.
    cancel.cancel();
    running.await;
    Ok(ExitCode::SUCCESS)
}

async fn print_hub_events(seen: &mut tokio::sync::broadcast::Receiver<LocalHubEvent>) {
    loop {
        match seen.recv().await {
            Ok(event) => print_line(event_line(&event)),
            Err(RecvError::Lagged(missed)) => eprint_line(format_args!("({missed} lines skipped)")),
            Err(RecvError::Closed) => return,
        }
    }
}

fn event_line(event: &LocalHubEvent) -> String {
    match event {
        LocalHubEvent::Registered { name } => format!("{name} connected"),
        LocalHubEvent::Declined { name, code } => format!("{name} was declined: {code}"),
        LocalHubEvent::Left { name, .. } => {
            format!("{} disconnected", name.as_deref().unwrap_or("a client"))
        }
        LocalHubEvent::Delivered { to, text, .. } => format!("to {to}: {text}"),
        LocalHubEvent::Acked { by, .. } => format!("{by} acknowledged"),
        LocalHubEvent::Rejected { by, reason, .. } => format!("{by} rejected: {reason}"),
        LocalHubEvent::Undelivered { reason } => format!("not delivered: {reason}"),
        LocalHubEvent::Notified { by, notice, .. } => {
            format!("{by}: {} {}", notice.title, notice.body)
        }
        LocalHubEvent::Shown { notice } => format!("shown: {} {}", notice.title, notice.body),
        other => format!("{other:?}"),
    }
}

async fn send(
    endpoint: &HubEndpointArgs,
    text: &str,
    how: InputMethod,
    wait: ReportsWanted,
) -> Result<ExitCode, UserError> {
    let told = |problem: SendProblem| UserError::other(problem.to_string());
    let token = endpoint.token()?;
    let mut reports = hub_server::send(endpoint.address(), token.as_ref(), text, how, wait)
        .await
        .map_err(told)?;
    let mut code = ExitCode::SUCCESS;
    while let Some(report) = reports.next().await {
        match report.map_err(told)? {
            DeliveryReport::Delivered { to, .. } => print_line(format_args!("delivered to {to}")),
            DeliveryReport::Acked { by } => print_line(format_args!("{by} acknowledged")),
            DeliveryReport::Rejected { by, reason } => {
                eprint_line(format_args!("{by} rejected: {reason}"))
            }
            DeliveryReport::Notified { notice, .. } => {
                print_line(format_args!("{}: {}", notice.title, notice.body))
            }
            DeliveryReport::Undelivered { reason } => {
                eprint_line(reason);
                code = ExitCode::from(EXIT_NOT_TAKEN);
            }
            other => print_line(format_args!("{other:?}")),
        }
    }
    Ok(code)
}
