//! The view of the user: that of the models, and all that is hidden from them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vault::{EntryKind, Vault};

use super::{FreshFile, IndexView};
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::{ScannedFile, to_utf8};
use crate::vault_scan::parallel;

/// The time that reading what private notes say about themselves may take; of those that are left
/// only the names are known until it is asked for the next time.
const METADATA_TIMEOUT: Duration = Duration::from_secs(2);

/// All files, those that no model may see among them.
#[derive(Debug, Default)]
pub(crate) struct WholeViewCache(Mutex<Option<ViewPair>>);

/// A view as the models have it, and the same with all else.
#[derive(Debug)]
struct ViewPair {
    models: Arc<IndexView>,
    whole: Arc<IndexView>,
    /// Whether there was time to read all private notes.
    complete: bool,
}

impl WholeViewCache {
    /// The view with everything that it omits. Where reading took too long it goes on from there the
    /// next time.
    pub(crate) fn whole_view(&self, models: Arc<IndexView>, vault: &Vault) -> Arc<IndexView> {
        self.whole_view_within(METADATA_TIMEOUT, models, vault)
    }

    fn whole_view_within(
        &self,
        timeout: Duration,
        models: Arc<IndexView>,
        vault: &Vault,
    ) -> Arc<IndexView> {
        if models.private().is_empty() {
            return models;
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |seen: &&ViewPair| seen.complete && Arc::ptr_eq(&seen.models, &models);
        if let Some(seen) = seen.as_ref().filter(is_same) {
            return Arc::clone(&seen.whole);
        }
        let before = seen.take().map(|seen| seen.whole);
        let private = private_files(&models, before.as_deref(), vault, Instant::now() + timeout);
        let whole = Arc::new(models.with_fresh(private.files));
        *seen = Some(ViewPair { models, whole: Arc::clone(&whole), complete: private.complete });
        whole
    }
}

struct PrivateFiles {
    files: Vec<Arc<FreshFile>>,
    /// Whether there was time to read all of them.
    complete: bool,
}

/// The private files of a view with all but their texts, as far as they can be read `until` then;
/// those that are as they were `before` are not read again.
fn private_files(
    models: &IndexView,
    before: Option<&IndexView>,
    vault: &Vault,
    until: Instant,
) -> PrivateFiles {
    let all: Vec<_> = models.private().values().collect();
    let complete = AtomicBool::new(true);
    let known = parallel::map_parallel(&all, None, |private| {
        let path = &private.entry.path;
        let same = |fresh: &&Arc<FreshFile>| {
            fresh.scanned.stamp.is_some_and(|stamp| private.stamp == Some(stamp))
        };
        if let Some(fresh) = before.and_then(|before| before.fresh_at(path)).filter(same) {
            return Some(Arc::clone(fresh));
        }
        let holds_facts = private.entry.kind == EntryKind::Note || private.entry.path.is_canvas();
        let in_time = !holds_facts || Instant::now() < until;
        if !in_time {
            complete.store(false, Ordering::Relaxed);
        }
        let bytes = (holds_facts && in_time).then(|| vault.read_bytes(path).ok()).flatten();
        let facts = bytes.as_deref().map(|bytes| NoteMetadata::from_file(path, &to_utf8(bytes)));
        let stamp = private.stamp.filter(|_| facts.is_some() || !holds_facts);
        let facts = facts.unwrap_or_default().encode();
        let (entry, text) = (private.entry.clone(), Vec::new());
        let looked = ScannedFile { entry, stamp, text, metadata: facts, text_privacy: None };
        Some(Arc::new(FreshFile::unread(looked)))
    });
    PrivateFiles { files: known.found, complete: complete.into_inner() }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use protocol::settings::PrivateSettings;
    use protocol::{NotePath, PrivateRules};

    use super::*;
    use crate::Index;

    #[test]
    fn private_notes_that_there_was_no_time_to_read_are_read_the_next_time() {
        let (folder, cache) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        for day in ["Monday", "Tuesday"] {
            let text = format!("---\naliases: [The {day}]\n---\n");
            fs::write(folder.path().join(format!("{day}.md")), text).expect("written");
        }
        let vault = Vault::open(folder.path()).expect("a vault");
        let never = vec!["Monday.md".to_owned(), "Tuesday.md".to_owned()];
        let rules = PrivateSettings { never, ..PrivateSettings::default() };
        let rules = PrivateRules::parse(&rules).expect("rules");
        let index = Index::new(&vault, rules, cache.path()).for_the_user();
        index.catch_up(&AtomicBool::new(false)).expect("caught up");
        let (models, cache) = (index.base_view().expect("a view"), WholeViewCache::default());
        let look =
            |timeout| cache.whole_view_within(timeout, Arc::clone(&models), &vault.unfiltered());
        let aliases = |view: &IndexView| -> Vec<String> {
            let notes = models.private().keys().filter_map(|path| view.get(path));
            notes.flat_map(|note| note.metadata().aliases).collect()
        };
        let cut = look(Duration::ZERO);
        assert!(cut.get(&NotePath::parse("Monday.md").expect("a path")).is_some());
        assert_eq!(aliases(&cut), [""; 0]);
        let whole = look(METADATA_TIMEOUT);
        assert_eq!(aliases(&whole), ["The Monday", "The Tuesday"]);
        // The control: nothing is read again.
        assert!(Arc::ptr_eq(&whole, &look(Duration::ZERO)));
    }
}
