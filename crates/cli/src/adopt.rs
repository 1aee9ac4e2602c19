//! `adopt`: a vault that was moved to another disk, or restored, gets its history again.

use std::path::PathBuf;
use std::process::ExitCode;

use app::DataDir;
use clap::Args;
use protocol::UserError;

use crate::terminal::print_line;

/// Arguments of `adopt`.
#[derive(Debug, Args)]
pub(crate) struct AdoptArgs {
    /// Path to your vault (the folder with your notes), as it is now.
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// Path that the vault had before.
    #[arg(long, value_name = "OLD")]
    from: PathBuf,
}

/// Moves the history and says so.
pub(crate) fn run(data: &DataDir, arguments: &AdoptArgs) -> Result<ExitCode, UserError> {
    app::adopt(data, &arguments.vault, &arguments.from)?;
    print_line(format_args!(
        "{} has the history of the vault that was at {}.",
        arguments.vault.display(),
        arguments.from.display()
    ));
    Ok(ExitCode::SUCCESS)
}
