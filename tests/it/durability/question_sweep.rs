//! The process is killed at every durable step of stories with a question in them, and between the
//! answer and its consequences: there is one question for each that was asked, it is shown while it
//! is open, the first answer that was taken counts once, and earlier messages keep their order.
//!
//! `./dev faults` sweeps every point; with the tests runs a sample (`STORY_STRIDE`).

use serde_json::{Value, json};
use testkit::ScriptedModel;
use testkit::hub_soak::RedeliveringHub;
use testkit::stories::question::{ASK, HUB, INBOX, NOTE, STORIES, count_user_text, reply};
use tokio::task::JoinSet;

use crate::harness::story_runner::{
    PARALLEL_STORIES, StoryExit, SweepReport, stride, wait_for_exit,
};
use crate::harness::test_app::TestHome;

/// The result of a story: its questions with their answers, the messages, and the lines of the
/// note.
fn expected_outcome(story: &str) -> (Value, &'static [&'static str]) {
    let (asked, said, lines): (_, _, &[&str]) = match story {
        "option" => (
            json!([["Which colour?", "Blue", false]]),
            json!([ASK, "Blue", "note one", "note two", "and now?"]),
            &["Blue", "note one", "note two"],
        ),
        "free" => (
            json!([["Which colour?", "something green, please", false]]),
            json!([ASK, "something green, please", "note one", "note two", "and now?"]),
            &["something green, please", "note one", "note two"],
        ),
        "other" => (
            json!([["Which colour?", null, true]]),
            json!([ASK, "note one", "note two", "note three", "and now?"]),
            &["note one", "note two", "note three"],
        ),
        "repeat" => (
            json!([["Which colour?", null, true], ["Which size?", "Large", false]]),
            json!([ASK, "note one", "note two", "play question again", "Large", "and now?"]),
            &["note one", "note two", "Large"],
        ),
        _ => (
            json!([["Which colour?", "the blue one", false]]),
            json!([ASK, "how is the weather", "the blue one", "and now?"]),
            // The model does nothing about the other two messages, so they are kept.
            &["how is the weather", "the blue one", "and now?"],
        ),
    };
    (json!({ "asked": asked, "said": said }), lines)
}

/// The actors: notes, data, and the model.
struct QuestionSweepFixture {
    home: TestHome,
    model: ScriptedModel,
}

impl QuestionSweepFixture {
    async fn new() -> Self {
        Self { home: TestHome::new(&[NOTE]), model: ScriptedModel::responder(reply).await }
    }

    async fn run_story(&self, story: &str, env: &[(&str, String)]) -> StoryExit {
        self.home.run_story(&format!("question {story}"), &self.model, env).await
    }

    /// Differences from the expected end of a story.
    fn check_outcome(&self, story: &str, told: &Value) -> Vec<String> {
        let (outcome, lines) = expected_outcome(story);
        let mut wrong: Vec<String> =
            told["wrong"].as_array().into_iter().flatten().map(Value::to_string).collect();
        if told["story"] != outcome {
            wrong.push(format!("it is {}", told["story"]));
        }
        let (path, before) = if story == HUB { (INBOX, "") } else { NOTE };
        let after: String = lines.iter().map(|line| format!("- {line}\n")).collect();
        let text = self.home.notes.try_read(path).unwrap_or_default();
        if text.strip_prefix(before) != Some(&after) {
            wrong.push(format!("{path} is {text:?}"));
        }
        let requests = self.model.requests();
        for words in user_texts(&outcome) {
            let most = requests.iter().map(|request| count_user_text(request, &words)).max();
            let last = requests.last().map(|request| count_user_text(request, &words));
            if (most, last) != (Some(1), Some(1)) {
                wrong.push(format!("“{words}” was heard {most:?} times, {last:?} in the end"));
            }
        }
        wrong
    }
}

