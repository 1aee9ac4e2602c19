//! The handle to an open database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sqlx::SqlitePool;

use super::writer::Writer;

/// The database of one vault. Clones share it; one process at a time may hold it.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) file: Arc<Path>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) readers: SqlitePool,
    /// Set when the readers must stop what they do.
    pub(crate) stop_reading: Arc<AtomicBool>,
}
