//! How protocol's words stand in columns: ids and words as TEXT, times as INTEGER, lists as JSON.

use protocol::{ContentHash, FileAccess, FileId, NotePath, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// Reads columns by name, as protocol's types.
pub(crate) trait RowExt {
    fn text<T: From<String>>(&self, column: &str) -> Result<T, sqlx::Error>;
    fn optional_text<T: From<String>>(&self, column: &str) -> Result<Option<T>, sqlx::Error>;
    fn timestamp(&self, column: &str) -> Result<Timestamp, sqlx::Error>;
    fn path(&self, column: &str) -> Result<NotePath, sqlx::Error>;
    fn optional_hash(&self, column: &str) -> Result<Option<ContentHash>, sqlx::Error>;
    /// A file from the columns of its inode and its birth time; `None` where the inode is not known.
    fn file_id(&self, inode: &str, born: &str) -> Result<Option<FileId>, sqlx::Error>;
    /// The permissions and the owner of a file; `None` where they are not known.
    fn file_access(&self) -> Result<Option<FileAccess>, sqlx::Error>;
    /// A unit variant, by its name in serde.
    fn enum_value<T: DeserializeOwned>(&self, column: &str) -> Result<T, sqlx::Error>;
    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, sqlx::Error>;
    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, sqlx::Error>;
}

impl RowExt for SqliteRow {
    fn text<T: From<String>>(&self, column: &str) -> Result<T, sqlx::Error> {
        Ok(self.try_get::<String, _>(column)?.into())
    }

    fn optional_text<T: From<String>>(&self, column: &str) -> Result<Option<T>, sqlx::Error> {
        Ok(self.try_get::<Option<String>, _>(column)?.map(T::from))
    }

    fn timestamp(&self, column: &str) -> Result<Timestamp, sqlx::Error> {
        Ok(Timestamp(self.try_get(column)?))
    }

    fn path(&self, column: &str) -> Result<NotePath, sqlx::Error> {
        NotePath::parse(self.try_get(column)?).map_err(decode_error)
    }

    fn optional_hash(&self, column: &str) -> Result<Option<ContentHash>, sqlx::Error> {
        Ok(self.try_get::<Option<String>, _>(column)?.map(ContentHash::from_stored))
    }

    fn file_id(&self, inode: &str, born: &str) -> Result<Option<FileId>, sqlx::Error> {
        let number: Option<i64> = self.try_get(inode)?;
        let born = self.try_get(born)?;
        Ok(number.map(|number| FileId { inode: number.cast_unsigned(), born }))
    }

    fn file_access(&self) -> Result<Option<FileAccess>, sqlx::Error> {
        let mode: Option<u32> = self.try_get("mode")?;
        let (uid, gid): (Option<u32>, Option<u32>) = (self.try_get("uid")?, self.try_get("gid")?);
        Ok(mode.zip(uid.zip(gid)).map(|(mode, (uid, gid))| FileAccess { mode, uid, gid }))
    }

    fn enum_value<T: DeserializeOwned>(&self, column: &str) -> Result<T, sqlx::Error> {
        serde_json::from_value(serde_json::Value::String(self.try_get(column)?))
            .map_err(decode_error)
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, sqlx::Error> {
        serde_json::from_str(self.try_get(column)?).map_err(decode_error)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, sqlx::Error> {
        let text: Option<&str> = self.try_get(column)?;
        text.map(serde_json::from_str).transpose().map_err(decode_error)
    }
}

/// A value as JSON text.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// The name of a unit variant in serde.
pub(crate) fn enum_text<T: Serialize>(value: &T) -> Result<String, sqlx::Error> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(other) => Err(sqlx::Error::Encode(format!("`{other}` isn’t a word").into())),
        Err(error) => Err(sqlx::Error::Encode(error.into())),
    }
}

/// A stored value that its type does not accept.
pub(crate) fn decode_error(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}
