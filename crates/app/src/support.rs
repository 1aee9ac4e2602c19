//! Helpers without domain knowledge: tasks, blocking work, the clock, redaction, logs, and process memory.

pub(crate) mod blocking;
pub(crate) mod clock;
pub(crate) mod log;
pub(crate) mod process_memory;
pub(crate) mod redact;
pub(crate) mod task_group;
