//! Events for the window and the desktop: the numbered feed, notifications, and the progress of jobs.

pub(crate) mod desktop_feed;
pub(crate) mod feed;
pub(crate) mod jobs;
pub(crate) mod notifications;
pub(crate) mod publisher;
