//! Attacks and secrets: hostile paths, prompt injection, invisible characters, leaked keys.

pub(crate) mod hostile_paths;
pub(crate) mod invisible_characters;
pub(crate) mod key_leaks;
pub(crate) mod key_servers;
pub(crate) mod prompt_injection;
pub(crate) mod secrets;
