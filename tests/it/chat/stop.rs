//! Stop: soon after it nothing happens any more, and what did and did not happen is known.

use std::time::{Duration, Instant, SystemTime};

use protocol::changes::history::UndoScope;
use protocol::chat::conversation::ChatItem;
use protocol::job::JobKind;
use protocol::{AppEvent, ConversationId, ResumePolicy, Settings, TurnStatus};
use serde_json::json;
use testkit::stories::note_changes::NOTES;
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TEST_TIMEOUT, TestHome, home_with_key, settings_with_model,
};

/// From Stop to the last effect.
const MAX_STOP_DELAY: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_streams_slowly_is_cancelled_at_once_and_its_text_stays() {
    let gate = Gate::closed();
    let words = "These are many words of an answer that is never completed.";
    let model = ScriptedModel::start(vec![Reply::text(words).gated(&gate)]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send(None, "tell me", None).await.expect("taken");
    gate.let_through(1);
    gate.wait_until_reached(2).await;
    let stopped = Instant::now();
    running.app.stop(&conversation).await.expect("stopped");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert!(stopped.elapsed() < MAX_STOP_DELAY, "{:?}", stopped.elapsed());
    model.wait_for_disconnects(1).await;
    let view = running.view(&conversation).await;
    let cancelled =
        |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Cancelled, .. });
    assert!(view.items.last().is_some_and(cancelled), "{:#?}", view.items);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_for_other_conversations_is_cancelled_at_once_and_stays_so() {
    let gate = Gate::closed();
    let words = "These are many words of an answer that is never completed.";
    let script = (0..4).map(|_| Reply::text(words).gated(&gate)).collect();
    let model = ScriptedModel::start(script).await;
    let home = home_with_key(&NOTES);
    let settings = Settings { resume: ResumePolicy::Never, ..settings_with_model(&model) };
    let running = home.open(settings.clone()).await;
    for _ in 0..4 {
        running.send(None, "tell me", None).await.expect("taken");
    }
    gate.wait_until_reached(4).await;
    let waiting = running.send(None, "wait", None).await.expect("taken");
    let stopped = Instant::now();
    running.app.stop(&waiting).await.expect("stopped");
    running.app.wait_until_idle(&waiting).await.expect("idle");
    assert!(stopped.elapsed() < MAX_STOP_DELAY, "{:?}", stopped.elapsed());
    let view = running.view(&waiting).await;
    let [
        ChatItem::User { queued: false, .. },
        ChatItem::Ended { status: TurnStatus::Cancelled, .. },
    ] = view.items.as_slice()
    else {
        panic!("{:#?}", view.items)
    };
    assert!(!view.conversation.working);

    // It is the same after a start: nobody is asked.
    running.quit().await;
    let running = home.open(settings).await;
    running.app.wait_until_idle(&waiting).await.expect("idle");
    assert_eq!(running.view(&waiting).await.items, view.items);
    assert_eq!(model.requests().len(), 4);
    running.quit().await;
    model.finish();
}

/// Sixty notes, and a pending change of each in a conversation.
async fn app_with_sixty_pending()
-> (TestHome, ScriptedModel, RunningApp, ConversationId, Vec<String>) {
    let names: Vec<String> = (0..60).map(|n| format!("Note {n:02}.md")).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "old\n")).collect();
    let edit = |path: &String| {
        ("edit_file", json!({ "path": path, "old_text": "old", "new_text": "new" }))
    };
    let script = names.chunks(15).map(|part| Reply::calls(part.iter().map(edit).collect()));
    let script = script.chain([Reply::text("All sixty are planned.")]).collect();
    let (home, model) = (home_with_key(&notes), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "make all of it new").await;
    (home, model, running, conversation, names)
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_notes_that_are_being_changed_stop_after_the_one_under_way() {
    // N-network-10
    let (home, model, running, conversation, names) = app_with_sixty_pending().await;
    let review = running.view(&conversation).await.review.expect("one review");
    assert_eq!(review.notes.len(), 60, "sixty edits are one review");

    let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
    let decision = review.decide_request(&accepted, &[]);
    let app = running.app.clone();
    let decided = tokio::spawn(async move { app.decide_review(&decision).await });
    // No pause: the other notes are changed within milliseconds.
    let begun = Instant::now();
    while home.notes.read("Note 00.md") == "old\n" {
        assert!(begun.elapsed() < TEST_TIMEOUT, "nothing is changed");
        tokio::task::yield_now().await;
    }
    let stopped = SystemTime::now();
    running.app.stop(&conversation).await.expect("stopped");
    decided.await.expect("it ends").expect("no error: it was the user's wish");

    let changed: Vec<&String> =
        names.iter().filter(|name| home.notes.read(name) == "new\n").collect();
    assert!(changed.len() < 60, "all were changed before it could be stopped");
    assert_eq!(changed, names.iter().take(changed.len()).collect::<Vec<_>>(), "in order");
    let late = names.iter().filter_map(|name| {
        let file = std::fs::metadata(home.notes.root().join(name)).expect("a note");
        file.modified().expect("a time").duration_since(stopped).ok()
    });
    assert!(late.max().is_none_or(|late| late < MAX_STOP_DELAY));
    let waiting = running.pending_paths(&conversation).await;
    assert_eq!(waiting, names[changed.len()..], "the rest waits as it did");

    // It goes on where it was.
    let rest: Vec<&str> = waiting.iter().map(String::as_str).collect();
    running.decide(&conversation, &rest, &[]).await.expect("applied");
    assert!(names.iter().all(|name| home.notes.read(name) == "new\n"));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_of_sixty_notes_stops_after_the_current_one_and_continues_later() {
    let (home, model, running, conversation, names) = app_with_sixty_pending().await;
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    running.decide(&conversation, &all, &[]).await.expect("applied");
    let scope = UndoScope::Conversation { conversation };
    let (app, taken) = (running.app.clone(), scope.clone());
    let undoing = tokio::spawn(async move { app.undo(&taken).await });
    let begun = Instant::now();
    let back = |names: &[String]| names.iter().filter(|n| home.notes.read(n) == "old\n").count();
    while back(&names) == 0 {
        assert!(begun.elapsed() < TEST_TIMEOUT, "nothing is undone");
        tokio::task::yield_now().await;
    }
    // Whichever number it has; those before are over.
    (1..9).for_each(|work| running.app.stop_job(work));
    let undone = undoing.await.expect("it ends").expect("no error: it was the user's wish");
    assert!(undone.left > 0, "all were undone before it could be stopped");
    assert_eq!((undone.changed.len(), undone.conflicts.len()), (back(&names), 0));
    assert_eq!(undone.changed.len() + undone.left as usize, 60);
    let sixty = |event: &AppEvent| match event {
        AppEvent::JobsChanged { jobs } => jobs.first().cloned(),
        _ => None,
    };
    let told = running.wait_for_event("what it does", |event| {
        sixty(event).filter(|work| work.kind == JobKind::Undoing && work.stopping)
    });
    assert_eq!(told.await.all, Some(60));

    // It is the same after a start: what was left is not finished behind the user's back.
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(back(&names), undone.changed.len());
    let rest = running.app.undo(&scope).await.expect("the rest");
    assert_eq!((rest.changed.len(), rest.left), (undone.left as usize, 0));
    assert_eq!(back(&names), 60);
    running.quit().await;
    model.finish();
}
