//! Stories that are played in processes of their own, which kill themselves on the way, and what a
//! sweep over their steps found.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Output, Stdio};

use serde_json::Value;
use testkit::ScriptedModel;
use testkit::scripted_model::KEY;
use tokio::process::{Child, Command};

use crate::stage::{Home, PATIENCE};

/// So many stories are played at once.
pub(crate) const AT_ONCE: usize = 4;

/// Every so many-th step: as `STORY_STRIDE` says, else as the caller does.
pub(crate) fn stride(otherwise: usize) -> usize {
    std::env::var("STORY_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How a story ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// At this point, by its own hand.
    Killed(String),
    /// With these words.
    Said(Value),
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Self {
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.signal() == Some(9) {
            return Self::Killed(error.trim().to_owned());
        }
        assert!(output.status.success(), "{error}");
        let text = String::from_utf8_lossy(&output.stdout);
        Self::Said(serde_json::from_str(text.trim()).unwrap_or_else(|why| panic!("{why}: {text}")))
    }

    pub(crate) fn said(self) -> Value {
        match self {
            Self::Said(said) => said,
            Self::Killed(site) => panic!("killed at {site}"),
        }
    }
}

impl Home {
    /// Begins to play a story of the testkit; it waits for its input to end where it listens.
    pub(crate) fn playing(
        &self,
        story: &str,
        model: &ScriptedModel,
        env: &[(&str, String)],
    ) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_story"));
        command.args([self.data.root(), self.notes.root(), story.as_ref()]);
        self.furnish(&mut command);
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
    pub(crate) async fn play(
        &self,
        story: &str,
        model: &ScriptedModel,
        env: &[(&str, String)],
    ) -> Ended {
        ended(self.playing(story, model, env)).await
    }
}

/// Closes a story's input and waits for its end.
pub(crate) async fn ended(child: Child) -> Ended {
    let output = tokio::time::timeout(PATIENCE * 2, child.wait_with_output()).await;
    Ended::of(&output.expect("the story ends").expect("it ran"))
}

/// What a sweep found.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    pub(crate) kills: usize,
    pub(crate) sites: BTreeSet<String>,
    pub(crate) wrong: Vec<String>,
}

impl Sweep {
    /// Counts a kill, and what was wrong after it.
    pub(crate) fn count(&mut self, story: &str, at: usize, site: String, wrong: Vec<String>) {
        self.kills += 1;
        for what in wrong {
            let what = format!("{story}@{at} {site}: {what}");
            println!("WRONG {what}");
            self.wrong.push(what);
        }
        self.sites.insert(site);
    }

    /// Says what was found, and panics when something was wrong or little was tried.
    pub(crate) fn holds(&self, what: &str, least_sites: usize) {
        let Self { kills, sites, wrong } = self;
        println!("kills={kills} sites={} wrong={} {what}", sites.len(), wrong.len());
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(sites.len() >= least_sites, "{sites:?}");
    }
}
