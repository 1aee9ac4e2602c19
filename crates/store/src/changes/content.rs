//! The table `image`: contents that plans and effects need, packed, each once.

use std::cell::RefCell;

use protocol::ContentHash;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use zstd::bulk::Compressor;

use crate::db::row_ext::{decode_error, to_json};
use crate::error::Failure;

/// Up to this size packing a content again costs less than asking whether it is known.
const MAX_SMALL_BYTES: usize = 16 << 10;

/// Stores contents under their hashes, the small ones all at once: each statement is a detour
/// over the thread of the connection, and that costs more than the statement.
pub(crate) async fn insert_all(
    db: &mut SqliteConnection,
    contents: &[(&ContentHash, &[u8])],
) -> Result<(), sqlx::Error> {
    let (small, large) = split_by_size(contents.iter().copied());
    for (hash, content) in large {
        insert_large(db, hash, content).await?;
    }
    if small.is_empty() {
        return Ok(());
    }
    sqlx::query(insert_packed!()).bind(packed_json(&small)?).execute(db).await?;
    Ok(())
}

type HashedContent<'h, 'c> = (&'h ContentHash, &'c [u8]);

/// The small ones, for [`packed_json`], and the large ones, for [`insert_large`].
pub(crate) fn split_by_size<'h, 'c>(
    contents: impl Iterator<Item = HashedContent<'h, 'c>>,
) -> (Vec<HashedContent<'h, 'c>>, Vec<HashedContent<'h, 'c>>) {
    contents.partition(|(_, content)| content.len() <= MAX_SMALL_BYTES)
}

/// The argument `?1` of `insert_packed!`.
pub(crate) fn packed_json(small: &[HashedContent<'_, '_>]) -> Result<String, sqlx::Error> {
    let row = |(hash, content): &HashedContent<'_, '_>| {
        Ok((hash.as_str().to_owned(), content.len(), hex(&compress_small(content)?)))
    };
    to_json(&small.iter().map(row).collect::<Result<Vec<_>, sqlx::Error>>()?)
}

/// Stores small contents, but for those that are known.
macro_rules! insert_packed {
    () => {
        "INSERT INTO image (hash, size, packed)
         SELECT value ->> 0, value ->> 1, unhex(value ->> 2) FROM json_each(?1) WHERE true
         ON CONFLICT (hash) DO NOTHING"
    };
}
pub(crate) use insert_packed;

/// Stores a content, if it is not known yet.
pub(crate) async fn insert_large(
    db: &mut SqliteConnection,
    hash: &ContentHash,
    content: &[u8],
) -> Result<(), sqlx::Error> {
    if exists(db, hash).await? {
        return Ok(());
    }
    let size = i64::try_from(content.len()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let packed = zstd::bulk::compress(content, zstd::DEFAULT_COMPRESSION_LEVEL)
        .map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query("INSERT INTO image (hash, size, packed) VALUES (?, ?, ?)")
        .bind(hash.as_str())
        .bind(size)
        .bind(packed)
        .execute(db)
        .await?;
    Ok(())
}

thread_local! {
    /// To make one takes longer than to pack a note with it.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

fn compress_small(content: &[u8]) -> Result<Vec<u8>, sqlx::Error> {
    let packed = COMPRESSOR.with_borrow_mut(|packer| match packer {
        Some(packer) => packer.compress(content),
        None => {
            let made = Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packer.insert(made).compress(content)
        }
    });
    packed.map_err(|error| sqlx::Error::Encode(error.into()))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The content with this hash: exactly the bytes that were put, or an error.
pub(crate) async fn get(db: &mut SqliteConnection, hash: &ContentHash) -> Result<Vec<u8>, Failure> {
    let packed: Vec<u8> = sqlx::query("SELECT packed FROM image WHERE hash = ?")
        .bind(hash.as_str())
        .try_map(|row: SqliteRow| row.try_get("packed"))
        .fetch_optional(db)
        .await?
        .ok_or_else(|| Failure::not_found("This version", hash))?;
    let content = zstd::decode_all(packed.as_slice()).map_err(decode_error)?;
    if ContentHash::of(&content) == *hash {
        Ok(content)
    } else {
        Err(Failure::Sql(decode_error(format!("the stored text `{hash}` doesn’t match its name"))))
    }
}

async fn exists(db: &mut SqliteConnection, hash: &ContentHash) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM image WHERE hash = ?)")
        .bind(hash.as_str())
        .fetch_one(db)
        .await
}
