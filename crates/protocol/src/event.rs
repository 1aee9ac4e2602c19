//! The one numbered feed from the app to its window.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::chat::conversation::{ChatItem, ItemKey, MessageVariant};
use crate::notes::query::NoteText;
use crate::settings::KeyringTrouble;
use crate::{
    Conversation, ConversationId, HubStatus, MessageId, NotePath, Question, Review, Settings,
    SettingsProblem, VaultId,
};

/// The present provider and model, for the composer and the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderStatus {
    /// Whether a model answers (else Commands).
    pub has_model: bool,
    /// The model's id or alias; empty where there is none.
    pub model: String,
    /// Models to choose from, by id: the provider's list once it was tested, else those we know.
    pub models: Vec<crate::ModelInfo>,
    /// Its short name ("Haiku", "Commands").
    pub label: String,
    /// Where the key comes from: "environment", "keyring", "file" or nothing. Never the key.
    pub key_source: Option<String>,
    /// How many keys there are.
    pub keys: u32,
    /// The server that an environment variable names, while the settings name none.
    pub env_server: Option<EnvServer>,
    /// The problem and the remedy.
    pub trouble: Option<crate::UserError>,
    /// Why the keyring could not be looked into for a key that is in no other place.
    pub keyring: Option<KeyringTrouble>,
    /// A model server on this computer that could answer, while nobody else does and the user was
    /// not asked before.
    pub offer: Option<LocalServer>,
}

/// A server that an environment variable names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EnvServer {
    /// The name of the variable, such as `ANTHROPIC_BASE_URL`.
    pub variable: String,
    /// The server URL, without a user name or password.
    pub url: String,
}

/// The work of a model on this computer before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ModelWait {
    /// It reads what it was sent.
    Reading {
        /// An estimate of the tokens of the prompt.
        tokens: u32,
    },
    /// Its server loads it.
    Loading,
}

/// A model server on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LocalServer {
    /// Its name ("LM Studio").
    pub name: String,
    /// As whom it is asked.
    pub provider: crate::ProviderKind,
    /// Its server URL.
    pub address: String,
    /// The id of the first model in its list that is not for embeddings.
    pub model: String,
}

/// The open vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VaultInfo {
    /// Which vault: what is shown of it counts for no other.
    pub id: VaultId,
    /// The folder's name.
    pub name: String,
    /// Its whole path, as the user knows it.
    pub folder: String,
    /// The number of notes when they were last counted; the count may lag behind changes.
    pub notes: u32,
    /// Whether it takes writes.
    pub writable: bool,
    /// Whether it is the sample that came with the app.
    pub sample: bool,
    /// The present problem and the remedy.
    pub trouble: Option<crate::UserError>,
    /// How far the index is while it is being built; `None` when it stands, or cannot.
    pub indexing: Option<IndexProgress>,
    /// Rises when notes changed: what was looked up before may stand differently.
    pub revision: u32,
}

/// How far building the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct IndexProgress {
    /// Files that were looked at.
    pub done: u32,
    /// Files there are, as far as is known.
    pub all: u32,
}

/// All that the window shows before anything happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppSnapshot {
    /// Events with a higher number are not in it.
    pub seq: u32,
    /// The vault, or `None` on the first run.
    pub vault: Option<VaultInfo>,
    /// The settings in effect.
    pub settings: Settings,
    /// Why the settings file does not count, while it does not.
    pub settings_trouble: Option<SettingsProblem>,
    /// The provider that answers.
    pub provider: ProviderStatus,
    /// The state of the link to the hub.
    pub hub: HubStatus,
    /// The first page of the list, newest first, and all that need attention.
    pub conversations: Vec<Conversation>,
    /// The list goes on behind this one; `None` when all of it is here.
    pub behind: Option<ConversationId>,
    /// Long work in progress, the oldest first.
    pub jobs: Vec<crate::job::JobProgress>,
    /// The problems at start (such as a vault that is gone).
    pub problems: Vec<crate::UserError>,
}

/// An event with its number; numbers rise by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct NumberedEvent {
    /// Its place in the sequence; [`AppSnapshot::seq`] counts in the same one.
    pub seq: u32,
    /// The event itself.
    pub event: AppEvent,
}

