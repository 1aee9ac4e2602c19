//! `config.toml`: what the user chose. Edited by hand or by the window; comments are kept.
#![expect(clippy::disallowed_methods, reason = "config.toml is a file of the data directory")]

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use protocol::{PrivateRules, Settings, UserError};
use toml_edit::{DocumentMut, Item, Table};
use vault::{Links, Vault};

use crate::data_dir::{DataDir, trouble, write_private};
use crate::hub_places;

/// The settings in force, and the file they are kept in.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    file: PathBuf,
    current: Arc<RwLock<Current>>,
}

#[derive(Debug, Default)]
struct Current {
    settings: Settings,
    /// What is private; everything while that cannot be read.
    private: PrivateRules,
}

impl Config {
    /// Reads the file. A file that cannot be understood is left as it is, the defaults hold, and
    /// the error says where the mistake is.
    pub(crate) fn load(data: &DataDir) -> (Self, Option<UserError>) {
        let file = data.config_file();
        let (current, problem) = match std::fs::read_to_string(&file) {
            Ok(text) => understood(&file, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (Current::default(), None)
            }
            Err(error) => {
                let current = Current { private: PrivateRules::everything(), ..Current::default() };
                (current, Some(unreadable(&file, &error.to_string())))
            }
        };
        (Self { file, current: Arc::new(RwLock::new(current)) }, problem)
    }

    /// What is kept from models. Rules that cannot be read keep everything.
    pub(crate) fn private_rules(&self) -> PrivateRules {
        self.current.read().unwrap_or_else(PoisonError::into_inner).private.clone()
    }

    /// The settings in force.
    pub(crate) fn get(&self) -> Settings {
        self.current.read().unwrap_or_else(PoisonError::into_inner).settings.clone()
    }

    /// Saves and puts in force. A file that could not be understood is kept beside the new one.
    pub(crate) fn save(&self, settings: Settings) -> Result<(), UserError> {
        // What is saved is told to the window and stands in a file; a key has a place of its own.
        if llm::http::holds_a_secret(&settings.base_url) {
            return Err(UserError::other(
                "The provider's address holds a login or a ?: leave the address alone there, and \
                 paste the key where keys are asked for.",
            ));
        }
        let private = PrivateRules::parse(&settings.private)
            .map_err(|error| UserError::other(error.to_string()))?;
        hub_places::check(&settings.hub)?;
        let mut document = self.document_to_edit()?;
        let fresh = toml_edit::ser::to_document(&settings).map_err(|error| {
            UserError::other(format!("The settings cannot be written: {error}"))
        })?;
        merge(document.as_table_mut(), fresh.as_table());
        write_private(&self.file, document.to_string().as_bytes())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) =
            Current { settings, private };
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

/// Lets a vault be read as the settings say: through which links, and with which folders beside it.
pub(crate) fn let_read(vault: &Vault, settings: &Settings) {
    vault.set_links(if settings.follow_links { Links::Inside } else { Links::Refused });
    vault.set_extra_roots(&settings.extra_roots);
}

/// A file that speaks of private notes and cannot be understood keeps them all private.
fn understood(file: &std::path::Path, text: &str) -> (Current, Option<UserError>) {
    let everything = || PrivateRules::everything();
    match toml_edit::de::from_str::<Settings>(text) {
        Ok(settings) => match PrivateRules::parse(&settings.private) {
            Ok(private) => (Current { settings, private }, None),
            Err(error) => {
                let problem = UserError::other(format!(
                    "{error} Until it is corrected in {}, no model sees any note.",
                    file.display()
                ));
                (Current { settings, private: everything() }, Some(problem))
            }
        },
        Err(error) => {
            let private =
                if text.contains("private") { everything() } else { PrivateRules::default() };
            let current = Current { private, ..Current::default() };
            (current, Some(unreadable(file, &error.to_string())))
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
    use protocol::settings::ExtraRoot;

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
    fn folders_beside_the_vault_may_be_written_by_hand_and_are_saved() {
        let (_dir, data) = data();
        let by_hand = "[[extraRoots]]\nfolder = \"/srv/Recipes\"\n";
        std::fs::write(data.config_file(), by_hand).expect("written");
        let (config, problem) = Config::load(&data);
        let root =
            |folder: &str, name: &str| ExtraRoot { folder: folder.into(), name: name.into() };
        assert_eq!((config.get().extra_roots, problem), (vec![root("/srv/Recipes", "")], None));
        let extra_roots = vec![root("/srv/Recipes", "Recipes"), root("/srv/Work", "Work")];
        config.save(Settings { extra_roots, ..config.get() }).expect("saved");
        assert_eq!(Config::load(&data).0.get(), config.get());
        config.save(Settings { extra_roots: Vec::new(), ..config.get() }).expect("saved");
        assert_eq!(Config::load(&data).0.get().extra_roots, []);
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
