//! Kills while the user takes changes back and puts them back, through the application's own doors.
//!
//! A child process with the whole application undoes or redoes what a model did, and is killed at
//! each of its points; the application starts again, does the same deed and then the opposite. The
//! notes and what is listed as applied must agree after each of these.

mod child;
mod deed;
mod judge;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub use child::run as child;

use super::calls;
use super::stage::{last_line, scratch, was_killed};
use super::tally::Tally;
use super::tree::Tree;
use super::{Extent, each};
use child::{Moment, Said};
use deed::{Deed, deeds};
use judge::Case;

/// A deed that is ready to be done many times.
struct Prepared {
    deed: Deed,
    /// How many fault points the process passes undisturbed, its start included.
    points: usize,
    case: Case,
    program: PathBuf,
}

/// Kills a process at every point of every deed; then also the start after it; then the process
/// before every write of its database.
pub(super) fn kills(program: &Path, extent: Extent, tally: &Tally) {
    let wanted = if extent == Extent::Quick { 2 } else { usize::MAX };
    for deed in deeds().into_iter().take(wanted) {
        let prepared = Prepared::new(deed, program);
        each(&extent.of(prepared.points), |&at| {
            let stage = prepared.stage();
            if let Some(site) = prepared.killed(stage.path(), "act", at) {
                prepared.judge(stage.path(), &site, &format!("at {at}"), tally);
            }
        });
        // While the intents are open, and when some of them have happened.
        let spots = [prepared.points / 3, prepared.points * 2 / 3];
        each(&spots, |&at| prepared.kill_starts(at, extent, tally));
        if calls::unavailable().is_none() {
            prepared.kill_writes(extent, tally);
        }
        println!("  {}: points={}", prepared.deed.name, prepared.points);
    }
    if let Some(why) = calls::unavailable() {
        tally.skip("kills of undo and redo at writes of the database", &why);
    }
    control(program, extent, tally);
}

/// What must be found wrong: that something is taken back is noted only after it has happened.
fn control(program: &Path, extent: Extent, tally: &Tally) {
    let deed = deeds().into_iter().next().expect("a deed");
    let prepared = Prepared::new(deed, program);
    let stage = prepared.stage();
    let points = prepared.play(stage.path(), "careless").said.map_or(0, |said| said.points);
    let tried = match extent {
        Extent::Quick => (points.saturating_sub(8).max(1)..=points).step_by(3).collect(),
        Extent::Full => (1..=points).collect::<Vec<_>>(),
    };
    let caught = tried.iter().filter(|&&at| {
        let stage = prepared.stage();
        let Some(site) = prepared.killed(stage.path(), "careless", at) else { return false };
        let found = Tree::at(&stage.path().join("vault"));
        !prepared.case.judge(&site, &found, &prepared.settled(stage.path())).is_empty()
    });
    let caught = caught.count();
    let name =
        format!("an undo noted after the fact, wrong after {caught} of {} kills", tried.len());
    tally.control(&name, caught > 0);
}

impl Prepared {
    /// Does the deed once, undisturbed; panics if that does not restore the notes.
    fn new(deed: Deed, program: &Path) -> Self {
        let case = Case::default();
        let mut prepared = Self { deed, points: 0, case, program: program.to_owned() };
        let untouched = prepared.stage();
        let before = prepared.undisturbed(untouched.path(), "look");
        let stage = prepared.stage();
        let acted = prepared.undisturbed(stage.path(), "act");
        let after = prepared.undisturbed(stage.path(), "look");
        prepared.points = acted.points;
        prepared.case = Case {
            before: first(before),
            after: first(after),
            changed_back: prepared.deed.undone(),
            way: prepared.deed.way,
        };
        let findings = prepared.case.judge_undisturbed();
        assert!(findings.is_empty(), "{} undisturbed: {findings:?}", prepared.deed.name);
        prepared
    }

