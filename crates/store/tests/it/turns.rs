//! A turn from its message to its end, and its history for a model.

use std::future::Future;
use std::task::Poll;

use protocol::chat::conversation::ChatItem;
use protocol::error::user_text::{CatalogText, TextArg};
use protocol::{
    CallResult, ErrorCode, FullResult, MessagePart, Origin, Role, Timestamp, ToolEvent, TurnId,
    TurnStatus, UserError,
};
use serde_json::json;
use store::{StoreError, TurnPlace};

use crate::test_conversation::{
    TestConversation, answered, conversation_id, ending, message_of, new_turn, path, read, result,
    said, step,
};

/// A result as a model hears it.
fn result_part(result: CallResult) -> MessagePart {
    let CallResult { call, output, is_error, speech, .. } = result;
    MessagePart::Result { call, output, is_error, speech }
}

#[tokio::test]
async fn turns_run_one_at_a_time_in_the_order_they_were_queued() {
    let story = TestConversation::begin().await;
    story.says("t1", "First", 1).await;
    story.says("t2", "Second", 2).await;
    let begun = story.store.begin_turn(&conversation_id()).await.expect("begun").expect("queued");
    assert_eq!(
        (begun.turn.as_str(), begun.message.as_str(), begun.origin, begun.status, begun.at),
        ("t1", "t1-asks", Origin::Window, TurnStatus::Running, Timestamp(1))
    );
    assert_eq!(story.begins().await, None);
    story.ends("t1", &answered("t1", "Done.", 3)).await;
    assert_eq!(story.begins().await, Some("t2".into()));
    story.ends("t2", &answered("t2", "Done too.", 4)).await;
    assert_eq!(story.begins().await, None);
}

#[tokio::test]
async fn a_turn_in_one_conversation_does_not_hold_up_another() {
    let story = TestConversation::begin().await;
    story.store.create_conversation(&"d".into(), "Other", None, Timestamp(0)).await.expect("made");
    story.says("t1", "Here", 1).await;
    let mut other = new_turn("t2", "There", 2);
    other.message.conversation = "d".into();
    story.store.submit_turn(&other).await.expect("stored");
    assert_eq!(story.begins().await, Some("t1".into()));
    let begun = story.store.begin_turn(&"d".into()).await.expect("begun");
    assert_eq!(begun.map(|turn| turn.turn), Some("t2".into()));
}

#[tokio::test]
async fn a_message_to_a_conversation_that_is_not_there_is_refused_whole() {
    let story = TestConversation::begin().await;
    let mut lost = new_turn("t1", "Hello", 1);
    lost.message.conversation = "nowhere".into();
    let refused = story.store.submit_turn(&lost).await.expect_err("refused");
    assert_eq!(refused.to_string(), "This conversation no longer exists.");
    assert_eq!(story.store.turn_status(&"t1".into()).await.expect("read"), None);
}

#[tokio::test]
async fn open_turns_are_found_again_after_a_restart() {
    let story = TestConversation::begin().await;
    story.says("t1", "First", 1).await;
    story.says("t2", "Second", 2).await;
    story.begins().await;
    let story = story.restart().await;
    let open = story.store.open_turns().await.expect("read");
    let shown: Vec<(&str, TurnStatus)> =
        open.iter().map(|turn| (turn.turn.as_str(), turn.status)).collect();
    assert_eq!(shown, [("t1", TurnStatus::Running), ("t2", TurnStatus::Queued)]);
}

#[tokio::test]
async fn history_holds_all_messages_and_each_call_with_its_one_result() {
    let story = TestConversation::begin().await;
    story.says("t1", "Compare them", 1).await;
    story.begins().await;
    let calls = [
        ("c1", "read_file", json!({"path": "a.md", "factor": 0.1})),
        ("c2", "read_file", json!({"path": "b.md"})),
    ];
    story.steps("t1", "m1", &calls).await;
    let results = [said("c2", "B"), result("c1", "A")];
    story.store.store_results(&"t1".into(), &results).await.expect("stored");
    story.ends("t1", &answered("t1", "They differ.", 9)).await;
    story.says("t2", "Thanks", 10).await;
    story.begins().await;

    let history = story.store.history(&conversation_id(), &"t2".into()).await.expect("read");
    let answers = vec![result_part(result("c1", "A")), result_part(said("c2", "B"))];
    let mut results = message_of("t1", "m1:results", answers);
    results.role = Role::User;
    let last = vec![MessagePart::Text { text: "They differ.".into() }];
    assert_eq!(
        history,
        [
            new_turn("t1", "Compare them", 1).message,
            step("t1", "m1", &calls).message,
            results,
            message_of("t1", "t1-end", last),
            new_turn("t2", "Thanks", 10).message,
        ]
    );
}

