//! The guarantees of the file: private, durable, never written by an older version, honest errors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use protocol::{ConversationId, FileId, Speech, Timestamp};
use sqlx::Connection;
use tempfile::TempDir;

use super::*;

const AT: Timestamp = Timestamp(1_000);

struct DatabaseFixture {
    folder: TempDir,
}

impl DatabaseFixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("vault.db")
    }

    async fn open(&self) -> Store {
        Store::open(&self.file()).await.expect("a store")
    }

    /// A new database with the first migrations only.
    async fn open_at_version(&self, version: usize) -> SqliteConnection {
        self.write("vault.db", b"");
        let options = writer_options(&self.file());
        let mut db = SqliteConnection::connect_with(&options).await.expect("open");
        let earlier = migrations().into_iter().take(version).collect();
        let migrator = Migrator::with_migrations(earlier);
        migrator.run_direct(None, &mut db, false).await.expect("migrated");
        db
    }

    #[expect(clippy::disallowed_methods, reason = "compares the files of a test's own folder")]
    fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a listing");
        entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, std::fs::read(&path).expect("a file"))
            })
            .collect()
    }

    #[expect(clippy::disallowed_methods, reason = "writes into a test's own folder")]
    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).expect("written");
    }
}

async fn begin(store: &Store, id: &str) -> Result<(), StoreError> {
    store.create_conversation(&ConversationId::from(id), "Words", None, AT).await
}

/// Does something on the connection whose commits are durable.
async fn write(store: &Store, sql: &'static str) {
    let mut lent = store.writer.acquire().await.expect("lent");
    let db = lent.durable().await.expect("a connection");
    sqlx::query(sql).execute(db).await.expect("done");
}

async fn pragmas_of(db: &mut SqliteConnection) -> (String, i64, i64, i64) {
    let mode = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *db);
    let mode: String = mode.await.expect("mode");
    let synchronous = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut *db);
    let synchronous: i64 = synchronous.await.expect("sync");
    let keys = sqlx::query_scalar("PRAGMA foreign_keys").fetch_one(&mut *db);
    let keys: i64 = keys.await.expect("keys");
    let busy_timeout = sqlx::query_scalar("PRAGMA busy_timeout").fetch_one(db);
    (mode, synchronous, keys, busy_timeout.await.expect("busy"))
}

#[tokio::test]
async fn a_commit_is_on_the_disk_before_it_returns_and_keys_are_checked_except_during_a_purge() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    let mut pragmas = Vec::new();
    let mut lent = store.writer.acquire().await.expect("lent");
    pragmas.push(pragmas_of(lent.durable().await.expect("a connection")).await);
    pragmas.push(pragmas_of(lent.relaxed().await.expect("a connection")).await);
    pragmas.push(pragmas_of(lent.secure_delete().await.expect("a connection")).await);
    pragmas.push(pragmas_of(&mut store.readers.acquire().await.expect("a connection")).await);
    let wal = "wal".to_owned();
    assert_eq!(
        pragmas,
        [
            (wal.clone(), 2, 1, 5_000),
            (wal.clone(), 1, 1, 5_000),
            (wal.clone(), 2, 0, 5_000),
            (wal, 2, 1, 5_000)
        ]
    );
    let db = lent.secure_delete().await.expect("a connection");
    let overwrites: i64 =
        sqlx::query_scalar("PRAGMA secure_delete").fetch_one(db).await.expect("secure");
    assert_eq!(overwrites, 1);
}

#[tokio::test]
async fn every_table_of_ours_is_strict() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    let tables: Vec<(String, bool)> = sqlx::query_as(
        "SELECT l.name, l.strict FROM pragma_table_list l
         WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite%'
             AND l.name <> '_sqlx_migrations'
         ORDER BY l.name",
    )
    .fetch_all(&store.readers)
    .await
    .expect("tables");
    let lax: Vec<&str> =
        tables.iter().filter(|(_, strict)| !strict).map(|(name, _)| name.as_str()).collect();
    assert_eq!(tables.len(), 26);
    assert_eq!(lax, Vec::<&str>::new());
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_database_files() {
    use std::os::unix::fs::PermissionsExt;

    let place = DatabaseFixture::new();
    place.write("vault.db", b"");
    let wide = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(place.file(), wide).expect("widened");
    let store = place.open().await;
    begin(&store, "c").await.expect("stored");
    let modes: Vec<(String, u32)> = place
        .bytes()
        .into_keys()
        .map(|name| {
            let found = std::fs::metadata(place.folder.path().join(&name)).expect("a file");
            (name, found.permissions().mode() & 0o777)
        })
        .collect();
    let private = |name: &str| (name.to_owned(), 0o600);
    assert_eq!(modes, [private("vault.db"), private("vault.db-shm"), private("vault.db-wal")]);
}

