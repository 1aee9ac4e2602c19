//! Edits that are cut before or after the exchange, and then somebody acts on their note.

use super::*;

fn edit(_: &Folder) -> ChangeBatch {
    order([replace("f/x.md", "x", "x and more")])
}

#[test]
fn a_staged_edit_is_stale_once_somebody_writes_the_note() {
    let _one = faults();
    let acts: [fn(&Cut); 3] = [
        |cut| cut.folder.write("f/x.md", "theirs"),
        |cut| cut.save("f/x.md", "theirs"),
        |cut| cut.remove("f/x.md"),
    ];
    for meanwhile in acts {
        let cut = Cut::at("vault.exchange.before", 0, edit);
        meanwhile(&cut);
        let text = cut.text("f/x.md");
        cut.recover();
        assert_eq!((cut.text("f/x.md"), cut.states()), (text, vec![IntentState::Stale]));
        cut.assert_nothing_is_left();
    }
}

#[test]
fn an_edit_is_followed_to_where_its_note_was_moved() {
    let _one = faults();
    for (from, to, at) in [("f", "g", "g/x.md"), ("f/x.md", "f/z.md", "f/z.md")] {
        let cut = Cut::at("vault.exchange.after", 0, edit);
        cut.carry(from, to);
        let ours = cut.file(at);
        cut.recover();
        assert_eq!((cut.states(), cut.ledger.files()), (vec![IntentState::Done], vec![ours]));
        cut.assert_nothing_is_left();
        let waiting = Cut::at("vault.exchange.before", 0, edit);
        waiting.carry(from, to);
        waiting.recover();
        assert_eq!(waiting.text(at).as_deref(), Some("x"), "it is about the old path");
        assert_eq!(waiting.states(), [IntentState::Stale]);
        waiting.assert_nothing_is_left();
    }
}

#[test]
fn an_edit_that_was_undone_since_is_not_made_again_by_an_older_ledger() {
    let _one = faults();
    let by_hand: [fn(&Cut); 2] = [
        |cut| cut.folder.write("f/x.md", "x"),
        |cut| {
            let undo = order([replace("f/x.md", "x and more", "x")]);
            let work = async || {
                drop(cut.folder.vault().apply(undo, &MemoryLedger::default()).await);
            };
            assert!(run_until(usize::MAX - 1, work));
        },
    ];
    for undo in by_hand {
        let cut = Cut::at("vault.exchange.before", 0, edit);
        let older: Vec<_> =
            cut.ledger.0.lock().unwrap().iter().map(|(intent, _)| intent.clone()).collect();
        cut.recover();
        assert_eq!(cut.text("f/x.md").as_deref(), Some("x and more"));
        undo(&cut);
        let older = MemoryLedger::holding(older);
        recover(&cut.folder.vault(), &older);
        assert_eq!(cut.text("f/x.md").as_deref(), Some("x"));
    }
}
