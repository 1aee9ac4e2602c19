//! The links, tags, properties and tasks of the index match the notes, also after changes.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use index::Index;
use index::links::LinkGraph;
use protocol::settings::PrivateSettings;
use protocol::{Change, ChangeAction, ChangeSet, NotePath, Privacy, PrivateRules, RenamedKind};
use tempfile::TempDir;
use vault::{PrivacyFilter, Vault};

static NONE: LazyLock<ChangeSet> = LazyLock::new(ChangeSet::default);
static GO: AtomicBool = AtomicBool::new(false);

struct MetadataFixture {
    folder: TempDir,
    _cache: TempDir,
    vault: Vault,
    index: Index,
}

fn fixture(notes: &[(&str, &str)]) -> MetadataFixture {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let vault = Vault::open(folder.path()).unwrap();
    let index = Index::new(&vault, PrivateRules::default(), cache.path());
    let fixture = MetadataFixture { folder, _cache: cache, vault, index };
    notes.iter().for_each(|(path, text)| fixture.write(path, text));
    fixture.index.catch_up(&GO).unwrap();
    fixture
}

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

impl MetadataFixture {
    fn write(&self, path: &str, text: &str) {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn rewrite(&self, at: &str, text: &str) {
        self.write(at, text);
        self.index.refresh(&[path(at)]);
    }

    fn remove(&self, at: &str) {
        fs::remove_file(self.folder.path().join(at)).unwrap();
        self.index.refresh(&[path(at)]);
    }

    fn tags(&self) -> Vec<(String, usize)> {
        let tags = self.index.tags(&self.vault, &NONE).unwrap();
        tags.into_iter().map(|tag| (tag.tag, tag.notes)).collect()
    }

    /// Compares every link of the index with the notes, read in full.
    fn compare_links(&self) {
        self.compare_links_after(&ChangeSet::default());
    }

    /// The same when a plan counts as done.
    fn compare_links_after(&self, plan: &ChangeSet) {
        let graph = LinkGraph::from_vault(&self.vault, plan).unwrap();
        let mut links = 0;
        for file in graph.files() {
            let outgoing = self.index.outgoing_links(&self.vault, plan, file).unwrap();
            assert_eq!(outgoing, graph.outgoing_links(file), "from {file}");
            assert_eq!(
                self.index.backlinks(&self.vault, plan, file).unwrap(),
                graph.backlinks(file),
                "to {file}"
            );
            links += outgoing.len();
        }
        assert!(links > 0);
    }
}

const NOTES: [(&str, &str); 7] = [
    ("a.md", "[[b]] and [[Deep/c|see]] and ![[pic.png]] and [[Nowhere]]\n"),
    ("b.md", "---\nrelated: \"[[a]]\"\n---\n[a](a.md) [[NOWHERE#x]] [[else/Nowhere]]\n"),
    ("Deep/c.md", "[[b]] [up](../a.md) [[./c2]]\n"),
    ("Deep/c2.md", "[[c]]"),
    ("Deep/b.md", "a second b"),
    ("pic.png", "png"),
    ("map.canvas", r#"{"nodes":[{"id":"1","type":"file","file":"Deep/c.md"}]}"#),
];

#[test]
fn links_are_what_the_notes_say_also_after_changes() {
    let fixture = fixture(&NOTES);
    fixture.compare_links();
    fixture.remove("b.md");
    fixture.compare_links();
    fixture.rewrite("New/b.md", "[[a]]");
    fixture.rewrite("a.md", "[[c2]] [[b]] [[map.canvas]]");
    fixture.compare_links();
    fixture.rewrite("b.md", "back again [[Deep/b]]");
    fixture.compare_links();
}

#[test]
fn a_plan_counts_as_done() {
    let fixture = fixture(&NOTES);
    let text = |at: &str| fixture.vault.read_bytes(&path(at)).unwrap();
    let plan: ChangeSet = [
        Change::replace(path("a.md"), text("a.md"), "[[c2]] [[fresh]]"),
        Change::create(path("fresh.md"), "[[Deep/b]]"),
        Change::trash(path("Deep/c2.md"), text("Deep/c2.md")),
        Change {
            path: path("Deep"),
            act: ChangeAction::Rename { to: path("Moved/Deeper"), what: RenamedKind::Folder },
        },
    ]
    .into_iter()
    .collect();
    fixture.compare_links_after(&plan);
}

#[test]
fn links_that_stand_in_no_note_begin_at_the_top() {
    let fixture = fixture(&NOTES);
    let links =
        ["b", "DEEP/B.md", "c2", "/c2", "./a", "../a", "pic.png", "else/b", "Nowhere", "a.b"];
    let links = links.map(str::to_owned).to_vec();
    let broken = fixture.index.broken_among(&fixture.vault, links).unwrap();
    assert_eq!(broken, ["/c2", "../a", "else/b", "Nowhere", "a.b"]);
}

#[test]
fn broken_links_are_named_once() {
    let fixture = fixture(&NOTES);
    let lost = || -> Vec<(String, Vec<String>)> {
        let all = fixture.index.broken_links(&fixture.vault).unwrap().into_iter();
        let named = all.map(|lost| {
            (lost.link, lost.sources.iter().map(ToString::to_string).collect::<Vec<_>>())
        });
        named.collect()
    };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        lost(),
        [
            ("Nowhere".to_owned(), names(&["a.md", "b.md"])),
            ("else/Nowhere".to_owned(), names(&["b.md"]))
        ]
    );
    fixture.rewrite("Nowhere.md", "here");
    assert_eq!(lost(), [("else/Nowhere".to_owned(), names(&["b.md"]))]);
}

#[test]
fn tags_count_with_what_is_nested_in_them() {
    let fixture = fixture(&[
        ("a.md", "#food/bread #Tea"),
        ("b.md", "---\ntags: [food, tea]\n---\n#tea"),
        ("c.md", "`#code` #tea"),
    ]);
    let counts = |tags: &[(&str, usize)]| -> Vec<(String, usize)> {
        tags.iter().map(|(tag, notes)| ((*tag).to_owned(), *notes)).collect()
    };
    assert_eq!(fixture.tags(), counts(&[("tea", 3), ("food", 2), ("food/bread", 1)]));
    fixture.rewrite("b.md", "nothing");
    assert_eq!(fixture.tags(), counts(&[("Tea", 2), ("food", 1), ("food/bread", 1)]));
    fixture.remove("a.md");
    assert_eq!(fixture.tags(), counts(&[("tea", 1)]));
}

#[test]
fn values_of_a_property_and_tasks_are_listed() {
    let fixture = fixture(&[
        ("a.md", "---\nStatus: open\n---\n- [ ] bake bread\n- [x] eat\n"),
        ("b.md", "---\nstatus: [Open, late]\n---\n"),
    ]);
    let values = fixture.index.property_values(&fixture.vault, "STATUS").unwrap();
    let values: Vec<_> = values.iter().map(|one| (one.value.as_str(), one.notes)).collect();
    assert_eq!(values, [("Open", 2), ("late", 1)]);
    fixture.rewrite("b.md", "* [-] dropped");
    let tasks = fixture.index.tasks(&fixture.vault).unwrap();
    let tasks: Vec<_> = tasks
        .iter()
        .map(|task| (task.path.as_str(), task.line, task.mark, task.words.as_str()))
        .collect();
    assert_eq!(
        tasks,
        [("a.md", 4, ' ', "bake bread"), ("a.md", 5, 'x', "eat"), ("b.md", 1, '-', "dropped")]
    );
}

#[test]
fn what_a_screen_keeps_back_is_not_known() {
    let fixture = fixture(&[
        ("Diary/a.md", "#secret-plan [[b]]\n- [ ] hide"),
        ("b.md", "#open [[a]]"),
        ("c.md", "#local words [[b]]"),
    ]);
    let local = ["Diary", "#local"].map(ToOwned::to_owned).to_vec();
    let rules = PrivateRules::parse(&PrivateSettings { local, ..PrivateSettings::default() });
    let screen = Arc::new(PrivacyFilter::new(rules.unwrap(), Privacy::Open));
    let (whole, screened) = (&fixture.vault, &fixture.vault.filtered(screen));
    assert_eq!(
        fixture.index.backlinks(whole, &NONE, &path("b.md")).unwrap().len(),
        2,
        "the control"
    );
    assert!(fixture.index.backlinks(screened, &NONE, &path("b.md")).unwrap().is_empty());
    assert!(fixture.index.outgoing_links(screened, &NONE, &path("Diary/a.md")).unwrap().is_empty());
    let tags = fixture.index.tags(screened, &NONE).unwrap();
    assert_eq!(tags.iter().map(|tag| tag.tag.as_str()).collect::<Vec<_>>(), ["open"]);
    assert!(fixture.index.tasks(screened).unwrap().is_empty());
    let lost = fixture.index.broken_links(screened).unwrap();
    assert_eq!(lost.iter().map(|lost| lost.link.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn notes_are_told_by_what_they_have_in_common_also_after_changes() {
    let fixture = fixture(&[
        ("b.md", "---\nStatus: open\n---\n#Food/bread\n"),
        ("a.md", "---\nstatus: [Open, late]\n---\n#food\n"),
        ("c.md", "nothing\n"),
    ]);
    let tagged = |tag: &str| fixture.index.notes_with_tag(&fixture.vault, tag).unwrap();
    let valued =
        |value: &str| fixture.index.notes_with_value(&fixture.vault, "STATUS", value).unwrap();
    let properties = || {
        let all = fixture.index.properties(&fixture.vault).unwrap();
        all.into_iter().map(|one| (one.name, one.notes)).collect::<Vec<_>>()
    };
    assert_eq!(tagged("FOOD"), [path("a.md"), path("b.md")]);
    assert_eq!(tagged("food/bread"), [path("b.md")]);
    assert_eq!(valued("open"), [path("a.md"), path("b.md")]);
    assert_eq!(valued("late"), [path("a.md")]);
    assert_eq!(properties(), [("Status".to_owned(), 2)]);
    fixture.rewrite("c.md", "---\nowner: me\n---\n#food\n");
    fixture.remove("b.md");
    assert_eq!(tagged("food"), [path("a.md"), path("c.md")]);
    assert_eq!(valued("open"), [path("a.md")]);
    assert_eq!(properties(), [("owner".to_owned(), 1), ("status".to_owned(), 1)]);
}
