//! How full the context window is with each conversation that was shown or went on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llm::service::LlmService;
use protocol::{ContextUse, ConversationId, UserError};
use store::Store;

use crate::support::task_group::TaskGroup;

/// The last known figures; clones share them. They are measured again after a restart.
#[derive(Clone, Default)]
pub(crate) struct ContextUses(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    known: HashMap<ConversationId, Known>,
    /// The conversation that was opened last.
    opened: Option<ConversationId>,
}

struct Known {
    context: ContextUse,
    /// Whether it has to be found out again.
    outdated: bool,
}

/// The figures of a conversation that is being opened.
pub(crate) struct Opened {
    pub(crate) context: Option<ContextUse>,
    /// Whether it is to be found out, or found out again.
    pub(crate) measure: bool,
}

impl ContextUses {
    /// Takes note of what was found out; whether that is something else than was known.
    pub(crate) fn know(&self, conversation: &ConversationId, context: Option<&ContextUse>) -> bool {
        let mut state = self.state();
        let before = match context.cloned() {
            Some(context) => {
                state.known.insert(conversation.clone(), Known { context, outdated: false })
            }
            None => state.known.remove(conversation),
        };
        before.as_ref().map(|known| &known.context) != context
    }

    fn open(&self, conversation: &ConversationId) -> Opened {
        let mut state = self.state();
        state.opened = Some(conversation.clone());
        let known = state.known.get(conversation);
        Opened {
            context: known.map(|known| known.context.clone()),
            measure: known.is_none_or(|known| known.outdated),
        }
    }

    /// Other messages stand in a conversation now.
    pub(crate) fn outdate(&self, conversation: &ConversationId) {
        if let Some(known) = self.state().known.get_mut(conversation) {
            known.outdated = true;
        }
    }

    fn is_opened(&self, conversation: &ConversationId) -> bool {
        self.state().opened.as_ref() == Some(conversation)
    }

    /// Another model answers, or the same one otherwise. The conversation that is in front of the user.
    fn outdate_all(&self) -> Option<ConversationId> {
        let mut state = self.state();
        state.known.values_mut().for_each(|known| known.outdated = true);
        state.opened.clone()
    }

    /// The state is whole after each statement, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures how full the context window is with a conversation.
pub(crate) struct ContextMeter {
    store: Store,
    service: LlmService,
    pub(crate) uses: ContextUses,
    tasks: TaskGroup,
}

impl ContextMeter {
    /// A meter that has measured nothing yet.
    pub(crate) fn new(store: Store, service: LlmService, tasks: TaskGroup) -> Self {
        Self { store, service, uses: ContextUses::default(), tasks }
    }

    /// Returns the known figures, and remembers that the user looks at this conversation from now on.
    pub(crate) fn open(&self, conversation: &ConversationId) -> Opened {
        self.uses.open(conversation)
    }

    /// Has it found out behind the caller's back how full the window is; the feed tells of it.
    pub(crate) fn measure(self: &Arc<Self>, conversation: ConversationId) {
        let meter = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = meter.measured(&conversation).await {
                tracing::debug!(%conversation, %error, "not known how full the context window is");
            }
        });
    }

    /// The same for a conversation in which other messages stand now, at once if it is in front of the user,
    /// else once it is opened.
    pub(crate) fn outdate(self: &Arc<Self>, conversation: &ConversationId) {
        self.uses.outdate(conversation);
        if self.uses.is_opened(conversation) {
            self.measure(conversation.clone());
        }
    }

    /// The same for the conversation in front of the user, and for any other once it is opened: another
    /// model answers now, or the same one otherwise.
    pub(crate) fn measure_again(self: &Arc<Self>) {
        if let Some(opened) = self.uses.outdate_all() {
            self.measure(opened);
        }
    }

    async fn measured(&self, conversation: &ConversationId) -> Result<(), UserError> {
        match self.store.last_shown_turn(conversation).await? {
            Some(turn) => self.service.measure(&turn).await,
            None => Ok(()),
        }
    }
}
