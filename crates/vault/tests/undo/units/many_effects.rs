//! An undo of many effects takes a time that grows as their number: of a move with all links to it, and of edits that
//! are undone each by itself. So does the work to tell whether their notes may still be at their paths.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use protocol::{
    CallId, ChangeKind, ChangeSetId, ContentHash, Effect, EffectId, FileId, NotePath, TurnId,
};
use vault::undo::{LedgerView, UndoRequest, VaultFile, VaultReader, may_be_at, plan_undo};

use crate::simulation::path;

/// How often a time is taken: other programs disturb, and the shortest counts.
const ATTEMPTS: usize = 3;

/// A vault in memory in which a note is found by its path at once.
struct LinkedNotes(HashMap<NotePath, (FileId, Vec<u8>)>);

impl VaultReader for LinkedNotes {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.0.get(path).map(|(_, bytes)| bytes.clone())
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.get(path).map(|(file, _)| *file)
    }

    fn files(&self) -> Vec<VaultFile> {
        let file = |(path, (file, bytes)): (&NotePath, &(FileId, Vec<u8>))| VaultFile {
            path: path.clone(),
            size: bytes.len() as u64,
            file: *file,
            is_folder: false,
        };
        self.0.iter().map(file).collect()
    }
}

/// Notes that count what is asked of them.
struct CountedNotes {
    notes: LinkedNotes,
    reads: Cell<usize>,
    lookups: Cell<usize>,
    listings: Cell<usize>,
}

impl VaultReader for CountedNotes {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.reads.set(self.reads.get() + 1);
        self.notes.bytes(path)
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.lookups.set(self.lookups.get() + 1);
        self.notes.file(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.listings.set(self.listings.get() + 1);
        self.notes.files()
    }
}

/// A file that no other number gives.
fn file(number: usize) -> FileId {
    FileId { inode: number as u64, born: Some(1) }
}

/// The `number`th effect of one set: it made the file with this number.
fn effect(number: usize, kind: ChangeKind, at: &str) -> Effect {
    Effect {
        id: EffectId::from(format!("{number:06}")),
        change_set: ChangeSetId::from("set"),
        conversation: None,
        turn: TurnId::from("turn"),
        call: CallId::from("call"),
        unit: None,
        kind,
        path: path(at),
        target: None,
        trashed: None,
        before: None,
        after: None,
        base: None,
        file: Some(file(number)),
        access: None,
        at: None,
        purged: None,
    }
}

/// Notes with a link that was rewritten each, and the ledger of that. If a note was moved, it is one unit.
fn rewritten_notes(count: usize, is_moved: bool) -> (LedgerView, UndoRequest, LinkedNotes) {
    let (mut effects, mut notes, mut contents) = (Vec::new(), HashMap::new(), Vec::new());
    for number in 0..count {
        let at = format!("links/{number}.md");
        let texts =
            ["Old", "New"].map(|name| format!("# {number}\n\nSee [[{name}]].\n").into_bytes());
        let [before, after] = [0, 1].map(|which: usize| Some(ContentHash::of(&texts[which])));
        let base = Some(file(count + 1 + number));
        effects.push(Effect { before, after, base, ..effect(number, ChangeKind::Replace, &at) });
        notes.insert(path(&at), (file(number), texts[1].clone()));
        contents.extend(texts);
    }
    if is_moved {
        let (moved, target) = (effect(count, ChangeKind::Rename, "Old.md"), path("New.md"));
        notes.insert(target.clone(), (file(count), b"text\n".to_vec()));
        effects.push(Effect { base: moved.file, target: Some(target), ..moved });
        effects.iter_mut().for_each(|effect| effect.unit = Some(CallId::from("call")));
    }
    let request = UndoRequest::undo(effects.iter().map(|effect| effect.id.clone()));
    let mut ledger = LedgerView::new(effects);
    contents.into_iter().for_each(|text| ledger.add_content(ContentHash::of(&text), text));
    (ledger, request, LinkedNotes(notes))
}

/// The time to plan that all of it is undone.
fn planning_time(count: usize, is_moved: bool) -> Duration {
    let (ledger, request, notes) = rewritten_notes(count, is_moved);
    let measure = |_| {
        let begun = Instant::now();
        let needed = ledger.missing_contents(&request).len();
        let plan = plan_undo(&ledger, &request, &notes);
        let took = begun.elapsed();
        let planned = count + usize::from(is_moved);
        assert_eq!((needed, plan.conflicts.len()), (2 * count, 0));
        assert_eq!((plan.changes.len(), plan.undone.len()), (planned, planned));
        assert_eq!(plan.unit.len(), if is_moved { planned } else { 0 });
        took
    };
    (0..ATTEMPTS).map(measure).min().unwrap()
}

/// Four times the effects may cost eight times the time; the square would be sixteen times.
#[track_caller]
fn check_growth(is_moved: bool) {
    let (few, many) = (planning_time(1_000, is_moved), planning_time(4_000, is_moved));
    println!("{few:?} for some effects, {many:?} for four times as many");
    assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
}

#[test]
fn undo_of_a_move_is_planned_in_a_time_that_grows_as_the_links_to_it() {
    check_growth(true);
}

#[test]
fn undo_of_edits_is_planned_in_a_time_that_grows_as_their_number() {
    check_growth(false);
}

#[test]
fn whether_rewritten_notes_may_be_at_their_paths_is_told_with_one_listing_and_one_lookup_each() {
    for count in [50, 200] {
        let (whole, _, mut notes) = rewritten_notes(count, true);
        // A checkout writes new files; of the first note the file is elsewhere, and nothing has its path.
        for number in 1..count {
            let found = notes.0.get_mut(&path(&format!("links/{number}.md"))).unwrap();
            found.0 = file(10 * count + number);
        }
        let moved = notes.0.remove(&path("links/0.md")).unwrap();
        notes.0.insert(path("moved.md"), moved);
        let (reads, lookups, listings) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let counted = CountedNotes { notes, reads, lookups, listings };

        let bare = LedgerView::new(whole.effects().to_vec());
        let links: Vec<&Effect> = bare.effects().iter().take(count).collect();
        let told = may_be_at(&bare, links.iter().map(|link| (&link.id, &link.path)), &counted);
        assert_eq!(told.iter().position(|may_be| !may_be), Some(0));
        assert_eq!(told.iter().filter(|may_be| **may_be).count(), count - 1);
        let work = [&counted.reads, &counted.lookups, &counted.listings].map(Cell::get);
        assert_eq!(work, [0, count, 1]);

        // The control: an undo of one of them needs the texts of all of them.
        let one = UndoRequest::undo([links[1].id.clone()]);
        assert_eq!(bare.missing_contents(&one).len(), 2 * count);
    }
}
