//! The events of an open vault, as the parts that cause them tell the publisher.

use llm::ports::turn_policy::TurnEvent;
use protocol::{ChangeSetId, ConversationId, EffectId, OpenTurn, Question, UserError};
use tokio::sync::{mpsc, oneshot};

use crate::events::chat_part::ChatPart;

/// An event in the conversations of a vault. One task handles all of them, so the window always
/// ends with the latest state.
#[expect(
    clippy::large_enum_variant,
    reason = "most are of a turn, and each is taken apart at once"
)]
pub(crate) enum DomainEvent {
    /// A turn went on.
    Turn(OpenTurn, TurnEvent),
    /// The user's message was stored; `question` was open before it. `replaced` holds it if more than
    /// the message is another item now.
    Sent { turn: OpenTurn, question: Option<Question>, replaced: Option<ChatPart> },
    /// A part of a chat is another one now.
    ChatReplaced(ConversationId, ChatPart),
    /// A conversation stands differently in the list, or is there no longer.
    Row(ConversationId),
    /// More changes are pending.
    Planned(ConversationId),
    /// The user has decided about pending changes.
    Decided(ConversationId),
    /// A question that waited was answered in the middle of a turn.
    Resolved(Question),
    /// The user has decided what the hub is told.
    Held(ConversationId),
    /// Sets were applied, or stand differently now.
    Applied(Vec<ChangeSetId>),
    /// Changes have lost their texts.
    Purged(Vec<EffectId>),
    /// Something failed that the user waits for.
    Problem(UserError),
    /// Somebody wants to know when all news until here is in the feed.
    CaughtUp(oneshot::Sender<()>),
}

/// Tells the publisher of one vault what happened, in order. Clones tell the same publisher.
#[derive(Clone)]
pub(crate) struct DomainEvents(mpsc::UnboundedSender<DomainEvent>);

impl DomainEvents {
    /// The events, and the end at which the publisher receives them.
    pub(crate) fn channel() -> (Self, mpsc::UnboundedReceiver<DomainEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Tells the publisher what happened.
    pub(crate) fn emit(&self, event: DomainEvent) {
        // Nobody listens once the vault is being closed; then the event is of no use.
        let _ = self.0.send(event);
    }

    /// Resolves when all that happened so far is in the feed, or the vault is being closed.
    pub(crate) async fn flush(&self) {
        let (asked, told) = oneshot::channel();
        self.emit(DomainEvent::CaughtUp(asked));
        let _ = told.await;
    }
}
