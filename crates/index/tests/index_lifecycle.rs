//! The index follows its vault: over changes, restarts, torn files and private rules.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use index::{GrepQuery, Index};
use notify::event::{AccessKind, EventKind};
use notify::{RecursiveMode, Watcher};
use protocol::settings::PrivateSettings;
use protocol::{ChangeSet, NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

static GO: AtomicBool = AtomicBool::new(false);

/// A vault with its notes and its index.
struct FreshnessFixture {
    notes: TempDir,
    cache: TempDir,
    vault: Vault,
    index: Index,
}

impl FreshnessFixture {
    fn with_notes(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = tempfile::tempdir().unwrap();
        let vault = Vault::open(folder.path()).unwrap();
        let index = Index::new(&vault, PrivateRules::default(), cache.path());
        let fixture = Self { notes: folder, cache, vault, index };
        for (path, text) in notes {
            fixture.write(path, text);
        }
        fixture
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.notes.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.notes.path().join(path)).unwrap();
    }

    fn catch_up(&self) {
        self.index.catch_up(&GO).unwrap();
    }

    fn refresh(&self, paths: &[&str]) {
        let paths: Vec<_> = paths.iter().map(|path| NotePath::parse(path).unwrap()).collect();
        self.index.refresh(&paths);
    }

    /// The same vault and directory after a restart.
    fn reopened(self, rules: PrivateRules) -> Self {
        let index = Index::new(&self.vault, rules, self.cache.path());
        Self { index, ..self }
    }

    fn found(&self, word: &str) -> Vec<String> {
        let query = GrepQuery {
            pattern: word.to_owned(),
            file_pattern: None,
            context_lines: 0,
            max_results: 100,
            max_per_note: 5,
            case_sensitive: true,
        };
        let found = self.index.search(&self.vault, &ChangeSet::default(), &query, AMPLE).unwrap();
        let paths: BTreeSet<String> = found.hits.iter().map(|hit| hit.path.to_string()).collect();
        paths.into_iter().collect()
    }
}

const AMPLE: Duration = Duration::from_secs(60);

fn never(rule: &str) -> PrivateRules {
    let settings = PrivateSettings { never: vec![rule.to_owned()], ..PrivateSettings::default() };
    PrivateRules::parse(&settings).unwrap()
}

/// Whether a file of the cache directory holds this text.
fn on_disk(dir: &Path, words: &str) -> bool {
    holds(dir, words.as_bytes())
}

/// Whether a file below `dir` holds these bytes.
fn holds(dir: &Path, wanted: &[u8]) -> bool {
    fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return holds(&path, wanted);
        }
        fs::read(path).unwrap().windows(wanted.len()).any(|window| window == wanted)
    })
}

#[test]
fn what_is_written_renamed_and_removed_is_found_as_it_is_now() {
    let fixture =
        FreshnessFixture::with_notes(&[("a.md", "milk"), ("b.md", "milk"), ("c.md", "tea")]);
    fixture.catch_up();
    assert_eq!(fixture.found("milk"), ["a.md", "b.md"]);
    fixture.write("a.md", "coffee");
    fixture.write("new/d.md", "milk");
    fixture.remove("b.md");
    assert_eq!(fixture.found("milk"), ["a.md", "b.md"], "nobody has told it yet");
    fixture.refresh(&["a.md", "b.md", "new/d.md"]);
    assert_eq!(fixture.found("milk"), ["new/d.md"]);
    fs::rename(fixture.notes.path().join("c.md"), fixture.notes.path().join("e.md")).unwrap();
    fixture.refresh(&["c.md", "e.md"]);
    assert_eq!(fixture.found("tea"), ["e.md"]);
    fixture.write("b.md", "milk again");
    fixture.refresh(&["b.md"]);
    assert_eq!(fixture.found("milk"), ["b.md", "new/d.md"]);
}

#[test]
fn what_changed_while_nobody_looked_is_found_after_the_next_start() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk"), ("b.md", "milk")]);
    fixture.catch_up();
    fixture.write("a.md", "tea!");
    fixture.write("c.md", "milk");
    fixture.remove("b.md");
    let fixture = fixture.reopened(PrivateRules::default());
    fixture.catch_up();
    assert_eq!(fixture.found("milk"), ["c.md"]);
    fixture.index.save(&GO).unwrap();
    fixture.write("d.md", "milk");
    fixture.remove("c.md");
    let fixture = fixture.reopened(PrivateRules::default());
    fixture.catch_up();
    assert_eq!(
        (fixture.found("milk"), fixture.found("tea")),
        (vec!["d.md".into()], vec!["a.md".into()])
    );
}

