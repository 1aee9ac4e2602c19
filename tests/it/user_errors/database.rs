//! A database that this version must not or cannot read.

use std::fs;

use protocol::ErrorCode;

use super::{NOTES, assert_error, open_error};
use crate::harness::test_app::{TestHome, settings_without_model};

/// Where SQLite keeps `user_version` in a file's header, four bytes, big-endian.
/// https://www.sqlite.org/fileformat.html#the_database_header
const USER_VERSION_OFFSET: usize = 60;

/// A home that was worked in and closed, its database exchanged by `spoil`.
async fn home_with_damaged_database(spoil: impl Fn(&mut Vec<u8>)) -> TestHome {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    running.send_and_wait(None, "help").await;
    running.quit().await;
    let mut bytes = fs::read(home.database_path()).expect("a database");
    spoil(&mut bytes);
    fs::write(home.database_path(), bytes).expect("written");
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_refused_and_left_untouched() {
    let home = home_with_damaged_database(|bytes| {
        bytes[USER_VERSION_OFFSET..USER_VERSION_OFFSET + 4].copy_from_slice(&[0, 0, 0, 99])
    });
    let home = home.await;
    let before = fs::read(home.database_path()).expect("a database");
    let error = open_error(&home, home.notes.root()).await;
    let sentence = format!(
        "`{}` was written by a newer version of Vaultmate. Nothing was changed. Update Vaultmate.",
        home.database_path().display()
    );
    assert_error(&error, ErrorCode::Other, &sentence);
    assert_eq!(fs::read(home.database_path()).expect("a database"), before);
    let said = home.ask(&["Alpha"]).await;
    assert_eq!((said.code, said.stderr), (Some(1), format!("{sentence}\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_database_is_told_and_kept_with_the_files_of_cut_changes_named() {
    let home = home_with_damaged_database(Vec::clear).await;
    let temp = "Deep/.vaultmate-00000000000000a1.tmp";
    home.notes.write(temp, "the only copy");
    let running = home.open(settings_without_model()).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert!(snapshot.conversations.is_empty());
    let told = &snapshot.problems.first().expect("it is told").message;
    let folder = home.database_path().parent().expect("a folder").join("emptied-");
    for part in ["was emptied", &folder.display().to_string(), temp] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(home.notes.read(temp), "the only copy");
    running.quit().await;
    // It is told once.
    let running = home.open(settings_without_model()).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.problems, []);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_told_and_left_untouched() {
    let overwritten = |bytes: &mut Vec<u8>| bytes.fill(b'x');
    let home = home_with_damaged_database(overwritten).await;
    let before = fs::read(home.database_path()).expect("a file");
    let error = open_error(&home, home.notes.root()).await;
    let sentence = format!(
        "`{}` is damaged. Move it away or restore a backup, then start again.",
        home.database_path().display()
    );
    assert_error(&error, ErrorCode::Other, &sentence);
    assert_eq!(fs::read(home.database_path()).expect("a file"), before);

    // The advice of the sentence helps.
    fs::rename(home.database_path(), home.data.root().join("aside.db")).expect("moved away");
    home.open(settings_without_model()).await.quit().await;
}
