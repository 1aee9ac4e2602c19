//! Listing by file pattern, newest first.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use protocol::{ChangeAction, ChangeSet, NotePath, Timestamp};
use vault::{EntryKind, Listing, Unlisted, Vault, VaultEntry, VaultError};

use crate::links::fold_name;
use crate::{SearchError, clock, error::shorten_pattern};

/// The largest file pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1_000;

/// How many alternatives in braces a file pattern may have. The libraries end the process over some hundreds in each
/// other.
const MAX_ALTERNATIVES: usize = 16;

/// Entries that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GlobResult {
    /// The newest ones, at most `limit`.
    pub entries: Vec<VaultEntry>,
    /// How many match in all.
    pub total: u32,
    /// The entries of the folder that could not be listed, whether their names match or not.
    pub problems: Vec<Unlisted>,
}

/// Lists what matches `pattern` in the folder `base` (`None`: the whole vault), newest first; a planned note counts as written now.
///
/// Case does not matter. `*` does not cross a `/`: `*.md` is in the base folder only, `**/*.md`
/// anywhere beneath it.
pub fn glob(
    vault: &Vault,
    overlay: &ChangeSet,
    pattern: &str,
    base: Option<&str>,
    limit: u16,
) -> Result<GlobResult, SearchError> {
    let matcher = glob_matcher(pattern)?;
    let Listing { entries, mut problems, .. } = vault.list()?;
    let entries = with_planned(entries, overlay);
    let base = base.map(|base| folder_prefix(&entries, base)).transpose()?;
    if let Some(base) = &base {
        problems.retain(|problem| fold_name(&problem.name).starts_with(base.as_str()));
    }
    let mut matching: Vec<VaultEntry> = entries
        .into_iter()
        .filter(|entry| {
            let path = fold_name(entry.path.as_str());
            let inner = base.as_deref().map_or(Some(path.as_str()), |base| path.strip_prefix(base));
            inner.is_some_and(|inner| matcher.is_match(inner))
        })
        .collect();
    matching.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let total = u32::try_from(matching.len()).unwrap_or(u32::MAX);
    matching.truncate(usize::from(limit));
    Ok(GlobResult { entries: matching, total, problems })
}

/// Whether a note's path matches a search's file pattern. Without a `/` the pattern is about
/// names in every folder.
pub(crate) fn path_filter(
    pattern: Option<&str>,
) -> Result<impl Fn(&NotePath) -> bool, SearchError> {
    let matcher = match pattern {
        Some(pattern) if pattern.contains('/') => Some(glob_matcher(pattern)?),
        Some(pattern) => Some(glob_matcher(&format!("**/{pattern}"))?),
        None => None,
    };
    Ok(move |path: &NotePath| {
        matcher.as_ref().is_none_or(|matcher| matcher.is_match(fold_name(path.as_str())))
    })
}

/// The matcher of a pattern within the limits. A set of one, because only a set tells when it cannot be built;
/// `Glob::compile_matcher` panics.
fn glob_matcher(pattern: &str) -> Result<GlobSet, SearchError> {
    let bad = |why: String| SearchError::BadGlob { pattern: shorten_pattern(pattern), why };
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(bad("it is longer than 1,000 bytes".to_owned()));
    }
    if pattern.matches('{').count() > MAX_ALTERNATIVES {
        return Err(bad("it has more than 16 braces".to_owned()));
    }
    let glob = GlobBuilder::new(&fold_name(pattern.trim_start_matches("./")))
        .case_insensitive(true)
        .literal_separator(true)
        .build()
        .map_err(|error| bad(error.kind().to_string()))?;
    let mut set = GlobSetBuilder::new();
    set.add(glob);
    set.build().map_err(|error| bad(error.kind().to_string()))
}

/// The folder as a prefix of folded paths.
fn folder_prefix(entries: &[VaultEntry], base: &str) -> Result<String, SearchError> {
    let asked = NotePath::parse(base).map_err(VaultError::from)?;
    let wanted = fold_name(asked.as_str());
    let prefix = format!("{wanted}/");
    let is_there = entries.iter().any(|entry| {
        let path = fold_name(entry.path.as_str());
        path.starts_with(&prefix) || (entry.kind == EntryKind::Folder && path == wanted)
    });
    if is_there {
        return Ok(prefix);
    }
    Err(VaultError::NotFound { asked: base.to_owned(), nearest: Vec::new() }.into())
}

fn with_planned(entries: Vec<VaultEntry>, overlay: &ChangeSet) -> Vec<VaultEntry> {
    if overlay.is_empty() {
        return entries;
    }
    let now = clock::since_epoch().as_millis();
    let modified = Timestamp(i64::try_from(now).unwrap_or_default());
    let locations = overlay.disk_locations();
    let seen =
        |entry: VaultEntry| Some(VaultEntry { path: locations.locate(&entry.path)?, ..entry });
    let mut all: BTreeMap<NotePath, VaultEntry> =
        entries.into_iter().filter_map(seen).map(|entry| (entry.path.clone(), entry)).collect();
    for (path, bytes) in overlay.planned_notes() {
        let kind = if path.is_markdown() { EntryKind::Note } else { EntryKind::Attachment };
        let entry = VaultEntry { path: path.clone(), size: bytes.len() as u64, modified, kind };
        all.insert(path, entry);
    }
    for path in planned_folders(overlay) {
        let entry = VaultEntry { path: path.clone(), size: 0, modified, kind: EntryKind::Folder };
        all.entry(path).or_insert(entry);
    }
    all.into_values().collect()
}

/// The folders that the plan needs or makes.
fn planned_folders(overlay: &ChangeSet) -> Vec<NotePath> {
    let renames = overlay.renames();
    let places = overlay.changes().filter_map(|change| match &change.act {
        ChangeAction::MakeFolder | ChangeAction::RestoreFolder { .. } => {
            Some((renames.forward(&change.path), true))
        }
        ChangeAction::Create { .. } => Some((renames.forward(&change.path), false)),
        ChangeAction::Rename { to, .. } => Some((renames.forward(to), false)),
        ChangeAction::Replace { .. }
        | ChangeAction::Trash { .. }
        | ChangeAction::TrashFolder { .. } => None,
    });
    let mut folders = Vec::new();
    for (path, is_folder) in places {
        let mut above = path.folder().and_then(|folder| NotePath::parse(folder).ok());
        folders.extend(is_folder.then_some(path));
        while let Some(folder) = above {
            above = folder.folder().and_then(|folder| NotePath::parse(folder).ok());
            folders.push(folder);
        }
    }
    folders
}
