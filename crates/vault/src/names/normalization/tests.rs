//! How often folders are listed for their names, and names that come and go between two steps of an order.

use std::fs;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use protocol::{CallId, Change, ChangeSetId, EffectId, Intent, SettledIntent, TurnId};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::apply::{execute, temp_name};
use crate::ledger::{Ledger, LedgerError};
use crate::{ChangeBatch, PlannedChange};

const NOTES: usize = 20;
const NFC: &str = "caf\u{e9}.md";
const NFD: &str = "cafe\u{301}.md";
const OTHER: &str = "th\u{e9}.md";

/// A ledger with nothing but what recovery finds in it.
struct OpenIntents(Vec<Intent>);

#[async_trait]
impl Ledger for OpenIntents {
    async fn record_intents(&self, _: &[Intent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn record_outcomes(&self, _: &[SettledIntent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        Ok(self.0.clone())
    }
}

fn vault_with(notes: &[&str]) -> (TempDir, Vault) {
    let all = tempfile::tempdir().unwrap();
    for note in notes {
        let file = all.path().join(note);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "text").unwrap();
    }
    let vault = Vault::open(all.path()).unwrap();
    (all, vault)
}

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

fn edit(note: &str) -> Change {
    Change::replace(path(note), "text", "new")
}

fn intent(change: Change) -> Intent {
    Intent {
        effect: EffectId::from(Uuid::now_v7()),
        change_set: ChangeSetId::from("set"),
        turn: TurnId::from("turn"),
        call: CallId::from("call"),
        unit: None,
        temp_name: temp_name(),
        base: None,
        access: None,
        is_exact: false,
        staged: None,
        change,
    }
}

/// Stages a change; returns whether it is refused because of a twin, and accepts no other refusal.
#[track_caller]
fn is_refused(vault: &Vault, change: Change) -> bool {
    match execute::stage(vault, &intent(change)) {
        Ok(_) => false,
        Err(refusal) => {
            assert!(matches!(refusal.why, VaultError::Twin { .. }), "{refusal:?}");
            true
        }
    }
}

fn listings(vault: &Vault) -> usize {
    vault.name_listings.load(Ordering::SeqCst)
}

#[tokio::test]
async fn an_order_and_a_recovery_list_each_folder_once() {
    // The folder has an accent too, so it is looked for in the vault's own one.
    let notes: Vec<String> = (0..NOTES).map(|n| format!("caf\u{e9}/th\u{e9} {n}.md")).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    let (_all, vault) = vault_with(&notes);
    let moved = Change::rename(path(notes[0]), path("caf\u{e9}/th\u{e9}, moved.md"));
    let changes = notes.iter().map(|note| edit(note)).chain([moved]);
    let call = CallId::from("call");
    let plan = |change| PlannedChange {
        change,
        turn: TurnId::from("turn"),
        call: call.clone(),
        unit: Some(call.clone()),
        file: None,
    };
    let batch =
        ChangeBatch { change_set: ChangeSetId::from("set"), changes: changes.map(plan).collect() };
    let applied = vault.apply(batch, &OpenIntents(Vec::new())).await.unwrap();
    assert_eq!((applied.done.len(), applied.problems.len()), (NOTES + 1, 0), "{applied:?}");
    assert_eq!(listings(&vault), 2);

    let newer = |note: &&str| intent(Change::replace(path(note), "new", "newer"));
    let interrupted = OpenIntents(notes[1..].iter().map(newer).collect());
    let recovery = vault.recover(&interrupted).await.unwrap();
    assert_eq!((recovery.done.len(), recovery.problems.len()), (NOTES - 1, 0), "{recovery:?}");
    assert_eq!(listings(&vault), 4);

    // The control: checks that share nothing list both folders each time.
    for note in &notes {
        check_unambiguous(&vault, &path(note), None).unwrap();
    }
    assert_eq!(listings(&vault), 4 + 2 * NOTES);
}

#[test]
fn a_twin_that_another_program_makes_between_two_steps_is_found() {
    for (ours, theirs) in [(NFC, NFD), (NFD, NFC)] {
        for (note, change) in
            [(ours, edit(ours)), ("plain.md", Change::rename(path("plain.md"), path(ours)))]
        {
            let (all, vault) = vault_with(&[OTHER, note]);
            let vault = vault.with_folder_names();
            assert!(!is_refused(&vault, edit(OTHER)));
            // The control: without the twin nothing is wrong, and nothing is listed again.
            assert!(!is_refused(&vault, change.clone()));
            assert_eq!(listings(&vault), 1);
            fs::write(all.path().join(theirs), "theirs").unwrap();
            assert!(is_refused(&vault, change.clone()), "{change:?}");
            assert!(!is_refused(&vault, edit(OTHER)), "it has no twin");
            assert_eq!(listings(&vault), 2);
        }
    }
}

#[test]
fn the_note_that_gets_the_other_form_of_its_name_is_no_twin_of_it() {
    let (all, vault) = vault_with(&[OTHER, NFD]);
    let vault = vault.with_folder_names();
    let respelled = Change::rename(path(NFD), path(NFC));
    assert!(!is_refused(&vault, edit(OTHER)));
    assert!(!is_refused(&vault, respelled.clone()));
    // The control: of another note it is one.
    fs::write(all.path().join("plain.md"), "text").unwrap();
    assert!(is_refused(&vault, Change::rename(path("plain.md"), path(NFC))));
}

#[test]
fn twins_cost_one_listing_and_one_that_goes_is_no_twin() {
    let pair = |n: usize| [format!("caf\u{e9} {n}.md"), format!("cafe\u{301} {n}.md")];
    let notes: Vec<String> = (0..NOTES).flat_map(pair).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    let (all, vault) = vault_with(&notes);
    let vault = vault.with_folder_names();
    for note in &notes {
        assert!(is_refused(&vault, edit(note)), "{note}");
    }
    fs::remove_file(all.path().join(notes[1])).unwrap();
    assert!(!is_refused(&vault, edit(notes[0])));
    // The control: the others have theirs.
    assert!(is_refused(&vault, edit(notes[2])));
    assert_eq!(listings(&vault), 1);
}

#[test]
fn a_second_hard_link_is_a_twin_although_both_names_lead_to_one_file() {
    let (all, vault) = vault_with(&[NFC]);
    let vault = vault.with_folder_names();
    check_unambiguous(&vault, &path(NFC), None).unwrap();
    // The control: a link by a name that is another one to a person, too.
    fs::hard_link(all.path().join(NFC), all.path().join("plain.md")).unwrap();
    check_unambiguous(&vault, &path(NFC), None).unwrap();
    fs::hard_link(all.path().join(NFC), all.path().join(NFD)).unwrap();
    let refusal = check_unambiguous(&vault, &path(NFC), None);
    assert!(matches!(refusal, Err(VaultError::Twin { .. })), "{refusal:?}");
}

#[test]
fn another_folder_in_the_place_of_a_listed_one_is_listed() {
    // A name of both forms is seen in a listing only.
    let (ours, theirs) = ("notes/r\u{e9}sum\u{e9}.md", "notes/re\u{301}sum\u{e9}.md");
    for has_twin in [true, false] {
        let (all, vault) = vault_with(&[ours]);
        let vault = vault.with_folder_names();
        check_unambiguous(&vault, &path(ours), None).unwrap();
        fs::rename(all.path().join("notes"), all.path().join("away")).unwrap();
        fs::create_dir(all.path().join("notes")).unwrap();
        fs::write(all.path().join(ours), "text").unwrap();
        if has_twin {
            fs::write(all.path().join(theirs), "theirs").unwrap();
        }
        assert_eq!(is_refused(&vault, edit(ours)), has_twin);
        assert_eq!(listings(&vault), 2);
    }
}
