//! Sends commands to the owner of an index, and ends its thread when it is dropped.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use protocol::PrivateRules;
use vault::Vault;

use super::owner::{IndexCommand, IndexOwner};
use super::published::{ViewPublisher, ViewReader};

/// The number of commands that may be queued; a sender waits while there are more.
const MAX_QUEUED_COMMANDS: usize = 64;

/// The way to the owner. Dropping it waits until the commands that were sent are carried out.
#[derive(Debug)]
pub(super) struct OwnerHandle {
    // Dropped before the thread, which ends when nobody can send it a command.
    commands: SyncSender<IndexCommand>,
    _thread: OwnerThread,
}

impl OwnerHandle {
    /// Starts the owner of an empty index. Without a thread the index never becomes ready, and searches read the
    /// notes themselves.
    pub(super) fn spawn(vault: Vault, rules: PrivateRules) -> (Self, ViewReader) {
        let publisher = ViewPublisher::default();
        let reader = publisher.reader();
        let (commands, queue) = sync_channel(MAX_QUEUED_COMMANDS);
        let owner = IndexOwner::new(vault, rules, publisher);
        let thread = Builder::new().name("index".to_owned()).spawn(move || owner.run(&queue));
        let thread = thread
            .inspect_err(|why| tracing::warn!(%why, "the index has no thread of its own"))
            .ok();
        (Self { commands, _thread: OwnerThread(thread) }, reader)
    }

    /// A handle of an owner that ended.
    #[cfg(test)]
    pub(super) fn ended() -> Self {
        Self { commands: sync_channel(1).0, _thread: OwnerThread(None) }
    }

    /// Sends a command that nobody waits for. It is dropped if the owner ended.
    pub(super) fn send(&self, command: IndexCommand) {
        drop(self.commands.send(command));
    }

    /// Sends a command and waits for its answer; `None` if the owner ended.
    pub(super) fn ask<T>(&self, command: impl FnOnce(SyncSender<T>) -> IndexCommand) -> Option<T> {
        let (caller, answer) = sync_channel(1);
        self.send(command(caller));
        answer.recv().ok()
    }
}

/// Joined when it is dropped.
#[derive(Debug)]
struct OwnerThread(Option<JoinHandle<()>>);

impl Drop for OwnerThread {
    fn drop(&mut self) {
        // A panic was reported when it happened.
        drop(self.0.take().map(JoinHandle::join));
    }
}
