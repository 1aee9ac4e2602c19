//! The user finds what no model may see; who asks for a model does not.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::{GrepQuery, GrepResult, Index, UserIndex};
use protocol::settings::PrivateSettings;
use protocol::{ChangeSet, NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

static GO: AtomicBool = AtomicBool::new(false);

const AMPLE: Duration = Duration::from_secs(60);

/// Two are private: one by its place, one by its text.
const NOTES: [(&str, &str); 4] = [
    (
        "Diary/Monday.md",
        "---\naliases: [Moonday]\nmood: fine\n---\nmilk [[b]] #days\n- [ ] sleep\n",
    ),
    ("a.md", "milk [[Hidden]]\n"),
    ("b.md", "tea\n"),
    ("Hidden.md", "#secret milk [[a]] [[Nowhere]]\n"),
];

struct UserIndexFixture {
    folder: TempDir,
    _cache: TempDir,
    vault: Vault,
    models: Index,
    user: UserIndex,
}

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

fn fixture() -> UserIndexFixture {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let vault = Vault::open(folder.path()).unwrap();
    let never = ["Diary", "#secret"].map(ToOwned::to_owned).to_vec();
    let rules = PrivateSettings { never, ..PrivateSettings::default() };
    let rules = PrivateRules::parse(&rules).unwrap();
    let user = UserIndex::new(&vault, rules, cache.path());
    let models = user.for_models();
    let fixture = UserIndexFixture { folder, _cache: cache, vault, models, user };
    NOTES.iter().for_each(|(path, text)| fixture.write(path, text));
    fixture.models.catch_up(&GO).unwrap();
    fixture
}

fn lines(pattern: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern.to_owned(),
        file_pattern: None,
        context_lines: 0,
        max_results: 100,
        max_per_note: 5,
        case_sensitive: true,
    }
}

fn places(found: &GrepResult) -> Vec<(&str, u32)> {
    found.hits.iter().map(|hit| (hit.path.as_str(), hit.line)).collect()
}

