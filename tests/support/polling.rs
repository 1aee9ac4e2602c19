//! Waiting for something outside this process: asks again until it is there or the time is up.

use std::time::{Duration, Instant};

/// How long a test waits for anything before it fails. Generous: the machine may be busy, and a
/// test that passes never waits this long.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Asks `probe` until it answers; panics after [`TEST_TIMEOUT`] with `what` and its last refusal.
pub(crate) async fn poll_until<T>(
    what: &str,
    mut probe: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let started = Instant::now();
    loop {
        match probe().await {
            Ok(found) => return found,
            Err(refusal) if started.elapsed() > TEST_TIMEOUT => {
                panic!("waited {} s for {what}: {refusal}", TEST_TIMEOUT.as_secs())
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(30)).await,
        }
    }
}
