//! `export`: conversations as a file, to be read or to be worked on by programs.

use std::path::PathBuf;
use std::process::ExitCode;

use app::{DataDir, Existing, Export};
use clap::{Args, ValueEnum};
use protocol::UserError;
use protocol::export::ExportFormat;

use crate::terminal::say;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of notes.
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// One conversation by its id; all of them when it is left out.
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// How they are written; the file's name says it when it is left out.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write; one that is there stays.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

/// Writes the file and says what is in it.
pub(crate) async fn run(data: DataDir, arguments: Arguments) -> Result<ExitCode, UserError> {
    let named = match arguments.file.extension().and_then(|ending| ending.to_str()) {
        Some("json") => Some(Format::Json),
        Some("md" | "markdown") => Some(Format::Markdown),
        _ => None,
    };
    let format = match arguments.format.or(named) {
        Some(Format::Json) => ExportFormat::Json,
        Some(Format::Markdown) => ExportFormat::Markdown,
        None => {
            return Err(UserError::other(
                "How shall it be written? Name a file that ends with .md or .json, or say \
                 --format markdown or --format json.",
            ));
        }
    };
    let export = Export {
        conversation: arguments.conversation.map(Into::into),
        format,
        file: arguments.file,
        existing: Existing::Kept,
    };
    let exported = app::export(data, &arguments.vault, &export).await?;
    let conversations = match exported.conversations {
        1 => "1 conversation".to_owned(),
        more => format!("{more} conversations"),
    };
    say(format_args!("Wrote {conversations} to {}.", exported.file));
    Ok(ExitCode::SUCCESS)
}