    /// A vault in which a model has changed the notes. Each time anew: a copy of the folder would be
    /// another vault, and copies of its notes other notes.
    fn stage(&self) -> TempDir {
        let stage = scratch();
        for folder in ["vault", "data"] {
            fs::create_dir(stage.path().join(folder)).expect("a folder");
        }
        self.deed.notes.plant(&stage.path().join("vault"));
        let _ = self.undisturbed(stage.path(), "prepare");
        stage
    }

    /// Kills a process at its n-th point and names that; `None` when it does not come so far: what
    /// goes on beside the deed may pass a point less.
    fn killed(&self, folder: &Path, what: &str, at: usize) -> Option<String> {
        let mut command = self.command(folder, what);
        let output = command.env("KILL_AT", at.to_string()).output().expect("it starts");
        let site = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        was_killed(&output).then(site)
    }

    /// Kills the process at its n-th point, and the start after that at each of its own.
    fn kill_starts(&self, at: usize, extent: Extent, tally: &Tally) {
        for again in 1.. {
            let stage = self.stage();
            let first = self.killed(stage.path(), "act", at);
            let (Some(first), Some(second)) = (first, self.killed(stage.path(), "look", again))
            else {
                break;
            };
            let site = format!("{first}, then start:{second}");
            self.judge(stage.path(), &site, &format!("at {at}, then at {again}"), tally);
            if extent == Extent::Quick && again >= 3 {
                break;
            }
        }
    }

    /// Kills the process before each write and sync of the database's log.
    fn kill_writes(&self, extent: Extent, tally: &Tally) {
        let stage = self.stage();
        let _ = self.traced(stage.path(), "trace=pwrite64,fsync");
        let calls = fs::read_to_string(stage.path().join("calls")).expect("strace wrote");
        let wanted = match extent {
            Extent::Quick => extent.few(calls::busiest(&calls)),
            Extent::Full => extent.of(calls::busiest(&calls)),
        };
        each(&wanted, |&at| {
            let stage = self.stage();
            let inject = format!("inject=pwrite64,fsync:signal=KILL:when={at}");
            if was_killed(&self.traced(stage.path(), &inject)) {
                self.judge(stage.path(), "write of the log", &format!("at write {at}"), tally);
            }
        });
    }

    /// Does the deed under strace, which looks at the database's log alone.
    fn traced(&self, folder: &Path, what: &str) -> Output {
        let log = child::database(folder).with_extension("db-wal");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", what, "-o"]).arg(folder.join("calls")).arg("-P").arg(log);
        let plain = self.command(folder, "act");
        command.arg(plain.get_program()).args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().expect("strace starts")
    }

    /// What is wrong after the application has started again.
    fn judge(&self, folder: &Path, site: &str, run: &str, tally: &Tally) {
        let last = site.rsplit(", then ").next().unwrap_or(site);
        tally.kill(&format!("{}:{last}", self.deed.way.name()));
        let run = format!("{} killed {run} {site}", self.deed.name);
        let found = Tree::at(&folder.join("vault"));
        tally.found(&run, &self.case.judge(site, &found, &self.settled(folder)));
    }

    /// What is there after the application has started again, the deed was done again, and then its
    /// opposite.
    fn settled(&self, folder: &Path) -> Said {
        self.undisturbed(folder, "settle")
    }

    fn undisturbed(&self, folder: &Path, what: &str) -> Said {
        let ended = self.play(folder, what);
        ended.said.unwrap_or_else(|| panic!("{} {what}: {}", self.deed.name, ended.error))
    }

    fn play(&self, folder: &Path, what: &str) -> Ended {
        let output = self.command(folder, what).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ended { said: last_line(&output), error }
    }

    /// With nothing of the tester's own settings.
    fn command(&self, folder: &Path, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["deed", what]).arg(folder).arg(self.deed.name).env("HOME", folder);
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "VAULTMATE_HUB_URL",
            "VAULTMATE_LOG",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            command.env_remove(name);
        }
        command
    }
}

struct Ended {
    said: Option<Said>,
    error: String,
}

fn first(said: Said) -> Moment {
    said.moments.into_iter().next().expect("one moment")
}
