//! What the window may call. A second line in a command belongs in `app`.

pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod desktop;
pub(crate) mod hub;
pub(crate) mod looking;
pub(crate) mod notes;
pub(crate) mod settings;
pub(crate) mod shelf;
pub(crate) mod vault;
