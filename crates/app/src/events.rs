//! Events for the window and the desktop about all that happens in a vault, and the progress of jobs.

pub(crate) mod chat_part;
pub(crate) mod desktop_feed;
pub(crate) mod domain_event;
pub(crate) mod feed;
pub(crate) mod jobs;
pub(crate) mod notifications;
pub(crate) mod publisher;