#[test]
fn a_write_within_the_grain_of_the_clock_is_not_missed() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    fixture.catch_up();
    let file = fixture.notes.path().join("a.md");
    let then = fs::metadata(&file).unwrap().modified().unwrap();
    fixture.write("a.md", "wine");
    fs::File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
    let fixture = fixture.reopened(PrivateRules::default());
    fixture.catch_up();
    assert_eq!(fixture.found("wine"), ["a.md"]);
}

#[test]
fn a_torn_or_foreign_snapshot_is_rebuilt() {
    let mut fixture = FreshnessFixture::with_notes(&[("a.md", "milk"), ("b.md", "more milk")]);
    fixture.catch_up();
    let file = fixture.cache.path().join("notes");
    let whole = fs::read(&file).unwrap();
    let mut torn: Vec<Vec<u8>> =
        (0..whole.len()).step_by(7).map(|at| whole[..at].to_vec()).collect();
    torn.extend((0..whole.len()).step_by(5).map(|at| {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x20;
        flipped
    }));
    torn.push(b"something else".repeat(50));
    assert!(torn.len() > 50);
    for bytes in torn {
        fs::remove_file(&file).unwrap();
        fs::write(&file, &bytes).unwrap();
        fixture = fixture.reopened(PrivateRules::default());
        fixture.catch_up();
        assert_eq!(fixture.found("milk"), ["a.md", "b.md"]);
    }
}

#[test]
fn what_is_never_to_be_seen_is_in_no_file_of_the_index() {
    let notes =
        [("Diary/a.md", "canary-one"), ("b.md", "#secret canary-two"), ("c.md", "open milk")];
    let fixture = FreshnessFixture::with_notes(&notes);
    fixture.catch_up();
    assert!(on_disk(fixture.cache.path(), "canary-one"), "the control: without rules it is there");
    fixture.index.set_rules(never("Diary"));
    fixture.catch_up();
    assert!(
        !on_disk(fixture.cache.path(), "canary-one") && !on_disk(fixture.cache.path(), "Diary")
    );
    assert!(on_disk(fixture.cache.path(), "canary-two"));
    let fixture = fixture.reopened(never("#secret"));
    fixture.catch_up();
    assert!(
        !on_disk(fixture.cache.path(), "canary-two") && on_disk(fixture.cache.path(), "canary-one")
    );
    assert_eq!(
        (fixture.found("canary"), fixture.found("milk")),
        (vec!["Diary/a.md".into()], vec!["c.md".into()])
    );
    fixture.write("c.md", "#secret now");
    fixture.refresh(&["c.md"]);
    assert!(fixture.found("now").is_empty());
}

#[test]
fn a_start_that_is_stopped_leaves_nothing_half_done() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    fixture.index.catch_up(&AtomicBool::new(true)).unwrap();
    assert!(!fixture.index.coverage().is_ready);
    assert_eq!(fixture.found("milk"), ["a.md"], "the notes themselves are read");
    fixture.catch_up();
    assert!(fixture.index.coverage().is_ready);
}

#[test]
fn where_nothing_can_be_written_searches_read_the_notes() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    let taken = fixture.cache.path().join("taken");
    fs::write(&taken, "a file where the folder should be").unwrap();
    let index = Index::new(&fixture.vault, PrivateRules::default(), &taken);
    let refused = index.catch_up(&GO).unwrap_err();
    assert!(refused.to_string().contains("can’t be written"), "{refused}");
    let fixture = FreshnessFixture { index, ..fixture };
    assert_eq!(fixture.found("milk"), ["a.md"]);
}

/// More notes than a view takes without a new snapshot.
const TOO_MANY_CHANGES: usize = 1_100;

impl FreshnessFixture {
    fn write_many(&self) -> Vec<String> {
        let names: Vec<String> = (0..TOO_MANY_CHANGES).map(|n| format!("many/{n}.md")).collect();
        names.iter().for_each(|name| self.write(name, "one of many"));
        names
    }

    /// From now on nothing can be written to the folder of the index.
    fn block_cache(&self) {
        fs::remove_dir_all(self.cache.path()).unwrap();
        fs::write(self.cache.path(), "a file where the folder should be").unwrap();
    }
}

