//! The commands that the window may call. A second line in a command belongs in `app`.

pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod conversations;
pub(crate) mod desktop;
pub(crate) mod hub;
pub(crate) mod notes;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod vault;
