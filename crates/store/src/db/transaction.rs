//! The only ways to the database: a snapshot to read from, and one commit to write in.

/// Reads from one snapshot: whatever is committed meanwhile is not seen.
macro_rules! read {
    ($store:expr, $doing:literal, |$db:ident| $work:expr) => {{
        let store: &$crate::Store = $store;
        let work = async {
            let mut snapshot = store.readers.begin().await?;
            let $db: &mut sqlx::SqliteConnection = &mut snapshot;
            let found = $work.await?;
            // Ended in the background: nobody waits for the end of a read.
            drop(snapshot);
            Ok::<_, $crate::error::Failure>(found)
        };
        $crate::error::FailureContext::doing(work.await, store, $doing)
    }};
}

/// Reads with one statement, which is a snapshot in itself.
macro_rules! read_one {
    ($store:expr, $doing:literal, |$db:ident| $work:expr) => {{
        let store: &$crate::Store = $store;
        let work = async {
            let mut reader = store.readers.acquire().await?;
            let $db: &mut sqlx::SqliteConnection = &mut reader;
            Ok::<_, $crate::error::Failure>($work.await?)
        };
        $crate::error::FailureContext::doing(work.await, store, $doing)
    }};
}

/// Writes in one commit, durable when it returns; an error or a dropped future leaves nothing.
/// Named points stand before and after the commit for the crash tests.
macro_rules! commit {
    ($store:expr, $operation:literal, $doing:literal, |$db:ident| $work:expr) => {
        $crate::db::transaction::commit_on!(durable, $store, $operation, $doing, |$db| $work)
    };
}

/// Writes in one commit that does not wait for the disk: for data that can be determined again
/// after a power failure. A process that is killed loses none of it, and the next commit that waits
/// for the disk makes it durable: the log keeps their order.
macro_rules! commit_relaxed {
    ($store:expr, $operation:literal, $doing:literal, |$db:ident| $work:expr) => {
        $crate::db::transaction::commit_on!(relaxed, $store, $operation, $doing, |$db| $work)
    };
}

macro_rules! commit_on {
    ($which:ident, $store:expr, $operation:literal, $doing:literal, |$db:ident| $work:expr) => {{
        let store: &$crate::Store = $store;
        let work = async {
            let mut lent = store.writer.acquire().await?;
            let mut transaction =
                sqlx::Connection::begin_with(lent.$which().await?, "BEGIN IMMEDIATE").await?;
            let $db: &mut sqlx::SqliteConnection = &mut transaction;
            let done = $work.await?;
            protocol::fault_injection::point(concat!("store.", $operation, ".before"));
            transaction.commit().await?;
            protocol::fault_injection::point(concat!("store.", $operation, ".after"));
            lent.release();
            Ok::<_, $crate::error::Failure>(done)
        };
        $crate::error::FailureContext::doing(work.await, store, $doing)
    }};
}

pub(crate) use commit;
pub(crate) use commit_on;
pub(crate) use commit_relaxed;
pub(crate) use read;
pub(crate) use read_one;
