//! A move opens the files that the index names for it, and rewrites what it would rewrite if it opened all.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;

use index::UserIndex;
use index::links::{LinkGraph, LinkRewrite};
use proptest::prelude::*;
use protocol::settings::PrivateSettings;
use protocol::{ChangeSet, NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

use crate::path;
use crate::random_moves::{FOLDERS, file, note, vault, written};

static GO: AtomicBool = AtomicBool::new(false);

/// A file whose links are in no index.
const COPY: &str = "q/n.sync-conflict-20260102-030405-ABCDEFG.md";

/// Notes on disk and their index. Those in `p/q` and those with `#secret` are private.
pub(crate) struct IndexedVault {
    pub(crate) folder: TempDir,
    _cache: TempDir,
    pub(crate) vault: Vault,
    pub(crate) index: UserIndex,
}

pub(crate) fn indexed(notes: &BTreeMap<String, String>) -> IndexedVault {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (file, text) in notes {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    let never = ["p/q", "#secret"].map(ToOwned::to_owned).to_vec();
    let rules = PrivateSettings { never, ..PrivateSettings::default() };
    let index = UserIndex::new(&vault, PrivateRules::parse(&rules).unwrap(), cache.path());
    index.for_models().catch_up(&GO).unwrap();
    IndexedVault { folder, _cache: cache, vault, index }
}

impl IndexedVault {
    /// All files that go when `from`, a file or folder, goes to `to`.
    fn moves(&self, from: &NotePath, to: &NotePath) -> Vec<(NotePath, NotePath)> {
        let files = self.vault.list().unwrap().entries.into_iter().map(|entry| entry.path);
        files.filter_map(|file| Some((file.clone(), file.after_move(from, to)?))).collect()
    }

    /// The rewriting, with the links of all files or of these.
    fn rewritten(
        &self,
        moves: &[(NotePath, NotePath)],
        sources: Option<Vec<NotePath>>,
    ) -> LinkRewrite {
        let nothing = ChangeSet::default();
        let graph = LinkGraph::from_vault(&self.vault, &nothing).unwrap();
        match sources {
            Some(sources) => graph.with_sources(sources).after_moving(moves),
            None => graph.after_moving(moves),
        }
    }
}

#[test]
fn files_with_links_by_the_old_and_the_new_name_are_named_and_files_of_unknown_links() {
    let notes = [
        ("n.md", "[x](a.md)"),
        ("a.md", "[[n]]"),
        ("b.md", "[[a]] and n"),
        ("t.md", "[[t2]]"),
        ("w.md", "[[./n/]]"),
        ("p/q/d.md", "[[n]]"),
        ("s.md", "#secret [[N.md|x]]"),
        (COPY, "[[n]]"),
    ];
    let notes = notes.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let desk = indexed(&BTreeMap::from(notes));
    let moves = desk.moves(&path("n.md"), &path("z/t2.md"));
    let sources = desk.index.sources_of_links(&moves).unwrap();
    let named: Vec<&str> = sources.iter().map(NotePath::as_str).collect();
    assert_eq!(named, ["a.md", "n.md", "p/q/d.md", COPY, "s.md", "t.md", "w.md"]);
    let whole = desk.rewritten(&moves, None);
    let rewritten: Vec<&str> = whole.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(rewritten, ["a.md", "n.md", "p/q/d.md", COPY, "s.md", "w.md"]);
    assert_eq!(desk.rewritten(&moves, Some(sources.clone())), whole);
    // The control: each of them is needed.
    for needed in rewritten {
        let others = sources.iter().filter(|source| source.as_str() != needed).cloned().collect();
        assert_ne!(desk.rewritten(&moves, Some(others)), whole, "{needed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_move_rewrites_the_same_in_the_files_that_the_index_names_as_in_all(
        notes in vault(), secret in note(), copy in note(), is_folder in any::<bool>(),
        at in any::<prop::sample::Index>(), to in file(),
    ) {
        let mut texts: BTreeMap<String, String> =
            notes.iter().map(|(file, pieces)| (file.clone(), written(pieces))).collect();
        let (from, to) = if is_folder {
            (FOLDERS[1 + at.index(FOLDERS.len() - 1)].to_owned(), "new/q".to_owned())
        } else {
            (notes.keys().nth(at.index(notes.len())).unwrap().clone(), to)
        };
        prop_assume!(!notes.contains_key(&to));
        let alias = "---\naliases: [n, m]\n---\n[[n]] [m](./m/)\n".to_owned();
        let secret = format!("{}\n\n#secret\n", written(&secret));
        texts.extend([
            ("alias.md".to_owned(), alias),
            ("secret.md".to_owned(), secret),
            (COPY.to_owned(), written(&copy)),
        ]);
        let desk = indexed(&texts);
        let moves = desk.moves(&path(&from), &path(&to));
        let sources = desk.index.sources_of_links(&moves).unwrap();
        let narrow = desk.rewritten(&moves, Some(sources));
        prop_assert_eq!(narrow, desk.rewritten(&moves, None));
    }
}