#[tokio::test]
async fn what_is_queued_behind_a_turn_is_not_in_its_history() {
    let story = TestConversation::begin().await;
    story.says("t1", "First", 1).await;
    story.says("t2", "Second", 2).await;
    story.begins().await;
    let texts = |history: Vec<protocol::Message>| -> Vec<String> {
        history.iter().map(protocol::Message::text).collect()
    };
    let history = story.store.history(&conversation_id(), &"t1".into()).await.expect("read");
    assert_eq!(texts(history), ["First"]);
    story.ends("t1", &answered("t1", "Yes.", 3)).await;
    story.begins().await;
    let history = story.store.history(&conversation_id(), &"t2".into()).await.expect("read");
    assert_eq!(texts(history), ["First", "Yes.", "Second"]);
}

#[tokio::test]
async fn the_paths_of_a_call_are_those_that_it_spelled_itself() {
    let story = TestConversation::begin().await;
    story.says("t1", "Move it", 1).await;
    story.begins().await;
    let moves = json!({"source": "A", "destination": "b/a.md", "note": "c.md", "path": 1});
    let calls = [("c1", "move_file", moves), ("c2", "read_file", json!({"path": "d.md"}))];
    story.steps("t1", "m1", &calls).await;
    for (call, spelled) in [("c1", vec!["A", "b/a.md"]), ("c2", vec!["d.md"]), ("c3", vec![])] {
        let mut paths = story.store.call_paths(&"t1".into(), &call.into()).await.expect("read");
        paths.sort();
        assert_eq!(paths, spelled, "{call}");
    }
}

#[tokio::test]
async fn the_first_result_of_a_call_stands() {
    let story = TestConversation::begin().await;
    story.says("t1", "Read it", 1).await;
    story.begins().await;
    story
        .steps("t1", "m1", &[("c1", "read_file", json!({})), ("c2", "read_file", json!({}))])
        .await;
    let turn = TurnId::from("t1");
    story.store.store_results(&turn, &[read("c1", "a.md", "A")]).await.expect("stored");
    let open = story.store.unanswered_calls(&turn).await.expect("read");
    assert_eq!(open, [("c2".into(), "read_file".to_owned())]);
    story.store.store_results(&turn, &[said("c1", "Other")]).await.expect("ignored");
    story.ends("t1", &answered("t1", "Done.", 3)).await;

    let history = story.store.history(&conversation_id(), &turn).await.expect("read");
    let parts = history.into_iter().flat_map(|message| message.parts);
    let results: Vec<MessagePart> =
        parts.filter(|part| matches!(part, MessagePart::Result { .. })).collect();
    let not_run = result("c2", "Not run: the turn ended before this call.");
    let not_run = CallResult { is_error: true, ..not_run };
    assert_eq!(results, [result_part(result("c1", "A")), result_part(not_run)]);
    assert_eq!(story.store.unanswered_calls(&turn).await.expect("read"), []);
}

#[tokio::test]
async fn results_are_stored_all_or_none() {
    let story = TestConversation::begin().await;
    story.says("t1", "Read it", 1).await;
    story.begins().await;
    story.steps("t1", "m1", &[("c1", "read_file", json!({}))]).await;
    let results = [result("c1", "A"), result("unknown", "B")];
    let refused = story.store.store_results(&"t1".into(), &results).await.expect_err("refused");
    assert_eq!(refused.to_string(), "This tool call no longer exists.");
    let open = story.store.unanswered_calls(&"t1".into()).await.expect("read");
    assert_eq!(open, [("c1".into(), "read_file".to_owned())]);
}

