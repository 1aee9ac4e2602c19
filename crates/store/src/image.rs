//! The table `image`: contents that plans and effects need, packed, each once.

use protocol::ContentHash;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::decode;
use crate::error::Failure;

/// Stores a content under its hash; one that is known is not stored again.
pub(crate) async fn put(
    db: &mut SqliteConnection,
    content: &[u8],
) -> Result<ContentHash, sqlx::Error> {
    let hash = ContentHash::of(content);
    if is_known(db, &hash).await? {
        return Ok(hash);
    }
    let size = i64::try_from(content.len()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let packed = zstd::encode_all(content, zstd::DEFAULT_COMPRESSION_LEVEL)
        .map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query("INSERT INTO image (hash, size, packed) VALUES (?, ?, ?)")
        .bind(hash.as_str())
        .bind(size)
        .bind(packed)
        .execute(db)
        .await?;
    Ok(hash)
}

/// The content with this hash: exactly the bytes that were put, or an error.
pub(crate) async fn get(db: &mut SqliteConnection, hash: &ContentHash) -> Result<Vec<u8>, Failure> {
    let packed: Vec<u8> = sqlx::query("SELECT packed FROM image WHERE hash = ?")
        .bind(hash.as_str())
        .try_map(|row: SqliteRow| row.try_get("packed"))
        .fetch_optional(db)
        .await?
        .ok_or_else(|| Failure::not_found("image", hash))?;
    let content = zstd::decode_all(packed.as_slice()).map_err(decode)?;
    if ContentHash::of(&content) == *hash {
        Ok(content)
    } else {
        Err(Failure::Sql(decode(format!("the image `{hash}` does not hold what its name says"))))
    }
}

async fn is_known(db: &mut SqliteConnection, hash: &ContentHash) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM image WHERE hash = ?)")
        .bind(hash.as_str())
        .fetch_one(db)
        .await
}
