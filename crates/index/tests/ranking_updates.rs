//! The ranking of an index is updated with the changes, and answers as one that is rebuilt.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::{Index, NoteFilter, RankedPassages};
use protocol::settings::PrivateSettings;
use protocol::{ChangeSet, NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

static GO: AtomicBool = AtomicBool::new(false);

const NOTES: usize = 3_000;
const REWRITTEN: usize = 300;
/// With those that are rewritten more than are held in memory: the snapshot is rewritten.
const MADE: usize = 750;

struct CatchUpFixture {
    folder: TempDir,
    cache: TempDir,
    vault: Vault,
    index: Index,
}

fn fixture() -> CatchUpFixture {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let vault = Vault::open(folder.path()).unwrap();
    let index = Index::new(&vault, PrivateRules::default(), cache.path());
    let fixture = CatchUpFixture { folder, cache, vault, index };
    (0..NOTES).for_each(|number| drop(fixture.write(number, "tea")));
    fixture.index.catch_up(&GO).unwrap();
    fixture
}

fn find(index: &Index, vault: &Vault, query: &str) -> RankedPassages {
    let ample = Duration::from_secs(60);
    index.find(vault, &ChangeSet::default(), query, &NoteFilter::default(), 20, ample).unwrap()
}

impl CatchUpFixture {
    fn write(&self, number: usize, word: &str) -> NotePath {
        let name = format!("n{number}.md");
        let text = format!("{word} green-{} {}\n", number % 7, "straw ".repeat(number % 11));
        fs::write(self.folder.path().join(&name), text).unwrap();
        NotePath::parse(&name).unwrap()
    }

    /// Rewrites some notes, makes some and removes some, and keeps the index.
    fn change_many(&self) {
        let rewritten = (0..REWRITTEN).map(|number| self.write(number, "coffee"));
        let made = (NOTES..NOTES + MADE).map(|number| self.write(number, "tea coffee"));
        let mut changed: Vec<NotePath> = rewritten.chain(made).collect();
        for number in 2_000..2_100 {
            let name = format!("n{number}.md");
            fs::remove_file(self.folder.path().join(&name)).unwrap();
            changed.push(NotePath::parse(&name).unwrap());
        }
        self.index.refresh(&changed);
        self.index.save(&GO).unwrap();
    }

    fn answers(&self) -> Vec<RankedPassages> {
        let queries = ["tea", "coffee", "tea green", "straw -coffee", "\"coffee green\"", "n12"];
        queries.map(|query| find(&self.index, &self.vault, query)).into()
    }

    /// The answers of an index that is built from nothing.
    fn answers_from_nothing(&self, rules: PrivateRules) -> Vec<RankedPassages> {
        let cache = tempfile::tempdir().unwrap();
        let index = Index::new(&self.vault, rules, cache.path());
        index.catch_up(&GO).unwrap();
        assert!(index.update_fulltext(&GO).unwrap() > 0);
        let folder = tempfile::tempdir().unwrap();
        let vault = self.vault.clone();
        let rebuilt = CatchUpFixture { folder, cache, vault, index };
        rebuilt.answers()
    }

    fn reopened(self, rules: PrivateRules) -> Self {
        let index = Index::new(&self.vault, rules, self.cache.path());
        index.catch_up(&GO).unwrap();
        Self { index, ..self }
    }
}

/// How many notes each of the answers found.
fn counts(answers: &[RankedPassages]) -> Vec<u32> {
    answers.iter().map(|answer| answer.notes).collect()
}

/// The files of the ranking that hold words.
fn parts(cache: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(cache.join("ranked")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".idx")).collect()
}

#[test]
fn when_the_snapshot_is_rewritten_the_ranking_takes_only_changes() {
    let fixture = fixture();
    assert_eq!(
        fixture.index.update_fulltext(&GO).unwrap(),
        NOTES,
        "the control: at first it takes in all"
    );
    let before = parts(fixture.cache.path());
    let snapshot = || fs::read(fixture.cache.path().join("notes")).unwrap();
    let old = snapshot();
    fixture.change_many();
    assert_ne!(snapshot(), old, "the control: the snapshot was rewritten");
    let from_nothing = fixture.answers_from_nothing(PrivateRules::default());
    assert_eq!(counts(&fixture.answers()), counts(&from_nothing), "what it lacks is read");
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), REWRITTEN + MADE);
    assert_eq!(fixture.answers(), from_nothing);
    let after = parts(fixture.cache.path());
    assert!(after.is_superset(&before) && after.len() > before.len(), "{before:?} {after:?}");
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), 0);
    let fixture = fixture.reopened(PrivateRules::default());
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), 0, "it is kept");
    assert_eq!(fixture.answers(), from_nothing);
}

#[test]
fn a_ranking_that_was_not_brought_up_before_the_end_is_brought_up_after_the_next_start() {
    let fixture = fixture();
    fixture.index.update_fulltext(&GO).unwrap();
    fixture.change_many();
    assert_eq!(
        fixture.index.update_fulltext(&AtomicBool::new(true)).unwrap(),
        0,
        "it was told to stop"
    );
    let fixture = fixture.reopened(PrivateRules::default());
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), REWRITTEN + MADE);
    assert_eq!(fixture.answers(), fixture.answers_from_nothing(PrivateRules::default()));
}

#[test]
fn a_ranking_of_other_rules_is_rebuilt() {
    let fixture = fixture();
    fixture.index.update_fulltext(&GO).unwrap();
    let never = vec!["n5.md".to_owned()];
    let rules = PrivateSettings { never, ..PrivateSettings::default() };
    let rules = PrivateRules::parse(&rules).unwrap();
    let before = parts(fixture.cache.path());
    let fixture = fixture.reopened(rules.clone());
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), NOTES - 1);
    assert!(before.is_disjoint(&parts(fixture.cache.path())));
    assert_eq!(fixture.answers(), fixture.answers_from_nothing(rules));
}

#[test]
fn a_ranking_that_is_discarded_while_it_is_written_stays_away() {
    let fixture = fixture();
    let dir = fixture.cache.path().join("ranked");
    let ranked = std::thread::scope(|scope| {
        let ranking = scope.spawn(|| fixture.index.update_fulltext(&GO));
        while !dir.exists() && !ranking.is_finished() {
            std::thread::yield_now();
        }
        fixture.index.reset().unwrap();
        assert!(!fixture.cache.path().exists());
        ranking.join().unwrap()
    });
    assert!(ranked.is_ok(), "{ranked:?}");
    assert!(!fixture.cache.path().exists(), "nobody writes on");
    fixture.index.catch_up(&GO).unwrap();
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), NOTES);
}