fn user_texts(outcome: &Value) -> Vec<String> {
    let said = outcome["said"].as_array().into_iter().flatten();
    said.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Plays a story that is killed at its n-th step, and then to its end. `None` when it has fewer.
async fn run_killed_at(story: &'static str, at: usize) -> (usize, Option<String>, Vec<String>) {
    let stage = QuestionSweepFixture::new().await;
    let env = [("KILL_AT", at.to_string())];
    let (site, told) = match story {
        HUB => run_hub_story(&stage, &env, &RedeliveringHub::start().await, (&SAID, 1)).await,
        _ => match stage.run_story(story, &env).await {
            StoryExit::Killed(site) => {
                (Some(site), stage.run_story(story, &[]).await.into_outcome())
            }
            StoryExit::Said(told) => (None, told),
        },
    };
    let wrong = stage.check_outcome(story, &told);
    stage.model.finish();
    (at, site, wrong)
}

/// The messages in the story of the hub.
const SAID: [&str; 4] = [ASK, "how is the weather", "the blue one", "and now?"];

/// These messages, over a hub that repeats those that were not acknowledged; each is answered with
/// at least so many notifications before the next one is sent.
async fn run_hub_story(
    stage: &QuestionSweepFixture,
    env: &[(&str, String)],
    hub: &RedeliveringHub,
    said: (&[&str], usize),
) -> (Option<String>, Value) {
    run_hub_story_after(0, stage, (env, &[]), hub, said).await
}

/// Environment variables for a process.
type Env<'a> = &'a [(&'a str, String)];

/// The same, after so many messages; with one environment until the process is killed, and another one
/// from then on.
async fn run_hub_story_after(
    earlier: usize,
    stage: &QuestionSweepFixture,
    (env, after_kill): (Env<'_>, Env<'_>),
    hub: &RedeliveringHub,
    (said, answers): (&[&str], usize),
) -> (Option<String>, Value) {
    let url = ("VAULTMATE_HUB_URL", format!("ws://{}", hub.address()));
    let start = |env: &[(&str, String)]| {
        stage.home.spawn_story(
            "question hub",
            &stage.model,
            &[env, std::slice::from_ref(&url)].concat(),
        )
    };
    let story = async {
        for (number, words) in said.iter().enumerate() {
            hub.send(words);
            let id = format!("m-{}", earlier + number);
            let is_answered = |told: &Vec<String>| told.len() >= answers;
            hub.wait_until(words, |book| book.notified.get(&id).is_some_and(is_answered)).await;
        }
    };
    tokio::pin!(story);
    let mut child = start(env);
    let input = child.stdin.take();
    let is_over = tokio::select! {
        () = &mut story => true,
        _ = child.wait() => false,
    };
    drop(input);
    let site = match wait_for_exit(child).await {
        StoryExit::Said(told) => return (None, told),
        StoryExit::Killed(site) => site,
    };
    let mut child = start(after_kill);
    let input = child.stdin.take();
    if !is_over {
        story.await;
    }
    drop(input);
    (Some(site), wait_for_exit(child).await.into_outcome())
}

async fn count_points(story: &'static str) -> usize {
    let stage = QuestionSweepFixture::new().await;
    let told = match story {
        HUB => run_hub_story(&stage, &[], &RedeliveringHub::start().await, (&SAID, 1)).await.1,
        _ => stage.run_story(story, &[]).await.into_outcome(),
    };
    assert_eq!(stage.check_outcome(story, &told), [] as [String; 0], "{story}");
    stage.model.finish();
    told["points"].as_u64().and_then(|points| usize::try_from(points).ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_asked_shown_and_answered_once_wherever_the_plug_is_pulled() {
    let mut all = SweepReport::default();
    for story in STORIES.into_iter().chain([HUB]) {
        let points = count_points(story).await;
        let mut kills = JoinSet::new();
        let mut places = (1..=points).step_by(stride(23));
        loop {
            while kills.len() < PARALLEL_STORIES
                && let Some(at) = places.next()
            {
                kills.spawn(run_killed_at(story, at));
            }
            let Some(played) = kills.join_next().await else { break };
            let (at, site, wrong) = played.expect("a kill is played");
            // Tasks take turns as they like: a story may have a step less than the one before.
            let site = site.unwrap_or_else(|| "at its end".to_owned());
            all.record_kill(story, at, site, wrong);
        }
        println!("{story}: points={points} kills so far={} wrong={}", all.kills, all.wrong.len());
    }
    all.assert_holds("of questions", 12);
    for site in ["user.is.asked", "user.has.answered"] {
        assert!(stride(23) > 1 || all.sites.contains(site), "{site} is one of them");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_messages_are_kept_and_answered_once_where_keeping_them_is_cut() {
    let mut answers = Vec::new();
    for site in ["none", "llm.decide.before", "store.intend.before", "llm.decide.after"] {
        let (stage, hub) = (QuestionSweepFixture::new().await, RedeliveringHub::start().await);
        let env = [("KILL_ON", site.to_owned())];
        let (killed, told) = run_hub_story(&stage, &env, &hub, (&["and now?"], 2)).await;
        assert_eq!(killed, (site != "none").then(|| site.to_owned()));
        let story = json!({ "asked": [], "said": ["and now?"] });
        assert_eq!((&told["story"], &told["wrong"]), (&story, &json!([])), "{site}");
        assert_eq!(stage.home.notes.try_read(INBOX).as_deref(), Some("- and now?\n"), "{site}");
        let mut notified = hub.read_log(|book| book.notified.clone());
        // The second title has a number if it comes soon after the first, which is a matter of time.
        for text in notified.values_mut().flatten() {
            *text = text.replace(" (2)\"", "\"");
        }
        answers.push(notified);
        stage.model.finish();
    }
    let [answer, kept] = &answers[0]["m-0"][..] else { panic!("{answers:?}") };
    assert!(answer.contains("Noted.") && kept.contains("Saved to"), "{answers:?}");
    for cut in &answers[1..] {
        assert_eq!(*cut, answers[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_model_is_taken_once_where_it_is_cut_and_kept_as_no_note() {
    const ANSWER: &str = "answer: the blue one";
    for site in ["none", "store.answer_question.before", "store.answer_question.after"] {
        let (stage, hub) = (QuestionSweepFixture::new().await, RedeliveringHub::start().await);
        let (killed, _) = run_hub_story(&stage, &[], &hub, (&[ASK], 1)).await;
        assert_eq!(killed, None);
        let no_model = [("ANTHROPIC_API_KEY", String::new())];
        let env = [no_model[0].clone(), ("KILL_ON", site.to_owned())];
        let (killed, told) =
            run_hub_story_after(1, &stage, (&env, &no_model), &hub, (&[ANSWER], 1)).await;
        assert_eq!(killed, (site != "none").then(|| site.to_owned()));
        let story = json!({ "asked": [["Which colour?", ANSWER, false]], "said": [ASK, ANSWER] });
        assert_eq!((&told["story"], &told["wrong"]), (&story, &json!([])), "{site}");
        assert_eq!(stage.home.notes.try_read(INBOX), None, "{site}");
        let told = hub.read_log(|book| book.notified["m-1"].clone());
        assert_eq!(told.len(), 1, "{site}: {told:?}");
        stage.model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_finds_an_answer_that_is_given_twice_or_never() {
    for (control, site) in [("twice", "user.has.answered"), ("silent", "user.is.asked")] {
        let stage = QuestionSweepFixture::new().await;
        let cut = stage.run_story("option", &[("KILL_ON", site.to_owned())]).await;
        assert!(matches!(cut, StoryExit::Killed(at) if at == site));
        let told =
            stage.run_story("option", &[("CONTROL", control.to_owned())]).await.into_outcome();
        let wrong = stage.check_outcome("option", &told);
        println!("{control}: {wrong:?}");
        assert!(!wrong.is_empty(), "{control} was not caught");
        stage.model.finish();
    }
}
