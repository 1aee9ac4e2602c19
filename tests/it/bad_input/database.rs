//! A database that this version must not or cannot read.

use std::fs;

use protocol::ErrorCode;

use super::{NOTES, assert_told, refusal};
use crate::stage::{Home, without_model};

/// Where SQLite keeps `user_version` in a file's header, four bytes, big-endian.
/// https://www.sqlite.org/fileformat.html#the_database_header
const USER_VERSION: usize = 60;

/// A home that was worked in and closed, its database exchanged by `spoil`.
async fn spoilt(spoil: impl Fn(&mut Vec<u8>)) -> Home {
    let home = Home::new(&NOTES);
    let running = home.open(without_model()).await;
    running.say(None, "help").await;
    running.quit().await;
    let mut bytes = fs::read(home.database()).expect("a database");
    spoil(&mut bytes);
    fs::write(home.database(), bytes).expect("written");
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_refused_and_left_untouched() {
    let home =
        spoilt(|bytes| bytes[USER_VERSION..USER_VERSION + 4].copy_from_slice(&[0, 0, 0, 99]));
    let home = home.await;
    let before = fs::read(home.database()).expect("a database");
    let error = refusal(&home, home.notes.root()).await;
    let sentence = format!(
        "`{}` was written by a newer Vaultmate; update this one, nothing was changed.",
        home.database().display()
    );
    assert_told(&error, ErrorCode::Other, &sentence);
    assert_eq!(fs::read(home.database()).expect("a database"), before);
    let said = home.ask(&["Alpha"]).await;
    assert_eq!((said.code, said.err), (Some(1), format!("{sentence}\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_database_is_told_and_kept_with_the_files_of_cut_changes_named() {
    let home = spoilt(Vec::clear).await;
    let temp = "Deep/.vaultmate-00000000000000a1.tmp";
    home.notes.write(temp, "the only copy");
    let running = home.open(without_model()).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert!(snapshot.conversations.is_empty());
    let told = &snapshot.problems.first().expect("it is told").message;
    let folder = home.database().parent().expect("a folder").join("emptied-");
    for part in ["was emptied", &folder.display().to_string(), temp] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(home.notes.read(temp), "the only copy");
    running.quit().await;
    // It is told once.
    let running = home.open(without_model()).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.problems, []);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_told_and_left_untouched() {
    let overwritten = |bytes: &mut Vec<u8>| bytes.fill(b'x');
    let home = spoilt(overwritten).await;
    let before = fs::read(home.database()).expect("a file");
    let error = refusal(&home, home.notes.root()).await;
    let sentence = format!(
        "`{}` is damaged: move it away or restore a backup, then start again.",
        home.database().display()
    );
    assert_told(&error, ErrorCode::Other, &sentence);
    assert_eq!(fs::read(home.database()).expect("a file"), before);

    // What the sentence says helps.
    fs::rename(home.database(), home.data.root().join("aside.db")).expect("moved away");
    home.open(without_model()).await.quit().await;
}
