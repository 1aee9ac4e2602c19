//! The use of system resources by a process.

use std::fs;

/// Memory, open files and threads at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStats {
    /// Resident memory in KiB.
    pub resident: u64,
    /// The most there ever was, in KiB.
    pub peak: u64,
    /// Open files and sockets.
    pub files: usize,
    /// Threads of the process.
    pub threads: usize,
}

impl ProcessStats {
    /// Of the process with this number.
    #[must_use]
    pub fn of_process(process: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let kilobytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
            line.trim().trim_end_matches(" kB").parse().expect("a number")
        };
        let count =
            |what: &str| fs::read_dir(format!("/proc/{process}/{what}")).expect("it runs").count();
        Self {
            resident: kilobytes("VmRSS:"),
            peak: kilobytes("VmHWM:"),
            files: count("fd"),
            threads: count("task"),
        }
    }

    /// The least of each.
    #[must_use]
    pub fn minimum(all: &[Self]) -> Self {
        let least = |figure: fn(&Self) -> u64| all.iter().map(figure).min().unwrap_or_default();
        Self {
            resident: least(|vitals| vitals.resident),
            peak: least(|vitals| vitals.peak),
            files: usize::try_from(least(|vitals| vitals.files as u64)).unwrap_or_default(),
            threads: usize::try_from(least(|vitals| vitals.threads as u64)).unwrap_or_default(),
        }
    }
}
