//! Events of the hub, for programs that watch it, and reports for senders.

use hub::Priority;
use serde::{Deserialize, Serialize};

/// Events of clients and of the hub, for a terminal or a test to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalHubEvent {
    /// A client has a name now.
    Registered {
        /// The name it registered.
        name: String,
    },
    /// A registration failed.
    Declined {
        /// The name it asked for.
        name: String,
        /// The code it was told.
        code: &'static str,
    },
    /// A client's socket ended.
    Left {
        /// The name; `None` for a client that had not registered.
        name: Option<String>,
        /// The code of its close frame; `None` when it just went.
        code: Option<u16>,
    },
    /// A message went out.
    Delivered {
        /// The message's id.
        id: String,
        /// The name of the client that was asked.
        to: String,
        /// The words, as the client gets them.
        text: String,
    },
    /// A message was acknowledged.
    Acked {
        /// The message's id.
        id: String,
        /// The name of the client that took it.
        by: String,
    },
    /// A message was rejected, or not answered in time.
    Rejected {
        /// The message's id.
        id: String,
        /// The name of the client that was asked.
        by: String,
        /// The reason given, or "Response timeout".
        reason: String,
    },
    /// No client is left for a message.
    Undelivered {
        /// The reason and the remedy.
        reason: String,
    },
    /// A client sent a notification.
    Notified {
        /// The message's id.
        id: String,
        /// The name of the client that sent it.
        by: String,
        /// The notification as the client sent it.
        notice: HubNotification,
    },
    /// A notification is shown now, after the rules for it.
    Shown {
        /// The notification as it is shown.
        notice: HubNotification,
    },
    /// A frame was dropped: not of the protocol, not registered, or for an unknown message.
    Dropped {
        /// From whom, if registered.
        by: Option<String>,
    },
}

/// A notification as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubNotification {
    /// Its title; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its text; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// How loudly.
    pub priority: Priority,
}

/// The result of sending a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryReport {
    /// It went out.
    Delivered {
        /// The name of the client that was asked.
        to: String,
        /// Under which id.
        id: String,
    },
    /// It was taken.
    Acked {
        /// The name of the client that took it.
        by: String,
    },
    /// It was not; others are asked.
    Rejected {
        /// The name of the client that was asked.
        by: String,
        /// The reason given, or "Response timeout".
        reason: String,
    },
    /// Nobody takes it. Nothing follows.
    Undelivered {
        /// The reason and the remedy.
        reason: String,
    },
    /// Something to show came back.
    Notified {
        /// The name of the client that sent it.
        by: String,
        /// The notification as the client sent it.
        notice: HubNotification,
    },
}
