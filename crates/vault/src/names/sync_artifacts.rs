//! The files that sync programs leave in a folder: conflict copies, and names that stand for files
//! which are not on this computer.
//!
//! On Linux only names tell. iCloud leaves `.Name.md.icloud`, Nextcloud and ownCloud with virtual
//! files `Name.md.nextcloud` and `Name.md.owncloud`. OneDrive and Dropbox mark files by attributes
//! of Windows and macOS that are not copied; a size without blocks would tell too, but holds for
//! sparse files and small ones on some file systems as well, so it is not taken for a sign.

/// Whether the name is that of a copy which a sync program made of two that conflict.
pub(crate) fn is_conflict_copy(name: &str) -> bool {
    name.contains('.') && protocol::notes::conflict_copy::original(name).is_some()
}

/// The name of the file that this one stands for, if it is not downloaded.
pub(crate) fn placeholder_target(name: &str) -> Option<&str> {
    let hidden = name.strip_prefix('.').and_then(|name| name.strip_suffix(".icloud"));
    let plain = || {
        let real = [".nextcloud", ".owncloud"].iter().find_map(|end| name.strip_suffix(end))?;
        // A file that is called `x.nextcloud` alone is a file of that type.
        real.rsplit_once('.').map(|_| real)
    };
    hidden.or_else(plain).filter(|real| !real.is_empty() && !real.starts_with('.'))
}

/// The names that may stand for the file `name` while it is not downloaded.
pub(crate) fn placeholder_names(name: &str) -> [String; 3] {
    [format!(".{name}.icloud"), format!("{name}.nextcloud"), format!("{name}.owncloud")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_conflicts_are_told_from_notes_about_them() {
        for name in [
            "Plan (conflicted copy 2026-01-02).md",
            "Plan (Ann's conflicted copy 2026-01-02).md",
            "Plan (Conflicted copy laptop 202601020304).md",
            "Plan.sync-conflict-20260102-030405-ABCDEFG.md",
            "Plan_conflict-20260102-030405.md",
        ] {
            assert!(is_conflict_copy(name), "{name}");
        }
        for name in [
            "The conflicted copy.md",
            "sync-conflict-20260102.md",
            "Plan.sync-conflict-soon.md",
            "Peace_conflict-1648.md",
            "Plan (copy).md",
        ] {
            assert!(!is_conflict_copy(name), "{name}");
        }
    }

    #[test]
    fn a_stand_in_names_the_file_that_is_elsewhere() {
        assert_eq!(placeholder_target(".Plan.md.icloud"), Some("Plan.md"));
        assert_eq!(placeholder_target("Plan.md.nextcloud"), Some("Plan.md"));
        assert_eq!(placeholder_target("photo.png.owncloud"), Some("photo.png"));
        for name in ["Plan.md", ".icloud", "backup.nextcloud", "..hidden.icloud", ".a.md"] {
            assert_eq!(placeholder_target(name), None, "{name}");
        }
        for name in placeholder_names("Plan.md") {
            assert_eq!(placeholder_target(&name), Some("Plan.md"), "{name}");
        }
    }
}
