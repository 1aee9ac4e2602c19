//! `export`: conversations as a file, to be read or to be worked on by programs.

use std::path::PathBuf;
use std::process::ExitCode;

use app::{DataDir, ExistingFile, ExportJob};
use clap::{Args, ValueEnum};
use protocol::UserError;
use protocol::chat::export::ExportFormat;

use crate::terminal::print_line;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Path to your vault (the folder with your notes).
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// Export only the conversation with this ID [default: all].
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Output format [default: from the file extension].
    #[arg(long, value_enum)]
    format: Option<ExportFormatArg>,
    /// File to create; an existing file is never overwritten.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormatArg {
    Markdown,
    Json,
}

/// Writes the file and says what is in it.
pub(crate) async fn run(data: DataDir, arguments: ExportArgs) -> Result<ExitCode, UserError> {
    let named = match arguments.file.extension().and_then(|ending| ending.to_str()) {
        Some("json") => Some(ExportFormatArg::Json),
        Some("md" | "markdown") => Some(ExportFormatArg::Markdown),
        _ => None,
    };
    let format = match arguments.format.or(named) {
        Some(ExportFormatArg::Json) => ExportFormat::Json,
        Some(ExportFormatArg::Markdown) => ExportFormat::Markdown,
        None => {
            return Err(UserError::other(
                "Cannot tell the format from the file name. Use a .md or .json file, or pass \
                 --format.",
            ));
        }
    };
    let export = ExportJob {
        conversation: arguments.conversation.map(Into::into),
        format,
        file: arguments.file,
        existing: ExistingFile::Kept,
    };
    let exported = app::export(data, &arguments.vault, &export).await?;
    let conversations = match exported.conversations {
        1 => "1 conversation".to_owned(),
        more => format!("{more} conversations"),
    };
    print_line(format_args!("Wrote {conversations} to {}.", exported.file));
    Ok(ExitCode::SUCCESS)
}
