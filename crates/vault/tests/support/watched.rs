//! The reports of a watch, as far as a test waits for them.

use std::time::Duration;

use vault::{VaultChange, VaultWatch};

/// Nothing waited for takes so long, unless it never comes.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn next(watch: &mut VaultWatch) -> VaultChange {
    let changed = tokio::time::timeout(WATCH_TIMEOUT, watch.next()).await;
    changed.expect("a change is told").expect("the watch goes on")
}
