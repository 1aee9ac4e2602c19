//! The driven program's own process, found below the driver and ended by its id.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::polling::poll_until;

/// A process that was started by the driver; or none.
#[derive(Debug)]
pub(super) struct DrivenProcess(Option<(u32, PathBuf)>);

impl DrivenProcess {
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// The child of `parent` that runs `binary`.
    pub(super) fn child_of(parent: u32, binary: &Path) -> Self {
        let binary = std::fs::canonicalize(binary).expect("the program is there");
        let found = process_ids()
            .find(|id| parent_of(*id) == Some(parent) && program_of(*id).as_ref() == Some(&binary));
        Self(found.map(|id| (id, binary)))
    }

    #[cfg(test)]
    pub(super) fn id(&self) -> Option<u32> {
        self.running_id()
    }

    /// Whether it still runs the program it was found with: ids are used again.
    fn running_id(&self) -> Option<u32> {
        let (id, binary) = self.0.as_ref()?;
        (program_of(*id).as_ref() == Some(binary)).then_some(*id)
    }

    pub(super) fn kill(&self) {
        let id = self.running_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            let _ = kill_process(id, Signal::KILL);
        }
    }

    /// The environments of the programs that it started.
    pub(super) fn environments_of_children(&self) -> Vec<String> {
        let Some(own) = self.running_id() else { return Vec::new() };
        let children = process_ids().filter(|id| parent_of(*id) == Some(own));
        let environment = |id: u32| std::fs::read(format!("/proc/{id}/environ")).ok();
        let told = children.filter_map(environment).filter(|bytes| !bytes.is_empty());
        told.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
    }

    pub(super) async fn wait_until_gone(&self) {
        poll_until("the program to end", async || match self.running_id() {
            None => Ok(()),
            Some(id) => Err(format!("process {id} lives")),
        })
        .await;
    }
}

/// Whether anything runs under this id.
#[cfg(test)]
pub(super) fn is_running(id: u32) -> bool {
    program_of(id).is_some()
}

fn process_ids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn parent_of(id: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// The file a process runs; nothing once it has ended, even while its parent has not noticed.
fn program_of(id: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{id}/exe")).ok()
}
