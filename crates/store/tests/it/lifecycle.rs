//! Conversations that are archived, deleted and restored, and hub conversations that end.

use protocol::chat::conversation_list::ArchiveState;
use protocol::{ConversationId, ConversationState, Origin, Timestamp};
use serde_json::json;
use sqlx::{Connection, Row};
use store::{DeliveredMessage, DeliveryOutcome, StoreError};

use crate::test_conversation::{
    TestConversation, answered, conversation_id, edit, ending, new_turn, question_asked, result,
    step,
};

async fn listed_in(conversation: &TestConversation, archive_state: ArchiveState) -> Vec<String> {
    let page = conversation.store.conversations(archive_state, None, 10).await.expect("read");
    page.conversations.iter().map(|row| row.id.to_string()).collect()
}

async fn begin(
    conversation: &TestConversation,
    id: &str,
    hub_day: Option<&str>,
    at: i64,
) -> ConversationId {
    let id = ConversationId::from(id);
    let made = conversation.store.create_conversation(&id, id.as_str(), hub_day, Timestamp(at));
    made.await.expect("made");
    id
}

/// A hub's words in a conversation of its day, queued.
async fn hub_says(conversation: &TestConversation, id: &ConversationId, turn: &str, at: i64) {
    let mut new = new_turn(turn, "Buy milk", at);
    new.message.conversation = id.clone();
    new.origin = Origin::HubText;
    conversation.store.submit_turn(&new).await.expect("stored");
}

#[tokio::test]
async fn an_archived_conversation_stays_until_it_is_unarchived_or_gets_a_message() {
    let story = TestConversation::begin().await;
    begin(&story, "d", None, 1).await;
    story
        .store
        .set_archive_state(ArchiveState::Archived, &conversation_id())
        .await
        .expect("archived");
    assert_eq!(
        (
            listed_in(&story, ArchiveState::Open).await,
            listed_in(&story, ArchiveState::Archived).await
        ),
        (vec!["d".into()], vec!["c".into()])
    );
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("there");
    assert!(row.archived);
    story.store.set_archive_state(ArchiveState::Open, &conversation_id()).await.expect("taken out");
    assert_eq!(listed_in(&story, ArchiveState::Open).await, ["d", "c"]);
    story
        .store
        .set_archive_state(ArchiveState::Archived, &conversation_id())
        .await
        .expect("archived");
    story.says("t1", "One more thing", 2).await;
    assert_eq!(listed_in(&story, ArchiveState::Archived).await, Vec::<String>::new());
    let missing = story.store.set_archive_state(ArchiveState::Archived, &"nowhere".into()).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn the_list_comes_in_pages_without_a_gap() {
    let story = TestConversation::begin().await;
    for at in 0..7 {
        begin(&story, &format!("x{at}"), None, at / 2).await;
    }
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page =
            story.store.conversations(ArchiveState::Open, before.as_ref(), 3).await.expect("read");
        all.extend(page.conversations.iter().map(|row| row.id.to_string()));
        before = page.behind;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(all, ["x6", "x5", "x4", "x3", "x2", "x1", "x0", "c"]);
}

#[tokio::test]
async fn conversations_that_need_attention_are_listed_even_if_archived() {
    let story = TestConversation::begin().await;
    begin(&story, "d", None, 9).await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    story.asks("t1", "Which one?", 2).await;
    story
        .store
        .set_archive_state(ArchiveState::Archived, &conversation_id())
        .await
        .expect("archived");
    let waiting = story.store.conversations_needing_you().await.expect("read");
    let waiting: Vec<_> = waiting.iter().map(|row| (row.id.as_str(), row.archived)).collect();
    assert_eq!(waiting, [("c", true)]);
}

#[tokio::test]
async fn a_deleted_conversation_is_in_no_list_or_search_and_is_restored_as_it_was() {
    let story = TestConversation::begin().await;
    story.says("t1", "Turmeric", 1).await;
    story.begins().await;
    story.ends("t1", &answered("t1", "Noted.", 2)).await;
    let before = story.store.conversation(&conversation_id()).await.expect("read");
    story.store.delete(&conversation_id(), Timestamp(5)).await.expect("deleted");
    let gone = |story: &TestConversation| {
        let store = story.store.clone();
        async move {
            let found =
                store.search_conversations("turmeric", 9).await.expect("searched").found.len();
            (store.conversation(&conversation_id()).await.expect("read").is_none(), found)
        }
    };
    assert_eq!(gone(&story).await, (true, 0));
    assert_eq!(listed_in(&story, ArchiveState::Open).await, Vec::<String>::new());
    let late = story.store.submit_turn(&new_turn("t2", "Are you there?", 6)).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "nobody writes in it");
    assert!(
        story.store.delete(&conversation_id(), Timestamp(6)).await.is_err(),
        "it is deleted once"
    );
    let story = story.restart().await;
    story.store.restore(&conversation_id()).await.expect("restored");
    assert_eq!(story.store.conversation(&conversation_id()).await.expect("read"), before);
    assert_eq!(gone(&story).await, (false, 1));
}