/// A database that a version after this one has written, closed in order.
async fn written_by_a_newer(place: &DatabaseFixture) {
    let store = place.open().await;
    write(&store, "PRAGMA user_version = 1000").await;
    store.close().await;
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_byte_for_byte() {
    let place = DatabaseFixture::new();
    written_by_a_newer(&place).await;
    let before = place.bytes();
    let refused = Store::open(&place.file()).await.expect_err("refused");
    assert!(matches!(&refused, StoreError::Newer { file } if *file == place.file()));
    assert!(refused.to_string().contains("newer version of Vaultmate. Nothing was changed."));
    assert_eq!(place.bytes(), before);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["vault.db"]);
}

#[tokio::test]
async fn an_unknown_migration_is_refused_even_when_it_left_no_mark() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    write(
        &store,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (1000, 'later', 1, x'00', 0)",
    )
    .await;
    store.close().await;
    let before = place.bytes();
    assert!(matches!(Store::open(&place.file()).await, Err(StoreError::Newer { .. })));
    assert_eq!(place.bytes(), before);
}

#[tokio::test]
async fn a_newer_version_that_crashed_is_known_from_its_log_alone() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    let mut newer = sqlx::SqliteConnection::connect_with(&writer_options(&place.file()))
        .await
        .expect("a connection");
    sqlx::query("PRAGMA user_version = 1000").execute(&mut newer).await.expect("marked");
    let mut crashed = place.bytes();
    crashed.retain(|name, _| !name.ends_with("-shm"));
    newer.close().await.expect("closed");
    store.close().await;

    let after = DatabaseFixture::new();
    crashed.iter().for_each(|(name, bytes)| after.write(name, bytes));
    assert!(matches!(Store::open(&after.file()).await, Err(StoreError::Newer { .. })));
    let mut left = after.bytes();
    left.retain(|name, _| !name.ends_with("-shm"));
    assert_eq!(left, crashed);
}

#[tokio::test]
async fn a_database_of_this_version_opens_again_with_what_it_holds() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    begin(&store, "c").await.expect("stored");
    store.close().await;
    let store = place.open().await;
    let found = store.conversation(&ConversationId::from("c")).await.expect("read");
    assert_eq!(found.map(|row| row.title), Some("Words".to_owned()));
}

/// What a read that has begun returns when the store closes during it; `limit` is how far it counts, -1 without an end.
async fn read_during_close(limit: i64) -> Result<i64, sqlx::Error> {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    let mut reader = store.readers.acquire().await.expect("a connection");
    let reading = async move {
        let count = sqlx::query_scalar(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1)
             SELECT count(*) FROM n",
        );
        count.bind(limit).fetch_one(&mut *reader).await
    };
    let both = async { tokio::join!(reading, store.close()).0 };
    timeout(Duration::from_secs(60), both).await.expect("closing waits no longer")
}

#[tokio::test]
async fn closing_stops_a_read_without_an_end_and_waits_for_a_short_one() {
    read_during_close(-1).await.expect_err("stopped");
    assert_eq!(read_during_close(50_000).await.expect("the control"), 50_000);
}

