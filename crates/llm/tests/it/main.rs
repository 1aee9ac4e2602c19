//! The service and the providers, as the application uses them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on shall fail"
)]

mod anthropic;
mod byte_server;
mod compaction;
mod context_use;
mod history;
mod key_pool;
mod memory_transcript;
mod ollama;
mod openai;
mod places;
#[path = "../../../../tests/support/conformance/request_bodies.rs"]
mod request_bodies;
mod scripted_provider;
mod service;
mod service_world;
mod suspend;
mod text_tools;
mod titles;
mod tools;
mod wait_notices;
