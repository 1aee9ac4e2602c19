//! Identifiers, one type each, so that one can never stand where another is meant.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(String);

        impl $name {
            /// The id as it is stored and sent.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<uuid::Uuid> for $name {
            fn from(id: uuid::Uuid) -> Self {
                Self(id.to_string())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A vault on this device: a copy of it, and the same vault on another device, has another one.
    VaultId
    /// A conversation. UUID v7: sorts by the time it began.
    ConversationId
    /// A stored message.
    MessageId
    /// One run of the model from a user message to a terminal status.
    TurnId
    /// A tool call, spelled as the model spelled it; unique within its turn only.
    CallId
    /// A set of planned or applied changes.
    ChangeSetId
    /// One change of one path, in the ledger.
    EffectId
    /// An open or closed question to the user.
    QuestionId
}