#[tokio::test]
async fn a_conversation_that_works_is_not_deleted_and_what_is_queued_in_a_deleted_one_waits() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    let refused = story.store.delete(&conversation_id(), Timestamp(2)).await;
    assert!(matches!(refused, Err(StoreError::Working)));
    story.says("t2", "And then", 2).await;
    story.asks("t1", "Which one?", 3).await;
    story.store.delete(&conversation_id(), Timestamp(4)).await.expect("it only needs attention");
    assert_eq!(story.begins().await, None);
    assert_eq!(story.store.conversations_needing_you().await.expect("read"), []);
    story.store.restore(&conversation_id()).await.expect("restored");
    story.store.submit_turn(&new_turn("t3", "Something else", 5)).await.expect("stored");
    assert_eq!(story.begins().await, Some("t2".into()));
}

#[tokio::test]
async fn all_but_working_ones_are_deleted_and_all_are_restored() {
    let story = TestConversation::begin().await;
    let store = &story.store;
    let (first, second) = (ConversationId::from("h1"), ConversationId::from("h2"));
    store.create_conversation(&first, "h1", Some("day"), Timestamp(1)).await.expect("begun");
    store.delete(&first, Timestamp(2)).await.expect("deleted");
    store.create_conversation(&second, "h2", Some("day"), Timestamp(3)).await.expect("begun");
    store.set_archive_state(ArchiveState::Archived, &second).await.expect("archived");
    store.create_unlisted_conversation(&"u".into(), "u", Timestamp(3)).await.expect("begun");
    story.says("t1", "Look it up", 4).await;
    story.begins().await;
    assert_eq!(store.conversation_counts().await.expect("read"), (2, 1, Some(Timestamp(2))));
    assert_eq!(
        store.delete_all(Timestamp(5)).await.expect("deleted"),
        std::slice::from_ref(&second)
    );
    assert_eq!(listed_in(&story, ArchiveState::Open).await, ["c"], "what works stays");
    assert_eq!(store.conversation_counts().await.expect("read"), (1, 2, Some(Timestamp(2))));

    story.ends("t1", &answered("t1", "So", 6)).await;
    assert_eq!(store.delete_all(Timestamp(7)).await.expect("deleted"), [conversation_id()]);
    assert_eq!(store.delete_all(Timestamp(8)).await.expect("deleted"), []);
    assert_eq!(store.conversation_counts().await.expect("read"), (0, 3, Some(Timestamp(2))));
    assert_eq!(store.restore_all().await.expect("restored"), 3);
    assert_eq!(store.conversation_counts().await.expect("read"), (3, 0, None));
    assert_eq!(listed_in(&story, ArchiveState::Open).await, ["c", "h1"]);
    assert_eq!(listed_in(&story, ArchiveState::Archived).await, ["h2"]);
}

#[tokio::test]
async fn the_day_of_a_deleted_hub_conversation_may_begin_another() {
    let story = TestConversation::begin().await;
    let (store, day) = (&story.store, "2026-11-21");
    let first = begin(&story, "h1", Some(day), 1).await;
    hub_says(&story, &first, "t1", 2).await;
    assert!(matches!(store.delete(&first, Timestamp(3)).await, Err(StoreError::Working)));
    store.begin_turn(&first).await.expect("begun");
    story.ends("t1", &ending(protocol::TurnStatus::Done, 3)).await;
    store.delete(&first, Timestamp(3)).await.expect("deleted");
    assert_eq!(store.hub_conversation(day).await.expect("read"), None);
    store.restore(&first).await.expect("restored");
    assert_eq!(store.hub_conversation(day).await.expect("read"), Some(first.clone()));
    store.delete(&first, Timestamp(4)).await.expect("deleted");
    let second = begin(&story, "h2", Some(day), 5).await;
    store.restore(&first).await.expect("restored");
    assert_eq!(store.hub_conversation(day).await.expect("read"), Some(second));
    let row = store.conversation(&first).await.expect("read").expect("there");
    assert!(row.from_hub);
}

