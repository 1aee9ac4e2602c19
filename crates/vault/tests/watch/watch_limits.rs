//! Fewer watches than folders, for real: in a user namespace with a limit of its own.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::process::Command;

use support::{Folder, path};
use vault::VaultChange;

/// The top folder, `notes` and one more.
const WATCHES: usize = 3;

#[test]
fn where_the_system_watches_fewer_folders_than_there_are_it_is_said_and_no_change_is_missed() {
    let limited = format!("echo {WATCHES} > /proc/sys/user/max_inotify_watches && exec \"$@\"");
    let inner = ["with_few_watches", "--exact", "--ignored", "--nocapture"];
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", &limited, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(inner)
        .output()
        .expect("`unshare` is there");
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.contains("running 1 test") {
        println!("skipped: this system gives no limit of its own to a test: {output:?}");
        return;
    }
    assert!(output.status.success(), "{said}");
}

/// Run by the test above, where the limit holds.
#[tokio::test]
#[ignore = "wants a limit of its own"]
async fn with_few_watches() {
    let folder = Folder::new();
    for number in 0..20 {
        folder.write(&format!("{number}/a.md"), "1");
    }
    let mut watch = folder.vault().watch().unwrap();
    let told = watch.next().await;
    let Some(VaultChange::Late { why }) = told else { panic!("{told:?}") };
    assert!(why.contains("fs.inotify.max_user_watches"), "{why}");
    assert_eq!(watch.next().await, Some(VaultChange::Everything));
    let mut missing: BTreeSet<_> = (0..20).map(|number| path(&format!("{number}/a.md"))).collect();
    for note in &missing {
        folder.write(note.as_str(), "longer");
    }
    while !missing.is_empty() {
        match watch.next().await.expect("the watch goes on") {
            VaultChange::Notes(files) => missing.retain(|note| !files.contains(note)),
            other => panic!("{other:?}"),
        }
    }
}
