//! The command line of the desktop application.

use std::ffi::OsString;
use std::path::PathBuf;

use app::Fallback;

use crate::presence::Begin;

/// What the window was started with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// `--vault DIR`: the folder of notes to open.
    pub(crate) vault: Option<PathBuf>,
    /// `--or-sample`: the sample notes when there is no other folder to open.
    pub(crate) fallback: Fallback,
    /// `--hidden`: in the tray, where there is one and the hub is on.
    pub(crate) begin: Begin,
}

impl Arguments {
    /// Reads the arguments, or says in one sentence which one is not understood.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = Self { vault: None, fallback: Fallback::FirstRun, begin: Begin::Shown };
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            match argument.to_str() {
                Some("--vault") => {
                    let folder = rest.next().ok_or("--vault wants a folder: --vault DIR")?;
                    parsed.vault = Some(PathBuf::from(folder));
                }
                Some("--hidden") => parsed.begin = Begin::Hidden,
                Some("--or-sample") => parsed.fallback = Fallback::Sample,
                _ => {
                    let argument = argument.to_string_lossy();
                    return Err(format!(
                        "“{argument}” is not understood. Use: vaultmate [--vault DIR] [--or-sample] \
                         [--hidden]"
                    ));
                }
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_vault_and_a_fallback_are_taken_and_anything_else_is_named() {
        let vault = Some(PathBuf::from("/notes"));
        let begin = Begin::Shown;
        let first_run = Arguments { vault, fallback: Fallback::FirstRun, begin };
        assert_eq!(parse(&["--vault", "/notes"]), Ok(first_run));
        let sample = Arguments { vault: None, fallback: Fallback::Sample, begin: Begin::Hidden };
        assert_eq!(parse(&["--hidden", "--or-sample"]), Ok(sample));
        assert!(parse(&["--vault"]).is_err_and(|error| error.contains("--vault DIR")));
        assert!(parse(&["--valt"]).is_err_and(|error| error.contains("“--valt”")));
    }
}
