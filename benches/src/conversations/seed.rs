//! Conversations by the thousand, written into a database of the product as its rows.

use std::error::Error;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};

/// How many conversations are talked in by turns: their rows lie between each other.
const INTERLEAVED_CONVERSATIONS: u64 = 20;

/// The id of a conversation by its number.
pub(super) fn conversation_id(number: u64) -> String {
    format!("c{number:08}")
}

/// The title of a conversation by its number.
pub(crate) fn conversation_title(number: u64) -> String {
    format!("Conversation number {number}")
}

/// The numbers below a limit, as a table `n (i)`.
macro_rules! numbers {
    () => {
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) "
    };
}

/// Adds them, each with so many turns that are answered.
pub(crate) async fn insert_conversations(
    database: &Path,
    conversations: u64,
    turns: u64,
) -> Result<(), Box<dyn Error>> {
    let options =
        SqliteConnectOptions::new().filename(database).synchronous(SqliteSynchronous::Off);
    let mut db = SqliteConnection::connect_with(&options).await?;
    let (conversations, all) =
        (i64::try_from(conversations)?, i64::try_from(conversations * turns)?);
    let mut commit = db.begin().await?;
    sqlx::query(concat!(
        numbers!(),
        "INSERT INTO conversation (id, title, state, listed, created_at, updated_at)
         SELECT printf('c%08d', i), 'Conversation number ' || i, 'active', 1, i, 1000000 + i
         FROM n"
    ))
    .bind(conversations)
    .execute(&mut *commit)
    .await?;
    // Turn i belongs to one of the conversations that are talked in together.
    sqlx::query(concat!(
        numbers!(),
        "INSERT INTO turn (id, conversation, origin, status, ran, model, at, ended_at)
         SELECT printf('t%09d', i),
             printf('c%08d', i / (?2 * ?3) * ?3 + i % ?3), 'window', 'done', i + 1, 'm', i, i
         FROM n"
    ))
    .bind(all)
    .bind(i64::try_from(turns)?)
    .bind(i64::try_from(INTERLEAVED_CONVERSATIONS)?)
    .execute(&mut *commit)
    .await?;
    for (position, role, words) in [
        (0, "user", "Where did we write down what the boat needs this year, and who was asked?"),
        (1, "assistant", "In Boat.md: two coats of **vermilion**, a new mast step, and Marta."),
    ] {
        sqlx::query(
            "INSERT INTO message (id, conversation, turn, position, role, parts, cut, at)
             SELECT id || ?1, conversation, id, ?2, ?1,
                 json_array(json_object('type', 'text', 'text', number || ' ' || ?3)), 0, at
             FROM turn",
        )
        .bind(role)
        .bind(position)
        .bind(words)
        .execute(&mut *commit)
        .await?;
    }
    commit.commit().await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut db).await?;
    Ok(db.close().await?)
}
