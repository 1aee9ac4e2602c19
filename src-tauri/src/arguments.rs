//! The command line of the desktop application: `--vault DIR` and nothing else.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the window was started with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The folder of notes to open.
    pub(crate) vault: Option<PathBuf>,
}

impl Arguments {
    /// Reads the arguments, or says in one sentence which one is not understood.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            match argument.to_str() {
                Some("--vault") => {
                    let folder = rest.next().ok_or("--vault wants a folder: --vault DIR")?;
                    parsed.vault = Some(PathBuf::from(folder));
                }
                _ => {
                    let argument = argument.to_string_lossy();
                    return Err(format!("“{argument}” is not understood. Use: vaultmate [--vault DIR]"));
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
    fn a_vault_is_taken_and_anything_else_is_named() {
        let vault = Some(PathBuf::from("/notes"));
        assert_eq!(parse(&["--vault", "/notes"]), Ok(Arguments { vault }));
        assert!(parse(&["--vault"]).is_err_and(|error| error.contains("--vault DIR")));
        assert!(parse(&["--valt"]).is_err_and(|error| error.contains("“--valt”")));
    }
}