#[tokio::test]
async fn the_ledger_of_an_earlier_version_is_kept_whole() {
    let place = DatabaseFixture::new();
    let mut db = place.open_at_version(3).await;
    let hash = protocol::ContentHash::of(b"words");
    let packed = zstd::bulk::compress(b"words", 3).expect("packed");
    sqlx::query("INSERT INTO image (hash, size, packed) VALUES (?1, 5, ?2)")
        .bind(hash.as_str())
        .bind(packed)
        .execute(&mut db)
        .await
        .expect("stored");
    sqlx::query(
        "INSERT INTO effect (number, id, change_set, conversation, turn, call, kind, path,
             temp_name, after, state, at, inode)
         VALUES (7, 'e', 's', 'c', 't', 'k', 'create', 'a.md', 'tmp', ?1, 'done', 5, 9)",
    )
    .bind(hash.as_str())
    .execute(&mut db)
    .await
    .expect("stored");
    db.close().await.expect("closed");

    let store = place.open().await;
    let [effect] = store.effects_since(&"e".into()).await.expect("read").try_into().expect("one");
    assert_eq!(
        (effect.at, effect.file),
        (Some(Timestamp(5)), Some(FileId { inode: 9, born: None }))
    );
    assert_eq!((effect.path.as_str(), effect.conversation), ("a.md", Some("c".into())));
    let kept = store.contents(&effect.after.into_iter().collect::<Vec<_>>()).await.expect("read");
    assert_eq!(kept.into_values().collect::<Vec<_>>(), [b"words".to_vec()]);
}

#[tokio::test]
async fn an_undo_of_an_earlier_version_still_counts() {
    let place = DatabaseFixture::new();
    let mut db = place.open_at_version(18).await;
    for statement in [
        "INSERT INTO effect (id, change_set, turn, call, kind, path, temp_name, state)
         VALUES ('e1', 's', 't', 'c', 'create', 'a.md', 'tmp', 'done'),
             ('u1', 'u', 't', 'd', 'trash', 'a.md', 'tmp', 'done')",
        "INSERT INTO undoing (change_set, path, effect, hunks) VALUES ('u', 'a.md', 'e1', '[0]')",
    ] {
        sqlx::query(statement).execute(&mut db).await.expect("stored");
    }
    db.close().await.expect("closed");

    let store = place.open().await;
    let [row] = store.reverts().await.expect("read").try_into().expect("one");
    assert_eq!((row.by.as_str(), row.effect.as_str()), ("u1", "e1"));
    assert_eq!(row.hunks, Some([0].into()));
}

/// A call of an earlier version, ready to be stored.
struct FormerCall {
    id: &'static str,
    tool: &'static str,
    arguments: &'static str,
    output: Option<&'static str>,
    is_error: bool,
    reactions: &'static str,
}

impl FormerCall {
    const fn says(id: &'static str, arguments: &'static str) -> Self {
        let (tool, output) = ("send_message", Some("Delivered."));
        Self { id, tool, arguments, output, is_error: false, reactions: "[]" }
    }

    const fn ends(id: &'static str, reactions: &'static str) -> Self {
        Self { tool: "end_conversation", reactions, ..Self::says(id, "{}") }
    }
}

