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
}

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
    sqlx::query(
        "SELECT p.path, p.turn, p.call, p.after, p.kind IN ('create', 'replace') AS has_text,
                CASE WHEN p.kind IN ('rename', 'rename_folder') THEN p.target END AS target
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ?
         ORDER BY s.opened_at, p.change_set, p.position",
    )
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
        })
    })
    .fetch_all(db)
    .await
}
