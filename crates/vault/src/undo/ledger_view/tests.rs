//! The index finds all effects on a note that are found when the whole ledger is looked through, and no text is needed
//! to tell whether a note may be somewhere.

use std::collections::BTreeMap;

use proptest::prelude::*;
use protocol::{CallId, ChangeSetId, TurnId};

use super::*;
use crate::undo::{VaultFile, VaultReader, may_be_at};

const KINDS: [ChangeKind; 8] = [
    ChangeKind::Create,
    ChangeKind::Replace,
    ChangeKind::Trash,
    ChangeKind::Rename,
    ChangeKind::RenameFolder,
    ChangeKind::MakeFolder,
    ChangeKind::TrashFolder,
    ChangeKind::RestoreFolder,
];

/// All that notes say.
const TEXTS: [&str; 2] = ["1", "2"];

/// The file and the text at each path.
#[derive(Debug)]
struct PlainVault(BTreeMap<NotePath, (FileId, &'static str)>);

impl VaultReader for PlainVault {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.0.get(path).map(|(_, text)| text.as_bytes().to_vec())
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.get(path).map(|(file, _)| *file)
    }

    fn files(&self) -> Vec<VaultFile> {
        let standing = |(path, (file, text)): (&NotePath, &(FileId, &str))| VaultFile {
            path: path.clone(),
            size: text.len() as u64,
            file: *file,
            is_folder: false,
        };
        self.0.iter().map(standing).collect()
    }
}

/// Whether the note of an effect may be at a path, by all that the ledger knows of it.
fn may_be_at_by_text(
    ledger: &LedgerView,
    place: usize,
    path: &NotePath,
    notes: &PlanReader<'_>,
) -> bool {
    let effect = &ledger.effects[place];
    let trace = ledger.trace(place, effect.target.as_ref().unwrap_or(&effect.path)).unwrap();
    match ledger.certain_path(place, &trace, notes) {
        Some(here) => here == *path,
        None => !trace.is_gone && trace.path == *path,
    }
}

fn any_file() -> impl Strategy<Value = FileId> {
    (1..5_u64, prop::option::weighted(0.8, 1..3_i64))
        .prop_map(|(inode, born)| FileId { inode, born })
}

fn any_path() -> impl Strategy<Value = NotePath> {
    let some = prop::sample::select(vec!["a", "b", "f", "f/a", "f/b", "g", "g/a"]);
    some.prop_map(|text| NotePath::parse(text).unwrap())
}

fn any_text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(TEXTS.to_vec())
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let hash = || prop::option::of(any_text().prop_map(|text| ContentHash::of(text.as_bytes())));
    let trashed = prop::option::of(prop::sample::select(vec!["a", "f"]));
    let files = (prop::option::of(any_file()), prop::option::of(any_file()));
    let kind = prop::sample::select(KINDS.to_vec());
    (kind, (any_path(), any_path()), trashed, (hash(), hash()), files, any::<bool>()).prop_map(
        |(kind, (path, target), trashed, (before, after), (base, file), is_of_unit)| Effect {
            id: EffectId::from(""),
            change_set: ChangeSetId::from("set"),
            conversation: None,
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: is_of_unit.then(|| CallId::from("call")),
            kind,
            path,
            target: matches!(kind, ChangeKind::Rename | ChangeKind::RenameFolder).then_some(target),
            trashed: trashed.map(str::to_owned),
            before,
            after,
            base,
            file,
            access: None,
            at: None,
            purged: None,
        },
    )
}

/// The trace of a note, with each later effect applied to it.
fn trace_over_all(ledger: &LedgerView, place: usize, path: &NotePath) -> NoteTrace {
    let mut trace = NoteTrace::start(place, &ledger.effects[place], path);
    for (at, later) in ledger.effects.iter().enumerate().skip(place + 1) {
        trace.apply_effect(at, later, &ledger.successions);
    }
    trace
}

/// The positions of the effects on a note from one of them on.
fn later_of_all(ledger: &LedgerView, place: usize) -> Vec<usize> {
    let effect = &ledger.effects[place];
    let mut found = vec![place];
    let mut here = effect.target.clone().unwrap_or_else(|| effect.path.clone());
    let (mut file, mut trashed) = (file_left(effect), name_in_trash(effect));
    for (at, later) in ledger.effects.iter().enumerate().skip(place + 1) {
        let base = recorded_base(later);
        let is_its = match later.kind {
            ChangeKind::Create => trashed.is_some() && later.trashed.as_deref() == trashed,
            _ => {
                let may_be_its = later.path == here && !ledger.is_other(file, base);
                may_be_its || ledger.leads_to(file, base)
            }
        };
        if is_its {
            found.push(at);
            (here, file) = (later.path.clone(), file_left(later));
            trashed = name_in_trash(later);
        } else if later.trashed.as_deref() == trashed {
            trashed = None;
        }
        if (is_its || later.kind == ChangeKind::RenameFolder)
            && let Some(target) = &later.target
            && let Some(moved) = here.after_move(&later.path, target)
        {
            here = moved;
        }
    }
    found
}

