//! A conversation in a store of its own, and short helpers for its events.

use std::collections::BTreeSet;
use std::path::PathBuf;

use protocol::chat::conversation::ChatItem;
use protocol::{
    CallResult, Change, ContentHash, ConversationId, Message, MessagePart, NewTurn, NotePath,
    Origin, Question, QuestionId, Role, Speech, Timestamp, TokenUsage, TurnEnding, TurnId,
    TurnStatus, TurnStep,
};
use serde_json::{Value, json};
use store::Store;
use tempfile::TempDir;

/// A new store with one conversation, `c`, begun at time 0.
pub(crate) struct TestConversation {
    pub(crate) store: Store,
    folder: TempDir,
}

pub(crate) fn conversation_id() -> ConversationId {
    ConversationId::from("c")
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

pub(crate) fn edit(at: &str, before: &str, after: &str) -> Change {
    Change::replace(path(at), before, after)
}

impl TestConversation {
    pub(crate) async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        let story = Self { store, folder };
        story
            .store
            .create_conversation(&conversation_id(), "Words", None, Timestamp(0))
            .await
            .expect("a conversation");
        story
    }

    /// The database.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("vault.db")
    }

    /// The database and the files that SQLite keeps for it, by name.
    #[expect(clippy::disallowed_methods, reason = "reads the files of a test's own folder")]
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a listing");
        let entries = entries.map(|entry| entry.expect("an entry"));
        let read = |entry: std::fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        };
        entries.map(read).collect()
    }

    /// Closes the store and opens it again.
    pub(crate) async fn restart(self) -> Self {
        self.store.close().await;
        let store = Store::open(&self.folder.path().join("vault.db")).await.expect("a store");
        Self { store, folder: self.folder }
    }

    /// The items of the chat.
    pub(crate) async fn items(&self) -> Vec<ChatItem> {
        self.store.chat_items(&conversation_id(), &BTreeSet::new()).await.expect("read")
    }

    /// The user says something in the window: turn `id`, queued.
    pub(crate) async fn says(&self, id: &str, text: &str, at: i64) {
        self.store.submit_turn(&new_turn(id, text, at)).await.expect("stored");
    }

    /// The next turn begins; its id.
    pub(crate) async fn begins(&self) -> Option<TurnId> {
        let begun = self.store.begin_turn(&conversation_id()).await.expect("begun");
        begun.map(|turn| turn.turn)
    }

    /// The model calls tools in a step with the id `message`.
    pub(crate) async fn steps(&self, turn: &str, message: &str, calls: &[(&str, &str, Value)]) {
        let step = step(turn, message, calls);
        self.store.store_step(&turn.into(), &step).await.expect("stored");
    }

    pub(crate) async fn ends(&self, turn: &str, ending: &TurnEnding) {
        self.store.finish_turn(&turn.into(), ending).await.expect("ended");
    }

    /// Turn `turn` runs and ends by asking `question` with the call `ask`.
    pub(crate) async fn asks(&self, turn: &str, question: &str, at: i64) {
        let call = [("ask", "send_message", json!({"message": question, "is_question": true}))];
        self.steps(turn, &format!("{turn}-step"), &call).await;
        let mut ending = ending(TurnStatus::Asked, at);
        let options = vec!["Yes".into(), "No".into()];
        let speech = Some(Speech::Ask { text: question.into(), options });
        ending.results = vec![CallResult { speech, ..result("ask", "Delivered.") }];
        ending.question = Some(question_asked(turn, question, at));
        self.ends(turn, &ending).await;
    }
}

pub(crate) fn new_turn(id: &str, text: &str, at: i64) -> NewTurn {
    let message = Message {
        id: format!("{id}-asks").into(),
        conversation: conversation_id(),
        turn: id.into(),
        role: Role::User,
        parts: vec![
            MessagePart::Context { text: "It is Saturday.".into() },
            MessagePart::Text { text: text.into() },
        ],
        at: Timestamp(at),
    };
    NewTurn { turn: id.into(), message, origin: Origin::Window, answers: None, shown: Vec::new() }
}

/// A turn that answers the question of turn `asked_by`.
pub(crate) fn answer(id: &str, asked_by: &str, text: &str, at: i64) -> NewTurn {
    NewTurn { answers: Some(question_of(asked_by)), ..new_turn(id, text, at) }
}

pub(crate) fn question_of(turn: &str) -> QuestionId {
    QuestionId::from(format!("{turn}-question"))
}

pub(crate) fn question_asked(turn: &str, text: &str, at: i64) -> Question {
    Question {
        id: question_of(turn),
        conversation: conversation_id(),
        turn: turn.into(),
        call: "ask".into(),
        original_message: format!("{turn}-asks").into(),
        text: text.into(),
        options: vec!["Yes".into(), "No".into()],
        tool_calls_completed: 1,
        asked_at: Timestamp(at),
    }
}

pub(crate) fn step(turn: &str, message: &str, calls: &[(&str, &str, Value)]) -> TurnStep {
    let mut parts = vec![MessagePart::Text { text: "One moment.".into() }];
    parts.extend(calls.iter().map(|(id, tool, arguments)| MessagePart::Call {
        id: (*id).into(),
        tool: (*tool).into(),
        arguments: arguments.clone(),
    }));
    let usage = TokenUsage { input: 100, output: 10, cache_read: 0, cache_write: 0 };
    TurnStep { message: message_of(turn, message, parts), usage }
}

pub(crate) fn message_of(turn: &str, message: &str, parts: Vec<MessagePart>) -> Message {
    Message {
        id: message.into(),
        conversation: conversation_id(),
        turn: turn.into(),
        role: Role::Assistant,
        parts,
        at: Timestamp(50),
    }
}

pub(crate) fn result(call: &str, output: &str) -> CallResult {
    CallResult {
        call: call.into(),
        output: output.into(),
        is_error: false,
        speech: None,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}

/// The result of a call that said this to the user.
pub(crate) fn said(call: &str, text: &str) -> CallResult {
    let speech = Some(Speech::Say { text: text.into() });
    CallResult { speech, ..result(call, "Delivered.") }
}

pub(crate) fn read(call: &str, note: &str, content: &str) -> CallResult {
    let seen = vec![(path(note), ContentHash::of(content.as_bytes()))];
    CallResult { seen, ..result(call, content) }
}

pub(crate) fn ending(status: TurnStatus, at: i64) -> TurnEnding {
    TurnEnding {
        status,
        results: Vec::new(),
        message: None,
        cut: false,
        question: None,
        ends_conversation: false,
        error: None,
        usage: TokenUsage::default(),
        at: Timestamp(at),
    }
}

/// An ending with last words in a message of their own.
pub(crate) fn answered(turn: &str, text: &str, at: i64) -> TurnEnding {
    let words =
        message_of(turn, &format!("{turn}-end"), vec![MessagePart::Text { text: text.into() }]);
    TurnEnding { message: Some(words), ..ending(TurnStatus::Done, at) }
}

/// One step of a future; its result, if it is done.
pub(crate) async fn poll_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        })
    })
    .await;
    tokio::task::yield_now().await;
    polled
}
