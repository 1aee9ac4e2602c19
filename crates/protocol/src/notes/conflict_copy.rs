//! Names of the copies and backups that programs make of a note.
//!
//! Sync programs copy a note where two versions of it conflict:
//! `Plan (Ann's conflicted copy 2026-01-02).md` (Dropbox in several languages, Nextcloud, Obsidian Sync),
//! `Plan (SFConflict ann@x 2026-01-02-03-04-05).md` (Seafile),
//! `Plan.sync-conflict-20260102-030405-ABCDEFG.md` (Syncthing),
//! `Plan_conflict-20260102-030405.md` (ownCloud). Editors and merges keep `Plan.md~`, `Plan.md.bak` and more.

/// The name of the note or folder that a sync program made this copy of, in lower case: `plan.md` for
/// `Plan (conflicted copy 2026-01-02).md`. `None` for any other name.
#[must_use]
pub fn original(name: &str) -> Option<String> {
    strip_in_stem(&name.to_lowercase(), strip_copy_mark)
}

/// All names that a file or folder called `name` may be a copy or a backup of, in lower case and without
/// that name itself: `plan.md.bak` and `plan.md` for `Plan.md.bak~`. Empty for an ordinary name.
#[must_use]
pub fn originals(name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    let mut found = Vec::new();
    if !has_mark(&name) {
        return found;
    }
    let mut waiting = vec![name];
    while let Some(copy) = waiting.pop() {
        for original in strip_one_mark(&copy).into_iter().flatten() {
            if !found.contains(&original) {
                found.push(original.clone());
                waiting.push(original);
            }
        }
    }
    found
}

/// How the names of kept files end: of editors and tools that say so, of merges, of half-written files.
/// A number may follow.
const BACKUP_SUFFIXES: [&str; 16] = [
    ".bak", ".backup", ".old", ".orig", ".rej", ".save", ".tmp", ".part", ".mine", ".theirs",
    ".local", ".remote", ".swp", ".swo", ".swn", ".temp",
];

/// Marks before the extension of a backup that is still a note: `Plan.bak.md`.
const BACKUP_MARKS: [&str; 5] = [".bak", ".backup", ".old", ".orig", ".save"];

/// Marks of the versions that `git mergetool` merges: `Plan_LOCAL_1234.md`.
const MERGE_MARKS: [&str; 4] = ["_backup_", "_base_", "_local_", "_remote_"];

/// How sync programs call a copy, in brackets: Seafile, and Dropbox and others in their languages.
const COPY_MARKS: [&str; 31] = [
    "conflicted copy",
    "conflicting copy",
    "conflict copy",
    "case conflict",
    "encoding conflict",
    "sync conflict",
    "whitespace conflict",
    "sfconflict",
    "in konflikt stehende kopie",
    "konfliktkopie",
    "copie en conflit",
    "copie conflictuelle",
    "copia en conflicto",
    "copia conflictiva",
    "copia in conflitto",
    "cópia em conflito",
    "cópia em conflitante",
    "conflicterende kopie",
    "kopia będąca w konflikcie",
    "kopia powodująca konflikt",
    "motstridig kopia",
    "konflikterad kopia",
    "modstridende kopi",
    "konfliktkopi",
    "motstridende kopi",
    "конфликтующая копия",
    "конфліктна копія",
    "競合コピー",
    "冲突副本",
    "衝突複本",
    "충돌된 복사본",
];

/// Whether the name may have a mark; `false` is certain and cheap. Every name of a listing is asked.
fn has_mark(name: &str) -> bool {
    let dots = name.bytes().filter(|byte| *byte == b'.').count();
    dots > 1
        || name.contains(['~', '#', '(', '_'])
        || name.contains(".sync-conflict-")
        || strip_suffix_mark(name, &BACKUP_SUFFIXES).is_some()
}

/// The names without one mark, each of which is shorter. `name` is in lower case.
fn strip_one_mark(name: &str) -> [Option<String>; 6] {
    let owned = |kept: &str| (!kept.is_empty()).then(|| kept.to_owned());
    [
        strip_in_stem(name, strip_copy_mark),
        strip_backup_suffix(name).and_then(owned),
        // Emacs, of a note that is not saved yet.
        name.strip_prefix('#').and_then(|rest| rest.strip_suffix('#')).and_then(owned),
        strip_in_stem(name, |stem| strip_suffix_mark(stem, &BACKUP_MARKS)),
        strip_in_stem(name, strip_version),
        strip_in_stem(name, strip_merge_mark),
    ]
}

