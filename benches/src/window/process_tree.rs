//! A program with all processes that it started: whether it lives, and its memory.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long a program may take to be gone, or to come to rest.
const REST_TIMEOUT: Duration = Duration::from_secs(40);

/// A process and all below it.
pub(crate) fn process_tree(root: u32) -> BTreeSet<u32> {
    let mut below: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((id, parent)) = id.and_then(|id| Some((id, parent_of(id)?))) {
            below.entry(parent).or_default().push(id);
        }
    }
    let (mut tree, mut open) = (BTreeSet::new(), vec![root]);
    while let Some(id) = open.pop() {
        if tree.insert(id) {
            open.extend(below.get(&id).into_iter().flatten());
        }
    }
    tree
}

fn parent_of(id: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Resolves once none of them runs.
pub(crate) async fn wait_until_gone(processes: &BTreeSet<u32>) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    // One that nobody waited for runs no program any more.
    while processes.iter().any(|id| fs::read_link(format!("/proc/{id}/exe")).is_ok()) {
        if began.elapsed() > REST_TIMEOUT {
            return Err("a program does not end".into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The memory of a process and all below it in MB, what they share counted once, once it rests:
/// three seconds without as much as a hundredth of change.
pub(crate) async fn memory_at_rest(root: u32) -> Result<f64, Box<dyn Error>> {
    let began = Instant::now();
    let mut seen: Vec<f64> = Vec::new();
    loop {
        sleep(Duration::from_millis(500)).await;
        seen.push(memory(root)?);
        let last = seen.get(seen.len().saturating_sub(6)..).unwrap_or_default();
        let most = last.iter().copied().fold(0.0, f64::max);
        let least = last.iter().copied().fold(f64::MAX, f64::min);
        if last.len() == 6 && most - least < most / 100.0 {
            return Ok(most);
        }
        if began.elapsed() > REST_TIMEOUT {
            return Err("a program does not come to rest".into());
        }
    }
}

fn memory(root: u32) -> Result<f64, Box<dyn Error>> {
    let mut kilobytes = 0.0;
    for id in process_tree(root) {
        let Ok(told) = fs::read_to_string(format!("/proc/{id}/smaps_rollup")) else {
            // It ended meanwhile; or it keeps its memory to itself, and only root is told.
            if fs::read_link(format!("/proc/{id}/exe")).is_err() {
                continue;
            }
            return Err("the memory of another process is told to root alone".into());
        };
        let share = told.lines().find_map(|line| line.strip_prefix("Pss:"));
        let share = share.ok_or("the system tells no shares of memory")?;
        kilobytes += share.trim().trim_end_matches(" kB").parse::<f64>()?;
    }
    Ok(kilobytes / 1e3)
}
