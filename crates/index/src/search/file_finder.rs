//! Finds a note by some letters of its name or of an alias.

use std::borrow::Cow;
use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use protocol::NotePath;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use vault::{EntryKind, Vault, VaultEntry, VaultError};

use crate::Index;
use crate::vault_scan::parallel;
use crate::view::IndexView;

/// A file that was found by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path, as spelled on disk.
    pub path: NotePath,
    /// The name that was matched, in NFC: the file's own, or another one of it.
    pub name: String,
    /// Whether that is another one, from its properties.
    pub is_alias: bool,
    /// Which characters of `name` were asked for, in order; none where the folder was.
    pub marks: Vec<u32>,
}

/// One name that may be meant.
struct NameCandidate<'a> {
    path: &'a NotePath,
    name: &'a str,
    is_alias: bool,
}

/// How well a name fits. The higher the better.
type NameScore = (u32, Reverse<usize>);

/// How much a name gains by having been open lately.
const RECENT_BONUS: u32 = 24;

/// How much an alias loses against a name.
const ALIAS_PENALTY: u32 = 8;

/// The number of names that are matched at a time.
const BATCH: usize = 4096;

impl Index {
    /// The first `limit` of the `wanted` files whose name fits `query` best; without a query those
    /// of `recent`, newest first, then all others by path. Letters may be missing, case and
    /// diacritics do not matter, words may come in any order; with a `/` folders count too. No
    /// character is an operator. Needs no index: without one the vault is listed, and aliases are
    /// not known.
    pub fn find_files(
        &self,
        vault: &Vault,
        query: &str,
        recent: &[NotePath],
        limit: usize,
        wanted: impl Fn(&NotePath) -> bool,
    ) -> Result<Vec<FoundFile>, VaultError> {
        if let Some(view) = self.view() {
            let is_shown =
                |path: &NotePath| view.get(path).is_some_and(|held| view.is_shown(vault, &held));
            return Ok(best_matches(&candidates(&view, wanted), query, recent, limit, is_shown));
        }
        let entries = vault.list()?.entries;
        let is_wanted = |entry: &&VaultEntry| is_file(entry.kind) && wanted(&entry.path);
        let files: Vec<&VaultEntry> = entries.iter().filter(is_wanted).collect();
        let named = |entry: &&'_ VaultEntry| -> NotePath { entry.path.clone() };
        let paths: Vec<NotePath> = files.iter().map(named).collect();
        let all: Vec<NameCandidate<'_>> = paths
            .iter()
            .map(|path| NameCandidate { path, name: path.title(), is_alias: false })
            .collect();
        Ok(best_matches(&all, query, recent, limit, |_| true))
    }
}

const fn is_file(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Note | EntryKind::Attachment | EntryKind::Conflict)
}

fn candidates(view: &IndexView, wanted: impl Fn(&NotePath) -> bool) -> Vec<NameCandidate<'_>> {
    let files = view.paths().filter(|(path, kind)| is_file(*kind) && wanted(path));
    let own = files.map(|(path, _)| NameCandidate { path, name: path.title(), is_alias: false });
    let others = view.aliases().filter(|(path, _)| wanted(path));
    own.chain(others.map(|(path, name)| NameCandidate { path, name, is_alias: true })).collect()
}

fn best_matches(
    all: &[NameCandidate<'_>],
    query: &str,
    recent: &[NotePath],
    limit: usize,
    is_shown: impl Fn(&NotePath) -> bool,
) -> Vec<FoundFile> {
    let pattern = to_pattern(query);
    let with_folders = query.contains('/');
    let chunks: Vec<&[NameCandidate<'_>]> = all.chunks(BATCH).collect();
    let fitting = parallel::map_parallel_in_batches(1, &chunks, None, |chunk| {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let fit = |candidate: &'_ &NameCandidate<'_>| -> Option<NameScore> {
            let text = if with_folders { candidate.path.as_str() } else { candidate.name };
            let text = compose(text);
            let score = pattern.score(to_characters(&text, &mut buffer), &mut matcher)?;
            let gained = if recent.contains(candidate.path) { RECENT_BONUS } else { 0 };
            let lost = if candidate.is_alias { ALIAS_PENALTY } else { 0 };
            Some(((score + gained).saturating_sub(lost), Reverse(text.len())))
        };
        let mut fit = fit;
        let found: Vec<_> =
            chunk.iter().filter_map(|candidate| Some((fit(&candidate)?, candidate))).collect();
        Some(found)
    });
    let mut found: Vec<_> = fitting.found.into_iter().flatten().collect();
    if query.trim().is_empty() {
        found.retain(|(_, candidate)| !candidate.is_alias);
        let age = |path: &NotePath| recent.iter().position(|recent| recent == path);
        found.sort_by_cached_key(|(_, candidate)| {
            (age(candidate.path).unwrap_or(usize::MAX), candidate.path.clone())
        });
    } else {
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.path.cmp(other.path)));
    }
    let mut chosen: Vec<FoundFile> = Vec::new();
    for (_, candidate) in found {
        if chosen.len() >= limit {
            break;
        }
        let is_there = chosen.iter().any(|named| named.path == *candidate.path);
        if !is_there && is_shown(candidate.path) {
            chosen.push(to_found_file(candidate, &pattern, with_folders));
        }
    }
    chosen
}

/// The words of a query. Every character of a word stands for itself: `!`, `^`, `'`, `$` and `\` are
/// parts of names, not operators.
fn to_pattern(query: &str) -> Pattern {
    let (case, form) = (CaseMatching::Ignore, Normalization::Smart);
    let query = compose(query);
    let to_atom = |word| Atom::new(word, case, form, AtomKind::Fuzzy, false);
    let mut pattern = Pattern::default();
    pattern.atoms.extend(query.split_whitespace().map(to_atom));
    pattern
}

/// A text in NFC, in which a letter with its diacritics is spelled in one way.
fn compose(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_nfc(text) {
        true => text.into(),
        false => text.nfc().collect::<String>().into(),
    }
}

/// A text by characters and not by what is drawn as one, so that an emoji of several characters
/// matches itself, and marks count the characters of the name.
fn to_characters<'a>(text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    buffer.clear();
    buffer.extend(text.chars());
    Utf32Str::Unicode(buffer.as_slice())
}

fn to_found_file(
    candidate: &NameCandidate<'_>,
    pattern: &Pattern,
    with_folders: bool,
) -> FoundFile {
    let name = compose(candidate.name);
    let (mut marks, mut buffer) = (Vec::new(), Vec::new());
    if !with_folders {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let _ = pattern.indices(to_characters(&name, &mut buffer), &mut matcher, &mut marks);
        marks.sort_unstable();
        marks.dedup();
    }
    FoundFile {
        path: candidate.path.clone(),
        name: name.into_owned(),
        is_alias: candidate.is_alias,
        marks,
    }
}