/// Takes the mark from what stands before the extension, or from a name whose extension is none.
fn strip_in_stem(name: &str, without: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let stem = name.rsplit_once('.').and_then(|(stem, extension)| {
        let stem = without(stem)?;
        Some(format!("{stem}.{extension}"))
    });
    stem.or_else(|| without(name).map(str::to_owned))
}

fn strip_copy_mark(stem: &str) -> Option<&str> {
    let dated = |mark: &str| {
        let (before, rest) = stem.rsplit_once(mark)?;
        let day = rest.bytes().take_while(u8::is_ascii_digit).count();
        (!before.is_empty() && day == 8).then_some(before)
    };
    strip_brackets(stem).or_else(|| dated(".sync-conflict-")).or_else(|| dated("_conflict-"))
}

/// The brackets may hold others: `Plan (conflicted copy of Ann (laptop) 2026-01-02)`.
fn strip_brackets(stem: &str) -> Option<&str> {
    if !stem.trim_end().ends_with(')') {
        return None;
    }
    let is_mark = |inside: &str| COPY_MARKS.iter().any(|mark| inside.contains(mark));
    let (before, _) = stem
        .rmatch_indices('(')
        .filter_map(|(at, _)| stem.split_at_checked(at))
        .find(|(_, inside)| is_mark(inside))?;
    let before = before.trim_end();
    (!before.is_empty()).then_some(before)
}

/// How a note's name ends before what a merge adds.
const NOTE_EXTENSION: &str = ".md";

/// Without what editors and merges add at the end: `~`, Emacs' `.~1~`, one of [`BACKUP_SUFFIXES`], or the name of a
/// branch, as git adds it where a folder has the note's name on one side: `Plan.md~HEAD`.
fn strip_backup_suffix(name: &str) -> Option<&str> {
    if let Some((before, branch)) = name.split_once(".md~")
        && !before.is_empty()
        && !branch.is_empty()
        && !branch.ends_with('~')
    {
        return name.get(..before.len() + NOTE_EXTENSION.len());
    }
    if let Some(kept) = name.strip_suffix('~') {
        let version = kept.trim_end_matches(|sign: char| sign.is_ascii_digit());
        let is_numbered = version.len() < kept.len();
        return version.strip_suffix(".~").filter(|_| is_numbered).or(Some(kept));
    }
    let kept = strip_suffix_mark(name, &BACKUP_SUFFIXES)?;
    // Vim hides its file of a note that is open.
    let is_swap = name.get(kept.len()..).is_some_and(|mark| mark.starts_with(".sw"));
    Some(kept.strip_prefix('.').filter(|_| is_swap).unwrap_or(kept))
}

/// The name before one of `marks` at its end, which may have a number: `.bak`, `.bak1`, `.save.1`.
fn strip_suffix_mark<'a>(text: &'a str, marks: &[&str]) -> Option<&'a str> {
    let bare = text.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let bare = bare.strip_suffix('.').filter(|_| bare.len() < text.len()).unwrap_or(bare);
    let kept = marks.iter().find_map(|mark| bare.strip_suffix(mark))?;
    (!kept.is_empty()).then_some(kept)
}

/// Without the time of one of Syncthing's versions: `Plan~20260102-030405`.
fn strip_version(stem: &str) -> Option<&str> {
    let (kept, time) = stem.rsplit_once('~')?;
    let (day, second) = time.split_once('-')?;
    let is_time = is_number(day) && day.len() == 8 && is_number(second) && second.len() == 6;
    (is_time && !kept.is_empty()).then_some(kept)
}

fn strip_merge_mark(stem: &str) -> Option<&str> {
    let merged = MERGE_MARKS.iter().filter_map(|mark| stem.rsplit_once(mark));
    let mut kept = merged.filter(|(kept, number)| !kept.is_empty() && is_number(number));
    kept.next().map(|(kept, _)| kept)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
