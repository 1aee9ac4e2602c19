//! Real files, emptied in every way, and cut in between.
#![expect(clippy::disallowed_methods, reason = "a test's own folder")]

use std::fs;

use protocol::{ConversationId, Timestamp};
use tempfile::TempDir;

use super::*;

struct LossFixture {
    folder: TempDir,
}

impl LossFixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("vault.db")
    }

    async fn open(&self, at: &str) -> (Store, Option<LostDatabase>) {
        Store::open_detecting_loss(&self.file(), at).await.expect("a store")
    }

    /// A database with a conversation and a change, closed.
    async fn with_past() -> Self {
        let place = Self::new();
        let (store, emptied) = place.open("never").await;
        assert_eq!(emptied, None, "the first one begins, it is not emptied");
        let id = ConversationId::from("c");
        store.create_conversation(&id, "Words", None, Timestamp(1)).await.expect("begun");
        store.close().await;
        place.sql(&[INSERT_EFFECT]).await;
        place.open("never").await.0.close().await;
        place
    }

    async fn sql(&self, statements: &[&'static str]) {
        let mut db =
            base_options(&self.file()).foreign_keys(false).connect().await.expect("a database");
        for statement in statements {
            sqlx::query(*statement).execute(&mut db).await.expect("done");
        }
        db.close().await.expect("closed");
    }

    /// The moved files, and the conversations in them.
    fn moved_files(&self, emptied: Option<LostDatabase>) -> Vec<String> {
        let folder = emptied.expect("it is told").moved_to.expect("something was left");
        let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A change that happened.
const INSERT_EFFECT: &str =
    "INSERT INTO effect (id, change_set, turn, call, path, temp_name, state, kind)
     VALUES ('e', 's', 't', 'c', 'a.md', '.x', 'done', 'create')";

/// One after it.
const INSERT_LATER_EFFECT: &str =
    "INSERT INTO effect (id, change_set, turn, call, path, temp_name, state, kind)
     VALUES ('later', 's2', 't2', 'c2', 'b.md', '.y', 'done', 'create')";

/// The ids of the changes that a database with these bytes and this log tells of, oldest first.
async fn effects(database: &[u8], log: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vault.db");
    fs::write(&file, database).expect("written");
    fs::write(with_suffix(&file, "-wal"), log).expect("written");
    let mut db = base_options(&file).connect().await.expect("a database");
    let ids = sqlx::query_scalar("SELECT id FROM effect ORDER BY number").fetch_all(&mut db).await;
    db.close().await.expect("closed");
    ids.expect("read")
}

async fn conversations(store: &Store) -> i64 {
    let mut db = store.readers.acquire().await.expect("a connection");
    let count = sqlx::query_scalar("SELECT count(*) FROM conversation").fetch_one(&mut *db).await;
    count.expect("counted")
}

#[tokio::test]
async fn a_database_that_is_as_it_was_is_only_opened() {
    let place = LossFixture::with_past().await;
    let (store, emptied) = place.open("later").await;
    assert_eq!((emptied, conversations(&store).await), (None, 1));
    store.close().await;
    // Nor when the user deleted all conversations, or restores one from before the last change.
    place.sql(&["DELETE FROM conversation"]).await;
    let (store, emptied) = place.open("later").await;
    assert_eq!(emptied, None);
    store.close().await;
}

#[tokio::test]
async fn one_without_a_byte_is_told_and_its_log_is_kept() {
    let place = LossFixture::with_past().await;
    // A pending log, as a kill leaves it.
    let (store, _) = place.open("later").await;
    let id = ConversationId::from("d");
    store.create_conversation(&id, "Later words", None, Timestamp(2)).await.expect("begun");
    let log = with_suffix(&place.file(), "-wal");
    let bytes = fs::read(&log).expect("a log");
    store.close().await;
    fs::write(place.file(), []).expect("emptied");
    fs::write(&log, &bytes).expect("a log");

    let (store, emptied) = place.open("now").await;
    assert_eq!(conversations(&store).await, 0);
    let folder = emptied.clone().expect("told").moved_to.expect("kept");
    assert!(folder.ends_with("emptied-now"), "{folder:?}");
    assert!(place.moved_files(emptied).contains(&"vault.db-wal".to_owned()));
    assert_eq!(fs::read(folder.join("vault.db-wal")).expect("a log"), bytes);
    store.close().await;
    // It is told once, and the new one counts from here on.
    let (store, emptied) = place.open("later").await;
    assert_eq!(emptied, None);
    store.close().await;

    // The control: SQLite alone removes the log of a database without a byte.
    fs::write(place.file(), []).expect("emptied");
    fs::write(&log, &bytes).expect("a log");
    Store::open(&place.file()).await.expect("a store").close().await;
    assert!(fs::read(&log).unwrap_or_default() != bytes);
}

#[tokio::test]
async fn the_changes_that_only_its_log_tells_of_are_in_the_log_that_is_kept() {
    let place = LossFixture::with_past().await;
    let (store, _) = place.open("later").await;
    place.sql(&[INSERT_LATER_EFFECT]).await;
    let log = with_suffix(&place.file(), "-wal");
    let database = fs::read(place.file()).expect("a database");
    let bytes = fs::read(&log).expect("a log");
    store.close().await;
    fs::write(place.file(), []).expect("emptied");
    fs::write(&log, &bytes).expect("a log");

    let (store, emptied) = place.open("now").await;
    store.close().await;
    let folder = emptied.expect("told").moved_to.expect("kept");
    let kept = fs::read(folder.join("vault.db-wal")).expect("a log");
    assert_eq!(effects(&database, &kept).await, ["e", "later"]);
    // The control: the file alone does not tell of the later one.
    assert_eq!(effects(&database, &[]).await, ["e"]);
}

#[tokio::test]
async fn a_log_without_its_database_is_kept_where_there_is_no_mark_yet() {
    let place = LossFixture::new();
    fs::write(with_suffix(&place.file(), "-wal"), "old data").expect("a log");
    let (store, emptied) = place.open("now").await;
    assert_eq!(place.moved_files(emptied), ["vault.db-wal"]);
    store.close().await;
}

#[tokio::test]
async fn one_that_is_gone_or_blank_or_has_no_rows_is_told_and_kept() {
    let place = LossFixture::with_past().await;
    fs::remove_file(place.file()).expect("removed");
    let (store, emptied) = place.open("now").await;
    assert_eq!(emptied, Some(LostDatabase { moved_to: None }), "nothing was left");
    store.close().await;

    let place = LossFixture::with_past().await;
    fs::remove_file(place.file()).expect("removed");
    let blank = base_options(&place.file()).create_if_missing(true);
    let mut db = blank.connect().await.expect("a database");
    sqlx::query("CREATE TABLE theirs (a)").execute(&mut db).await.expect("done");
    db.close().await.expect("closed");
    let (store, emptied) = place.open("now").await;
    assert_eq!(place.moved_files(emptied), ["vault.db"]);
    store.close().await;

    let place = LossFixture::with_past().await;
    place.sql(&["DELETE FROM effect", "DELETE FROM conversation"]).await;
    let (store, emptied) = place.open("now").await;
    assert_eq!(place.moved_files(emptied), ["vault.db"]);
    store.close().await;
}

#[tokio::test]
async fn one_that_was_recreated_elsewhere_is_reported_and_one_with_its_own_history_is_accepted() {
    let place = LossFixture::with_past().await;
    fs::remove_file(place.file()).expect("removed");
    Store::open(&place.file()).await.expect("a store").close().await;
    place.sql(&["UPDATE _sqlx_migrations SET installed_on = '2001-01-01 00:00:00'"]).await;
    let (store, emptied) = place.open("now").await;
    assert_eq!(place.moved_files(emptied), ["vault.db"]);
    store.close().await;

    let place = LossFixture::with_past().await;
    place.sql(&["UPDATE _sqlx_migrations SET installed_on = '2001-01-01 00:00:00'"]).await;
    let (store, emptied) = place.open("now").await;
    assert_eq!((emptied, conversations(&store).await), (None, 1), "a backup of before the mark");
    store.close().await;
}

#[tokio::test]
async fn one_that_was_cut_to_half_is_refused_and_stays() {
    let place = LossFixture::with_past().await;
    let bytes = fs::read(place.file()).expect("a database");
    for left in [100, 4096, bytes.len() / 2] {
        fs::write(place.file(), &bytes[..left]).expect("cut");
        let refused =
            Store::open_detecting_loss(&place.file(), "now").await.expect_err("it is damaged");
        assert!(matches!(refused, StoreError::Corrupt { .. }), "{left}: {refused:?}");
        assert_eq!(fs::read(place.file()).expect("a file"), bytes[..left], "{left}");
    }
}

#[tokio::test]
async fn an_interrupted_move_of_an_emptied_database_is_finished() {
    for moved in 0..=DATABASE_FILE_SUFFIXES.len() {
        let place = LossFixture::with_past().await;
        fs::write(place.file(), []).expect("emptied");
        fs::write(with_suffix(&place.file(), "-wal"), "old data").expect("a log");
        // So far did the first start come.
        let moved_to = place.folder.path().join("emptied-first");
        fs::create_dir_all(&moved_to).expect("a folder");
        for suffix in DATABASE_FILE_SUFFIXES.iter().take(moved) {
            let from = with_suffix(&place.file(), suffix);
            let name = from.file_name().expect("a name");
            if from.exists() {
                fs::rename(&from, moved_to.join(name)).expect("moved");
            }
        }
        let (store, emptied) = place.open("second").await;
        assert!(emptied.is_some(), "{moved}");
        let kept = ["emptied-first", "emptied-second"].map(|folder| {
            fs::read(place.folder.path().join(folder).join("vault.db-wal")).unwrap_or_default()
        });
        assert!(kept.contains(&b"old data".to_vec()), "{moved}");
        store.close().await;
    }
}
