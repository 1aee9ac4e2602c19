//! The identity of the vault, wherever its folder is: an id in `.vaultmate/vault.json`.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::sync::PoisonError;

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::Vault;
use crate::filesystem::folder::FolderHandle;

/// Ours alone: protected, so no tool gets there.
const OWN_FOLDER: &str = ".vaultmate";
const ID_FILE: &str = "vault.json";

/// A card says little.
const ID_FILE_LIMIT: u64 = 64 << 10;

/// An id that was announced for a folder and is not written yet.
pub(crate) struct PendingId {
    id: String,
    on_written: Box<dyn Fn() + Send>,
}

impl std::fmt::Debug for PendingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PendingId").field(&self.id).finish()
    }
}

impl Vault {
    /// The id that the folder carries, if it carries one. Blocks on the disk.
    #[must_use]
    pub fn vault_id(&self) -> Option<String> {
        read_id(&self.root())
    }

    /// The id that the folder gets before the first change is recorded, unless it carries one by then.
    /// Nothing is written before: who only looks leaves no trace. `on_written` is called once the id is durable in the
    /// folder, still before that change is recorded; it may block on the disk.
    pub fn set_pending_id(&self, id: String, on_written: impl Fn() + Send + 'static) {
        let pending = PendingId { id, on_written: Box::new(on_written) };
        *self.pending_id().lock().unwrap_or_else(PoisonError::into_inner) = Some(pending);
    }

    /// Whether an id was announced that was never written: then no change was recorded for this
    /// folder, and the ledger's records are about another one.
    pub(crate) fn has_unwritten_id(&self) -> bool {
        let card = self.pending_id().lock().unwrap_or_else(PoisonError::into_inner);
        card.is_some() && self.vault_id().is_none()
    }

    /// Writes the id that was announced. That it fails harms no note, so it is only logged. Blocks on the
    /// disk.
    pub fn write_pending_id(&self) {
        let mut card = self.pending_id().lock().unwrap_or_else(PoisonError::into_inner);
        let Some(PendingId { id, on_written }) = card.as_ref() else { return };
        if let Some(carried) = self.vault_id() {
            return self.remember_id(carried);
        }
        match self.write_id_file(id) {
            Ok(()) => {
                self.remember_id(id.clone());
                on_written();
                *card = None;
            }
            Err(error) => tracing::warn!(%error, "the vault's id could not be written"),
        }
    }

    /// Durable when it returns: recovery takes the ledger's open changes for those of another folder where the id is
    /// missing, and a power cut must not make it miss.
    fn write_id_file(&self, id: &str) -> Result<(), Errno> {
        let root = self.root();
        match fs::mkdirat(&root, OWN_FOLDER, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        let folder = root.open_folder(OWN_FOLDER)?;
        let temp = format!(".{ID_FILE}-{:016x}.tmp", fastrand::u64(..));
        let written = write_new_file(&folder, &temp, &format!("{}\n", json!({ "id": id })))
            .and_then(|()| fs::renameat(&folder, &temp, &folder, ID_FILE));
        if written.is_err() {
            // A file that stays begins with a dot and does no harm.
            let _ = fs::unlinkat(&folder, &temp, AtFlags::empty());
        }
        written?;
        fs::fsync(&folder)?;
        fs::fsync(&root)
    }
}

/// The id that a folder carries, if it carries one.
pub(crate) fn read_id(folder: &FolderHandle) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let opened = folder.open(&format!("{OWN_FOLDER}/{ID_FILE}"), flags, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(opened).take(ID_FILE_LIMIT).read_to_string(&mut text).ok()?;
    let card: Value = serde_json::from_str(&text).ok()?;
    let id = card.get("id")?.as_str()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    ((8..=64).contains(&id.len()) && id.bytes().all(is_plain)).then(|| id.to_owned())
}

fn write_new_file(folder: &FolderHandle, name: &str, text: &str) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mut file = File::from(folder.open(name, flags, Mode::from_raw_mode(0o666))?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
