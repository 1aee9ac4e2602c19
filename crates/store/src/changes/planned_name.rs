//! The planned changes of a conversation by name alone: nothing of their texts is read.

use protocol::{CallId, ContentHash, ConversationId, NotePath, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::{RowExt, decode_error};
use crate::db::transaction::read_one;
use crate::{Store, StoreError};

/// A planned change by its names, whether it is pending or was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedName {
    /// The path that the change is about.
    pub path: NotePath,
    /// Where it moves the note or folder.
    pub target: Option<NotePath>,
    /// The turn that planned it last.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Whether it gives the note a text.
    pub has_text: bool,
    /// The hash of that text; `None` also where the text is no longer kept.
    pub after: Option<ContentHash>,
    /// Whether the text only keeps links right that another change of the call is about.
    pub updates_links: bool,
}

/// A note that a planned change is about, whether that is pending or was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedNote {
    /// The turn that planned it last.
    pub turn: TurnId,
    /// The note, by its path before the change.
    pub note: NotePath,
    /// Whether the turn planned nothing for it but to keep links right that another change of the call is about.
    pub updates_links: bool,
}

/// Whether a planned change `p` only keeps links right. A call is about one note or folder: where it makes or moves
/// that, it replaces the texts of other notes for their links alone.
macro_rules! updates_links {
    () => {
        "(p.kind = 'replace' AND EXISTS (
             SELECT 1 FROM planned_change AS moved
             WHERE moved.change_set = p.change_set AND moved.turn = p.turn AND moved.call = p.call
                 AND moved.kind IN ('create', 'rename', 'rename_folder')))"
    };
}
pub(crate) use updates_links;

impl Store {
    /// All planned changes of a conversation by name, pending or decided, in any branch. Those that
    /// were planned last are at the end. A plan whose place a later one took before the user decided
    /// is not among them.
    pub async fn planned_names(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<PlannedName>, StoreError> {
        read_one!(self, "read the pending changes", |db| names_in(db, conversation))
    }
}

async fn names_in(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<PlannedName>, sqlx::Error> {
    sqlx::query(concat!(
        "SELECT p.path, p.turn, p.call, p.after, p.kind IN ('create', 'replace') AS has_text,
                CASE WHEN p.kind IN ('rename', 'rename_folder') THEN p.target END AS target, ",
        updates_links!(),
        " AS updates_links
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ?
         ORDER BY s.opened_at, p.change_set, p.position"
    ))
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        let target = row.optional_text::<String>("target")?;
        Ok(PlannedName {
            path: row.path("path")?,
            target: target.map(|path| NotePath::parse(&path)).transpose().map_err(decode_error)?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            has_text: row.try_get("has_text")?,
            after: row.optional_hash("after")?,
            updates_links: row.try_get("updates_links")?,
        })
    })
    .fetch_all(db)
    .await
}
