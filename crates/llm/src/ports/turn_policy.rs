//! The decisions of the application about a turn, and the events that it receives.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::chat::model::Price;
use protocol::event::ModelWait;
use protocol::{
    AnswerAuthor, CallId, CallResult, ContextUse, ConversationId, Message, MessageId, OpenTurn,
    TurnEnding, TurnId, UserError,
};

use crate::model::ToolSpec;
use crate::provider::Provider;
use crate::tool_api::registry::ToolRegistry;
use crate::turn::spending_limit::SpendingLimit;

/// The limits of a turn. Reaching one is not a wall: the user may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// Requests that may end in calls.
    pub round_trips: u32,
    /// Calls that run in the whole turn.
    pub calls: u32,
    /// Calls of one message that run.
    pub calls_per_message: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self { round_trips: 10, calls: 100, calls_per_message: 16 }
    }
}

/// The setup of a turn: the provider, the model, the instructions, the tools and the limits.
#[derive(Clone)]
pub struct TurnSetup {
    /// The provider that is asked.
    pub provider: Arc<dyn Provider>,
    /// The model's id or alias.
    pub model: String,
    /// The server URL that it is asked at; empty where there is none.
    pub base_url: String,
    /// Output cap in tokens.
    pub max_tokens: u32,
    /// The context window of the model.
    pub capacity: ContextCapacity,
    /// Instructions.
    pub system: String,
    /// How the tools are described.
    pub detail: ToolDetail,
    /// Names of the tools on offer; anything else is refused by the executor too.
    pub tools: Vec<String>,
    /// The limits on requests and calls.
    pub limits: TurnLimits,
    /// The price of the model's tokens, where that is known; its requests are stored with it.
    pub price: Option<Price>,
    /// The spending limit; `None` if the model costs nothing, or its price is unknown.
    pub spending_limit: Option<SpendingLimit>,
    /// Earlier turns that are always sent: those whose question is open or is answered by this
    /// turn.
    pub kept_turns: BTreeSet<TurnId>,
    /// The model that summarizes earlier messages; `None` if there is none.
    pub summarizer: Option<Summarizer>,
    /// Whether the model runs on this computer, where to read a prompt may take minutes: then the wait is
    /// told.
    pub runs_here: bool,
}

impl TurnSetup {
    /// The provider and model that the answers are stored with.
    pub(crate) fn maker(&self) -> AnswerAuthor {
        AnswerAuthor { server: self.provider.server_id(), model: self.model.clone() }
    }

    /// The descriptions of the offered tools for the model.
    pub(crate) fn specs(&self, registry: &ToolRegistry) -> Vec<ToolSpec> {
        match self.detail {
            ToolDetail::Whole => registry.specs(&self.tools),
            ToolDetail::Brief => registry.brief_specs(&self.tools),
        }
    }
}

/// The window of a model whose server refused a request because it was too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedWindow {
    /// The model's id or alias.
    pub model: String,
    /// The server URL that it was asked at.
    pub base_url: String,
    /// How many tokens it reads at most.
    pub window: u32,
}

impl RefusedWindow {
    /// The window, if this model at this server URL refused the request: the user may have chosen another one
    /// meanwhile.
    #[must_use]
    pub fn of(&self, model: &str, base_url: &str) -> Option<u32> {
        (self.model == model && self.base_url == base_url).then_some(self.window)
    }
}

/// The model that summarizes earlier messages.
#[derive(Clone)]
pub struct Summarizer {
    /// The provider that is asked.
    pub provider: Arc<dyn Provider>,
    /// The model's id or alias.
    pub model: String,
    /// The price of its tokens, where that is known.
    pub price: Option<Price>,
    /// The context window in tokens, the answer included.
    pub window: u32,
    /// The prompt of the user, beside our own.
    pub prompt: String,
}

/// How the tools are described to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolDetail {
    /// With all they can do.
    #[default]
    Whole,
    /// Short, for a model with little room: see [`crate::tool_api::tool::ToolBrief`].
    Brief,
}

/// How much one request may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCapacity {
    /// The model's window in tokens, the answer included.
    Window(u32),
    /// No model: everything is heard whole.
    Unlimited,
    /// No model: only the turn itself is used, so its cost does not depend on earlier messages.
    OwnTurn,
}

/// The application around the turns. Implemented by `app` and by the tests.
#[async_trait]
pub trait TurnPolicy: Send + Sync {
    /// Chooses the model that answers. An error ends the turn as failed with that error.
    async fn setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError>;

    /// Decides again about a running turn. The model that `refused` a request reads no more than its window,
    /// whatever was set. If none did, the server has loaded the model by now, or a request was
    /// [`Outdated`](crate::model::ModelError::Outdated).
    async fn refresh_setup(
        &self,
        turn: &OpenTurn,
        refused: Option<&RefusedWindow>,
    ) -> Result<TurnSetup, UserError>;

    /// Decides which model summarizes a conversation whose last turn has ended, as for that turn
    /// now. Fails where nothing more may be spent; the limit of the turn itself does not count any more.
    /// [`idle_finished`](Self::idle_finished) is called for it afterwards, also on failure.
    async fn idle_setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError>;

    /// Decides which model may be asked about a conversation while no answer waits for it, in one
    /// request without tools; `turn` is its last one that ended. `None` while none may be asked:
    /// there is no model, it is paused, or nothing may be spent.
    /// [`idle_finished`](Self::idle_finished) is called for the turn afterwards, also on failure.
    async fn background_summarizer(&self, turn: &OpenTurn)
    -> Result<Option<Summarizer>, UserError>;

    /// Nobody hears that turn any more.
    fn idle_finished(&self, turn: &OpenTurn);

    /// Is told that the turns queued in a conversation cannot go on now, and why. They are tried again
    /// after a while; when that fails too, it is not told again. Must not block.
    fn queue_failed(&self, conversation: &ConversationId, error: &UserError);

    /// Is told that they go on, so that turns may stand differently. Must not block.
    fn queue_recovered(&self, conversation: &ConversationId);

    /// Is told what happened, in order, after it was stored. Must not block.
    fn publish(&self, turn: &OpenTurn, event: TurnEvent);
}

/// An event of a turn, in order. Everything but `Delta`, `Called`, `Waits` and `Context` is durable
/// before it is published.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "told a few times a turn, and at once taken apart")]
pub enum TurnEvent {
    /// It runs now.
    Began,
    /// More text of the answer that is being written; `message` names the answer.
    Delta {
        /// The answer.
        message: MessageId,
        /// The text to append.
        text: String,
    },
    /// A model on this computer has not begun its answer after a few seconds, or begins it now (`None`).
    Waits(Option<ModelWait>),
    /// An answer with calls was stored.
    Stepped(Message),
    /// A call begins to run.
    Called(CallId),
    /// Results were stored.
    Answered(Vec<CallResult>),
    /// Something stands in for earlier turns now. Also told when no turn runs.
    Summarized,
    /// How full the context window is: with each request, before the end of a turn, and when it was asked
    /// for or earlier messages were summarized while no turn runs. `None` where no model is asked.
    Context(Option<ContextUse>),
    /// The turn reached a terminal status; nothing of it follows.
    Ended(TurnEnding),
}
