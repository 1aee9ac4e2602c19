//! SQLite's FTS5, without a copy of the text, with prefixes of two and three letters kept.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use super::notes::{self, BenchNote};
use super::process_usage::{
    CandidateFigures, ProcessTimer, anonymous_memory, cpu_time, folder_size,
};
use super::queries::BenchQuery;
use super::{MAX_RESULTS, QUERY_ROUNDS, UPDATE_COUNT};

const CREATE_TABLE: &str = "CREATE VIRTUAL TABLE note USING fts5(title, headings, text, content='', \
     contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 2')";

/// Builds, changes and asks.
pub(crate) async fn measure(
    vault: &Path,
    asked: &[BenchQuery],
    place: &Path,
) -> Result<CandidateFigures, Box<dyn Error>> {
    let options = SqliteConnectOptions::new()
        .filename(place.join("fts.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Off);
    let mut database = SqliteConnection::connect_with(&options).await?;
    let watch = ProcessTimer::start();
    sqlx::query(CREATE_TABLE).execute(&mut database).await?;
    let paths = notes::note_paths(vault)?;
    for (some, first) in paths.chunks(1000).zip((0_i64..).step_by(1000)) {
        let mut commit = database.begin_with("BEGIN IMMEDIATE").await?;
        for (path, key) in some.iter().zip(first..) {
            insert(&mut commit, key, &notes::read_note(path)?).await?;
        }
        commit.commit().await?;
    }
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut database).await?;
    let build = watch.elapsed();
    let mut queries = Vec::new();
    for asked in asked {
        let mut best = Duration::MAX;
        for _ in 0..QUERY_ROUNDS {
            let began = cpu_time();
            find(&mut database, asked).await?;
            best = best.min(cpu_time().saturating_sub(began));
        }
        queries.push(best);
    }
    let memory = anonymous_memory()?;
    let mut updates = Vec::new();
    for ((path, key), at) in paths.iter().zip(0_i64..).skip(paths.len() / 2).zip(0..UPDATE_COUNT) {
        let word = format!("newword{at}");
        let mut note = notes::read_note(path)?;
        note.text.push_str(&word);
        let began = Instant::now();
        let mut commit = database.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("DELETE FROM note WHERE rowid = ?").bind(key).execute(&mut *commit).await?;
        insert(&mut commit, key, &note).await?;
        commit.commit().await?;
        let asked = BenchQuery { kind: String::new(), words: vec![word], is_phrase: false };
        if find(&mut database, &asked).await? != 1 {
            return Err("a changed note is not found".into());
        }
        updates.push(began.elapsed());
    }
    database.close().await?;
    Ok(CandidateFigures { build, updates, queries, disk: folder_size(place)?, memory })
}

async fn insert(
    database: &mut SqliteConnection,
    key: i64,
    note: &BenchNote,
) -> Result<(), Box<dyn Error>> {
    sqlx::query("INSERT INTO note (rowid, title, headings, text) VALUES (?, ?, ?, ?)")
        .bind(key)
        .bind(&note.title)
        .bind(&note.headings)
        .bind(&note.text)
        .execute(database)
        .await?;
    Ok(())
}

/// How many are found, at most the best hundred.
async fn find(
    database: &mut SqliteConnection,
    asked: &BenchQuery,
) -> Result<usize, Box<dyn Error>> {
    let query = if asked.is_phrase {
        format!("\"{}\"", asked.words.join(" "))
    } else {
        asked.words.iter().map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" ")
    };
    let sql =
        format!("SELECT rowid FROM note WHERE note MATCH ? ORDER BY rank LIMIT {MAX_RESULTS}");
    let found: Vec<(i64,)> =
        sqlx::query_as(AssertSqlSafe(sql)).bind(query).fetch_all(database).await?;
    Ok(found.len())
}
