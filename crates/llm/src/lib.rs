//! Asks models and runs the turn. Knows nothing of notes, files, SQL or windows.
//!
//! [`turn`] is the rule book: a pure machine. [`service`] drives it, one session task a
//! conversation. A [`provider::Provider`] translates one vendor's wire; a [`tool::Tool`] is
//! something the model may do. What must be durable goes through [`transcript::Transcript`], what
//! changes notes through [`changes::Changes`], what the application decides through
//! [`host::Host`].

pub mod changes;
pub mod host;
pub mod model;
pub mod provider;
pub mod tool;
pub mod transcript;
