//! Work that blocks on the disk or computes for long, done where it holds up nobody.

use protocol::UserError;

use crate::user_texts;

/// Runs `work` on a thread that may block. Dropped half-way, the work is finished all the same.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UserError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| UserError::other(user_texts::something_interrupted()))
}
