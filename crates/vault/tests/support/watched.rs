//! What a watch tells, as far as a test waits for it.

use std::time::Duration;

use vault::{Changed, Watch};

/// Nothing waited for takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn next(watch: &mut Watch) -> Changed {
    let changed = tokio::time::timeout(PATIENCE, watch.next()).await;
    changed.expect("a change is told").expect("the watch goes on")
}
