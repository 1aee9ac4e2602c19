//! Opens notes in other programs: the one that the user has for such files, or Obsidian.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// A program that has not said after this time whether it opened something has opened it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The system's way to open things with the programs that the user chose.
#[derive(Debug, Clone)]
pub struct ExternalOpener {
    program: OsString,
}

impl ExternalOpener {
    /// Opens files with the program that the operating system has for this.
    #[must_use]
    pub fn system() -> Self {
        let program = match std::env::consts::OS {
            "macos" => "open",
            "windows" => "explorer",
            _ => "xdg-open",
        };
        Self { program: program.into() }
    }

    /// Opens a file, whose path is absolute, with the user's program for such files. An error says
    /// that there is none, or that it refused.
    pub async fn open_file(&self, file: &Path) -> io::Result<()> {
        self.open(file.as_os_str()).await
    }

    /// Has Obsidian open a file, whose path is absolute, in the vault that holds it.
    pub async fn open_in_obsidian(&self, file: &Path) -> io::Result<()> {
        self.open(OsStr::new(&obsidian_url(file))).await
    }

    async fn open(&self, what: &OsStr) -> io::Result<()> {
        let mut command = Command::new(&self.program);
        command.arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = command.spawn()?;
        let Ok(ended) = tokio::time::timeout(OPEN_TIMEOUT, running.wait()).await else {
            return Ok(());
        };
        if ended?.success() {
            Ok(())
        } else {
            Err(io::Error::other("no program for it could be started"))
        }
    }
}

/// The URL with which Obsidian opens a file by its path (Obsidian's documentation, "Obsidian URI").
fn obsidian_url(file: &Path) -> String {
    let path = file.to_string_lossy();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let written = path.bytes().map(|byte| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    format!("obsidian://open?path={}", written.collect::<String>())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these are no notes")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A program that writes down what it is given, and ends with `code`.
    fn opener(folder: &Path, code: u8) -> ExternalOpener {
        let program = folder.join("opener");
        let told = folder.join("told");
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > '{}'\nexit {code}\n",
            told.display()
        );
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made a program");
        ExternalOpener { program: program.into() }
    }

    #[tokio::test]
    async fn a_program_is_given_the_file_as_one_word_and_obsidian_its_url() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = opener(folder.path(), 0);
        let told = || fs::read_to_string(folder.path().join("told")).expect("told");
        outside.open_file(Path::new("/home/a/My notes/$(x) & y.md")).await.expect("opened");
        assert_eq!(told(), "1\n/home/a/My notes/$(x) & y.md\n");
        outside.open_in_obsidian(Path::new("/v/Käse & Brot#1.md")).await.expect("opened");
        assert_eq!(told(), "1\nobsidian://open?path=%2Fv%2FK%C3%A4se%20%26%20Brot%231.md\n");
    }

    #[tokio::test]
    async fn that_nothing_could_be_opened_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = opener(folder.path(), 3).open_file(Path::new("/v/a.md")).await;
        assert!(refused.is_err(), "the program refused");
        let nobody = ExternalOpener { program: folder.path().join("nobody").into() };
        assert!(nobody.open_file(Path::new("/v/a.md")).await.is_err(), "there is no program");
    }
}