/// Calls of one turn; `ask` has the row of a question.
fn former_calls() -> [FormerCall; 13] {
    let message = r#"{"message":"In the attic."}"#;
    [
        FormerCall::says("say", r#"{"message":"In the \"old\" attic.\n"}"#),
        FormerCall::says("ask", r#"{"message":"Which one?","is_question":true,"options":["x"]}"#),
        FormerCall::says("no question", r#"{"message":"Well?","is_question":true}"#),
        FormerCall::ends("end", r#"[{"type":"conversation_ended","reason":"done"}]"#),
        FormerCall::ends("no reason", r#"[{"type":"conversation_ended","reason":null}]"#),
        FormerCall::ends("invalid event", "["),
        FormerCall::says("invalid", r#"{"message":"#),
        FormerCall::says("no object", "[1]"),
        FormerCall::says("no text", r#"{"message":1}"#),
        FormerCall::says("lone surrogate", r#"{"message":"\ud800"}"#),
        FormerCall { is_error: true, ..FormerCall::says("failed", message) },
        FormerCall { output: None, ..FormerCall::says("open", message) },
        FormerCall { tool: "append_file", ..FormerCall::says("append", message) },
    ]
}

/// A database of version 19 with these calls.
async fn open_with_former_calls(place: &DatabaseFixture) -> SqliteConnection {
    let mut db = place.open_at_version(19).await;
    for statement in [
        "INSERT INTO conversation (id, title, state, listed, created_at, updated_at)
         VALUES ('c', 'Words', 'active', 1, 0, 0)",
        "INSERT INTO turn (id, conversation, origin, status, at)
         VALUES ('t', 'c', 'window', 'done', 0)",
        "INSERT INTO message (id, conversation, turn, position, role, parts, cut, at)
         VALUES ('m', 'c', 't', 0, 'assistant', '[]', 0, 0)",
        "INSERT INTO question (id, conversation, turn, call, original_message, text, options,
             tool_calls_completed, asked_at, state)
         VALUES ('q', 'c', 't', 'ask', 'm', 'Which one?', '[\"a\",\"b\"]', 0, 0, 'withdrawn')",
    ] {
        sqlx::query(statement).execute(&mut db).await.expect("stored");
    }
    for (position, call) in (0_i64..).zip(former_calls()) {
        sqlx::query(
            "INSERT INTO tool_call
                 (turn, message, position, call, tool, arguments, output, is_error, reactions, seen)
             VALUES ('t', 'm', ?, ?, ?, ?, ?, ?, ?, '[]')",
        )
        .bind(position)
        .bind(call.id)
        .bind(call.tool)
        .bind(call.arguments)
        .bind(call.output)
        .bind(call.is_error)
        .bind(call.reactions)
        .execute(&mut db)
        .await
        .expect("stored");
    }
    db
}

#[tokio::test]
async fn the_speech_of_calls_of_an_earlier_version_is_known() {
    let place = DatabaseFixture::new();
    open_with_former_calls(&place).await.close().await.expect("closed");

    let store = place.open().await;
    let rows: Vec<(String, Option<String>)> =
        sqlx::query_as("SELECT call, speech FROM tool_call ORDER BY position")
            .fetch_all(&store.readers)
            .await
            .expect("rows");
    let speech = |id: &str| -> Option<String> {
        rows.iter().find(|(call, _)| call == id).and_then(|(_, speech)| speech.clone())
    };
    let typed = |id: &str| -> Option<Speech> {
        speech(id).map(|speech| serde_json::from_str(&speech).expect("a speech"))
    };
    let says = |text: &str| Some(Speech::Say { text: text.to_owned() });
    let ends = |reason: Option<&str>| Some(Speech::End { reason: reason.map(str::to_owned) });
    assert_eq!(typed("say"), says("In the \"old\" attic.\n"));
    let options = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(typed("ask"), Some(Speech::Ask { text: "Which one?".to_owned(), options }));
    assert_eq!(typed("no question"), says("Well?"));
    assert_eq!((typed("end"), typed("no reason")), (ends(Some("done")), ends(None)));
    // Half a character is no text, and is left as it was spelled.
    assert_eq!(speech("lone surrogate").as_deref(), Some(r#"{"type":"say","text":"\ud800"}"#));
    for id in ["invalid event", "invalid", "no object", "no text", "failed", "open", "append"] {
        assert_eq!(speech(id), None, "{id}");
    }
    assert_eq!(rows.len(), former_calls().len(), "no call is lost");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_and_kept() {
    let place = DatabaseFixture::new();
    let bytes = b"These are my notes about databases, not a database. ".repeat(40);
    place.write("vault.db", &bytes);
    let refused = Store::open(&place.file()).await.expect_err("refused");
    assert!(matches!(&refused, StoreError::Corrupt { file } if *file == place.file()));
    assert!(refused.to_string().contains("vault.db"));
    assert_eq!(place.bytes().get("vault.db"), Some(&bytes));
}

#[tokio::test]
async fn a_missing_folder_is_said_with_the_file() {
    let place = DatabaseFixture::new();
    let refused = Store::open(&place.folder.path().join("no/vault.db")).await.expect_err("refused");
    assert!(matches!(refused, StoreError::File { .. }));
}

#[tokio::test]
async fn a_full_disk_is_said_and_leaves_nothing_behind() {
    let place = DatabaseFixture::new();
    let store = place.open().await;
    begin(&store, "before").await.expect("there is room");
    // SQLite reports the limit as it reports a disk without room. No limit is below what there is.
    write(&store, "PRAGMA max_page_count = 1").await;
    let long = "x".repeat(100_000);
    let id = ConversationId::from("after");
    let full = store.create_conversation(&id, &long, None, AT).await.expect_err("no room");
    assert!(matches!(full, StoreError::Full { doing: "begin a conversation" }));
    assert_eq!(store.conversation(&id).await.expect("read"), None);
    write(&store, "PRAGMA max_page_count = 1000000").await;
    store.create_conversation(&id, &long, None, AT).await.expect("there is room again");
}
