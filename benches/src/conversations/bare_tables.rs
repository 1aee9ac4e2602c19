//! The same rows in tables that serve one query each: what any program would read them from.

use std::error::Error;
use std::path::Path;

use protocol::ConversationId;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{Connection, Row, SqliteConnection};
use tokio::sync::Mutex;

/// A database of its own.
pub(super) struct BareTables {
    database: Mutex<SqliteConnection>,
}

impl BareTables {
    /// With the rows of the product's database.
    pub(super) async fn copy_from(product: &Path, file: &Path) -> Result<Self, Box<dyn Error>> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        let mut database = SqliteConnection::connect_with(&options).await?;
        sqlx::query("ATTACH ? AS product")
            .bind(product.to_str().ok_or("a path in UTF-8")?)
            .execute(&mut database)
            .await?;
        for statement in [
            "CREATE TABLE row (
                 updated_at INTEGER NOT NULL, id TEXT NOT NULL, title TEXT, state TEXT,
                 from_hub INTEGER, archived INTEGER, waiting_question TEXT, waiting_notes INTEGER,
                 interrupted INTEGER, working INTEGER, PRIMARY KEY (updated_at, id)
             ) STRICT, WITHOUT ROWID",
            "INSERT INTO row SELECT updated_at, id, title, state, 0, 0, NULL, 0, 0, 0
             FROM product.conversation",
            "CREATE TABLE said (
                 conversation TEXT NOT NULL, number INTEGER NOT NULL, id TEXT, role TEXT, text TEXT,
                 at INTEGER, PRIMARY KEY (conversation, number)
             ) STRICT, WITHOUT ROWID",
            "INSERT INTO said
             SELECT m.conversation, t.number * 2 + m.position, m.id, m.role,
                 m.parts ->> '$[0].text', m.at
             FROM product.message m JOIN product.turn t ON t.id = m.turn
             ORDER BY 1, 2",
            "DETACH product",
        ] {
            sqlx::query(statement).execute(&mut database).await?;
        }
        Ok(Self { database: Mutex::new(database) })
    }

    /// The first page of the list.
    pub(super) async fn list(&self, rows: usize) -> Result<(), Box<dyn Error>> {
        let mut database = self.database.lock().await;
        let found = sqlx::query("SELECT * FROM row ORDER BY updated_at DESC, id DESC LIMIT ?")
            .bind(i64::try_from(rows)?)
            .try_map(|row: sqlx::sqlite::SqliteRow| {
                let words: (String, String, String, Option<String>) = (
                    row.try_get("id")?,
                    row.try_get("title")?,
                    row.try_get("state")?,
                    row.try_get("waiting_question")?,
                );
                let marks: (i64, bool, bool, u32, bool, bool) = (
                    row.try_get("updated_at")?,
                    row.try_get("from_hub")?,
                    row.try_get("archived")?,
                    row.try_get("waiting_notes")?,
                    row.try_get("interrupted")?,
                    row.try_get("working")?,
                );
                Ok((words, marks))
            })
            .fetch_all(&mut *database)
            .await?;
        if found.len() == rows { Ok(()) } else { Err("rows are missing".into()) }
    }

    /// All messages of one conversation.
    pub(super) async fn open(
        &self,
        id: &ConversationId,
        messages: usize,
    ) -> Result<(), Box<dyn Error>> {
        let mut database = self.database.lock().await;
        let found: Vec<(String, String, String, i64)> = sqlx::query_as(
            "SELECT id, role, text, at FROM said WHERE conversation = ? ORDER BY number",
        )
        .bind(id.as_str())
        .fetch_all(&mut *database)
        .await?;
        if found.len() == messages { Ok(()) } else { Err("messages are missing".into()) }
    }
}
