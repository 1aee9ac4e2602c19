//! A socket beside the lock of a vault that is open in a window. A second start on the same vault asks there for the
//! first window to come to the front, and ends. Only the same user can connect.
#![expect(clippy::disallowed_methods, reason = "the socket is a file of the data directory")]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

use crate::workspace::data_dir::DataDir;
use crate::workspace::vault_registry;

const SOCKET_NAME: &str = "door";
const SOCKET_REPLY: [u8; 5] = *b"here\n";
/// A window that lives answers at once; one that does not is no reason to wait.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether somebody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningInstance {
    /// A window has the vault open and comes to the front.
    Answered,
    /// No window answers.
    Nobody,
}

/// Knocks at the vault in `folder`. Takes two seconds at most.
pub async fn notify_running(data: &DataDir, folder: &Path) -> RunningInstance {
    let Some(home) = vault_registry::data_folder_of(data, folder) else {
        return RunningInstance::Nobody;
    };
    match tokio::time::timeout(REPLY_TIMEOUT, read_reply(&home)).await {
        Ok(Ok(SOCKET_REPLY)) => RunningInstance::Answered,
        _ => RunningInstance::Nobody,
    }
}

async fn read_reply(home: &Path) -> io::Result<[u8; 5]> {
    let (_held, path) = short_socket_path(home)?;
    let mut stream = UnixStream::connect(path).await?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// Listens on the socket of the vault whose data is in `home`, and notifies `second_start` for each
/// connection, until it is dropped. The caller holds the vault's lock, so an existing socket
/// belongs to a process that has ended.
pub(crate) async fn serve_notifications(home: PathBuf, second_start: Arc<Notify>) {
    let listener = match listen(&home) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "a second start will not find this window");
            return;
        }
    };
    let us = rustix::process::getuid().as_raw();
    while let Ok((mut stream, _)) = listener.accept().await {
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == us) {
            continue;
        }
        second_start.notify_one();
        // Five bytes fit into any socket's buffer; a client that has gone needs no answer.
        let _ = tokio::time::timeout(REPLY_TIMEOUT, stream.write_all(&SOCKET_REPLY)).await;
    }
}

fn listen(home: &Path) -> io::Result<UnixListener> {
    let (_held, path) = short_socket_path(home)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(path)
}

/// A socket's path has 107 bytes at most, and a data directory may stand deeper than that: the way
/// over an open folder is short.
fn short_socket_path(home: &Path) -> io::Result<(File, PathBuf)> {
    let folder = File::open(home)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET_NAME}", folder.as_raw_fd()));
    Ok((folder, path))
}

#[cfg(test)]
mod tests {
    use vault::Vault;

    use super::*;

    #[tokio::test]
    async fn a_second_start_is_answered_while_a_window_listens_and_not_before_or_after() {
        let all = tempfile::tempdir().expect("a folder");
        let deep = all.path().join("a long name ".repeat(10));
        let data = DataDir::at(deep).expect("a data directory");
        let folder = all.path().join("Notes");
        fs::create_dir(&folder).expect("a vault");
        assert_eq!(notify_running(&data, &folder).await, RunningInstance::Nobody, "never opened");
        let vault = Vault::open(&folder).expect("a vault");
        let found = vault_registry::VaultDataDir::find(&vault, &data).expect("a home");
        found.create().and_then(|()| found.save()).expect("kept");
        let home = found.dir;
        assert_eq!(notify_running(&data, &folder).await, RunningInstance::Nobody, "no window");

        for _ in 0..2 {
            let second_start = Arc::new(Notify::new());
            let mut server = tokio::task::JoinSet::new();
            server.spawn(serve_notifications(home.clone(), Arc::clone(&second_start)));
            // The socket exists as soon as its task has run once.
            while notify_running(&data, &folder).await == RunningInstance::Nobody {
                tokio::task::yield_now().await;
            }
            second_start.notified().await;
            server.shutdown().await;
            assert_eq!(
                notify_running(&data, &folder).await,
                RunningInstance::Nobody,
                "what a dead one left"
            );
        }
    }
}
