//! A vault that is a Git repository: branches are switched, files checked out, and changes stashed and popped
//! while the assistant edits notes and undoes edits. No line of the user's is lost but those that the user
//! discarded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use protocol::changes::history::{ListApplied, UndoScope};

use crate::harness::test_app::{RunningApp, TestHome, settings_without_model};

const FILES: [&str; 2] = ["Plan.md", "Log.md"];

const NOTES: [(&str, &str); 2] =
    [("Plan.md", "# Plan\n\nbegin\n\nmiddle\n\nend\n"), ("Log.md", "# Log\n\nfirst\n\nlast\n")];

/// The user at the command line of Git.
struct GitUser {
    root: PathBuf,
    random: fastrand::Rng,
    /// Lines that must not be lost.
    lines: BTreeSet<String>,
    /// Of these, the ones that are in no commit and no stash, by file.
    uncommitted: BTreeMap<&'static str, Vec<String>>,
    /// The same for each entry of the stash, newest last.
    stashed: Vec<BTreeMap<&'static str, Vec<String>>>,
    written: usize,
    /// How often each command succeeded.
    done: BTreeMap<&'static str, usize>,
}

impl GitUser {
    /// A repository with two branches that differ in both notes.
    fn start(root: &Path, seed: u64) -> Self {
        let user = Self {
            root: root.to_owned(),
            random: fastrand::Rng::with_seed(seed),
            lines: BTreeSet::new(),
            uncommitted: BTreeMap::new(),
            stashed: Vec::new(),
            written: 0,
            done: BTreeMap::new(),
        };
        user.must(&["init", "--quiet", "--initial-branch=main"]);
        user.must(&["add", "--", FILES[0], FILES[1]]);
        user.must(&["commit", "--quiet", "--message=first"]);
        user.must(&["switch", "--quiet", "--create", "draft"]);
        for file in FILES {
            let text = fs::read_to_string(root.join(file)).expect("readable");
            fs::write(root.join(file), text.replacen("\n\n", "\n\nof the draft\n\n", 1))
                .expect("written");
        }
        user.must(&["commit", "--quiet", "--all", "--message=draft"]);
        user
    }

    /// Runs Git; its output, if it succeeded.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .args(["-c", "user.name=User", "-c", "user.email=user@localhost", "-c", "gc.auto=0"])
            .args(arguments)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        let text = String::from_utf8(output.stdout).expect("text");
        output.status.success().then_some(text)
    }

    fn must(&self, arguments: &[&str]) -> String {
        self.git(arguments).unwrap_or_else(|| panic!("git {arguments:?}"))
    }

    /// One command, or one line written by hand.
    fn step(&mut self) {
        let file = FILES[self.random.usize(0..FILES.len())];
        match self.random.u8(0..12) {
            0..=3 => self.add_line(file),
            4 | 5 => {
                if self.run("commit", &["commit", "--quiet", "--all", "--message=more"]) {
                    self.uncommitted.clear();
                }
            }
            6 | 7 => {
                let branch = if self.random.bool() { "main" } else { "draft" };
                self.run("switch", &["switch", "--quiet", branch]);
            }
            8 => {
                if self.run("checkout", &["checkout", "--quiet", "--", file]) {
                    self.discard(file);
                }
            }
            9 | 10 => {
                let entries = self.stash_entries();
                self.run("stash", &["stash", "push", "--quiet"]);
                if self.stash_entries() > entries {
                    self.stashed.push(std::mem::take(&mut self.uncommitted));
                }
            }
            _ => self.pop(),
        }
    }

    fn run(&mut self, name: &'static str, arguments: &[&str]) -> bool {
        let is_done = self.git(arguments).is_some();
        *self.done.entry(name).or_default() += usize::from(is_done);
        is_done
    }

    fn stash_entries(&self) -> usize {
        self.must(&["stash", "list"]).lines().count()
    }

    fn add_line(&mut self, file: &'static str) {
        // Git takes the file away for a moment only itself, and it does not run now.
        let Ok(mut note) = OpenOptions::new().append(true).open(self.root.join(file)) else {
            return;
        };
        self.written += 1;
        let line = format!("user {:05}.", self.written);
        note.write_all(format!("\n{line}\n").as_bytes()).expect("written");
        self.lines.insert(line.clone());
        self.uncommitted.entry(file).or_default().push(line);
    }

    /// The user gave these lines up.
    fn discard(&mut self, file: &str) {
        for line in self.uncommitted.remove(file).unwrap_or_default() {
            self.lines.remove(&line);
        }
    }

    fn pop(&mut self) {
        if self.run("pop", &["stash", "pop", "--quiet"]) {
            for (file, lines) in self.stashed.pop().unwrap_or_default() {
                self.uncommitted.entry(file).or_default().extend(lines);
            }
        }
        // After a conflict the entry stays in the stash, so the file with both texts may go.
        let conflicts = self.must(&["diff", "--name-only", "--diff-filter=U"]);
        for file in FILES.into_iter().filter(|file| conflicts.lines().any(|line| line == *file)) {
            self.must(&["checkout", "--quiet", "HEAD", "--", file]);
            self.discard(file);
        }
    }

    /// The lines that are in no file of the folder, in no branch and in no entry of the stash.
    fn lost_lines(&self) -> Vec<&String> {
        let mut kept = self.must(&["log", "--patch", "--branches"]);
        for entry in 0..self.stash_entries() {
            kept += &self.must(&["show", &format!("stash@{{{entry}}}:{}", FILES[0])]);
            kept += &self.must(&["show", &format!("stash@{{{entry}}}:{}", FILES[1])]);
        }
        for (path, text) in testkit::vaults::temp_vault::read_files(&self.root) {
            if !path.starts_with(".git/") {
                kept += &String::from_utf8(text).expect("text");
            }
        }
        self.lines.iter().filter(|line| !kept.contains(line.as_str())).collect()
    }
}

