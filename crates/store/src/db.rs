//! Opens, reads and writes the SQLite file: connections, transactions, column types and lost databases.

pub(crate) mod loss_detection;
pub(crate) mod open;
#[cfg(test)]
pub(crate) mod query_plans;
pub(crate) mod row_ext;
pub(crate) mod transaction;
pub(crate) mod vacuum;
pub(crate) mod writer;
