//! No query of the start, of the list or of one conversation reads a table from end to end: each
//! that the methods really run is asked for its plan.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use log::LevelFilter;
use protocol::chat::conversation_list::ArchiveState;
use protocol::{CallId, ConversationId, EffectId, Timestamp, TurnId};
use sqlx::{AssertSqlSafe, ConnectOptions, Row};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::db::open::{base_options, reader_pool_options};
use crate::{RetentionPolicy, Store, TurnPlace};

/// Indexes over few rows, however many conversations there are: pending, working or unfinished
/// ones. Each index holds nothing else.
const SMALL_INDEXES: [&str; 9] = [
    "question_open",
    "turn_offered",
    "change_set_open",
    "inbox_open",
    "outbox_waiting",
    "conversation_deleted",
    "effect_open",
    "held_of_conversation",
    "untold_newest",
];

/// A query in the order of this index stops where the list is cut.
const ORDERED_INDEX: &str = "conversation_ended";

/// Takes down every statement that sqlx says it ran.
#[derive(Clone, Default)]
struct StatementLog(Arc<Mutex<BTreeSet<String>>>);

impl Subscriber for StatementLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut statement = StatementFields::default();
        event.record(&mut statement);
        let whole = if statement.whole.is_empty() { statement.summary } else { statement.whole };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(whole.trim().to_owned());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Short statements stand in the summary alone.
#[derive(Default)]
struct StatementFields {
    summary: String,
    whole: String,
}

impl Visit for StatementFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.clone_into(&mut self.whole),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vault.db");
    let store = Store::open(&file).await.expect("a store");
    let telling = base_options(&file)
        .read_only(true)
        .log_statements(LevelFilter::Info)
        .log_slow_statements(LevelFilter::Info, Duration::MAX);
    let store = Store { readers: reader_pool_options().connect_lazy_with(telling), ..store };
    (folder, store)
}

/// All that is read for lists of conversations.
async fn list(store: &Store) {
    let id = ConversationId::from("c");
    for archive in [ArchiveState::Open, ArchiveState::Archived] {
        store.conversations(archive, None, 9).await.expect("read");
        store.conversations(archive, Some(&id), 9).await.expect("read");
    }
    store.conversations_needing_you().await.expect("read");
    store.ended_conversations(9, None).await.expect("read");
    store.ended_conversations(9, Some("words")).await.expect("read");
    store.newest_ended(9).await.expect("read");
    store.search_conversations("words", 9).await.expect("read");
    store.conversation_ids(Some(&id), 9).await.expect("read");
}

/// All that is read for one conversation.
async fn open(store: &Store) {
    let (id, turn) = (ConversationId::from("c"), TurnId::from("t"));
    store.conversation(&id).await.expect("read");
    store.chat_items(&id, &BTreeSet::new()).await.expect("read");
    store.open_conversation(&id, &BTreeSet::new()).await.expect("read");
    store.variants(&id).await.expect("read");
    store.question(&id).await.expect("read");
    store.open_change_set(&id).await.expect("read");
    store.turn_costs(&id).await.expect("read");
    store.applied_sets(Some(&id), None, 9).await.expect("read");
    store.effect(&EffectId::from("e")).await.expect("read");
    store.conversation_outline(&id).await.expect("read");
    store.exported_turns(&[1]).await.expect("read");
    store.history(&id, &turn).await.expect("read");
    store.messages_of_turn(&turn).await.expect("read");
    store.running_turn(&id).await.expect("read");
    store.unreported_decisions(&id, TurnPlace::End).await.expect("read");
    store.resume_offer(&id).await.expect("read");
    store.last_shown_turn(&id).await.expect("read");
    store.read_state(&id, TurnPlace::End).await.expect("read");
    store.turn_status(&turn).await.expect("read");
    store.turns_before(&id, TurnPlace::End).await.expect("read");
    store.path_arguments(&id, TurnPlace::End).await.expect("read");
    store.question_before(&id, TurnPlace::End).await.expect("read");
    store.question_for_turn(&id, &turn).await.expect("read");
}

/// All that is read at the start.
async fn start(store: &Store) {
    let (at, turn) = (Timestamp(5), TurnId::from("t"));
    store.open_turns().await.expect("read");
    store.call_paths(&turn, &CallId::from("c")).await.expect("read");
    store.effects_of_call(&turn, &CallId::from("c")).await.expect("read");
    store.inbox_unfinished().await.expect("read");
    store.inbox_next().await.expect("read");
    store.inbox_of_turn(&turn).await.expect("read");
    store.outbox_next("hub", None, 100).await.expect("read");
    store.outbox_expired_replies("hub", 0, 100).await.expect("read");
    store.deleted_until(at).await.expect("read");
    store.next_untitled(at).await.expect("read");
    store.cost_between(at, at).await.expect("read");
    store.purgeable(RetentionPolicy { since: at, bytes: 1 << 40 }).await.expect("read");
}

/// The tables that a statement reads from end to end.
async fn scanned_tables(store: &Store, statement: &str) -> Vec<String> {
    let asked = format!("EXPLAIN QUERY PLAN {statement}");
    let plan = sqlx::query(AssertSqlSafe(asked)).fetch_all(&store.readers).await;
    let steps = plan.expect("a plan").into_iter().map(|row| row.get::<String, _>("detail"));
    steps.filter(|step| is_scan(step)).collect()
}

/// Lists in arguments, full-text indexes, branches of one conversation, and subqueries of this
/// query are no tables of ours.
fn is_scan(step: &str) -> bool {
    let Some(what) = step.strip_prefix("SCAN ") else { return false };
    let apart = ["CONSTANT ROW", "line", "awaited", "newest", "(subquery", "pragma_"];
    let few = SMALL_INDEXES
        .iter()
        .chain([&ORDERED_INDEX])
        .any(|index| what.ends_with(&format!("INDEX {index}")));
    !(what.contains("VIRTUAL TABLE") || few || apart.iter().any(|name| what.starts_with(name)))
}

#[tokio::test]
async fn no_query_of_the_start_the_list_or_a_conversation_reads_a_table_from_end_to_end() {
    let ran = StatementLog::default();
    tracing::subscriber::set_global_default(ran.clone()).expect("nobody listens yet");
    let (_folder, store) = store().await;
    list(&store).await;
    open(&store).await;
    start(&store).await;
    let statements = ran.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let selects: Vec<&String> = statements
        .iter()
        .filter(|statement| statement.starts_with("SELECT") || statement.starts_with("WITH"))
        .collect();
    assert!(selects.len() > 35, "{} statements were heard: {selects:#?}", selects.len());
    let mut bad = Vec::new();
    for statement in selects {
        let tables = scanned_tables(&store, statement).await;
        if !tables.is_empty() {
            bad.push((statement, tables));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    // The control: what has no index for it is caught.
    let slow = "SELECT id FROM conversation WHERE title = 'x'";
    assert_eq!(scanned_tables(&store, slow).await, ["SCAN conversation"]);
    assert_eq!(scanned_tables(&store, "SELECT id FROM turn ORDER BY at").await, ["SCAN turn"]);
}
