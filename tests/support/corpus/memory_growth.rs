//! How much memory a case took.

use std::fs;

/// The memory of this process, from the moment it was measured.
#[derive(Debug)]
pub struct MemoryGrowth(u64);

impl MemoryGrowth {
    /// Measures from now on.
    #[must_use]
    pub fn start() -> Self {
        // Sets the high water mark back; where that is not allowed, more is counted, not less.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self(proc_status("VmRSS:"))
    }

    /// How far it rose above that at most, in bytes.
    #[must_use]
    pub fn peak_growth(&self) -> u64 {
        proc_status("VmHWM:").saturating_sub(self.0)
    }
}

/// A figure of this process, in bytes.
fn proc_status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() << 10
}
