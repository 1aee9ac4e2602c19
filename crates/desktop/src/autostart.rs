//! Whether the program is started when the user logs in: a file in the user's autostart folder
//! (Desktop Application Autostart Specification), written whole and removed by us alone.
#![expect(clippy::disallowed_methods, reason = "the file belongs to the desktop, not to the notes")]

use std::path::{Path, PathBuf};
use std::{fs, io};

use protocol::desktop::AutostartMode;

/// The program's place among what is started at login.
#[derive(Debug, Clone)]
pub struct Autostart {
    file: PathBuf,
    program: PathBuf,
}

impl Autostart {
    /// For this program and user; `None` where the system does not say which those are.
    #[must_use]
    pub fn for_this_program() -> Option<Self> {
        // A packed program runs from a place that is gone when it ends.
        let packed = std::env::var_os("APPIMAGE").map(PathBuf::from);
        let program = packed.or_else(|| std::env::current_exe().ok())?;
        Some(Self::new(&dirs::config_dir()?, &program))
    }

    /// For the program at `program`; `config` is the user's folder of settings (`~/.config`).
    fn new(config: &Path, program: &Path) -> Self {
        let file = config.join("autostart").join("io.vaultmate.desktop.desktop");
        Self { file, program: program.to_owned() }
    }

    /// The action by the present file, whoever wrote it. A file that names another program does not
    /// start this one.
    #[must_use]
    pub fn state(&self) -> AutostartMode {
        if self.is_on() { AutostartMode::Starts } else { AutostartMode::StaysOff }
    }

    /// Has this happen from now on; started at login, the program goes into the tray where there is
    /// one.
    pub fn set(&self, state: AutostartMode) -> io::Result<()> {
        match state {
            AutostartMode::Starts => self.turn_on(),
            AutostartMode::StaysOff => self.turn_off(),
        }
    }

    fn is_on(&self) -> bool {
        let Ok(text) = fs::read_to_string(&self.file) else { return false };
        let value = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            lines.find(|(key, _)| key.trim() == wanted).map(|(_, value)| value.trim())
        };
        let is_off =
            value("Hidden") == Some("true") || value("X-GNOME-Autostart-enabled") == Some("false");
        let starts_us =
            value("Exec").is_some_and(|exec| exec.starts_with(&quote_exec(&self.program)));
        !is_off && starts_us
    }

    fn turn_on(&self) -> io::Result<()> {
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Vaultmate\nExec={} --hidden\nTerminal=false\n",
            quote_exec(&self.program)
        );
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let temporary = self.file.with_extension("tmp");
        fs::write(&temporary, entry)?;
        fs::rename(&temporary, &self.file)
    }

    fn turn_off(&self) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// A program as `Exec` names it (Desktop Entry Specification, "The Exec key"): in quotes, with
/// special characters escaped; each backslash twice, because values escape them too.
fn quote_exec(program: &Path) -> String {
    let mut out = String::from("\"");
    for c in program.to_string_lossy().chars() {
        match c {
            '\\' => out.push_str("\\\\\\\\"),
            '"' | '`' | '$' => {
                out.push_str("\\\\");
                out.push(c);
            }
            '%' => out.push_str("%%"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_the_file_says() {
        let config = tempfile::tempdir().expect("a folder");
        let login = Autostart::new(config.path(), Path::new("/opt/My Notes/vaultmate"));
        assert!(!login.is_on());
        login.turn_off().expect("nothing to do");
        login.turn_on().expect("written");
        login.turn_on().expect("written again");
        assert!(login.is_on());
        let entry = fs::read_to_string(&login.file).expect("there");
        assert!(entry.contains("\nExec=\"/opt/My Notes/vaultmate\" --hidden\n"), "{entry}");

        let elsewhere = Autostart::new(config.path(), Path::new("/usr/bin/vaultmate"));
        assert!(!elsewhere.is_on(), "another program is started");
        for switch in ["Hidden=true\n", "X-GNOME-Autostart-enabled=false\n"] {
            fs::write(&login.file, format!("{entry}{switch}")).expect("written");
            assert!(!login.is_on(), "switched off elsewhere: {switch}");
        }
        login.turn_on().expect("written");
        assert!(login.is_on());
        login.turn_off().expect("removed");
        assert!(!login.is_on() && !login.file.exists());
    }

    #[test]
    fn no_path_can_smuggle_a_second_command_into_the_entry() {
        assert_eq!(
            quote_exec(Path::new("/a b/$(x)`y`\"z\"%f\\")),
            r#""/a b/\\$(x)\\`y\\`\\"z\\"%%f\\\\""#
        );
    }

    #[test]
    fn a_folder_that_takes_no_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config");
        fs::write(&file, "not a folder").expect("written");
        assert!(Autostart::new(&file, Path::new("/vaultmate")).turn_on().is_err());
    }
}
