//! The harness of headless tests: the application over a temporary vault, a hub of raw frames, and
//! stories in processes of their own.

pub(crate) mod raw_hub;
pub(crate) mod story_runner;
pub(crate) mod test_app;
