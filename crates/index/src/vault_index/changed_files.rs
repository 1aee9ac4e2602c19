//! The files that are on disk now, where a view has them otherwise.

use protocol::{NotePath, PrivateRules};
use vault::Vault;

use crate::vault_scan::parallel;
use crate::view::{FileScanner, IndexView, ScanOutcome};

/// The present files at `paths` that differ from `view`, read in parallel.
pub(super) fn changed_files(
    vault: &Vault,
    rules: &PrivateRules,
    view: &IndexView,
    paths: &[NotePath],
) -> Vec<(NotePath, ScanOutcome)> {
    let scanner = FileScanner::new(vault, rules);
    let scanned = parallel::map_parallel(paths, None, |path| {
        let Ok(found) = vault.entry(path) else { return None };
        let is_known = view.get(path).is_some() || view.private().contains_key(path);
        match found {
            None => is_known.then(|| (path.clone(), ScanOutcome::Gone)),
            Some((_, stamp)) if view.stamp(path) == Some(stamp) => None,
            Some((entry, stamp)) => Some((path.clone(), scanner.scan(&entry, stamp))),
        }
    });
    scanned.found
}