impl UserIndexFixture {
    fn write(&self, path: &str, text: &str) {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn rewrite(&self, at: &str, text: &str) {
        self.write(at, text);
        self.models.refresh(&[path(at)]);
    }

    fn search(&self, pattern: &str) -> GrepResult {
        self.user.search(&lines(pattern), AMPLE).unwrap()
    }

    fn names(&self, query: &str) -> Vec<String> {
        let found = self.user.find_files(query, &[], 10, |_| true).unwrap();
        found.into_iter().map(|named| named.path.to_string()).collect()
    }
}

#[test]
fn the_user_finds_private_notes_by_their_names_and_aliases() {
    let fixture = fixture();
    assert_eq!(fixture.names("hidn"), ["Hidden.md"]);
    assert_eq!(fixture.names("diary/mon"), ["Diary/Monday.md"]);
    assert_eq!(fixture.names("moonday"), ["Diary/Monday.md"]);
    assert_eq!(fixture.names("").len(), NOTES.len());
    let models =
        |query: &str| fixture.models.find_files(&fixture.vault, query, &[], 10, |_| true).unwrap();
    assert!(models("hidn").is_empty() && models("monday").is_empty() && models("moond").is_empty());
    assert_eq!(models("").len(), 2, "the control: a model finds the others");
}

#[test]
fn the_user_finds_lines_of_private_notes_in_the_usual_order() {
    let fixture = fixture();
    let all = [("Diary/Monday.md", 5), ("Hidden.md", 1), ("a.md", 1)];
    assert_eq!(places(&fixture.search("milk")), all);
    assert_eq!(places(&fixture.search(r"\A.*milk")), all, "note by note");
    let narrow = GrepQuery { file_pattern: Some("Diary/*".to_owned()), ..lines("milk") };
    assert_eq!(places(&fixture.user.search(&narrow, AMPLE).unwrap()), all[..1]);
    let models =
        fixture.models.search(&fixture.vault, &ChangeSet::default(), &lines("milk"), AMPLE);
    assert_eq!(places(&models.unwrap()), [("a.md", 1)], "a model finds what is open");
    let cut = fixture.user.search(&lines("milk"), Duration::ZERO).unwrap();
    assert!(cut.hits.is_empty() && cut.cut.is_some());
}

#[test]
fn the_user_sees_links_tags_properties_and_tasks_of_private_notes() {
    let fixture = fixture();
    let (whole, plan) = (&fixture.vault, ChangeSet::default());
    let to = |links: Vec<index::links::OutgoingLink>| -> Vec<NotePath> {
        links.into_iter().flat_map(|link| link.targets).collect()
    };
    let from = |links: Vec<index::links::Backlink>| -> Vec<NotePath> {
        links.into_iter().map(|link| link.source).collect()
    };
    let a = path("a.md");
    assert_eq!(to(fixture.user.outgoing_links(&a).unwrap()), [path("Hidden.md")]);
    assert_eq!(
        to(fixture.user.outgoing_links(&path("Hidden.md")).unwrap()),
        std::slice::from_ref(&a)
    );
    assert_eq!(from(fixture.user.backlinks(&a).unwrap()), [path("Hidden.md")]);
    assert_eq!(fixture.user.broken_links().unwrap().len(), 1);
    let asked = || vec!["hidden".to_owned(), "Missing".to_owned()];
    assert_eq!(fixture.user.broken_among(asked()).unwrap(), ["Missing"]);
    assert_eq!(
        fixture.models.broken_among(&fixture.vault, asked()).unwrap(),
        asked(),
        "to a model `Hidden` is not there"
    );
    assert_eq!(fixture.user.tags().unwrap().len(), 2);
    assert_eq!(fixture.user.notes_with_tag("secret").unwrap(), [path("Hidden.md")]);
    assert_eq!(fixture.user.property_values("mood").unwrap().len(), 1);
    assert_eq!(fixture.user.notes_with_value("mood", "fine").unwrap(), [path("Diary/Monday.md")]);
    assert!(fixture.user.properties().unwrap().iter().any(|one| one.name == "mood"));
    assert_eq!(fixture.user.tasks().unwrap().len(), 1);

    let models = &fixture.models;
    assert!(to(models.outgoing_links(whole, &plan, &a).unwrap()).is_empty());
    assert!(models.outgoing_links(whole, &plan, &path("Hidden.md")).unwrap().is_empty());
    assert!(models.backlinks(whole, &plan, &a).unwrap().is_empty());
    assert!(models.tags(whole, &plan).unwrap().is_empty());
    assert!(models.properties(whole).unwrap().is_empty());
    assert!(models.tasks(whole).unwrap().is_empty());
    let broken = models.broken_links(whole).unwrap();
    assert_eq!(broken.len(), 1, "to a model `Hidden` is not there");
}

#[test]
fn cached_answers_are_renewed_once_the_notes_changed() {
    let fixture = fixture();
    let told = || {
        let (broken, tasks) = (fixture.user.broken_links().unwrap(), fixture.user.tasks().unwrap());
        (broken.len(), tasks.len(), fixture.user.property_values("mood").unwrap().len())
    };
    assert_eq!((told(), told()), ((1, 1, 1), (1, 1, 1)));
    assert!(
        fixture.user.property_values("other").unwrap().is_empty(),
        "it is about another property"
    );
    assert_eq!(told(), (1, 1, 1));
    fixture.rewrite("b.md", "---\nmood: [better, best]\n---\n[[Somewhere]]\n- [ ] wake\n");
    assert_eq!(told(), (2, 2, 3));
    fixture.rewrite("Hidden.md", "#secret milk\n- [ ] hide\n");
    assert_eq!(told(), (1, 3, 3), "one that is private changed");
}

#[test]
fn what_changes_in_private_notes_is_seen_as_soon_as_it_is_told() {
    let fixture = fixture();
    assert_eq!(fixture.search("coffee").total, 0);
    fixture.rewrite("Diary/Tuesday.md", "---\nalias: Twosday\n---\ncoffee #days\n");
    assert_eq!(places(&fixture.search("coffee")), [("Diary/Tuesday.md", 4)]);
    assert_eq!(fixture.names("twosd"), ["Diary/Tuesday.md"]);
    fixture.rewrite("Diary/Tuesday.md", "---\nalias: Threesday\n---\nwine\n");
    assert_eq!((fixture.search("coffee").total, fixture.names("twosd").len()), (0, 0));
    assert_eq!(fixture.names("threesd"), ["Diary/Tuesday.md"]);
    fs::remove_file(fixture.folder.path().join("Diary/Tuesday.md")).unwrap();
    fixture.models.refresh(&[path("Diary/Tuesday.md")]);
    assert!(fixture.names("tuesday").is_empty());
    fixture.rewrite("b.md", "tea #secret\n");
    assert_eq!(places(&fixture.search("tea")), [("b.md", 1)], "it became private");
    fixture.rewrite("b.md", "tea again\n");
    assert_eq!(places(&fixture.search("tea")), [("b.md", 1)], "it is open again");
    fixture.models.save(&GO).unwrap();
    fixture.models.catch_up(&GO).unwrap();
    assert_eq!(places(&fixture.search("milk")).len(), 3);
}

#[test]
fn an_image_link_is_resolved_in_its_note() {
    let fixture = fixture();
    let files = ["Plum.png", "House/Plum.png", "House/img/Roof one.png", "img/Roof one.png"];
    for file in files.into_iter().chain(["Diary/Face.png"]) {
        fixture.write(file, "an image");
    }
    let meant = |link: &str, source: &str| {
        let source = (!source.is_empty()).then(|| path(source));
        fixture
            .user
            .resolve_link(link, source.as_ref())
            .map(|file| file.to_string())
            .unwrap_or_default()
    };
    let check = |link: &str, source: &str, file: &str| {
        assert_eq!(meant(link, source), file, "`{link}` in `{source}`");
    };
    let stood = fixture.user.outgoing_links(&path("a.md")).is_some();
    assert!(stood, "the control: it was asked with an index");
    fixture.models.refresh(&files.map(path));
    fixture.models.refresh(&[path("Diary/Face.png")]);

    check("Plum.png", "a.md", "Plum.png");
    check("Plum.png", "House/Old/b.md", "Plum.png");
    check("plum.PNG", "House/b.md", "House/Plum.png");
    check("../Plum.png", "House/b.md", "Plum.png");
    check("../../Plum.png", "House/b.md", "");
    check("./img/Roof one.png", "House/b.md", "House/img/Roof one.png");
    check("img/Roof one.png", "House/b.md", "House/img/Roof one.png");
    check("img/Roof one.png", "", "img/Roof one.png");
    check("/img/Roof one.png", "House/b.md", "img/Roof one.png");
    check("Roof one.png", "", "img/Roof one.png");
    check("Face.png", "", "Diary/Face.png");
    check("Gone.png", "a.md", "");
    check("House", "", "");
    check("", "a.md", "");
}

#[test]
fn until_the_index_is_ready_an_image_is_found_by_its_whole_path() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for file in ["House/Plum.png", "img/Roof.png"] {
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        fs::write(folder.path().join(file), "an image").unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    let user = UserIndex::new(&vault, PrivateRules::default(), cache.path());
    assert_eq!(user.outgoing_links(&path("a.md")), None, "the control: it does not stand");
    let house = path("House/b.md");
    let meant = |link: &str| user.resolve_link(link, Some(&house));
    for link in ["Plum.png", "./Plum.png", "House/Plum.png", "/House/Plum.png"] {
        assert_eq!(meant(link), Some(path("House/Plum.png")), "{link}");
    }
    for link in ["img/Roof.png", "../img/Roof.png"] {
        assert_eq!(meant(link), Some(path("img/Roof.png")), "{link}");
    }
    for link in ["Roof.png", "./img/Roof.png", "../../img/Roof.png", "/Plum.png", "../House", ""] {
        assert_eq!(meant(link), None, "{link}");
    }
}