#[test]
fn an_index_that_cannot_be_rebuilt_tells_nothing_of_before_and_recovers() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    fixture.catch_up();
    fixture.write_many();
    fixture.write("a.md", "tea!");
    assert_eq!(fixture.found("milk"), ["a.md"], "the control: nobody has told it yet");
    fixture.block_cache();
    let refused = fixture.index.catch_up(&GO).unwrap_err();
    assert!(refused.to_string().contains("can’t be written"), "{refused}");
    assert!(!fixture.index.coverage().is_ready);
    assert_eq!((fixture.found("milk"), fixture.found("tea")), (vec![], vec!["a.md".to_owned()]));

    fs::remove_file(fixture.cache.path()).unwrap();
    fixture.catch_up();
    assert!(fixture.index.coverage().is_ready);
    assert_eq!((fixture.found("milk"), fixture.found("tea")), (vec![], vec!["a.md".to_owned()]));
}

#[test]
fn an_index_that_missed_nothing_stays_in_use_where_it_cannot_be_saved() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    fixture.catch_up();
    let many = fixture.write_many();
    fixture.write("a.md", "tea!");
    fixture.refresh(&many.iter().map(String::as_str).chain(["a.md"]).collect::<Vec<_>>());
    fixture.block_cache();
    fixture.index.save(&GO).unwrap_err();
    assert!(fixture.index.coverage().is_ready);
    assert_eq!((fixture.found("milk"), fixture.found("tea")), (vec![], vec!["a.md".to_owned()]));
}

#[test]
fn the_snapshot_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk")]);
    let dir = fixture.cache.path().join("index");
    Index::new(&fixture.vault, PrivateRules::default(), &dir).catch_up(&GO).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("notes"))), (0o700, 0o600));
}

/// Counts how many notes are opened; a file that is no note marks the moment.
struct OpenedFiles {
    mark: PathBuf,
    heard: mpsc::Receiver<PathBuf>,
    _watcher: notify::RecommendedWatcher,
}

impl OpenedFiles {
    fn start(fixture: &FreshnessFixture) -> Self {
        let mark = fixture.notes.path().join("mark.txt");
        fs::write(&mark, "").unwrap();
        let (tell, heard) = mpsc::channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let event = event.unwrap();
                if matches!(event.kind, EventKind::Access(AccessKind::Open(_))) {
                    event.paths.into_iter().for_each(|path| tell.send(path).unwrap());
                }
            })
            .unwrap();
        watcher.watch(fixture.notes.path(), RecursiveMode::NonRecursive).unwrap();
        Self { mark, heard, _watcher: watcher }
    }

    /// How many notes were opened since it was asked last: the mark's own opening comes behind them.
    fn count(&self) -> usize {
        fs::read(&self.mark).unwrap();
        let until_mark = self.heard.iter().take_while(|path| *path != self.mark);
        until_mark.filter(|path| path.extension().is_some_and(|is| is == "md")).count()
    }
}

impl FreshnessFixture {
    /// Restarts until that opens no note: as long as they are younger than the grain of a clock they
    /// are read again.
    fn until_none_is_opened(mut self, openings: &OpenedFiles, rules: &PrivateRules) -> Self {
        let began = Instant::now();
        loop {
            self.index.save(&GO).unwrap();
            openings.count();
            self = self.reopened(rules.clone());
            self.catch_up();
            if openings.count() == 0 {
                return self;
            }
            assert!(began.elapsed() < AMPLE, "notes are opened at every start");
        }
    }
}

#[test]
fn reopening_opens_no_note_when_nothing_changed() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "milk"), ("b.md", "tea")]);
    let openings = OpenedFiles::start(&fixture);
    fixture.catch_up();
    assert_eq!(openings.count(), 2, "the control: at first all are opened");
    let fixture = fixture.until_none_is_opened(&openings, &PrivateRules::default());
    assert_eq!(fixture.found("milk"), ["a.md"]);
}

#[test]
fn reopening_opens_no_private_note_either() {
    let notes = [("a.md", "milk"), ("b.md", "#secret milk"), ("c.md", "---\ntags: secret\n---\n")];
    let rules = never("#secret");
    let fixture = FreshnessFixture::with_notes(&notes).reopened(rules.clone());
    let openings = OpenedFiles::start(&fixture);
    fixture.catch_up();
    assert_eq!(openings.count(), 3, "the control: at first all are opened");
    let fixture = fixture.until_none_is_opened(&openings, &rules);
    assert_eq!(fixture.found("milk"), ["a.md"]);
    fixture.write("b.md", "open milk");
    assert_eq!(openings.count(), 1, "the writer's own");
    let fixture = fixture.reopened(rules.clone());
    fixture.catch_up();
    assert_eq!(openings.count(), 1, "one that changed is looked at");
    assert_eq!(fixture.found("milk"), ["a.md", "b.md"]);
    let fixture = fixture.until_none_is_opened(&openings, &rules);
    let fixture = fixture.reopened(never("#other"));
    fixture.catch_up();
    assert_eq!((openings.count(), fixture.found("secret")), (1, vec!["c.md".to_owned()]));
}

