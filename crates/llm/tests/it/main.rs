//! The service and the providers, as the application uses them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall fail"
)]

mod compaction;
mod context_use;
mod fixtures;
mod history;
mod outdated_requests;
mod providers;
mod queue_retry;
#[path = "../../../../tests/support/conformance/request_bodies.rs"]
mod request_bodies;
mod service;
mod suspend;
mod text_tools;
mod titles;
mod tools;
