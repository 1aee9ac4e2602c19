//! The table of commands.

use super::command::CommandEntry;
use super::{changes, edits, help, queries};

/// All commands, in the order that `help` shows them.
pub(super) const COMMANDS: [CommandEntry; 14] = [
    queries::find::ENTRY,
    queries::open::ENTRY,
    queries::list::ENTRY,
    edits::new::ENTRY,
    edits::append::ENTRY,
    edits::replace::ENTRY,
    edits::move_note::ENTRY,
    edits::delete::ENTRY,
    queries::tags::ENTRY,
    queries::links::ENTRY,
    queries::tasks::ENTRY,
    edits::today::ENTRY,
    changes::ENTRY,
    help::ENTRY,
];
