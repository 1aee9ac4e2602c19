//! Opens, reads and writes the SQLite file: connections, transactions, column types and lost databases.
//!
//! A commit waits for the disk, or is relaxed and becomes durable with the next one that waits (`transaction`). Keep the data
//! directory on a disk with blocks of 4 KiB: on a completely full disk with blocks of 1 KiB, SQLite's shared memory has no
//! room and the system may end the program. No note is lost by that.

pub(crate) mod loss_detection;
pub(crate) mod open;
#[cfg(test)]
pub(crate) mod query_plans;
pub(crate) mod row_ext;
pub(crate) mod store;
pub(crate) mod transaction;
pub(crate) mod vacuum;
pub(crate) mod writer;
