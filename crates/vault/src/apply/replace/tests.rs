//! A temporary file that another program takes away between staging and committing.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use protocol::{CallId, Change, ChangeSetId, EffectId, NotePath, TurnId};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;
use crate::apply::execute;

const TEMP: &str = ".vaultmate-0.tmp";

fn intent(before: Option<&str>) -> Intent {
    let path = NotePath::parse("note.md").unwrap();
    Intent {
        effect: EffectId::from("effect"),
        change_set: ChangeSetId::from("set"),
        turn: TurnId::from("turn"),
        call: CallId::from("call"),
        temp_name: TEMP.to_owned(),
        unit: None,
        base: None,
        access: None,
        is_exact: false,
        staged: None,
        change: match before {
            Some(before) => Change::replace(path, before, "after"),
            None => Change::create(path, "after"),
        },
    }
}

/// Stages a change, puts a link in the place of its temporary file, and commits.
fn commit_over_a_planted_link(before: Option<&str>) -> (Result<(), StepError>, Option<String>) {
    let all = tempfile::tempdir().unwrap();
    let (root, secret) = (all.path().join("vault"), all.path().join("secret.md"));
    fs::create_dir(&root).unwrap();
    fs::write(&secret, "canary").unwrap();
    if let Some(before) = before {
        fs::write(root.join("note.md"), before).unwrap();
    }
    let (vault, intent) = (Vault::open(&root).unwrap(), intent(before));
    execute::stage(&vault, &intent).unwrap();
    fs::remove_file(root.join(TEMP)).unwrap();
    symlink(&secret, root.join(TEMP)).unwrap();
    let outcome = execute::commit(&vault, &intent).map(drop);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "canary");
    let note = root.join("note.md");
    let is_file = fs::symlink_metadata(&note).is_ok_and(|about| about.is_file());
    (outcome, is_file.then(|| fs::read_to_string(&note).unwrap()))
}

#[test]
fn a_link_in_the_place_of_the_temporary_file_never_becomes_the_note() {
    let (replaced, note) = commit_over_a_planted_link(Some("before"));
    assert!(matches!(replaced.unwrap_err().why, VaultError::Disturbed { .. }));
    assert_eq!(note.as_deref(), Some("before"));
    let (created, note) = commit_over_a_planted_link(None);
    assert!(matches!(created.unwrap_err().why, VaultError::Disturbed { .. }));
    assert_eq!(note, None);
}

#[test]
fn a_link_planted_in_the_last_moment_is_seen_by_its_inode() {
    let all = tempfile::tempdir().unwrap();
    fs::write(all.path().join("note.md"), "before").unwrap();
    let (vault, intent) = (Vault::open(all.path()).unwrap(), intent(Some("before")));
    execute::stage(&vault, &intent).unwrap();
    let place = AtomicFile::open(&vault, &intent).unwrap();
    let (ours, _) = place.staged_temp(b"after").unwrap();
    fs::rename(all.path().join(TEMP), all.path().join("displaced")).unwrap();
    symlink("displaced", all.path().join(TEMP)).unwrap();
    let (temp, note) = (all.path().join(TEMP), all.path().join("note.md"));
    // The control: the exchange alone makes the link the note, and the bytes seem right.
    renameat_with(CWD, &temp, CWD, &note, RenameFlags::EXCHANGE).unwrap();
    assert!(fs::symlink_metadata(&note).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&note).unwrap(), "after");
    assert_eq!(place.note_is(ours), Ok(false));
}

/// The contents of the folder, by name, after a change was reverted; a program that had opened the
/// new bytes under the note's name then writes this and closes.
fn reverted_while_open(late: &str) -> Vec<(String, String)> {
    let all = tempfile::tempdir().unwrap();
    let note = all.path().join("note.md");
    fs::write(&note, "before").unwrap();
    let (vault, intent) = (Vault::open(all.path()).unwrap(), intent(Some("before")));
    execute::stage(&vault, &intent).unwrap();
    let place = AtomicFile::open(&vault, &intent).unwrap();
    assert!(matches!(place.exchange(), Ok(ExchangeResult::Done)));
    let mut writer = fs::OpenOptions::new().append(true).open(&note).unwrap();
    let refusal = roll_back(&vault, &place, b"after");
    assert_eq!(refusal.state, IntentState::Failed, "{refusal:?}");
    assert_eq!(refusal.in_recovery().state, IntentState::Parked, "then nobody can tell");
    let letting_go = {
        let vault = vault.clone();
        std::thread::spawn(move || vault.release_replaced_files())
    };
    std::thread::sleep(std::time::Duration::from_millis(50));
    writer.write_all(late.as_bytes()).unwrap();
    drop(writer);
    letting_go.join().unwrap();
    let entries = fs::read_dir(all.path()).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let named = files.map(|entry| {
        let text = fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), text)
    });
    let mut named: Vec<_> = named.collect();
    named.sort();
    named
}

#[test]
fn a_late_write_to_reverted_bytes_becomes_a_separate_note() {
    let owned = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let copy = owned("note (written during a change).md", "after, late");
    assert_eq!(reverted_while_open(", late"), [copy, owned("note.md", "before")]);
    assert_eq!(reverted_while_open(""), [owned("note.md", "before")]);
}
