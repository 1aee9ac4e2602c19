//! The right to write: three connections, lent together to one at a time.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

/// No pool: that would ask a connection whether it is there when it is taken and when it is given
/// back, and each question is a detour over the connection's thread.
#[derive(Debug)]
pub(crate) struct Writer {
    durable: SqliteConnectOptions,
    relaxed: SqliteConnectOptions,
    secure_delete: SqliteConnectOptions,
    connections: Mutex<WriteConnections>,
}

#[derive(Debug, Default)]
struct WriteConnections {
    durable: Option<SqliteConnection>,
    relaxed: Option<SqliteConnection>,
    secure_delete: Option<SqliteConnection>,
    /// Whether the last holder returned them in order.
    returned_clean: bool,
    closed: bool,
}

/// The connections, as long as it is held.
pub(crate) struct WriteGuard<'a> {
    writer: &'a Writer,
    connections: MutexGuard<'a, WriteConnections>,
}

impl Writer {
    /// Nothing is opened yet. `durable` waits for the disk at each commit, `settling` does not;
    /// `secure_delete` leaves no trace of deleted data.
    pub(crate) fn new(
        durable: SqliteConnectOptions,
        settling: SqliteConnectOptions,
        secure_delete: SqliteConnectOptions,
    ) -> Self {
        Self { durable, relaxed: settling, secure_delete, connections: Mutex::default() }
    }

    /// Waits until nobody else has them.
    pub(crate) async fn acquire(&self) -> Result<WriteGuard<'_>, sqlx::Error> {
        let mut connections = self.connections.lock().await;
        if connections.closed {
            return Err(sqlx::Error::PoolClosed);
        }
        if !std::mem::take(&mut connections.returned_clean) {
            let WriteConnections { durable, relaxed: settling, secure_delete, .. } =
                &mut *connections;
            for connection in [durable, settling, secure_delete] {
                discard_broken(connection).await;
            }
        }
        Ok(WriteGuard { writer: self, connections })
    }

    /// Waits for running work and closes the connections; none is lent after that.
    pub(crate) async fn close(&self) {
        let mut connections = self.connections.lock().await;
        connections.closed = true;
        let open = [
            connections.secure_delete.take(),
            connections.relaxed.take(),
            connections.durable.take(),
        ];
        for connection in open.into_iter().flatten() {
            // Every commit is in the log; the next opening folds it into the file.
            let _ = connection.close().await;
        }
    }
}

impl WriteGuard<'_> {
    /// The one whose commits are on the disk when they return.
    pub(crate) async fn durable(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        open(&mut self.connections.durable, &self.writer.durable).await
    }

    /// The connection for data that recovery can determine again.
    pub(crate) async fn relaxed(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        open(&mut self.connections.relaxed, &self.writer.relaxed).await
    }

    /// The one that overwrites what it deletes.
    pub(crate) async fn secure_delete(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        open(&mut self.connections.secure_delete, &self.writer.secure_delete).await
    }

    /// Returns the connections after success. A holder that drops them instead leaves them to be
    /// examined.
    pub(crate) fn release(mut self) {
        self.connections.returned_clean = true;
    }
}

async fn open<'a>(
    connection: &'a mut Option<SqliteConnection>,
    options: &SqliteConnectOptions,
) -> Result<&'a mut SqliteConnection, sqlx::Error> {
    let opened = match connection.take() {
        Some(open) => open,
        None => options.connect().await?,
    };
    Ok(connection.insert(opened))
}

/// When the disk is full, SQLite rolls back automatically, and the connection goes on believing
/// that it
/// holder has left to be done. A transaction that was begun and not ended in one text of SQL is one
/// that the connection does not know of.
async fn discard_broken(connection: &mut Option<SqliteConnection>) {
    if let Some(open) = connection {
        if open.ping().await.is_err() || open.is_in_transaction() {
            *connection = None;
        } else {
            // Refused where there is none, as it should be.
            let _ = sqlx::query("ROLLBACK").execute(open).await;
        }
    }
}
