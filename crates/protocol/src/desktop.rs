//! The state that the window and the desktop share.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The effect of closing the window while the hub is on and there is a tray.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OnClose {
    /// The user is asked, once: the answer is one of the others.
    #[default]
    Ask,
    /// The program goes on in the tray.
    Tray,
    /// The program ends.
    Quit,
}

/// How the program behaves on the desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct DesktopSettings {
    /// Whether the desktop shows notifications about pending or ended work while nobody looks.
    pub notifications: bool,
    /// The effect of closing the window.
    pub on_close: OnClose,
}

impl Default for DesktopSettings {
    fn default() -> Self {
        Self { notifications: true, on_close: OnClose::Ask }
    }
}

/// How the desktop stands, as it was found a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DesktopState {
    /// Whether the program stands in a tray that somebody shows.
    pub in_tray: bool,
    /// The action when the user logs in.
    pub at_login: AutostartMode,
}

/// The action when the user logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AutostartMode {
    /// The program is started.
    Starts,
    /// It is not.
    StaysOff,
}
