//! Conversations and their turns: sending, regenerating, resuming, titles, the list, and export.

pub(crate) mod chat_view;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod conversations;
pub(crate) mod export;
pub(crate) mod one_shot;
pub(crate) mod prompt;
pub(crate) mod queue;
pub(crate) mod regenerate;
pub(crate) mod resume;
pub(crate) mod save_answer;
pub(crate) mod send;
pub(crate) mod titles;
pub(crate) mod user_message;

use std::sync::Arc;

use llm::service::LlmService;
use store::Store;
use tokio::sync::Notify;

use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::events::feed::Feed;
use crate::models::context_use::ContextMeter;
use crate::models::selection::ModelSelector;
use crate::settings::config::Config;
use context::TurnContextBuilder;

/// The conversations of an open vault, and their turns.
pub(crate) struct Chats {
    pub(crate) store: Store,
    /// Runs the turns.
    pub(crate) service: LlmService,
    /// For the publisher.
    pub(crate) domain_events: DomainEvents,
    pub(crate) feed: Feed,
    pub(crate) config: Config,
    pub(crate) model_selector: ModelSelector,
    pub(crate) context: TurnContextBuilder,
    pub(crate) meter: Arc<ContextMeter>,
    /// Notified when there may be a conversation without a title or a summary.
    pub(crate) titles_due: Notify,
}

impl Chats {
    /// Tells the publisher what happened.
    pub(crate) fn emit(&self, event: DomainEvent) {
        self.domain_events.emit(event);
    }
}
