//! Stories that are played in processes of their own, which kill themselves on the way, and what a
//! sweep over their steps found.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Output, Stdio};

use serde_json::Value;
use testkit::ScriptedModel;
use testkit::scripted_model::KEY;
use tokio::process::{Child, Command};

use crate::harness::test_app::{TEST_TIMEOUT, TestHome};

/// So many stories are played at once.
pub(crate) const PARALLEL_STORIES: usize = 4;

/// Every so many-th step: as `STORY_STRIDE` says, else as the caller does.
pub(crate) fn stride(otherwise: usize) -> usize {
    std::env::var("STORY_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How a story ended.
#[derive(Debug)]
pub(crate) enum StoryExit {
    /// At this point, by its own hand.
    Killed(String),
    /// With this output.
    Said(Value),
}

impl StoryExit {
    pub(crate) fn from_output(output: &Output) -> Self {
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.signal() == Some(9) {
            return Self::Killed(error.trim().to_owned());
        }
        assert!(output.status.success(), "{error}");
        let text = String::from_utf8_lossy(&output.stdout);
        Self::Said(serde_json::from_str(text.trim()).unwrap_or_else(|why| panic!("{why}: {text}")))
    }

    pub(crate) fn into_outcome(self) -> Value {
        match self {
            Self::Said(said) => said,
            Self::Killed(site) => panic!("killed at {site}"),
        }
    }
}

impl TestHome {
    /// Begins to play a story of the testkit; it waits for its input to end where it listens.
    pub(crate) fn spawn_story(
        &self,
        story: &str,
        model: &ScriptedModel,
        env: &[(&str, String)],
    ) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_story"));
        command.args([self.data.root(), self.notes.root(), story.as_ref()]);
        self.set_environment(&mut command);
        for name in ["KILL_AT", "KILL_ON", "CONTROL"] {
            command.env_remove(name);
        }
        command
            .env("ANTHROPIC_BASE_URL", model.base_url())
            .env("ANTHROPIC_API_KEY", KEY)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("the story starts")
    }

    /// Plays a story to its end.
    pub(crate) async fn run_story(
        &self,
        story: &str,
        model: &ScriptedModel,
        env: &[(&str, String)],
    ) -> StoryExit {
        wait_for_exit(self.spawn_story(story, model, env)).await
    }
}

/// Closes a story's input and waits for its end.
pub(crate) async fn wait_for_exit(child: Child) -> StoryExit {
    let output = tokio::time::timeout(TEST_TIMEOUT * 2, child.wait_with_output()).await;
    StoryExit::from_output(&output.expect("the story ends").expect("it ran"))
}

/// The result of a sweep.
#[derive(Debug, Default)]
pub(crate) struct SweepReport {
    pub(crate) kills: usize,
    pub(crate) sites: BTreeSet<String>,
    pub(crate) wrong: Vec<String>,
}

impl SweepReport {
    /// Counts a kill, and what was wrong after it.
    pub(crate) fn record_kill(&mut self, story: &str, at: usize, site: String, wrong: Vec<String>) {
        self.kills += 1;
        for what in wrong {
            let what = format!("{story}@{at} {site}: {what}");
            println!("WRONG {what}");
            self.wrong.push(what);
        }
        self.sites.insert(site);
    }

    /// Says what was found, and panics when something was wrong or little was tried.
    pub(crate) fn assert_holds(&self, what: &str, least_sites: usize) {
        let Self { kills, sites, wrong } = self;
        println!("kills={kills} sites={} wrong={} {what}", sites.len(), wrong.len());
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(sites.len() >= least_sites, "{sites:?}");
    }
}
