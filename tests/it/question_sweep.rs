//! The plug is pulled at every durable step of stories with a question in them, and between the answer
//! and what follows from it: there is one question for each that was asked, it is shown while it
//! waits, the first answer that was taken is heard once, and what was typed before keeps its order.
//!
//! `./dev faults` sweeps every point; with the tests runs a sample (`STORY_STRIDE`).

use serde_json::{Value, json};
use testkit::ScriptedModel;
use testkit::hub_weather::Remembering;
use testkit::question_story::{ASK, HUB, INBOX, NOTE, STORIES, model, times_heard};
use tokio::task::JoinSet;

use crate::played::{AT_ONCE, Ended, Sweep, ended, stride};
use crate::stage::Home;

/// What a story leaves: its questions with their answers, what was said, and the lines of the note.
fn outcome(story: &str) -> (Value, &'static [&'static str]) {
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
        "anew" => (
            json!([["Which colour?", null, true], ["Which size?", "Large", false]]),
            json!([ASK, "note one", "note two", "play question again", "Large", "and now?"]),
            &["note one", "note two", "Large"],
        ),
        _ => (
            json!([["Which colour?", "the blue one", false]]),
            json!([ASK, "how is the weather", "the blue one", "and now?"]),
            // About the last words the model does nothing, so they are kept.
            &["the blue one", "and now?"],
        ),
    };
    (json!({ "asked": asked, "said": said }), lines)
}

/// Who does something: notes, data, and the model.
struct Stage {
    home: Home,
    model: ScriptedModel,
}

impl Stage {
    async fn new() -> Self {
        Self { home: Home::new(&[NOTE]), model: ScriptedModel::responder(model).await }
    }

    async fn play(&self, story: &str, env: &[(&str, String)]) -> Ended {
        self.home.play(&format!("question {story}"), &self.model, env).await
    }

    /// What is not as it shall be at the end of a story.
    fn wrong(&self, story: &str, told: &Value) -> Vec<String> {
        let (outcome, lines) = outcome(story);
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
        for words in told_words(&outcome) {
            let most = requests.iter().map(|request| times_heard(request, &words)).max();
            let last = requests.last().map(|request| times_heard(request, &words));
            if (most, last) != (Some(1), Some(1)) {
                wrong.push(format!("“{words}” was heard {most:?} times, {last:?} in the end"));
            }
        }
        wrong
    }
}

