//! The plug is pulled at every durable step and file operation of a turn.
//!
//! Each kill is a real SIGKILL of a real process over real files and SQLite, at the n-th fault
//! point; then the application starts again and goes on. `./dev faults` sweeps every point,
//! `./dev test` every seventh (`STORY_STRIDE`).

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::scripted_model::KEY;
use testkit::stories::note_changes::{NOTES, outcome, reply};
use testkit::{ScriptedModel, TempVault};

/// The result of a sweep over one story.
#[derive(Debug, Default)]
struct ChangeSweepReport {
    sites: usize,
    kills: usize,
    /// Points that the stride left out.
    skipped: usize,
    /// Notes that are neither as before nor as after, or that are missing.
    torn: Vec<String>,
    /// Notes in which a change was made more than once.
    doubled: Vec<String>,
    /// Files in the vault that nobody asked for.
    litter: Vec<String>,
    /// Changes that were being applied and were not there in the end.
    unfinished: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_point_leaves_each_note_old_or_new_and_the_next_request_valid() {
    let mut all = ChangeSweepReport::default();
    for story in ["auto", "review", "add", "ask"] {
        let sweep = sweep_story(story).await;
        println!("{story}: sites={} kills={}", sweep.sites, sweep.kills);
        assert!(sweep.sites > 20, "{story} passes few points: {sweep:?}");
        all.kills += sweep.kills;
        all.skipped += sweep.skipped;
        all.sites += sweep.sites;
        all.torn.extend(sweep.torn);
        all.doubled.extend(sweep.doubled);
        all.litter.extend(sweep.litter);
        all.unfinished.extend(sweep.unfinished);
    }
    // Without a ledger, and with a change that is made twice: the same judge finds both.
    let torn = sweep_story("naive").await.torn.len();
    let doubled = sweep_doubled_addition().await.doubled.len();
    let controls = usize::from(torn > 0) + usize::from(doubled > 0);
    println!(
        "kills={} sites={} lost={} doubled={} torn={} controls={controls}/2 skipped={}",
        all.kills,
        all.sites,
        all.unfinished.len(),
        all.doubled.len(),
        all.torn.len(),
        all.skipped,
    );
    assert_eq!(all.kills + all.skipped, all.sites, "each point is tried or counted as skipped");
    assert_eq!(controls, 2, "torn={torn} doubled={doubled}");
    assert!(all.doubled.is_empty(), "{:#?}", all.doubled);
    assert!(all.torn.is_empty(), "{:#?}", all.torn);
    assert!(all.litter.is_empty(), "{:#?}", all.litter);
    assert!(all.unfinished.is_empty(), "{:#?}", all.unfinished);
}

/// The result of the judge for a story whose one addition is made once more, by hand.
async fn sweep_doubled_addition() -> ChangeSweepReport {
    let (stage, mut sweep) = (ChangeSweepFixture::new().await, ChangeSweepReport::default());
    let played = stage.run_story("add", None).await;
    assert!(played.status.success(), "{}", output_text(&played));
    stage.vault.write("List.md", "# List\n\n- bread\n- milk\n- milk\n");
    stage.record_findings("add", 0, "", &mut sweep);
    stage.model.finish();
    sweep
}

async fn sweep_story(story: &str) -> ChangeSweepReport {
    let mut sweep =
        ChangeSweepReport { sites: count_points(story).await, ..ChangeSweepReport::default() };
    let stride = std::env::var("STORY_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    for at in 1..=sweep.sites {
        if (at - 1) % stride != 0 {
            sweep.skipped += 1;
            continue;
        }
        let stage = ChangeSweepFixture::new().await;
        let killed = stage.run_story(story, Some(at)).await;
        assert_eq!(killed.status.signal(), Some(9), "{story}@{at}: {}", output_text(&killed));
        sweep.kills += 1;
        if story != "naive" {
            let went_on = stage.run_story("go-on", None).await;
            assert!(went_on.status.success(), "{story}@{at}: {}", output_text(&went_on));
        }
        stage.record_findings(story, at, &output_text(&killed), &mut sweep);
        stage.model.finish();
    }
    sweep
}

/// How many points the undisturbed story passes; its outcome is checked too.
async fn count_points(story: &str) -> usize {
    let stage = ChangeSweepFixture::new().await;
    let played = stage.run_story(story, None).await;
    assert!(played.status.success(), "{story}: {}", output_text(&played));
    for (path, text) in outcome(story) {
        assert_eq!(stage.vault.read(path), text, "{story}: {path}");
    }
    stage.model.finish();
    String::from_utf8_lossy(&played.stdout).trim().parse().expect("a number of points")
}

struct ChangeSweepFixture {
    vault: TempVault,
    data: TempVault,
    model: ScriptedModel,
}

impl ChangeSweepFixture {
    async fn new() -> Self {
        Self {
            vault: TempVault::new(&NOTES),
            data: TempVault::new(&[]),
            model: ScriptedModel::responder(reply).await,
        }
    }

    async fn run_story(&self, story: &str, kill_at: Option<usize>) -> Output {
        let mut command = Command::new(story_program());
        command
            .args([self.data.root(), self.vault.root(), Path::new(story)])
            .env("ANTHROPIC_BASE_URL", self.model.base_url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env_remove("VAULTMATE_HUB_URL")
            .env_remove("DBUS_SESSION_BUS_ADDRESS");
        match kill_at {
            Some(at) => command.env("KILL_AT", at.to_string()),
            None => command.env_remove("KILL_AT"),
        };
        let run = move || command.output().expect("the story starts");
        tokio::task::spawn_blocking(run).await.expect("the story ends")
    }

    fn record_findings(&self, story: &str, at: usize, site: &str, sweep: &mut ChangeSweepReport) {
        let outcome = outcome(story);
        let files = self.vault.snapshot();
        let mut changed = 0;
        for (path, before) in NOTES {
            let now = files.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let after = outcome.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
            let is_doubled = now.as_deref().zip(after).is_some_and(|(now, after)| {
                let repeats =
                    |line: &str, text: &str| text.lines().filter(|other| *other == line).count();
                after.lines().any(|line| repeats(line, now) > repeats(line, after))
            });
            if now.as_deref() == after {
                changed += 1;
            } else if is_doubled && now.as_deref() != Some(before) {
                sweep.doubled.push(format!("{story}@{at} {path}: {now:?}"));
            } else if now.as_deref() != Some(before) {
                sweep.torn.push(format!("{story}@{at} {path}: {now:?}"));
            }
        }
        for (path, bytes) in &files {
            let made = outcome.iter().find(|(name, _)| name == path);
            match made {
                Some((_, text)) if !is_first(path) => {
                    changed += 1;
                    if bytes != text.as_bytes() {
                        sweep.torn.push(format!("{story}@{at} {path}: {} bytes", bytes.len()));
                    }
                }
                None if !is_first(path) => sweep.litter.push(format!("{story}@{at} {path}")),
                _ => {}
            }
        }
        // Files are touched only after the intents of the whole set are durable: from there on
        // the set is finished at the next start.
        let applying = site.contains("vault.") && !site.contains("intend");
        if story == "review" && applying && changed != outcome.len() {
            sweep.unfinished.push(format!("{story}@{at} {site}: {changed} of {}", outcome.len()));
        }
    }
}

fn is_first(path: &str) -> bool {
    NOTES.iter().any(|(name, _)| *name == path)
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn story_program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_story"))
}
