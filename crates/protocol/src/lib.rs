//! The types that all parts of Vaultmate share: ids, paths, messages, change sets, events, requests, errors.
//!
//! Nothing here is async, does IO or reads a clock. `./dev bindings` exports the types that the window needs to
//! TypeScript; a test compares the checked-in file with them.
//!
//! A fact that was checked once is carried in a type: a [`NotePath`] cannot name anything outside a vault.
//!
//! ```
//! use protocol::NotePath;
//!
//! let path = NotePath::parse("Projects/Harbor.md").unwrap();
//! assert_eq!((path.folder(), path.title()), (Some("Projects"), "Harbor"));
//! assert!(NotePath::parse("../outside.md").is_err());
//! ```

pub mod changes;
pub mod chat;
pub mod desktop;
pub mod error;
pub mod event;
pub mod fault_injection;
pub mod hash;
pub mod hub;
pub mod id;
pub mod job;
pub mod notes;
pub mod request;
pub mod settings;
pub mod time;

pub use changes::change::{
    Change, ChangeAction, ChangeKind, ChangeSet, ChangeSetConflict, DiskLocations, FileState,
    FolderContents, Intent, IntentState, PlannedState, RenamedKind, Renames, SettledIntent,
    TrashedFile,
};
pub use changes::effect::{Effect, LineCounts};
pub use changes::review::{NoteDiff, Review};
pub use chat::compaction::{Compaction, Summary, UtilityRequest};
pub use chat::context_use::{ContextKind, ContextPart, ContextUse};
pub use chat::conversation::{Conversation, ConversationState};
pub use chat::message::{AnswerAuthor, Message, MessagePart, NoteOpener, OpenNote, Origin, Role};
pub use chat::model::ModelInfo;
pub use chat::question::Question;
pub use chat::speech::Speech;
pub use chat::title::{GeneratedTitle, TitleRequest, TitleTask};
pub use chat::tool_event::{Passage, ToolEvent};
pub use chat::turn::{
    CallResult, FullResult, NewTurn, OpenTurn, TokenUsage, TurnEnding, TurnStatus, TurnStep,
};
pub use error::{ErrorCode, UserError};
pub use event::{AppEvent, AppSnapshot, NumberedEvent};
pub use hash::ContentHash;
pub use hub::{HubMessage, HubState, HubStatus};
pub use id::{
    CallId, ChangeSetId, ConversationId, EffectId, MessageId, QuestionId, TurnId, VaultId,
};
pub use notes::file_access::FileAccess;
pub use notes::file_id::{FileId, FileReplacement, MovedNote};
pub use notes::path::{NewNotePath, NewPathKind, NotePath, PathError};
pub use notes::privacy::{Privacy, PrivateRules};
pub use notes::provenance::Source;
pub use settings::{Mode, ProviderKind, ResumePolicy, Settings, SettingsChoice, SettingsProblem};
pub use time::Timestamp;
