//! `vaultmate-cli`: the assistant without a window. `ask` once, `serve` the hub, or run a `hub`.

mod adopt;
mod ask;
mod export;
mod hub;
mod serve;
mod stop_signal;
mod terminal;

use std::process::ExitCode;

use app::DataDir;
use clap::{Parser, Subcommand};
use protocol::{ErrorCode, UserError};

/// Ask questions about your Markdown notes, and change them, from the terminal.
#[derive(Debug, Parser)]
#[command(name = "vaultmate-cli", version, about)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Ask a question or make a change.
    Ask(ask::AskArgs),
    /// Process hub messages without a window.
    Serve(serve::ServeArgs),
    /// Export conversations to a Markdown or JSON file.
    Export(export::ExportArgs),
    /// Give a vault that was moved to another disk or restored its history back.
    Adopt(adopt::AdoptArgs),
    /// Run a local message hub, or send a message to one.
    Hub(hub::HubArgs),
}

fn main() -> ExitCode {
    app::keep_memory_to_itself();
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(cli.command)),
        Err(error) => Err(UserError::other(format!("Cannot start: {error}."))),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            terminal::eprint_line(&error);
            exit_code(error.code)
        }
    }
}

async fn run(command: CliCommand) -> Result<ExitCode, UserError> {
    match command {
        CliCommand::Ask(arguments) => {
            let data = DataDir::locate()?;
            let _log = app::start_log(&data);
            ask::run(data, arguments).await
        }
        CliCommand::Serve(arguments) => {
            let data = DataDir::locate()?;
            let _log = app::start_log(&data);
            serve::run(data, arguments).await
        }
        CliCommand::Export(arguments) => {
            let data = DataDir::locate()?;
            let _log = app::start_log(&data);
            export::run(data, arguments).await
        }
        CliCommand::Adopt(arguments) => adopt::run(&DataDir::locate()?, &arguments),
        CliCommand::Hub(arguments) => hub::run(arguments).await,
    }
}

/// 3 when another Vaultmate holds the vault, 1 for every other failure.
fn exit_code(code: ErrorCode) -> ExitCode {
    if code == ErrorCode::Busy { ExitCode::from(3) } else { ExitCode::FAILURE }
}
