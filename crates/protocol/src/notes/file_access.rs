//! The owner of a file, and the rights of others.

/// The permissions and the owner of a file, by the numbers of its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileAccess {
    /// The permission bits, with set-user-ID, set-group-ID and the sticky bit.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}