/// The positions of the effects on a note before one of them, newest first.
fn earlier_of_all(ledger: &LedgerView, place: usize) -> Vec<usize> {
    let effect = &ledger.effects[place];
    let mut found = Vec::new();
    let (mut path, mut base) = (effect.path.clone(), recorded_base(effect));
    let mut origin = note_origin(effect);
    for (at, earlier) in ledger.effects.iter().enumerate().take(place).rev() {
        let is_its = match origin {
            NoteOrigin::New => break,
            NoteOrigin::Trash(name) => name_in_trash(earlier) == Some(name),
            NoteOrigin::Earlier if earlier.kind == ChangeKind::RenameFolder => {
                let target = earlier.target.as_ref();
                let before = target.and_then(|target| path.after_move(target, &earlier.path));
                path = before.unwrap_or(path);
                false
            }
            NoteOrigin::Earlier => {
                let (left, left_at) = (file_left(earlier), earlier.target.as_ref());
                let is_there = *left_at.unwrap_or(&earlier.path) == path;
                (is_there && !ledger.is_other(left, base)) || ledger.leads_to(left, base)
            }
        };
        if is_its {
            found.push(at);
            (path, base) = (earlier.path.clone(), recorded_base(earlier));
            origin = note_origin(earlier);
        }
    }
    found
}

/// The effects, numbered from zero, and the files that took the place of others.
fn ledger_of(mut effects: Vec<Effect>, successions: Vec<(FileId, FileId)>) -> LedgerView {
    for (place, effect) in effects.iter_mut().enumerate() {
        effect.id = EffectId::from(place.to_string());
    }
    let mut ledger = LedgerView::new(effects);
    for (from, to) in successions {
        ledger.add_succession(FileReplacement { from, to });
    }
    ledger
}

/// A note that went to the trash as `a`, or was restored from there.
fn by_trash(kind: ChangeKind, path: &str, inode: u64) -> Effect {
    let file = Some(FileId { inode, born: Some(1) });
    let is_restored = kind == ChangeKind::Create;
    Effect {
        id: EffectId::from(""),
        change_set: ChangeSetId::from("set"),
        conversation: None,
        turn: TurnId::from("turn"),
        call: CallId::from("call"),
        unit: None,
        kind,
        path: NotePath::parse(path).unwrap(),
        target: None,
        trashed: Some("a".to_owned()),
        before: None,
        after: None,
        base: file.filter(|_| !is_restored),
        file: file.filter(|_| is_restored),
        access: None,
        at: None,
        purged: None,
    }
}

#[test]
fn a_note_that_is_restored_under_a_name_of_the_trash_is_the_last_one_that_went_there() {
    use ChangeKind::{Create, Trash};
    let on_note = |effects: &[Effect], place| {
        let ledger = ledger_of(effects.to_vec(), Vec::new());
        let found = ledger.effects_on_note(place);
        found.into_iter().map(|(at, _)| at).collect::<Vec<_>>()
    };
    // The user emptied the trash between.
    let twice = [by_trash(Trash, "a", 1), by_trash(Trash, "f/a", 2), by_trash(Create, "f/a", 3)];
    assert_eq!(on_note(&twice, 0), [0]);
    assert_eq!(on_note(&twice, 1), [1, 2]);
    assert_eq!(on_note(&twice, 2), [1, 2]);
    let once = [by_trash(Trash, "a", 1), by_trash(Create, "a", 3)];
    assert_eq!(on_note(&once, 0), [0, 1], "the control");
}

proptest! {
    #[test]
    fn the_index_leaves_out_no_effect_on_a_note(
        effects in prop::collection::vec(any_effect(), 1..16),
        successions in prop::collection::vec((any_file(), any_file()), 0..6),
    ) {
        let ledger = ledger_of(effects, successions);
        for (place, effect) in ledger.effects.iter().enumerate() {
            prop_assert_eq!(ledger.position_of(&effect.id), Some(place));
            for path in std::iter::once(&effect.path).chain(&effect.target) {
                let expected = trace_over_all(&ledger, place, path);
                prop_assert_eq!(ledger.trace(place, path), Some(expected), "{}", place);
            }
            let mut expected = earlier_of_all(&ledger, place);
            expected.reverse();
            expected.extend(later_of_all(&ledger, place));
            let found = ledger.effects_on_note(place);
            let found: Vec<usize> = found.into_iter().map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected, "{}", place);
        }
        prop_assert_eq!(ledger.position_of(&EffectId::from("another")), None);
    }

    #[test]
    fn where_a_note_may_be_is_told_without_texts_as_with_all_of_them(
        effects in prop::collection::vec(any_effect(), 1..16),
        successions in prop::collection::vec((any_file(), any_file()), 0..6),
        notes in prop::collection::btree_map(any_path(), (any_file(), any_text()), 0..7),
    ) {
        let (bare, notes) = (ledger_of(effects, successions), PlainVault(notes));
        let mut whole = bare.clone();
        for text in TEXTS {
            whole.add_content(ContentHash::of(text.as_bytes()), text.as_bytes().to_vec());
        }
        let paths: HashSet<&NotePath> = bare.effects.iter().map(|effect| &effect.path).collect();
        for path in paths {
            let places = bare.effects.iter().map(|effect| (&effect.id, path));
            let told = may_be_at(&bare, places, &notes);
            let reader = PlanReader::new(&notes);
            let by_text = |place| may_be_at_by_text(&whole, place, path, &reader);
            let expected: Vec<bool> = (0..bare.effects.len()).map(by_text).collect();
            prop_assert_eq!(told, expected, "{}", path);
        }
    }
}