/// An event. The window applies it; `docs/contributing.md` names the few after which it fetches something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[allow(
    clippy::large_enum_variant,
    reason = "an event is made, told and dropped; few wait at a time"
)]
pub enum AppEvent {
    /// A conversation is new or its row changed.
    ConversationChanged {
        /// Its new row, whole.
        conversation: Conversation,
    },
    /// A conversation is not there any more: it was deleted.
    ConversationGone {
        /// The deleted conversation.
        conversation: ConversationId,
    },
    /// An item is new, or replaces the one with its id.
    ItemChanged {
        /// The conversation that the item belongs to.
        conversation: ConversationId,
        /// The item, whole: it replaces the one with its id.
        item: ChatItem,
    },
    /// The end of a chat is another one: another version is shown, earlier turns were summarized, or
    /// the user decided about an interrupted turn.
    ItemsReplaced {
        /// The conversation that the items belong to.
        conversation: ConversationId,
        /// The last item that stays; `None` if none stays.
        after: Option<ItemKey>,
        /// All items behind it, oldest first. The summary is among them if one is shown: one among
        /// the items that stay goes.
        items: Vec<ChatItem>,
        /// The messages of the whole chat that have several versions.
        variants: Vec<MessageVariant>,
    },
    /// A queued message was changed or removed.
    QueueChanged {
        /// The conversation that the messages belong to.
        conversation: ConversationId,
        /// All queued messages, in order: they are the last items of the chat.
        queued: Vec<ChatItem>,
    },
    /// Items of a conversation changed, and nobody knows which: a window that shows it opens it again.
    ChatChanged {
        /// The conversation to open again.
        conversation: ConversationId,
    },
    /// More of an assistant item's text.
    TextAdded {
        /// The conversation with the item.
        conversation: ConversationId,
        /// The item whose text grows.
        id: MessageId,
        /// The text to append.
        text: String,
    },
    /// A model on this computer lets itself be waited for, or does no longer.
    WaitChanged {
        /// The conversation whose turn waits.
        conversation: ConversationId,
        /// For what; `None` once the answer goes on, or the turn is over.
        wait: Option<ModelWait>,
    },
    /// A conversation fills the context window by more or less, or the window is another one.
    ContextChanged {
        /// The conversation that is sent.
        conversation: ConversationId,
        /// How full it is; `None` when no model answers any more.
        context: Option<crate::ContextUse>,
    },
    /// The question is new, answered or withdrawn.
    QuestionChanged {
        /// The conversation that asks.
        conversation: ConversationId,
        /// The open one, if there is one.
        question: Option<Question>,
    },
    /// The pending changes are new, extended or decided.
    ReviewChanged {
        /// The conversation that led to the changes.
        conversation: ConversationId,
        /// The pending changes, if any.
        review: Option<Review>,
    },
    /// The messages that need approval changed.
    HeldChanged {
        /// The conversation with the messages.
        conversation: ConversationId,
        /// All approvals there, oldest first.
        held: Vec<crate::hub::approval::PendingApproval>,
    },
    /// Changes were applied, or what has become of them since is another.
    AppliedChanged {
        /// The set as it is now, whole.
        set: crate::changes::history::AppliedSet,
    },
    /// Many changes have lost their texts: a window that lists changes lists them again. Few are told as
    /// [`AppEvent::AppliedChanged`].
    HistoryChanged,
    /// Work that may take long began, went on or is over.
    JobsChanged {
        /// All that is under way, the oldest first.
        jobs: Vec<crate::job::JobProgress>,
    },
    /// Another provider, model or trouble.
    ProviderChanged {
        /// Its present state.
        provider: ProviderStatus,
    },
    /// The link moved.
    HubChanged {
        /// The present state of the link.
        hub: HubStatus,
    },
    /// Settings were changed, by whatever window or by hand, or their file no longer counts, or does again.
    SettingsChanged {
        /// All settings in effect, whichever changed.
        settings: Settings,
        /// Why the settings file does not count, while it does not.
        trouble: Option<SettingsProblem>,
    },
    /// The vault was opened, switched or lost, or something in this line of it changed.
    VaultChanged {
        /// The open vault, or `None` when none is open.
        vault: Option<crate::event::VaultInfo>,
    },
    /// The note that is shown next to the chat changed, whoever changed it.
    NoteChanged {
        /// Which, as [`crate::request::NoteContent`] named it.
        path: NotePath,
        /// Its text and properties now, or `None` when it was removed or renamed.
        content: Option<NoteText>,
    },
    /// The user wants to see a conversation, from outside the window.
    Called {
        /// The conversation to show.
        conversation: ConversationId,
    },
    /// The window was to be closed, and the user was never asked what that means.
    CloseAsked,
    /// Something went wrong outside any conversation.
    Problem {
        /// The error, to be shown to the user.
        error: crate::UserError,
    },
}
