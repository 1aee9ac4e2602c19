//! `config.toml`: what the user chose. Edited by hand or by the window; comments are kept.
#![expect(clippy::disallowed_methods, reason = "config.toml is a file of the data directory")]

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use protocol::{Settings, UserError};
use toml_edit::{DocumentMut, Item, Table};

use crate::data_dir::{DataDir, trouble, write_private};

/// The settings in force, and the file they are kept in.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    file: PathBuf,
    current: Arc<RwLock<Settings>>,
}

impl Config {
    /// Reads the file. A file that cannot be understood is left as it is, the defaults hold, and
    /// the error says where the mistake is.
    pub(crate) fn load(data: &DataDir) -> (Self, Option<UserError>) {
        let file = data.config_file();
        let (settings, problem) = match std::fs::read_to_string(&file) {
            Ok(text) => match toml_edit::de::from_str::<Settings>(&text) {
                Ok(settings) => (settings, None),
                Err(error) => (Settings::default(), Some(unreadable(&file, &error.to_string()))),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (Settings::default(), None)
            }
            Err(error) => (Settings::default(), Some(unreadable(&file, &error.to_string()))),
        };
        (Self { file, current: Arc::new(RwLock::new(settings)) }, problem)
    }

    /// The settings in force.
    pub(crate) fn get(&self) -> Settings {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Saves and puts in force. A file that could not be understood is kept beside the new one.
    pub(crate) fn save(&self, settings: Settings) -> Result<(), UserError> {
        let mut document = self.document_to_edit()?;
        let fresh = toml_edit::ser::to_document(&settings).map_err(|error| {
            UserError::other(format!("The settings cannot be written: {error}"))
        })?;
        merge(document.as_table_mut(), fresh.as_table());
        write_private(&self.file, document.to_string().as_bytes())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    fn document_to_edit(&self) -> Result<DocumentMut, UserError> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let readable = toml_edit::de::from_str::<Settings>(&text).is_ok();
        match text.parse::<DocumentMut>() {
            Ok(document) if readable => Ok(document),
            _ => {
                let kept = self.file.with_extension("toml.broken");
                std::fs::rename(&self.file, &kept)
                    .map_err(|error| trouble("keep the broken file as", &kept, &error))?;
                Ok(DocumentMut::new())
            }
        }
    }
}

fn unreadable(file: &std::path::Path, why: &str) -> UserError {
    let why = why.trim().lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    UserError::other(format!(
        "The settings in {} cannot be read ({}). Everything runs on the defaults: correct the \
         file, or save the settings anew (the old file is kept as config.toml.broken).",
        file.display(),
        why.join(" ")
    ))
}

fn merge(into: &mut Table, fresh: &Table) {
    for (key, value) in fresh {
        match (into.get_mut(key), value) {
            (Some(Item::Table(old)), Item::Table(new)) => merge(old, new),
            (Some(Item::Value(old)), Item::Value(new)) => {
                let decor = old.decor().clone();
                *old = new.clone();
                *old.decor_mut() = decor;
            }
            _ => {
                into.insert(key, value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Mode;

    fn data() -> (tempfile::TempDir, DataDir) {
        let dir = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(dir.path().to_owned()).expect("a data directory");
        (dir, data)
    }

    #[test]
    fn saving_keeps_the_comments_of_a_hand_edited_file() {
        let (_dir, data) = data();
        std::fs::write(data.config_file(), "# mine\nmode = \"auto\" # careful\n").expect("written");
        let (config, problem) = Config::load(&data);
        assert_eq!((config.get().mode, problem), (Mode::Auto, None));
        config.save(Settings { mode: Mode::ReadOnly, ..config.get() }).expect("saved");
        let text = std::fs::read_to_string(data.config_file()).expect("there");
        assert!(text.starts_with("# mine\nmode = \"read_only\" # careful\n"), "{text}");
        assert_eq!(Config::load(&data).0.get(), config.get());
    }

    #[test]
    fn a_broken_file_is_named_left_alone_and_kept_when_settings_are_saved() {
        let (_dir, data) = data();
        std::fs::write(data.config_file(), "mode = [oops").expect("written");
        let (config, problem) = Config::load(&data);
        let problem = problem.expect("it is told");
        assert!(problem.message.contains("config.toml"), "{problem}");
        assert_eq!(std::fs::read_to_string(data.config_file()).expect("there"), "mode = [oops");
        config.save(Settings::default()).expect("saved");
        let kept = data.config_file().with_extension("toml.broken");
        assert_eq!(std::fs::read_to_string(kept).expect("kept"), "mode = [oops");
        assert_eq!(Config::load(&data).1, None);
    }
}
