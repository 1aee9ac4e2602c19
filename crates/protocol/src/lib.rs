//! The nouns that all sides speak: ids, paths, messages, change sets, events, requests, errors.
//!
//! Nothing here is async, does IO or reads a clock. What the window needs is exported to
//! TypeScript (`./dev bindings`); a test compares the checked-in bindings with the types.

pub mod approval;
pub mod change;
pub mod compaction;
pub mod conflict_copy;
pub mod context_use;
pub mod conversation;
pub mod conversation_list;
pub mod cost;
pub mod desktop;
pub mod effect;
pub mod error;
pub mod event;
pub mod export;
pub mod fault_injection;
pub mod file_id;
pub mod hash;
pub mod history;
pub mod hub;
pub mod id;
pub mod invisible;
pub mod job;
pub mod message;
pub mod model;
pub mod path;
pub mod privacy;
pub mod provenance;
pub mod query;
pub mod question;
pub mod request;
pub mod retention;
pub mod review;
pub mod settings;
pub mod time;
pub mod title;
pub mod tool_event;
pub mod turn;

pub use change::{
    Change, ChangeAction, ChangeKind, ChangeSet, ChangeSetConflict, DiskLocations, FileState,
    FolderContents, Intent, IntentState, PlannedState, RenamedKind, Renames, SettledIntent,
};
pub use compaction::{Compaction, Summary, UtilityRequest};
pub use context_use::{ContextKind, ContextPart, ContextUse};
pub use conversation::{Conversation, ConversationState};
pub use effect::{Effect, LineCounts};
pub use error::{ErrorCode, UserError};
pub use event::{AppEvent, AppSnapshot, NumberedEvent};
pub use file_id::{FileId, FileReplacement, MovedNote};
pub use hash::ContentHash;
pub use hub::{HubMessage, HubState, HubStatus};
pub use id::{
    CallId, ChangeSetId, ConversationId, EffectId, MessageId, QuestionId, TurnId, VaultId,
};
pub use message::{AnswerAuthor, Message, MessagePart, OpenNote, Origin, Role};
pub use model::ModelInfo;
pub use path::{NewNotePath, NewPathKind, NotePath, PathError};
pub use privacy::{Privacy, PrivateRules};
pub use provenance::Source;
pub use question::Question;
pub use review::{NoteDiff, Review};
pub use settings::{Mode, ProviderKind, ResumePolicy, Settings, SettingsChoice, SettingsProblem};
pub use time::Timestamp;
pub use title::{GeneratedTitle, TitleRequest, TitleTask};
pub use tool_event::{Passage, ToolEvent};
pub use turn::{
    CallResult, FullResult, NewTurn, OpenTurn, TokenUsage, TurnEnding, TurnStatus, TurnStep,
};
