//! One run: a fresh copy of a scene's folder, a process that is killed or made to fail, another
//! that puts things right, and what is there then.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use protocol::{Change, ChangeAction};
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use vault::Vault;

use super::checks::FaultCase;
use super::child_process;
use super::child_process::ChildReport;
use super::folder_tree::FolderTree;
use super::scenarios::FaultScenario;

/// A scene that is ready to be played many times.
pub(super) struct PreparedScenario {
    /// The scene.
    pub(super) scenario: FaultScenario,
    /// The planned changes.
    pub(super) changes: Vec<Change>,
    /// How many fault points it passes undisturbed.
    pub(super) points: usize,
    template: TempDir,
    program: PathBuf,
}

/// How a process ended.
pub(super) struct ChildExit {
    /// Whether it was killed.
    pub(super) killed: bool,
    /// Its last line, if it came to that.
    pub(super) report: Option<ChildReport>,
    /// Its stderr: of a killed process the fault point.
    pub(super) error: String,
}

impl PreparedScenario {
    /// Plants the scene and plays it once, undisturbed; panics if the end is not what it shall be.
    pub(super) fn new(scene: FaultScenario, program: &Path) -> Self {
        let model = temp_folder();
        fs::create_dir(model.path().join("vault")).expect("a folder");
        fs::create_dir(model.path().join("data")).expect("a folder");
        scene.before.write_to(&model.path().join("vault"));
        let changes = {
            let vault = Vault::open(&model.path().join("vault")).expect("a vault");
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
            let changes = runtime.block_on(scene.changes(&vault));
            let changes = changes.unwrap_or_else(|why| panic!("{}: {why}", scene.name));
            FaultScenario::change_batch(changes)
                .changes
                .into_iter()
                .map(|planned| planned.change)
                .collect()
        };
        let mut prepared = Self {
            scenario: scene,
            changes,
            points: 0,
            template: model,
            program: program.to_owned(),
        };
        // The database is made once; opening it is not what is tested here.
        let _ = prepared.run_child(prepared.template.path(), "look", |_| ());
        let stage = prepared.fresh_copy();
        let played = prepared.run_child(stage.path(), "act", |_| ());
        let said = played.report.unwrap_or_else(|| panic!("{}", played.error));
        let looked = prepared.run_child(stage.path(), "look", |_| ());
        let ledger = looked.report.expect("an answer").ledger;
        let findings = prepared
            .case()
            .check_after_kill(&FolderTree::read_from(&stage.path().join("vault")), &ledger);
        assert!(
            findings.is_empty() && ledger.len() == prepared.changes.len(),
            "{} undisturbed: {findings:?} {said:?}",
            prepared.scenario.name
        );
        prepared.points = said.points;
        prepared
    }

    /// The judged case.
    #[must_use]
    pub(super) fn case(&self) -> FaultCase<'_> {
        let unit = self.changes.iter().any(Change::is_rename);
        FaultCase { before: &self.scenario.before, changes: &self.changes, is_atomic: unit }
    }

    /// The prepared vault in a new temporary folder.
    #[must_use]
    pub(super) fn fresh_copy(&self) -> TempDir {
        let stage = temp_folder();
        copy_folder(self.template.path(), stage.path());
        stage
    }

    /// The temporary files it will make, below the vault: children draw names from one seed.
    #[must_use]
    pub(super) fn temp_files(&self) -> Vec<String> {
        let mut names = fastrand::Rng::with_seed(child_process::SEED);
        let temp = |change: &Change| {
            if matches!(change.act, ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. }) {
                return None;
            }
            let name = format!(".vaultmate-{:016x}.tmp", names.u64(..));
            let folder = change.path.folder().map_or(String::new(), |folder| format!("{folder}/"));
            change.after().map(|_| format!("{folder}{name}"))
        };
        self.changes.iter().filter_map(temp).collect()
    }

    /// Puts a fresh copy into a folder that is there.
    pub(super) fn copy_into(&self, folder: &Path) {
        copy_folder(self.template.path(), folder);
    }

    /// Starts a process over `folder`; `with` sets how it is disturbed.
    #[must_use]
    pub(super) fn run_child(
        &self,
        folder: &Path,
        what: &str,
        with: impl FnOnce(&mut Command),
    ) -> ChildExit {
        let mut command = self.child_command(folder, what);
        with(&mut command);
        ChildExit::from_output(&command.output().expect("the process starts"))
    }

    /// The same under strace, which is told what to inject.
    #[must_use]
    pub(super) fn run_child_traced(
        &self,
        folder: &Path,
        what: &str,
        inject: &[String],
    ) -> (ChildExit, String) {
        let log = folder.join("calls");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o"]).arg(&log);
        command.args(inject).arg(&self.program);
        command.args(["child", what]).arg(folder).arg(self.scenario.name);
        let ended = ChildExit::from_output(&command.output().expect("strace starts"));
        let calls = fs::read(&log).expect("strace wrote what it saw");
        (ended, String::from_utf8_lossy(&calls).into_owned())
    }

    /// The command for [`Self::run_child`].
    #[must_use]
    pub(super) fn child_command(&self, folder: &Path, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["child", what]).arg(folder).arg(self.scenario.name);
        command
    }

    /// Puts things right and says what the ledger holds then.
    #[must_use]
    pub(super) fn recover(&self, folder: &Path) -> Vec<(String, String)> {
        let ended = self.run_child(folder, "recover", |_| ());
        let said = ended.report.unwrap_or_else(|| panic!("no recovery: {}", ended.error));
        assert_eq!(said.refused, None, "{}", self.scenario.name);
        said.ledger
    }
}

impl ChildExit {
    /// Reads what a process left.
    #[must_use]
    pub(super) fn from_output(output: &Output) -> Self {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Self { killed: was_killed(output), report: parse_last_line(output), error }
    }
}

/// Whether a process was killed.
#[must_use]
pub(super) fn was_killed(output: &Output) -> bool {
    output.status.signal() == Some(9)
}

/// The last line of a process, if it came to that.
#[must_use]
pub(super) fn parse_last_line<T: DeserializeOwned>(output: &Output) -> Option<T> {
    let words = String::from_utf8_lossy(&output.stdout);
    words.lines().last().and_then(|line| serde_json::from_str(line).ok())
}

/// A folder of its own.
#[must_use]
pub(super) fn temp_folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Copies everything below a folder into another one that is there.
fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("a readable entry");
        let there = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&there).expect("a folder");
            copy_folder(&entry.path(), &there);
        } else {
            fs::copy(entry.path(), &there).expect("a copy");
        }
    }
}
