//! The least that could be: one commit of a message's row, and bytes over bare sockets.

use std::error::Error;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// As long as an acknowledgement.
const ANSWER_BYTES: usize = 100;

/// A database with a table of messages.
pub(super) struct BareCommits(SqliteConnection);

impl BareCommits {
    pub(super) async fn in_folder(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("rival.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut database = SqliteConnection::connect_with(&options).await?;
        let table = "CREATE TABLE message (number INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT) \
                     STRICT";
        sqlx::query(table).execute(&mut database).await?;
        Ok(Self(database))
    }

    /// Stores one message, durably.
    pub(super) async fn commit(&mut self, number: usize) -> Result<(), Box<dyn Error>> {
        sqlx::query("INSERT INTO message (id, text) VALUES (?, ?)")
            .bind(format!("m-{number}"))
            .bind("remember to look at the harbour")
            .execute(&mut self.0)
            .await?;
        Ok(())
    }
}

/// A server that answers so many bytes with an answer.
pub(super) struct BareEcho {
    stream: TcpStream,
    bytes: Vec<u8>,
    _answering: JoinSet<()>,
}

impl BareEcho {
    pub(super) async fn start(length: usize) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let dialled = TcpStream::connect(listener.local_addr()?).await?;
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let mut answering = JoinSet::new();
        answering.spawn(async move { drop(serve_echo(dialled, length).await) });
        Ok(Self { stream, bytes: vec![b'x'; length], _answering: answering })
    }

    pub(super) async fn round_trip(&mut self) -> Result<(), Box<dyn Error>> {
        self.stream.write_all(&self.bytes).await?;
        self.stream.read_exact(&mut [0; ANSWER_BYTES]).await?;
        Ok(())
    }
}

async fn serve_echo(mut stream: TcpStream, length: usize) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut heard = vec![0; length];
    loop {
        stream.read_exact(&mut heard).await?;
        stream.write_all(&[b'y'; ANSWER_BYTES]).await?;
    }
}

/// How many notifications wait in the product's database.
pub(super) async fn count_queued_notifications(database: &Path) -> Result<usize, Box<dyn Error>> {
    let options = SqliteConnectOptions::new().filename(database);
    let mut database = SqliteConnection::connect_with(&options).await?;
    let waiting: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE state = 'waiting'")
        .fetch_one(&mut database)
        .await?;
    Ok(usize::try_from(waiting)?)
}
