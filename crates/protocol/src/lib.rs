//! The nouns that all sides speak: ids, paths, messages, change sets, events, requests, errors.
//!
//! Nothing here is async, does IO or reads a clock. What the window needs is exported to
//! TypeScript (`./dev bindings`); a test compares the checked-in bindings with the types.

pub mod applied;
pub mod change;
pub mod compaction;
pub mod conflict_copy;
pub mod context_use;
pub mod conversation;
pub mod desktop;
pub mod effect;
pub mod error;
pub mod event;
pub mod export;
pub mod fault;
pub mod file_id;
pub mod gist;
pub mod hash;
pub mod held;
pub mod history;
pub mod hub;
pub mod id;
pub mod invisible;
pub mod looking;
pub mod message;
pub mod model;
pub mod path;
pub mod private;
pub mod question;
pub mod reaction;
pub mod request;
pub mod review;
pub mod settings;
pub mod shelf;
pub mod source;
pub mod spent;
pub mod time;
pub mod turn;
pub mod work;

pub use change::{
    Act, Change, ChangeKind, ChangeSet, Ended, FileState, FolderContents, Intent, IntentState,
    Renamed, Renames, Seen, Unplannable, Whereabouts,
};
pub use compaction::{Compaction, Summary, Utility};
pub use context_use::{ContextKind, ContextPart, ContextUse};
pub use conversation::{Conversation, ConversationState};
pub use effect::{Effect, LineCounts};
pub use error::{ErrorCode, UserError};
pub use event::{AppEvent, Numbered, Snapshot};
pub use file_id::{FileId, Moved, Succession};
pub use gist::{Gist, Untold, Wanted};
pub use hash::ContentHash;
pub use hub::{HubMessage, HubState, HubStatus};
pub use id::{
    CallId, ChangeSetId, ConversationId, EffectId, MessageId, QuestionId, TurnId, VaultId,
};
pub use message::{Maker, Message, OpenNote, Origin, Part, Role};
pub use model::ModelInfo;
pub use path::{Naming, NewNotePath, NotePath, PathError};
pub use private::{Privacy, PrivateRules};
pub use question::Question;
pub use reaction::{Passage, Reaction};
pub use review::{NoteDiff, Review};
pub use settings::{Mode, ProviderKind, Resume, Settings, SettingsChoice, SettingsTrouble};
pub use source::Source;
pub use time::Timestamp;
pub use turn::{CallResult, Ending, NewTurn, OpenTurn, Step, TurnStatus, Usage, WholeResult};
