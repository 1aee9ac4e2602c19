//! The process is killed at every durable step of turns of one to six calls and of sixty changes,
//! and everything continues automatically: nothing is lost, nothing is done twice.
//!
//! `./dev faults` sweeps every point; with the tests runs a sample (`STORY_STRIDE`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use protocol::chat::conversation::Interruption;
use serde::Deserialize;
use testkit::scripted_model::KEY;
use testkit::stories::multi_call::{MULTI_CALL_STORIES, initial_notes, reply};
use testkit::{ScriptedModel, TempVault};
use tokio::task::JoinSet;

/// From the start to a conversation that can be written in.
const MAX_START_MS: u64 = 2_000;
/// So many processes at once.
const PARALLEL_STORIES: usize = 4;

/// The output of a story at its end.
#[derive(Debug, Deserialize)]
struct TurnOutcome {
    points: usize,
    usable: u64,
    unanswered: usize,
    effects: usize,
    asked: usize,
    offered: Option<Interruption>,
    waiting: usize,
    failed: Vec<String>,
}

#[derive(Debug, Default)]
struct TurnSweepReport {
    kills: usize,
    sites: BTreeSet<String>,
    wrong: Vec<String>,
    /// The longest way from a start to where one can write, with others at work beside it.
    slowest: u64,
    /// Kills after which it took too long.
    slow: Vec<(&'static str, usize)>,
}

/// The result of the undisturbed story.
pub(super) struct UndisturbedRun {
    files: BTreeMap<String, Vec<u8>>,
    pub(super) points: usize,
    effects: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_killed_at_any_step_goes_on_to_the_same_end() {
    let mut all = TurnSweepReport::default();
    for story in MULTI_CALL_STORIES {
        let whole = run_undisturbed(story).await;
        let mut kills = JoinSet::new();
        for at in (1..=whole.points).step_by(stride(story)) {
            if kills.len() >= PARALLEL_STORIES {
                record_next_kill(&mut kills, &whole, story, &mut all).await;
            }
            kills.spawn(run_killed_at(story, at));
        }
        while !kills.is_empty() {
            record_next_kill(&mut kills, &whole, story, &mut all).await;
        }
        let (kills, wrong) = (all.kills, all.wrong.len());
        println!("{story}: points={} kills so far={kills} wrong={wrong}", whole.points);
        // Whether it takes so long, or had to share the machine.
        for (story, at) in std::mem::take(&mut all.slow) {
            let (_, stage, _) = run_killed_at(story, at).await;
            let (usable, _) = stage.check_resume(story, &whole).await;
            if usable > MAX_START_MS {
                all.wrong.push(format!("{story}@{at}: usable after {usable} ms, alone"));
            }
        }
    }
    println!(
        "kills={} sites={} wrong={} slowest start={} ms",
        all.kills,
        all.sites.len(),
        all.wrong.len(),
        all.slowest
    );
    assert!(all.wrong.is_empty(), "{:#?}", all.wrong);
    assert!(all.sites.len() > 20, "{:?}", all.sites);
}

/// Steps repeat in the long one: with the tests only a few of them.
pub(super) fn stride(story: &str) -> usize {
    let stride = std::env::var("STORY_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    match story {
        "t60" if stride > 1 => stride * 12,
        _ => stride,
    }
}

async fn record_next_kill(
    kills: &mut JoinSet<(usize, TurnSweepFixture, Output)>,
    whole: &UndisturbedRun,
    story: &'static str,
    all: &mut TurnSweepReport,
) {
    let Some(killed) = kills.join_next().await else { return };
    let (at, stage, output) = killed.expect("a kill is played");
    let site = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    assert_eq!(output.status.signal(), Some(9), "{story}@{at}: {site}");
    all.kills += 1;
    let (usable, wrong) = stage.check_resume(story, whole).await;
    for what in wrong {
        let what = format!("{story}@{at} {site}: {what}");
        println!("WRONG {what}");
        all.wrong.push(what);
    }
    all.slowest = usable.max(all.slowest);
    if usable > MAX_START_MS {
        all.slow.push((story, at));
    }
    all.sites.insert(site);
    stage.model.finish();
}

async fn run_killed_at(story: &'static str, at: usize) -> (usize, TurnSweepFixture, Output) {
    let stage = TurnSweepFixture::new(story).await;
    let output = stage.run_story(story, &[("KILL_AT", at.to_string())]).await;
    (at, stage, output)
}

pub(super) async fn run_undisturbed(story: &str) -> UndisturbedRun {
    let stage = TurnSweepFixture::new(story).await;
    let said = stage.run_to_outcome(story).await;
    assert_eq!((said.unanswered, &said.failed), (0, &Vec::new()), "{story}");
    assert!(said.effects > 0, "{story} changes something: {said:?}");
    let files = stage.notes();
    stage.model.finish();
    UndisturbedRun { files, points: said.points, effects: said.effects }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_turn_is_offered_as_it_stands_and_each_choice_does_what_it_says() {
    let (mut offered, mut wrong) = ([0; 3], Vec::new());
    for story in ["t4", "t6"] {
        let whole = run_undisturbed(story).await;
        let points = (1..=whole.points).step_by(stride(story).div_ceil(2));
        for (place, at) in points.enumerate() {
            let choice = ["continue", "undo", "leave"][place % 3];
            let (_, stage, output) = run_killed_at(story, at).await;
            let site = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let (was_offered, found) = stage.check_user_choice(story, choice, &whole).await;
            offered[place % 3] += usize::from(was_offered);
            wrong.extend(found.into_iter().map(|what| format!("{story}@{at} {site}: {what}")));
            stage.model.finish();
        }
    }
    println!("offered: continue={} undo={} leave={}", offered[0], offered[1], offered[2]);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(offered.iter().all(|times| *times > 0), "{offered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_finds_what_a_store_does_that_loses_a_step() {
    let stage = TurnSweepFixture::new("t1").await;
    let whole = run_undisturbed("t1").await;
    let kill = |point: &str| [("KILL_ON", point.to_owned())];
    assert_eq!(stage.run_story("t1", &kill("llm.step.after")).await.status.signal(), Some(9));
    // Records from here on are lost: the note has changed, and nobody knows.
    let kept = TempVault::new(&[]);
    copy_folder(stage.data.root(), kept.root());
    assert_eq!(
        stage.run_story("go-on t1", &kill("llm.results.before")).await.status.signal(),
        Some(9)
    );
    fs::remove_dir_all(stage.data.root()).expect("removed");
    fs::create_dir(stage.data.root()).expect("a folder");
    copy_folder(kept.root(), stage.data.root());
    let (_, found) = stage.check_resume("t1", &whole).await;
    assert!(!found.is_empty(), "the control was not caught");
    stage.model.finish();
}

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

pub(super) struct TurnSweepFixture {
    vault: TempVault,
    data: TempVault,
    pub(super) model: ScriptedModel,
}

impl TurnSweepFixture {
    async fn new(story: &str) -> Self {
        Self::new_in(&std::env::temp_dir(), story).await
    }

    /// With the notes and the application's data in this folder.
    pub(super) async fn new_in(parent: &Path, story: &str) -> Self {
        let notes = initial_notes(story);
        let notes: Vec<(&str, &str)> =
            notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let model = ScriptedModel::responder(reply).await;
        let (vault, data) = (TempVault::new_in(parent, &notes), TempVault::new_in(parent, &[]));
        Self { vault, data, model }
    }

    pub(super) async fn run_story(&self, story: &str, env: &[(&str, String)]) -> Output {
        self.run_command(Command::new(env!("CARGO_BIN_EXE_story")), story, env).await
    }

    /// The command gets the arguments of the story; it ends with the path of its program.
    pub(super) async fn run_command(
        &self,
        mut command: Command,
        story: &str,
        env: &[(&str, String)],
    ) -> Output {
        command
            .args([self.data.root(), self.vault.root(), Path::new(story)])
            .env("ANTHROPIC_BASE_URL", self.model.base_url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env_remove("VAULTMATE_HUB_URL")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("KILL_AT")
            .env_remove("KILL_ON")
            .envs(env.iter().map(|(name, value)| (name, value)));
        let run = move || command.output().expect("the story starts");
        tokio::task::spawn_blocking(run).await.expect("the story ends")
    }

    async fn run_to_outcome(&self, story: &str) -> TurnOutcome {
        self.run_to_outcome_with_env(story, &[]).await
    }

    async fn run_to_outcome_with_env(&self, story: &str, env: &[(&str, String)]) -> TurnOutcome {
        let output = self.run_story(story, env).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{story}: {error}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(text.trim()).unwrap_or_else(|why| panic!("{story}: {why}: {text}"))
    }

    /// The application starts again and goes on: how long it took until one could write, and what is
    /// then not as it is undisturbed.
    pub(super) async fn check_resume(
        &self,
        story: &str,
        whole: &UndisturbedRun,
    ) -> (u64, Vec<String>) {
        let said = self.run_to_outcome(&format!("go-on {story}")).await;
        (said.usable, self.differences(&said, whole))
    }

    /// Differences from the undisturbed run.
    fn differences(&self, said: &TurnOutcome, whole: &UndisturbedRun) -> Vec<String> {
        let mut wrong = Vec::new();
        if said.unanswered > 0 {
            wrong.push(format!("{} calls have no result", said.unanswered));
        }
        if said.effects != whole.effects {
            wrong.push(format!("{} effects, not {}", said.effects, whole.effects));
        }
        if said.asked > 1 {
            wrong.push(format!("asked {} times", said.asked));
        }
        wrong.extend(said.failed.iter().cloned());
        let files = self.notes();
        let names: BTreeSet<&String> = files.keys().chain(whole.files.keys()).collect();
        for name in names.into_iter().filter(|name| files.get(*name) != whole.files.get(*name)) {
            let text = files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            wrong.push(format!("{name} is {text:?}"));
        }
        wrong
    }

    /// The application starts again and asks; what is not as the user's choice has it.
    async fn check_user_choice(
        &self,
        story: &str,
        choice: &str,
        whole: &UndisturbedRun,
    ) -> (bool, Vec<String>) {
        let env = [("CHOICE", choice.to_owned())];
        let said = self.run_to_outcome_with_env(&format!("go-on {story}"), &env).await;
        let Some(offer) = said.offered else { return (false, self.differences(&said, whole)) };
        let mut wrong = Vec::new();
        let mut check = |what: &str, found: usize, wanted: usize| {
            if found != wanted {
                wrong.push(format!("{choice}: {what} is {found}, not {wanted}; {said:?}"));
            }
        };
        let initial: BTreeMap<String, Vec<u8>> = initial_notes(story)
            .into_iter()
            .map(|(path, text)| (path, text.into_bytes()))
            .collect();
        let files = self.notes();
        let paths: BTreeSet<&String> = files.keys().chain(initial.keys()).collect();
        let differ = paths.into_iter().filter(|path| files.get(*path) != initial.get(*path));
        match choice {
            "continue" => return (true, self.differences(&said, whole)),
            "undo" => check("notes that are not as before", differ.count(), 0),
            _ => check("changed notes", differ.count(), offer.changed as usize),
        }
        check("waiting notes", said.waiting, offer.waiting as usize);
        check("calls without result", said.unanswered, 0);
        (true, wrong)
    }

    pub(super) fn vault_root(&self) -> &Path {
        self.vault.root()
    }

    pub(super) fn data_root(&self) -> &Path {
        self.data.root()
    }

    pub(super) fn has_notes_of(&self, whole: &UndisturbedRun) -> bool {
        self.notes() == whole.files
    }

    /// All notes, without what is in the trash.
    pub(super) fn notes(&self) -> BTreeMap<String, Vec<u8>> {
        let files = self.vault.snapshot().into_iter();
        let own = |path: &str| path.starts_with(".vaultmate") || path.starts_with(".trash");
        files.filter(|(path, _)| !own(path)).collect()
    }
}
