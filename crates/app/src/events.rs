//! Events for the window and the desktop about all that happens in a vault, and the progress of jobs.
//!
//! An event carries what changed, so that a window that applies it is in the state that a fetch would bring. It may
//! come after a fetch that holds it already: it replaces something by its id or as a whole, and adds nothing to it.
//! Only the text of an answer grows, under the lock of the feed's numbers. The few events after which the window
//! fetches, and why, are in `docs/contributing.md`.

pub(crate) mod chat_part;
pub(crate) mod desktop_feed;
pub(crate) mod domain_event;
pub(crate) mod feed;
pub(crate) mod jobs;
pub(crate) mod notifications;
pub(crate) mod publisher;
