//! Waiting for something outside this process: asks again until it is there or the time is up.

use std::time::{Duration, Instant};

/// How long a journey waits for anything before it fails. Generous: the machine may be busy, and
/// a test that passes never waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Asks `probe` until it answers; panics after [`PATIENCE`] with `what` and its last refusal.
pub(crate) async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match probe().await {
            Ok(found) => return found,
            Err(refusal) if started.elapsed() > PATIENCE => {
                panic!("waited {} s for {what}: {refusal}", PATIENCE.as_secs())
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(30)).await,
        }
    }
}
