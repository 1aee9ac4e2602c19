//! The service and the providers, as the application uses them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall fail"
)]

mod anthropic;
mod asleep;
#[path = "../../../../tests/support/bodies.rs"]
mod bodies;
mod compaction;
mod context_use;
mod gist;
mod history;
mod json_calls;
mod key_pool;
mod memory;
mod model;
mod ollama;
mod openai;
mod places;
mod server;
mod service;
mod tools;
mod waiting;
mod world;
