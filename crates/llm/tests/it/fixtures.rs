//! Servers, providers and stores that the tests use.

pub(crate) mod byte_server;
pub(crate) mod log_recorder;
pub(crate) mod memory_transcript;
pub(crate) mod scripted_provider;
pub(crate) mod service_world;
