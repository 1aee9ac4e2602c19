//! Folders and files as the kernel sees them: handles, entries, metadata, permissions and durable steps.

pub(crate) mod dir_entry;
pub(crate) mod entry_content;
pub(crate) mod fault_point;
pub(crate) mod file_metadata;
pub(crate) mod file_times;
pub(crate) mod fingerprint;
pub(crate) mod folder;
pub(crate) mod folder_contents;
pub(crate) mod moved_file;
pub(crate) mod note_file;
pub(crate) mod permission;
pub(crate) mod remote_disk;
pub(crate) mod system_folder;
pub(crate) mod temp_files;
