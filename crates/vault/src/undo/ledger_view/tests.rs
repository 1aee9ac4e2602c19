//! The index finds all effects on a note that are found when the whole ledger is looked through.

use proptest::prelude::*;

use super::*;

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

fn any_file() -> impl Strategy<Value = FileId> {
    (1..5_u64, prop::option::weighted(0.8, 1..3_i64))
        .prop_map(|(inode, born)| FileId { inode, born })
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let path = || {
        let some = prop::sample::select(vec!["a", "b", "f", "f/a", "f/b", "g", "g/a"]);
        some.prop_map(|text| NotePath::parse(text).unwrap())
    };
    let hash = || {
        let some = prop::sample::select(vec!["1", "2"]);
        prop::option::of(some.prop_map(|text| ContentHash::of(text.as_bytes())))
    };
    let trashed = prop::option::of(prop::sample::select(vec!["a", "f"]));
    let files = (prop::option::of(any_file()), prop::option::of(any_file()));
    let kind = prop::sample::select(KINDS.to_vec());
    (kind, (path(), path()), trashed, (hash(), hash()), files, any::<bool>()).prop_map(
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

proptest! {
    #[test]
    fn the_index_leaves_out_no_effect_on_a_note(
        mut effects in prop::collection::vec(any_effect(), 1..16),
        successions in prop::collection::vec((any_file(), any_file()), 0..6),
    ) {
        for (place, effect) in effects.iter_mut().enumerate() {
            effect.id = EffectId::from(place.to_string());
        }
        let mut ledger = LedgerView::new(effects);
        for (from, to) in successions {
            ledger.add_succession(FileReplacement { from, to });
        }
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
}