fn delivered(id: &str, text: &str) -> DeliveredMessage {
    let (hub, id, text) = ("hub".into(), id.into(), text.into());
    DeliveredMessage { hub, id, text, origin: Origin::HubText, sent_at: None }
}

/// A conversation with a row in every table that a conversation has rows in.
async fn with_every_table(conversation: &TestConversation) {
    let store = &conversation.store;
    let message = delivered("m1", "Buy a xylophone");
    store.inbox_insert(&[message], 10, Timestamp(1)).await.expect("stored");
    store.inbox_assign_turn("hub", "m1", &conversation_id(), &"t1".into()).await.expect("assigned");
    conversation.says("t1", "A xylophone", 1).await;
    conversation.begins().await;
    let call = ("w", "edit_file", json!({ "path": "a.md", "text": "xylophone" }));
    conversation.steps("t1", "t1-first", &[call]).await;
    let mut long = result("w", "xylophone");
    long.whole = Some(protocol::FullResult { handle: "r1".into(), text: "xylophone".into() });
    store.store_results(&"t1".into(), &[long]).await.expect("stored");
    let changes = [edit("a.md", "a", "drum")].into_iter().collect();
    let (set, turn, call) = ("s".into(), "t1".into(), "w".into());
    store
        .add_planned_changes(&conversation_id(), &set, &changes, &turn, &call, Timestamp(2))
        .await
        .expect("planned");
    conversation.asks("t1", "A xylophone?", 3).await;
    store.submit_fork(&new_turn("t2", "A drum", 4), &"t1".into()).await.expect("stored");
    store.begin_turn(&conversation_id()).await.expect("begun");
    store.store_step(&"t2".into(), &step("t2", "t2-step", &[])).await.expect("stored");
    let end = ending(protocol::TurnStatus::Done, 5);
    let said = store::OutboxPush {
        hub: "hub".into(),
        message_id: "m1".into(),
        title: None,
        body: "A xylophone".into(),
        priority: "low".into(),
        at: Timestamp(5),
    };
    store.inbox_done(&said).await.expect("done");
    store.finish_turn(&"t2".into(), &end).await.expect("ended");
}

#[tokio::test]
async fn what_is_removed_leaves_no_row_and_no_word_and_its_cost_still_counts() {
    let story = TestConversation::begin().await;
    with_every_table(&story).await;
    let spent = story.store.cost_between(Timestamp(0), Timestamp(100)).await.expect("read");
    assert!(spent.requests > 0);
    let first = story.store.first_cost_at().await.expect("read");
    story.store.purge_conversation(&conversation_id()).await.expect("left alone");
    assert_eq!(
        listed_in(&story, ArchiveState::Open).await,
        ["c"],
        "only what is deleted is removed"
    );
    let contains_text = |story: &TestConversation| {
        let holds = |bytes: &[u8]| bytes.windows(9).any(|part| part == b"xylophone");
        story.files().iter().any(|(_, bytes)| holds(bytes))
    };
    assert!(contains_text(&story), "the control: the text is in the file");
    story.store.delete(&conversation_id(), Timestamp(6)).await.expect("deleted");
    assert_eq!(story.store.deleted_until(Timestamp(5)).await.expect("read"), []);
    assert_eq!(story.store.deleted_until(Timestamp(6)).await.expect("read"), [conversation_id()]);
    let waits = story.store.outbox_next("hub", None, 100).await.expect("read");
    assert!(waits.is_some(), "the control: an answer has not reached the hub");
    story.store.purge_conversation(&conversation_id()).await.expect("removed");
    assert_eq!(tables_naming(&story).await, Vec::<String>::new());
    assert_eq!(story.store.outbox_next("hub", None, 100).await.expect("read"), None);
    let after = story.store.cost_between(Timestamp(0), Timestamp(100)).await.expect("read");
    assert_eq!(after, spent);
    assert_eq!(story.store.first_cost_at().await.expect("read"), first);
    assert!(matches!(
        story.store.restore(&conversation_id()).await,
        Err(StoreError::NotFound { .. })
    ));
    story.store.vacuum().await.expect("compacted");
    let story = story.restart().await;
    assert!(!contains_text(&story), "no text of it is left");
}

