//! Stories for the crash tests: the initial notes, the model's replies and the user's part, played until a kill and resumed.

pub mod multi_call;
pub mod note_changes;
pub mod question;
pub mod title;
