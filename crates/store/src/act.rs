//! How what happens at a path stands in columns: `kind`, `target`, `before`, `after`.

use protocol::{Act, Change, ChangeKind, ContentHash, FolderContents, NotePath, Renamed};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::{Columns, decode, word};
use crate::error::Failure;
use crate::image;

/// A change as it stands in a row, its contents by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActRow {
    pub(crate) kind: String,
    pub(crate) target: Option<String>,
    pub(crate) before: Option<ContentHash>,
    pub(crate) after: Option<ContentHash>,
}

/// Stores the contents of a change; the row names them.
pub(crate) async fn put(db: &mut SqliteConnection, change: &Change) -> Result<ActRow, sqlx::Error> {
    let row = ActRow::naming(change)?;
    image::put_named(db, &row.contents(change)).await?;
    Ok(row)
}

impl ActRow {
    /// The row of a change whose contents are still to be stored.
    pub(crate) fn naming(change: &Change) -> Result<Self, sqlx::Error> {
        let target = match &change.act {
            Act::Rename { to, .. } => Some(to.as_str().to_owned()),
            Act::Create { like, .. } => like.clone(),
            Act::RestoreFolder { trashed, .. } => Some(trashed.clone()),
            _ => None,
        };
        Ok(Self {
            kind: word(&change.kind())?,
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

    pub(crate) fn of(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            kind: row.try_get("kind")?,
            target: row.try_get("target")?,
            before: row.maybe_hash("before")?,
            after: row.maybe_hash("after")?,
        })
    }

    /// The change at `path`, its contents unpacked.
    pub(crate) async fn change(
        self,
        db: &mut SqliteConnection,
        path: NotePath,
    ) -> Result<Change, Failure> {
        let lacking = |what: &str| decode(format!("a change of `{path}` has no {what}"));
        let kind = serde_json::from_value(serde_json::Value::String(self.kind));
        let like = self.target.clone();
        let target = self.target.ok_or_else(|| lacking("target"));
        let act = match kind.map_err(decode)? {
            ChangeKind::Create => Act::Create { after: content(db, self.after).await?, like },
            ChangeKind::Replace => Act::Replace {
                before: content(db, self.before).await?,
                after: content(db, self.after).await?,
            },
            ChangeKind::Trash => Act::Trash { before: content(db, self.before).await? },
            ChangeKind::Rename => Act::Rename { to: to(&target?)?, what: Renamed::File },
            ChangeKind::RenameFolder => Act::Rename { to: to(&target?)?, what: Renamed::Folder },
            ChangeKind::MakeFolder => Act::MakeFolder,
            ChangeKind::TrashFolder => Act::TrashFolder { holds: holds(db, self.before).await? },
            ChangeKind::RestoreFolder => {
                Act::RestoreFolder { trashed: target?, holds: holds(db, self.before).await? }
            }
        };
        Ok(Change { path, act })
    }
}

fn to(path: &str) -> Result<NotePath, sqlx::Error> {
    NotePath::parse(path).map_err(decode)
}

/// Rows of earlier versions do not say what a folder held.
async fn holds(
    db: &mut SqliteConnection,
    hash: Option<ContentHash>,
) -> Result<Option<FolderContents>, Failure> {
    Ok(match hash {
        Some(_) => Some(FolderContents::from_bytes(content(db, hash).await?)),
        None => None,
    })
}

async fn content(db: &mut SqliteConnection, hash: Option<ContentHash>) -> Result<Vec<u8>, Failure> {
    let hash = hash.ok_or_else(|| decode("a change has no content"))?;
    image::get(db, &hash).await
}