#[test]
fn nothing_of_a_private_note_is_in_any_file() {
    let fixture = FreshnessFixture::with_notes(&[
        ("Canary.md", "#secret canary-one"),
        ("Open.md", "canary-two"),
    ]);
    let rules = never("#secret");
    let fixture = fixture.reopened(rules.clone());
    let openings = OpenedFiles::start(&fixture);
    fixture.catch_up();
    let fixture = fixture.until_none_is_opened(&openings, &rules);
    fixture.index.update_fulltext(&GO).unwrap();
    let dir = fixture.cache.path();
    assert!(dir.join("withheld").exists(), "the control: what is private is known again");
    assert!(on_disk(dir, "Open.md") && on_disk(dir, "canary-two"), "the control: that is open");
    let hash = blake3::hash(b"Canary.md");
    let hashes = [hash.as_bytes()[..8].to_vec(), hash.to_hex()[..16].as_bytes().to_vec()];
    assert!(!on_disk(dir, "Canary") && !on_disk(dir, "canary-one"));
    assert!(!hashes.iter().any(|hash| holds(dir, hash)), "it could be guessed");
    fs::write(dir.join("control"), hash.as_bytes()).unwrap();
    assert!(hashes.iter().any(|hash| holds(dir, hash)), "the control: that would be seen");
}

#[test]
fn a_note_that_becomes_private_leaves_every_file() {
    let fixture = FreshnessFixture::with_notes(&[("Canary.md", "canary-one"), ("b.md", "milk")]);
    let fixture = fixture.reopened(never("#secret"));
    fixture.catch_up();
    fixture.index.update_fulltext(&GO).unwrap();
    fixture.write("Canary.md", "canary-one canary-two");
    fixture.refresh(&["Canary.md"]);
    fixture.index.save(&GO).unwrap();
    let dir = fixture.cache.path().to_owned();
    let words = ["Canary", "canary-one", "canary-two"];
    assert!(words.iter().all(|word| on_disk(&dir, word)), "the control: it is there");
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), 0, "the control: the ranking stands");
    fixture.write("Canary.md", "#secret canary-one canary-two");
    fixture.refresh(&["Canary.md"]);
    assert!(fixture.found("canary").is_empty());
    fixture.index.save(&GO).unwrap();
    assert!(!words.iter().any(|word| on_disk(&dir, word)));
    assert!(!dir.join("ranked").exists(), "its words are in the ranking");
    assert_eq!(fixture.index.update_fulltext(&GO).unwrap(), 1);
    assert!(!words.iter().any(|word| on_disk(&dir, word)));
    fixture.write("Canary.md", "canary-three");
    fixture.refresh(&["Canary.md"]);
    assert_eq!(fixture.found("canary"), ["Canary.md"]);
}

#[test]
fn a_note_that_is_moved_into_a_private_folder_leaves_every_file() {
    let moved = |to: &str| {
        let notes = [("Canary.md", "canary-one"), ("b.md", "milk"), ("folder/c.md", "tea")];
        let fixture = FreshnessFixture::with_notes(&notes).reopened(never("folder/**"));
        fixture.catch_up();
        fixture.index.update_fulltext(&GO).unwrap();
        fs::rename(fixture.notes.path().join("Canary.md"), fixture.notes.path().join(to)).unwrap();
        fixture.refresh(&["Canary.md", to]);
        fixture.index.save(&GO).unwrap();
        let in_snapshot = on_disk(fixture.cache.path(), "canary-one");
        fixture.index.update_fulltext(&GO).unwrap();
        (in_snapshot, on_disk(fixture.cache.path(), "canary-one"))
    };
    assert_eq!(moved("open.md"), (true, true), "the control: it is open there");
    assert_eq!(moved("folder/Canary.md"), (false, false));
}

#[test]
fn a_reset_leaves_no_text_behind_and_rebuilds() {
    let fixture = FreshnessFixture::with_notes(&[("a.md", "canary-one"), ("b.md", "milk")]);
    fixture.catch_up();
    fixture.index.update_fulltext(&GO).unwrap();
    fixture.write("a.md", "nothing here");
    fixture.refresh(&["a.md"]);
    assert!(on_disk(fixture.cache.path(), "canary-one"), "the control: the snapshot is older");
    fixture.index.reset().unwrap();
    assert!(!fixture.cache.path().exists() && !fixture.index.coverage().is_ready);
    assert_eq!(fixture.found("milk"), ["b.md"]);
    fixture.catch_up();
    assert!(!on_disk(fixture.cache.path(), "canary-one") && fixture.index.coverage().is_ready);
}