fn told_words(outcome: &Value) -> Vec<String> {
    let said = outcome["said"].as_array().into_iter().flatten();
    said.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Plays a story that is killed at its n-th step, and then to its end. `None` when it has fewer.
async fn killed(story: &'static str, at: usize) -> (usize, Option<String>, Vec<String>) {
    let stage = Stage::new().await;
    let env = [("KILL_AT", at.to_string())];
    let (site, told) = match story {
        HUB => over_the_hub(&stage, &env, &Remembering::start().await, (&SAID, 1)).await,
        _ => match stage.play(story, &env).await {
            Ended::Killed(site) => (Some(site), stage.play(story, &[]).await.said()),
            Ended::Said(told) => (None, told),
        },
    };
    let wrong = stage.wrong(story, &told);
    stage.model.finish();
    (at, site, wrong)
}

/// The messages in the story of the hub.
const SAID: [&str; 4] = [ASK, "how is the weather", "the blue one", "and now?"];

/// These words, over a hub that says again what was not acknowledged; each is answered with at least so many
/// notifications before the next one is said.
async fn over_the_hub(
    stage: &Stage,
    env: &[(&str, String)],
    hub: &Remembering,
    (said, answers): (&[&str], usize),
) -> (Option<String>, Value) {
    let url = ("VAULTMATE_HUB_URL", format!("ws://{}", hub.address()));
    let start = |env: &[(&str, String)]| {
        stage.home.playing(
            "question hub",
            &stage.model,
            &[env, std::slice::from_ref(&url)].concat(),
        )
    };
    let story = async {
        for (number, words) in said.iter().enumerate() {
            hub.say(words);
            let id = format!("m-{number}");
            let is_answered = |told: &Vec<String>| told.len() >= answers;
            hub.until(words, |book| book.notified.get(&id).is_some_and(is_answered)).await;
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
    let site = match ended(child).await {
        Ended::Said(told) => return (None, told),
        Ended::Killed(site) => site,
    };
    let mut child = start(&[]);
    let input = child.stdin.take();
    if !is_over {
        story.await;
    }
    drop(input);
    (Some(site), ended(child).await.said())
}

async fn points(story: &'static str) -> usize {
    let stage = Stage::new().await;
    let told = match story {
        HUB => over_the_hub(&stage, &[], &Remembering::start().await, (&SAID, 1)).await.1,
        _ => stage.play(story, &[]).await.said(),
    };
    assert_eq!(stage.wrong(story, &told), [] as [String; 0], "{story}");
    stage.model.finish();
    told["points"].as_u64().and_then(|points| usize::try_from(points).ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_asked_shown_and_answered_once_wherever_the_plug_is_pulled() {
    let mut all = Sweep::default();
    for story in STORIES.into_iter().chain([HUB]) {
        let points = points(story).await;
        let mut kills = JoinSet::new();
        let mut places = (1..=points).step_by(stride(23));
        loop {
            while kills.len() < AT_ONCE
                && let Some(at) = places.next()
            {
                kills.spawn(killed(story, at));
            }
            let Some(played) = kills.join_next().await else { break };
            let (at, site, wrong) = played.expect("a kill is played");
            // Tasks take turns as they like: a story may have a step less than the one before.
            let site = site.unwrap_or_else(|| "at its end".to_owned());
            all.count(story, at, site, wrong);
        }
        println!("{story}: points={points} kills so far={} wrong={}", all.kills, all.wrong.len());
    }
    all.holds("of questions", 12);
    for site in ["user.is.asked", "user.has.answered"] {
        assert!(stride(23) > 1 || all.sites.contains(site), "{site} is one of them");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_nobody_acted_on_are_kept_and_answered_once_where_keeping_them_is_cut() {
    let mut answers = Vec::new();
    for site in ["nowhere", "llm.decide.before", "store.intend.before", "llm.decide.after"] {
        let (stage, hub) = (Stage::new().await, Remembering::start().await);
        let env = [("KILL_ON", site.to_owned())];
        let (killed, told) = over_the_hub(&stage, &env, &hub, (&["and now?"], 2)).await;
        assert_eq!(killed, (site != "nowhere").then(|| site.to_owned()));
        let story = json!({ "asked": [], "said": ["and now?"] });
        assert_eq!((&told["story"], &told["wrong"]), (&story, &json!([])), "{site}");
        assert_eq!(stage.home.notes.try_read(INBOX).as_deref(), Some("- and now?\n"), "{site}");
        answers.push(hub.read(|book| book.notified.clone()));
        stage.model.finish();
    }
    let [answer, kept] = &answers[0]["m-0"][..] else { panic!("{answers:?}") };
    assert!(answer.contains("Noted.") && kept.contains("Saved to"), "{answers:?}");
    for cut in &answers[1..] {
        assert_eq!(*cut, answers[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_finds_an_answer_that_is_given_twice_or_never() {
    for (control, site) in [("twice", "user.has.answered"), ("silent", "user.is.asked")] {
        let stage = Stage::new().await;
        let cut = stage.play("option", &[("KILL_ON", site.to_owned())]).await;
        assert!(matches!(cut, Ended::Killed(at) if at == site));
        let told = stage.play("option", &[("CONTROL", control.to_owned())]).await.said();
        let wrong = stage.wrong("option", &told);
        println!("{control}: {wrong:?}");
        assert!(!wrong.is_empty(), "{control} was not caught");
        stage.model.finish();
    }
}
