//! How what happens at a path stands in columns: `kind`, `target`, `before`, `after`.

use protocol::{
    Change, ChangeAction, ChangeKind, ContentHash, FolderContents, NotePath, RenamedKind,
    TrashedFile,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::changes::content;
use crate::db::row_ext::{RowExt, decode_error, enum_text};
use crate::error::Failure;

/// A change as it stands in a row, its contents by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangeColumns {
    pub(crate) kind: String,
    pub(crate) target: Option<String>,
    pub(crate) before: Option<ContentHash>,
    pub(crate) after: Option<ContentHash>,
}

/// Stores the contents of a change; the row names them.
pub(crate) async fn store_contents(
    db: &mut SqliteConnection,
    change: &Change,
) -> Result<ChangeColumns, sqlx::Error> {
    let row = ChangeColumns::from_change(change)?;
    content::insert_all(db, &row.contents(change)).await?;
    Ok(row)
}

impl ChangeColumns {
    /// The row of a change whose contents are still to be stored.
    pub(crate) fn from_change(change: &Change) -> Result<Self, sqlx::Error> {
        let target = match &change.act {
            ChangeAction::Rename { to, .. } => Some(to.as_str().to_owned()),
            ChangeAction::Create { like, .. } => like.as_ref().map(|like| like.name.clone()),
            ChangeAction::RestoreFolder { trashed, .. } => Some(trashed.clone()),
            _ => None,
        };
        Ok(Self {
            kind: enum_text(&change.kind())?,
            target,
            before: change.before().map(ContentHash::of),
            after: change.after().map(ContentHash::of),
        })
    }

    /// The contents that the row names, with their names.
    pub(crate) fn contents<'h, 'c>(
        &'h self,
        change: &'c Change,
    ) -> Vec<(&'h ContentHash, &'c [u8])> {
        let before = self.before.as_ref().zip(change.before());
        before.into_iter().chain(self.after.as_ref().zip(change.after())).collect()
    }

    pub(crate) fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            kind: row.try_get("kind")?,
            target: row.try_get("target")?,
            before: row.optional_hash("before")?,
            after: row.optional_hash("after")?,
        })
    }

    /// The change at `path`, its contents unpacked. Of a file that it restores from the trash it knows the name only.
    pub(crate) async fn into_change(
        self,
        db: &mut SqliteConnection,
        path: NotePath,
    ) -> Result<Change, Failure> {
        let lacking = |what: &str| decode_error(format!("a change of `{path}` has no {what}"));
        let kind = serde_json::from_value(serde_json::Value::String(self.kind));
        let named = |name: String| TrashedFile { name, file: None, access: None };
        let like = self.target.clone().map(named);
        let target = self.target.ok_or_else(|| lacking("target"));
        let act = match kind.map_err(decode_error)? {
            ChangeKind::Create => {
                ChangeAction::Create { after: content(db, self.after).await?, like }
            }
            ChangeKind::Replace => ChangeAction::Replace {
                before: content(db, self.before).await?,
                after: content(db, self.after).await?,
            },
            ChangeKind::Trash => ChangeAction::Trash { before: content(db, self.before).await? },
            ChangeKind::Rename => {
                ChangeAction::Rename { to: target_path(&target?)?, what: RenamedKind::File }
            }
            ChangeKind::RenameFolder => {
                ChangeAction::Rename { to: target_path(&target?)?, what: RenamedKind::Folder }
            }
            ChangeKind::MakeFolder => ChangeAction::MakeFolder,
            ChangeKind::TrashFolder => {
                ChangeAction::TrashFolder { holds: folder_contents(db, self.before).await? }
            }
            ChangeKind::RestoreFolder => ChangeAction::RestoreFolder {
                trashed: target?,
                holds: folder_contents(db, self.before).await?,
            },
        };
        Ok(Change { path, act })
    }
}

fn target_path(path: &str) -> Result<NotePath, sqlx::Error> {
    NotePath::parse(path).map_err(decode_error)
}

/// Rows of earlier versions do not say what a folder held.
async fn folder_contents(
    db: &mut SqliteConnection,
    hash: Option<ContentHash>,
) -> Result<Option<FolderContents>, Failure> {
    Ok(match hash {
        Some(_) => Some(FolderContents::from_bytes(content(db, hash).await?)),
        None => None,
    })
}

async fn content(db: &mut SqliteConnection, hash: Option<ContentHash>) -> Result<Vec<u8>, Failure> {
    let hash = hash.ok_or_else(|| decode_error("a change has no content"))?;
    content::get(db, &hash).await
}
