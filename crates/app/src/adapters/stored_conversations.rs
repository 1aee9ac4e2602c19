//! Conversations in a store, for tests of what a model is told of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use index::Index;
use protocol::settings::PrivateSettings;
use protocol::{
    ConversationId, ConversationState, Message, MessagePart, NewTurn, NotePath, Origin,
    PrivateRules, Role, Source, Timestamp, TokenUsage, TurnEnding, TurnId, TurnStatus, TurnStep,
};
use store::Store;
use tempfile::TempDir;
use vault::Vault;

use crate::privacy::PrivacyGuard;
use crate::support::clock::{new_id, now};

/// A store without conversations at first, and a vault without notes. Each event is a second after the one before.
pub(crate) struct StoredConversations {
    pub(crate) store: Store,
    folder: TempDir,
    last_event: AtomicI64,
}

impl StoredConversations {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        Self { store, folder, last_event: AtomicI64::new(now().0) }
    }

    fn next_time(&self) -> Timestamp {
        Timestamp(self.last_event.fetch_add(1_000, Ordering::Relaxed))
    }

    fn message(&self, conversation: &str, turn: &str, role: Role, text: &str) -> Message {
        Message { at: self.next_time(), ..message(conversation, turn, role, text) }
    }

    /// A guard over the vault and its conversations, by which no model sees these folders.
    pub(crate) fn guard(&self, never: &[&str]) -> Arc<PrivacyGuard> {
        let vault = Vault::open(self.folder.path()).expect("a vault");
        let rules = private_folders(never);
        let index = Index::new(&vault, rules.clone(), &self.folder.path().join("index"));
        let guard = PrivacyGuard::new(&vault, &index, rules);
        guard.set_effect_history(self.store.clone());
        guard
    }

    pub(crate) async fn begin(&self, conversation: &str) {
        let id = ConversationId::from(conversation);
        self.store.create_conversation(&id, "Words", None, self.next_time()).await.expect("begun");
    }

    /// The user writes this in a turn, which runs from now on.
    pub(crate) async fn ask(&self, conversation: &str, turn: &str, text: &str) {
        let new = NewTurn {
            turn: TurnId::from(turn),
            message: self.message(conversation, turn, Role::User, text),
            origin: Origin::Window,
            answers: None,
            shown: Vec::new(),
        };
        self.store.submit_turn(&new).await.expect("stored");
        let begun = self.store.begin_turn(&ConversationId::from(conversation)).await;
        assert_eq!(begun.expect("begun").map(|open| open.turn), Some(TurnId::from(turn)));
    }

    /// The turn goes on behind this answer of the model.
    pub(crate) async fn step(&self, conversation: &str, turn: &str, text: &str) {
        let message = self.message(conversation, turn, Role::Assistant, text);
        let step = TurnStep { message, usage: TokenUsage::default() };
        self.store.store_step(&TurnId::from(turn), &step).await.expect("stored");
    }

    /// The model was told text of this note, and the turn ends with its answer.
    pub(crate) async fn answer(
        &self,
        conversation: &str,
        turn: &str,
        note: Option<&str>,
        text: &str,
    ) {
        let source = |path| Source::Note(NotePath::parse(path).expect("a path"));
        let (sources, turn_id) = (Vec::from_iter(note.map(source)), TurnId::from(turn));
        self.store.add_sources(&turn_id, &sources).await.expect("stored");
        let ending = TurnEnding {
            status: TurnStatus::Done,
            results: Vec::new(),
            message: Some(self.message(conversation, turn, Role::Assistant, text)),
            cut: false,
            question: None,
            ends_conversation: false,
            error: None,
            usage: TokenUsage::default(),
            at: self.next_time(),
        };
        self.store.finish_turn(&turn_id, &ending).await.expect("ended");
    }

    /// A conversation of one turn, which has ended.
    pub(crate) async fn end_with(&self, conversation: &str, note: Option<&str>, text: &str) {
        self.begin(conversation).await;
        self.ask(conversation, conversation, "what is new?").await;
        self.answer(conversation, conversation, note, text).await;
        let id = ConversationId::from(conversation);
        self.store.set_state(&id, ConversationState::Ended).await.expect("ended");
    }
}

/// Rules by which no model sees these folders.
pub(crate) fn private_folders(never: &[&str]) -> PrivateRules {
    let never = never.iter().map(|folder| (*folder).to_owned()).collect();
    let private = PrivateSettings { never, ..Default::default() };
    PrivateRules::parse(&private).expect("rules")
}

pub(crate) fn message(conversation: &str, turn: &str, role: Role, text: &str) -> Message {
    Message {
        id: new_id(),
        conversation: ConversationId::from(conversation),
        turn: TurnId::from(turn),
        role,
        parts: vec![MessagePart::Text { text: text.to_owned() }],
        at: now(),
    }
}