/// Polls until it is ready, or gives it up when it has been polled `times`.
async fn polled<F: Future>(times: usize, work: F) -> Option<F::Output> {
    let mut work = Box::pin(work);
    let mut polls = 0;
    std::future::poll_fn(|context| {
        polls += 1;
        match work.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if polls == times => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_message_given_up_at_any_point_is_stored_whole_or_not_at_all() {
    let story = TestConversation::begin().await;
    let (mut given_up, mut stored) = (0, 0);
    for times in 1..=60 {
        let id = format!("t{times}");
        let new = new_turn(&id, "Hello", 1);
        let returned = polled(times, story.store.submit_turn(&new)).await;
        // The next commit has to wait until it is settled what became of this one.
        story.store.rename(&conversation_id(), &id).await.expect("nothing holds it up");
        let status = story.store.turn_status(&new.turn).await.expect("read");
        let history = story.store.history(&conversation_id(), &new.turn).await.expect("read");
        let its_own = history.iter().filter(|message| message.turn == new.turn).count();
        assert_eq!(its_own, usize::from(status.is_some()), "after {times} polls");
        match returned {
            None => given_up += 1,
            Some(outcome) => {
                outcome.expect("nothing was in its way");
                assert_eq!(status, Some(TurnStatus::Queued));
                stored += 1;
            }
        }
    }
    assert!(given_up > 0 && stored > 0, "given up {given_up}, stored {stored}");
}

#[tokio::test]
async fn a_turn_ends_once() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    story.ends("t1", &ending(TurnStatus::Cancelled, 2)).await;
    let again = story.store.finish_turn(&"t1".into(), &answered("t1", "Late.", 3)).await;
    assert!(matches!(again, Err(StoreError::NotFound { what: "This answer", .. })));
    let status = story.store.turn_status(&"t1".into()).await.expect("read");
    assert_eq!(status, Some(TurnStatus::Cancelled));
    let history = story.store.history(&conversation_id(), &"t1".into()).await.expect("read");
    assert_eq!(history.len(), 1);
}

#[tokio::test]
async fn a_queued_turn_that_is_cancelled_keeps_its_place() {
    let story = TestConversation::begin().await;
    story.says("t1", "Never mind", 1).await;
    story.ends("t1", &ending(TurnStatus::Cancelled, 2)).await;
    story.says("t2", "Hello", 3).await;
    story.begins().await;
    let items = story.items().await;
    let cancelled = ChatItem::Ended {
        turn: "t1".into(),
        status: TurnStatus::Cancelled,
        error: None,
        offer: None,
    };
    assert_eq!(items.get(1), Some(&cancelled));
}

#[tokio::test]
async fn what_a_conversation_has_seen_is_the_latest_of_each_note() {
    let story = TestConversation::begin().await;
    story.says("t1", "Read them", 1).await;
    story.begins().await;
    story
        .steps("t1", "m1", &[("c1", "read_file", json!({})), ("c2", "read_file", json!({}))])
        .await;
    let results = [read("c1", "a.md", "old"), read("c2", "Über.md", "B")];
    story.store.store_results(&"t1".into(), &results).await.expect("stored");
    story.ends("t1", &answered("t1", "Done.", 2)).await;
    story.says("t2", "Again", 3).await;
    story.begins().await;
    story.steps("t2", "m2", &[("c1", "read_file", json!({}))]).await;
    story.store.store_results(&"t2".into(), &[read("c1", "a.md", "new")]).await.expect("stored");

    let seen = story.store.read_state(&conversation_id(), TurnPlace::End).await.expect("read");
    let hash = |text: &str| protocol::ContentHash::of(text.as_bytes());
    assert_eq!(seen.get(&path("a.md")), Some(&hash("new")));
    assert_eq!(seen.get(&path("U\u{308}ber.md")), Some(&hash("B")));
    assert_eq!(seen.len(), 2);
    let before =
        story.store.read_state_before(&conversation_id(), &"t2".into()).await.expect("read");
    assert_eq!(before.get(&path("a.md")), Some(&hash("old")));
    assert_eq!(before.len(), 2);
    let own = story.store.read_state_of_turn(&"t2".into()).await.expect("read");
    assert_eq!(own, [(path("a.md"), hash("new"))].into());
}

#[tokio::test]
async fn the_chat_reads_as_it_was_told() {
    let story = TestConversation::begin().await;
    story.says("t1", "Look it up", 1).await;
    story.begins().await;
    story.steps("t1", "m1", &[("c1", "read_file", json!({}))]).await;
    let mut looked = read("c1", "a.md", "A");
    looked.reactions = vec![ToolEvent::Read { path: path("a.md") }];
    story.store.store_results(&"t1".into(), &[looked.clone()]).await.expect("stored");
    let mut cut = answered("t1", "It says", 3);
    cut.status = TurnStatus::Failed;
    cut.cut = true;
    cut.error = Some(UserError::new(ErrorCode::Network, "Cannot reach it"));
    story.ends("t1", &cut).await;
    story.says("t2", "Then not", 4).await;

    let user = |id: &str, text: &str, at: i64, queued: bool| ChatItem::User {
        id: id.into(),
        text: text.into(),
        origin: Origin::Window,
        at: Timestamp(at),
        queued,
    };
    let words = |id: &str, text: &str, cut: bool| ChatItem::Assistant {
        id: id.into(),
        text: text.into(),
        streaming: false,
        cut,
    };
    let line = ChatItem::Tool {
        turn: "t1".into(),
        call: "c1".into(),
        tool: "read_file".into(),
        at: Timestamp(50),
        arguments: "{}".into(),
        output: Some("A".into()),
        is_error: false,
        reactions: looked.reactions,
    };
    let items = story.items().await;
    assert_eq!(
        items,
        [
            user("t1-asks", "Look it up", 1, false),
            words("m1", "One moment.", false),
            line,
            words("t1-end", "It says", true),
            ChatItem::Ended {
                turn: "t1".into(),
                status: TurnStatus::Failed,
                error: cut.error,
                offer: None
            },
            user("t2-asks", "Then not", 4, true),
        ]
    );
}

#[tokio::test]
async fn an_ended_turn_keeps_the_entry_of_its_error() {
    let story = TestConversation::begin().await;
    story.says("t1", "Look it up", 1).await;
    story.begins().await;
    let entry = |key: &str, args| CatalogText { key: key.into(), args };
    let trouble = TextArg::Entry(entry("hub_lost", Vec::new()));
    let args = vec![("note".into(), TextArg::Plain("a.md".into())), ("why".into(), trouble)];
    let mut failed = answered("t1", "It says", 2);
    failed.status = TurnStatus::Failed;
    failed.error = Some(UserError {
        text: Some(entry("interrupted_change", args)),
        ..UserError::new(ErrorCode::Network, "Cannot reach it")
    });
    story.ends("t1", &failed).await;
    let ended = ChatItem::Ended {
        turn: "t1".into(),
        status: TurnStatus::Failed,
        error: failed.error,
        offer: None,
    };
    assert_eq!(story.items().await.last(), Some(&ended));
}

#[tokio::test]
async fn a_whole_result_is_known_by_its_handle_in_its_own_conversation_only() {
    let story = TestConversation::begin().await;
    story.says("t1", "Read it", 1).await;
    story.begins().await;
    story.steps("t1", "m1", &[("c1", "read_file", json!({}))]).await;
    let whole = FullResult { handle: "result-1".into(), text: "all of it".into() };
    let short = CallResult { whole: Some(whole), ..result("c1", "all") };
    story.store.store_results(&"t1".into(), &[short]).await.expect("stored");
    let story = story.restart().await;
    let found = story.store.full_result(&conversation_id(), "result-1").await.expect("read");
    let found = found.expect("there");
    assert_eq!(found.turn, "t1".into());
    assert_eq!(found.parts, [result_part(result("c1", "all of it"))]);
    for (conversation, handle) in [(conversation_id(), "result-2"), ("other".into(), "result-1")] {
        assert_eq!(story.store.full_result(&conversation, handle).await.expect("read"), None);
    }
}
