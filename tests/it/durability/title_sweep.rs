//! The plug is pulled at every durable step of a turn, its title and its summary: each is there in the
//! end, no request is repeated more often than the plug was pulled, and a name of the user stays.
//!
//! `./dev faults` sweeps every point; with the tests runs a sample (`STORY_STRIDE`).

use serde_json::{Value, json};
use testkit::stories::title::{NAME, STORIES, SUMMARY, TITLE, utility_reply};
use testkit::{Reply, ScriptedModel};
use tokio::task::JoinSet;

use crate::harness::story_runner::{PARALLEL_STORIES, StoryExit, SweepReport, stride};
use crate::harness::test_app::TestHome;

/// The longest stride: a story has only some twenty-three points. Every seventh would be eight kills, fewer than
/// the sites that are asserted, and every third barely reaches them.
const STRIDE: usize = 2;

struct TitleSweepFixture {
    home: TestHome,
    model: ScriptedModel,
}

impl TitleSweepFixture {
    async fn new() -> Self {
        let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
        model.answer_utility_requests(utility_reply);
        Self { home: TestHome::new(&[]), model }
    }

    async fn run_story(&self, story: &str, env: &[(&str, String)]) -> StoryExit {
        self.home.run_story(&format!("titled {story}"), &self.model, env).await
    }

    /// Differences from the expected result, after so many kills.
    fn check_outcome(&self, story: &str, told: &Value, kills: usize) -> Vec<String> {
        let mut wrong = Vec::new();
        let title = if story == "named" { NAME } else { TITLE };
        let said = json!(["buy milk and more of it", "Noted."]);
        for (what, wanted) in [("title", json!(title)), ("summary", json!(SUMMARY)), ("said", said)]
        {
            if told[what] != wanted {
                wrong.push(format!("{what} is {}", told[what]));
            }
        }
        let (asked, asides) = (self.model.requests().len(), self.model.utility_requests().len());
        if asked + asides > 3 + kills || asides == 0 {
            wrong.push(format!("{asked} requests and {asides} for titles, {kills} kills"));
        }
        wrong
    }
}

async fn run_killed_at(story: &'static str, at: usize) -> (usize, Option<String>, Vec<String>) {
    let stage = TitleSweepFixture::new().await;
    let (site, told) = match stage.run_story(story, &[("KILL_AT", at.to_string())]).await {
        StoryExit::Killed(site) => (Some(site), stage.run_story(story, &[]).await.into_outcome()),
        StoryExit::Said(told) => (None, told),
    };
    let wrong = stage.check_outcome(story, &told, usize::from(site.is_some()));
    stage.model.finish();
    (at, site, wrong)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_and_a_summary_are_there_in_the_end_wherever_the_plug_is_pulled() {
    let mut all = SweepReport::default();
    for story in STORIES {
        let stage = TitleSweepFixture::new().await;
        let told = stage.run_story(story, &[]).await.into_outcome();
        assert_eq!(stage.check_outcome(story, &told, 0), [] as [String; 0], "{story}");
        stage.model.finish();
        let points = told["points"].as_u64().and_then(|points| usize::try_from(points).ok());
        let mut places = (1..=points.expect("a number")).step_by(stride(STRIDE).min(STRIDE));
        let mut kills = JoinSet::new();
        loop {
            while kills.len() < PARALLEL_STORIES
                && let Some(at) = places.next()
            {
                kills.spawn(run_killed_at(story, at));
            }
            let Some(played) = kills.join_next().await else { break };
            let (at, site, wrong) = played.expect("a kill is played");
            // Tasks take turns as they like: a story may have a step less than the one before.
            all.record_kill(story, at, site.unwrap_or_else(|| "at its end".to_owned()), wrong);
        }
        println!("{story}: {points:?} points, kills so far={}", all.kills);
    }
    all.assert_holds("of titles", 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_finds_a_title_that_stands_in_the_place_of_a_name() {
    let stage = TitleSweepFixture::new().await;
    let cut = stage.run_story("named", &[("KILL_ON", "llm.finish.after".to_owned())]).await;
    assert!(matches!(cut, StoryExit::Killed(_)));
    let told = stage.run_story("named", &[("CONTROL", "unnamed".to_owned())]).await.into_outcome();
    let wrong = stage.check_outcome("named", &told, 1);
    assert!(wrong.iter().any(|what| what.contains(TITLE)), "{wrong:?}");
    stage.model.finish();
}
