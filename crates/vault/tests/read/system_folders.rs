//! Folders of the system can be neither a vault nor an additional folder, whatever their names are.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Folder, extra};
use vault::{OpenError, Vault, validate_extra_roots};

#[track_caller]
fn refused(place: &Path) {
    let as_vault = Vault::open(place).unwrap_err();
    assert!(matches!(as_vault, OpenError::System { .. }), "{}: {as_vault}", place.display());
    let as_extra = validate_extra_roots(&[extra(place)], &[], None).unwrap_err().to_string();
    let says = "is a system folder, not one with notes. Choose another folder.";
    assert_eq!(as_extra, format!("{} {says}", place.display()));
}

#[track_caller]
fn taken(place: &Path) {
    Vault::open(place).unwrap();
    validate_extra_roots(&[extra(place)], &[], None).unwrap();
}

#[test]
fn a_folder_of_the_system_is_refused_by_each_of_its_names() {
    for place in ["/proc", "/proc/self", "/sys", "/sys/kernel", "/dev", "/dev/shm", "//proc/./1"] {
        refused(Path::new(place));
    }
    let folder = Folder::with(&[("a.md", "a")]);
    for place in ["/usr/../proc", "/usr/../../sys/kernel", "/usr/.././dev"] {
        refused(Path::new(place));
    }
    for (name, leads_to) in [("p", "/proc"), ("s", "/sys/kernel"), ("d", "/dev")] {
        let link = folder.out.join(name);
        symlink(leads_to, &link).unwrap();
        refused(&link);
        let second = folder.out.join(format!("{name}{name}"));
        symlink(&link, &second).unwrap();
        refused(&second);
    }
}

/// The kernel has names of its own for folders that are nobody's: they say nothing about what is chosen.
#[test]
fn a_folder_that_is_reached_through_one_of_the_system_is_refused() {
    let folder = Folder::with(&[("a.md", "a")]);
    let held = File::open(&folder.root).unwrap();
    let rest = folder.root.strip_prefix("/").unwrap().to_owned();
    let fd = format!("/proc/self/fd/{}", held.as_raw_fd());
    let through_root = Path::new("/proc/self/root").join(&rest);
    for place in [PathBuf::from("/proc/self/cwd"), through_root, PathBuf::from(&fd)] {
        assert!(place.is_dir(), "the control: {} is there", place.display());
        refused(&place);
        let link = folder.out.join("link");
        symlink(&place, &link).unwrap();
        refused(&link);
        fs::remove_file(&link).unwrap();
    }
    let by_device = format!("/dev/fd/{}", held.as_raw_fd());
    refused(Path::new(&by_device));
}

#[test]
fn a_folder_with_notes_is_taken_also_through_a_link() {
    let folder = Folder::with(&[("a.md", "a")]);
    taken(&folder.root);
    let link = folder.out.join("link");
    symlink(&folder.root, &link).unwrap();
    taken(&link);
    taken(&link.join("../vault"));
    for name in ["proc", "dev", "system"] {
        taken(&folder.add_sibling(name, &[("b.md", "b")]));
    }
    // Broken symlinks keep their own error.
    let (one, other) = (folder.out.join("one"), folder.out.join("other"));
    symlink(&one, &other).unwrap();
    symlink(&other, &one).unwrap();
    let circle = Vault::open(&one).unwrap_err();
    assert!(matches!(circle, OpenError::Io { .. }), "{circle}");
}

/// Something mounted on a folder; on drop it is gone.
struct BindMount(PathBuf);

impl BindMount {
    /// `None`, and a word about it, where the system does not let us mount.
    fn on(place: PathBuf, what: &[&str]) -> Option<Self> {
        let done = Command::new("mount").args(what).arg(&place).output();
        let mounted = done.is_ok_and(|output| output.status.success());
        if !mounted {
            println!("skipped: this system does not let the test mount {what:?}");
        }
        mounted.then_some(Self(place))
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        let done = Command::new("umount").arg("-l").arg(&self.0).status();
        assert!(done.unwrap().success(), "{} stays mounted", self.0.display());
    }
}

#[test]
fn a_file_system_of_the_kernel_is_refused_wherever_it_is_mounted() {
    let folder = Folder::new();
    let place = |name| folder.add_sibling(name, &[]);
    for (name, what) in [
        ("own-proc", &["-t", "proc", "proc"][..]),
        ("own-sys", &["-t", "sysfs", "sysfs"]),
        ("other-proc", &["--bind", "/proc"]),
        ("part-of-proc", &["--bind", "/proc/sys"]),
        ("other-sys", &["--bind", "/sys/kernel"]),
        ("other-dev", &["--bind", "/dev"]),
    ] {
        let Some(mounted) = BindMount::on(place(name), what) else { continue };
        refused(&mounted.0);
    }
    // The control: a file system that people keep notes on.
    if let Some(mounted) = BindMount::on(place("memory"), &["-t", "tmpfs", "tmpfs"]) {
        fs::write(mounted.0.join("a.md"), "a").unwrap();
        taken(&mounted.0);
    }
}
