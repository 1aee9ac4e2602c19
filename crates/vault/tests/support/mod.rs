//! A real vault and a ledger in memory.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part, and fails where it cannot go on"
)]

pub mod stops;
pub mod watched;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use protocol::settings::ExtraRoot;
use protocol::{
    CallId, Change, ChangeSetId, EffectId, FileId, FileReplacement, Intent, IntentState, NotePath,
    SettledIntent, TurnId,
};
use tempfile::TempDir;
use vault::ledger::{Ledger, LedgerError};
use vault::{ChangeBatch, PlannedChange, Vault};

/// A folder named `vault`, and `out/secret.md` outside of it.
pub struct Folder {
    _all: TempDir,
    pub root: PathBuf,
    pub out: PathBuf,
}

pub const SECRET: &str = "canary";

impl Folder {
    pub fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let (root, out) = (all.path().join("vault"), all.path().join("out"));
        fs::create_dir_all(root.join("notes")).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(out.join("secret.md"), SECRET).unwrap();
        Self { _all: all, root, out }
    }

    pub fn with(notes: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (path, text) in notes {
            folder.write(path, text);
        }
        folder
    }

    /// A folder outside the vault, with notes.
    pub fn add_sibling(&self, name: &str, notes: &[(&str, &str)]) -> PathBuf {
        let folder = self.out.with_file_name(name);
        fs::create_dir_all(&folder).unwrap();
        for (path, text) in notes {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    /// The vault with these folders as extra roots.
    pub fn vault_with(&self, roots: &[&Path]) -> Vault {
        let vault = self.vault();
        vault.set_extra_roots(&roots.iter().map(|root| extra(root)).collect::<Vec<_>>());
        vault
    }

    pub fn vault(&self) -> Vault {
        Vault::open(&self.root).unwrap()
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    /// Every file and folder in the vault, hidden ones included, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(&self.root, &self.root, &mut names);
        names.sort();
        names
    }

    /// Checks that the files outside the vault did not change.
    pub fn assert_nothing_outside(&self) {
        assert_eq!(fs::read_to_string(self.out.join("secret.md")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(&self.out).unwrap().count(), 1);
    }
}

fn collect(root: &Path, at: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        if path.symlink_metadata().unwrap().is_dir() {
            collect(root, &path, names);
        }
    }
}

/// An extra root under the last part of its folder.
pub fn extra(folder: &Path) -> ExtraRoot {
    ExtraRoot { folder: folder.to_str().unwrap().to_owned(), name: String::new() }
}

pub fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

pub fn create(at: &str, after: &str) -> Change {
    Change::create(path(at), after)
}

pub fn replace(at: &str, before: &str, after: &str) -> Change {
    Change::replace(path(at), before, after)
}

pub fn order(changes: impl IntoIterator<Item = Change>) -> ChangeBatch {
    let plan = |change| PlannedChange {
        change,
        turn: TurnId::from("turn"),
        call: CallId::from("call"),
        unit: None,
        file: None,
    };
    ChangeBatch {
        change_set: ChangeSetId::from("set"),
        changes: changes.into_iter().map(plan).collect(),
    }
}

/// The same, all or nothing.
pub fn unit(changes: impl IntoIterator<Item = Change>) -> ChangeBatch {
    let mut order = order(changes);
    for planned in &mut order.changes {
        planned.unit = Some(planned.call.clone());
    }
    order
}

/// Keeps intents as long as the test runs.
#[derive(Default)]
pub struct MemoryLedger(
    pub Mutex<Vec<(Intent, IntentState)>>,
    Mutex<HashMap<EffectId, FileId>>,
    Mutex<Vec<FileReplacement>>,
);

impl MemoryLedger {
    pub fn states(&self) -> Vec<IntentState> {
        self.0.lock().unwrap().iter().map(|(_, state)| *state).collect()
    }

    /// The ledger as a stopped process leaves it behind.
    pub fn holding(intents: Vec<Intent>) -> Self {
        let open = intents.into_iter().map(|intent| (intent, IntentState::Open));
        Self(Mutex::new(open.collect()), Mutex::default(), Mutex::default())
    }

    /// The files that took the place of others.
    pub fn replacements(&self) -> Vec<FileReplacement> {
        self.2.lock().unwrap().clone()
    }

    /// The recorded file of each change.
    pub fn files(&self) -> Vec<Option<FileId>> {
        let files = self.1.lock().unwrap();
        let intents = self.0.lock().unwrap();
        intents.iter().map(|(intent, _)| files.get(&intent.effect).copied()).collect()
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn record_intents(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        let open = intents.iter().map(|intent| (intent.clone(), IntentState::Open));
        self.0.lock().unwrap().extend(open);
        Ok(())
    }

    async fn record_staged_files(&self, files: &[(EffectId, FileId)]) -> Result<(), LedgerError> {
        for (intent, _) in self.0.lock().unwrap().iter_mut() {
            if let Some((_, file)) = files.iter().find(|(effect, _)| *effect == intent.effect) {
                intent.staged = Some(*file);
            }
        }
        Ok(())
    }

    async fn record_replacements(&self, replaced: &[FileReplacement]) -> Result<(), LedgerError> {
        self.2.lock().unwrap().extend(replaced);
        Ok(())
    }

    async fn record_outcomes(&self, ended: &[SettledIntent]) -> Result<(), LedgerError> {
        let files = ended.iter().filter_map(|ended| Some((ended.effect.clone(), ended.file?)));
        self.1.lock().unwrap().extend(files);
        for (intent, at) in self.0.lock().unwrap().iter_mut() {
            if let Some(ended) = ended.iter().find(|ended| ended.effect == intent.effect) {
                *at = ended.state;
            }
        }
        Ok(())
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        let all = self.0.lock().unwrap();
        let open = all.iter().filter(|(_, state)| *state == IntentState::Open);
        Ok(open.map(|(intent, _)| intent.clone()).collect())
    }
}
