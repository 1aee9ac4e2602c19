//! The command line of the desktop application.

use std::ffi::OsString;
use std::path::PathBuf;

use app::Fallback;

use crate::lifecycle::InitialVisibility;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
An assistant for a folder of Markdown notes.

Usage: vaultmate [--vault DIR] [--or-sample] [--hidden]

Options:
  --vault DIR   Open this vault (a folder with notes)
  --or-sample   Open the sample notes if there is no vault to open
  --hidden      Start in the system tray, if there is one and the hub is on
  --help        Show this help
  --version     Show the version

See also: vaultmate-cli --help
";

/// The command line, parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// Open the window.
    Open(LaunchArgs),
    /// Print the help and end.
    Help,
    /// Print the version and end.
    Version,
}

/// The options with which the window is opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LaunchArgs {
    /// `--vault DIR`: the vault to open.
    pub(crate) vault: Option<PathBuf>,
    /// `--or-sample`: open the sample notes if there is no other folder to open.
    pub(crate) fallback: Fallback,
    /// `--hidden`: start in the tray, if there is one and the hub is on.
    pub(crate) begin: InitialVisibility,
}

impl Invocation {
    /// Reads the arguments behind the program's name. `--help` and `--version` win over all options
    /// behind them. An unknown argument is an error whose text names it.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = LaunchArgs {
            vault: None,
            fallback: Fallback::FirstRun,
            begin: InitialVisibility::Shown,
        };
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--version" | "-V") => return Ok(Self::Version),
                Some("--vault") => {
                    let folder = rest.next().ok_or("--vault needs a folder: --vault DIR")?;
                    parsed.vault = Some(PathBuf::from(folder));
                }
                Some("--hidden") => parsed.begin = InitialVisibility::Hidden,
                Some("--or-sample") => parsed.fallback = Fallback::Sample,
                _ => {
                    let argument = argument.to_string_lossy();
                    return Err(format!(
                        "“{argument}” isn’t an option of vaultmate. `vaultmate --help` lists the options."
                    ));
                }
            }
        }
        Ok(Self::Open(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Invocation, String> {
        Invocation::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_vault_and_a_fallback_are_taken_and_anything_else_is_named() {
        let vault = Some(PathBuf::from("/notes"));
        let begin = InitialVisibility::Shown;
        let first_run = LaunchArgs { vault, fallback: Fallback::FirstRun, begin };
        assert_eq!(parse(&["--vault", "/notes"]), Ok(Invocation::Open(first_run)));
        let sample = LaunchArgs {
            vault: None,
            fallback: Fallback::Sample,
            begin: InitialVisibility::Hidden,
        };
        assert_eq!(parse(&["--hidden", "--or-sample"]), Ok(Invocation::Open(sample)));
        assert!(parse(&["--vault"]).is_err_and(|error| error.contains("--vault DIR")));
        assert!(parse(&["--valt"]).is_err_and(|error| error.contains("“--valt”")));
    }

    #[test]
    fn help_and_version_are_understood_and_the_help_lists_every_option() {
        for help in ["--help", "-h"] {
            assert_eq!(parse(&["--hidden", help]), Ok(Invocation::Help));
        }
        assert_eq!(parse(&["--version"]), Ok(Invocation::Version));
        for option in ["--vault DIR", "--or-sample", "--hidden", "--help", "--version"] {
            assert!(HELP.contains(option), "{option}");
        }
    }
}