fn has_git() -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: Git is not installed");
    }
    is_there
}

/// Runs Git on a thread of its own for so long. Returns the user with everything that happened.
fn run_git(root: &Path, seed: u64, length: Duration, is_over: &AtomicBool) -> GitUser {
    let mut user = GitUser::start(root, seed);
    let began = Instant::now();
    while began.elapsed() < length {
        user.step();
    }
    is_over.store(true, Ordering::Release);
    user
}

/// Edits and undoes until Git is done; counts both.
async fn edit_and_undo(running: &RunningApp, is_over: &AtomicBool) -> (usize, usize) {
    let (mut edits, mut undone) = (0, 0);
    while !is_over.load(Ordering::Acquire) {
        let note = if edits % 2 == 0 { "Plan" } else { "Log" };
        running.send_and_wait(None, &format!("append assistant {edits} to {note}")).await;
        edits += 1;
        if edits % 3 == 0 {
            let all = ListApplied { conversation: None, before: None };
            let sets = running.app.list_applied(&all).await.expect("a list").sets;
            let scope = sets.first().map(|set| UndoScope::ChangeSet { change_set: set.id.clone() });
            if let Some(scope) = scope
                && let Ok(result) = running.app.undo(&scope).await
            {
                undone += result.changed.len();
            }
        }
    }
    (edits, undone)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_line_is_lost_while_git_switches_stashes_and_checks_out() {
    if !has_git() {
        return;
    }
    let (seed, home) = (fastrand::u64(..), TestHome::new(&NOTES));
    let root = home.notes.root().to_owned();
    let is_over: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let running = home.open(settings_without_model()).await;
    let git = thread::spawn(move || run_git(&root, seed, Duration::from_secs(15), is_over));
    let (edits, undone) = edit_and_undo(&running, is_over).await;
    let user = git.join().expect("git ran");
    running.quit().await;
    println!(
        "seed={seed} edits={edits} undone={undone} lines={} {:?}",
        user.lines.len(),
        user.done
    );
    assert_eq!(user.lost_lines(), Vec::<&String>::new(), "seed {seed}");
    let is_done = |name: &str| user.done.get(name).is_some_and(|count| *count > 0);
    for name in ["commit", "switch", "checkout", "stash", "pop"] {
        assert!(is_done(name), "{name}: {:?}", user.done);
    }
    let commits = user.must(&["log", "--patch", "--branches"]);
    assert!(commits.contains("assistant") && undone > 0, "{edits} edits, {undone} undone");
}

/// The control: a program that puts its text in the note's place without a look at what is there by then.
#[test]
fn a_program_that_does_not_compare_loses_lines_beside_git() {
    if !has_git() {
        return;
    }
    let folder = testkit::TempVault::new(&NOTES);
    let is_over = AtomicBool::new(false);
    let user = thread::scope(|scope| {
        let git = scope.spawn(|| run_git(folder.root(), 7, Duration::from_secs(5), &is_over));
        while !is_over.load(Ordering::Acquire) {
            for file in FILES {
                let note = folder.root().join(file);
                let Ok(text) = fs::read_to_string(&note) else { continue };
                thread::sleep(Duration::from_millis(2));
                let temp = folder.root().join("careless.tmp");
                fs::write(&temp, text + "\nassistant\n").expect("written");
                fs::rename(&temp, &note).expect("renamed");
            }
        }
        git.join().expect("git ran")
    });
    println!("control: lost={} of {} {:?}", user.lost_lines().len(), user.lines.len(), user.done);
    assert!(!user.lost_lines().is_empty(), "nothing was at stake");
}