#[tokio::test]
async fn a_hub_message_whose_conversation_was_removed_is_known_again_and_another_one_is_not() {
    let story = TestConversation::begin().await;
    let store = &story.store;
    let late = async |text: &str, at| {
        let taken = store.inbox_insert(&[delivered("m1", text)], 10, Timestamp(at)).await;
        taken.expect("stored")[0]
    };
    assert_eq!(late("Buy milk", 0).await, DeliveryOutcome::New);
    store.inbox_assign_turn("hub", "m1", &conversation_id(), &"t1".into()).await.expect("assigned");
    story.says("t1", "Buy milk", 1).await;
    story.begins().await;
    story.ends("t1", &answered("t1", "So", 2)).await;
    let open = store.inbox_unfinished().await.expect("read");
    assert_eq!(open.len(), 1, "the control: it is not finished");
    store.delete(&conversation_id(), Timestamp(3)).await.expect("deleted");
    store.purge_conversation(&conversation_id()).await.expect("removed");
    assert_eq!(store.inbox_unfinished().await.expect("read"), [], "nothing more is done about it");
    assert_eq!(late("Buy milk", 60_000).await, DeliveryOutcome::Known);
    assert_eq!(late("Buy beer", 60_000).await, DeliveryOutcome::New);
}

/// The tables in which a row still names the conversation or one of its turns; the ledger, and the
/// rows that keep hub messages from being taken twice, may.
async fn tables_naming(conversation: &TestConversation) -> Vec<String> {
    let url = format!("sqlite://{}", conversation.file().display());
    let mut db = sqlx::SqliteConnection::connect(&url).await.expect("open");
    let columns = sqlx::query(
        "SELECT t.name AS tab, c.name AS col
         FROM pragma_table_list t JOIN pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT IN ('effect', 'inbox')",
    )
    .fetch_all(&mut db)
    .await
    .expect("columns");
    let mut named = Vec::new();
    for column in columns {
        let (table, column): (String, String) = (column.get("tab"), column.get("col"));
        let query = format!(
            "SELECT count(*) FROM \"{table}\" WHERE CAST(\"{column}\" AS TEXT) IN ('c', 't1', 't2', 's', 'm1')"
        );
        let rows: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&mut db).await.expect("rows");
        if rows > 0 {
            named.push(format!("{table}.{column}"));
        }
    }
    db.close().await.expect("closed");
    named
}

#[tokio::test]
async fn only_an_idle_hub_conversation_ends() {
    let story = TestConversation::begin().await;
    let store = &story.store;
    let ended = async |since| {
        let ended = store.end_idle_hub_conversations(Timestamp(since)).await.expect("ended");
        ended.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let quiet = begin(&story, "quiet", Some("1"), 10).await;
    let works = begin(&story, "works", Some("2"), 10).await;
    hub_says(&story, &works, "t1", 11).await;
    let waits = begin(&story, "waits", Some("3"), 10).await;
    hub_says(&story, &waits, "t2", 11).await;
    store.begin_turn(&waits).await.expect("begun");
    let mut end = ending(protocol::TurnStatus::Asked, 12);
    let mut question = question_asked("t2", "Which one?", 12);
    question.conversation = waits.clone();
    end.question = Some(question);
    story.ends("t2", &end).await;
    begin(&story, "late", Some("4"), 30).await;
    assert_eq!(ended(9).await, Vec::<String>::new());
    assert_eq!(ended(20).await, ["quiet"]);
    assert_eq!(ended(20).await, Vec::<String>::new(), "it ends once");
    let row = store.conversation(&quiet).await.expect("read").expect("there");
    assert_eq!((row.state, row.updated_at), (ConversationState::Ended, Timestamp(10)));
    hub_says(&story, &quiet, "t3", 40).await;
    let row = store.conversation(&quiet).await.expect("read").expect("there");
    assert_eq!(row.state, ConversationState::Active, "writing in it reopens it");
}
