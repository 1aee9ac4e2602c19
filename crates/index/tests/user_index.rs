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
    let desk = UserIndexFixture { folder, _cache: cache, vault, models, user };
    NOTES.iter().for_each(|(path, text)| desk.write(path, text));
    desk.models.catch_up(&GO).unwrap();
    desk
}

fn lines(pattern: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern.to_owned(),
        file_pattern: None,
        context_lines: 0,
        max_results: 100,
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
        let found = self.user.find_files(query, &[], 10).unwrap();
        found.into_iter().map(|named| named.path.to_string()).collect()
    }
}

#[test]
fn the_user_finds_private_notes_by_their_names_and_aliases() {
    let desk = fixture();
    assert_eq!(desk.names("hidn"), ["Hidden.md"]);
    assert_eq!(desk.names("diary/mon"), ["Diary/Monday.md"]);
    assert_eq!(desk.names("moonday"), ["Diary/Monday.md"]);
    assert_eq!(desk.names("").len(), NOTES.len());
    let models = |query: &str| desk.models.find_files(&desk.vault, query, &[], 10).unwrap();
    assert!(models("hidn").is_empty() && models("monday").is_empty() && models("moond").is_empty());
    assert_eq!(models("").len(), 2, "the control: a model finds the others");
}

#[test]
fn the_user_finds_lines_of_private_notes_in_the_usual_order() {
    let desk = fixture();
    let all = [("Diary/Monday.md", 5), ("Hidden.md", 1), ("a.md", 1)];
    assert_eq!(places(&desk.search("milk")), all);
    assert_eq!(places(&desk.search(r"\A.*milk")), all, "note by note");
    let narrow = GrepQuery { file_pattern: Some("Diary/*".to_owned()), ..lines("milk") };
    assert_eq!(places(&desk.user.search(&narrow, AMPLE).unwrap()), all[..1]);
    let models = desk.models.search(&desk.vault, &ChangeSet::default(), &lines("milk"), AMPLE);
    assert_eq!(places(&models.unwrap()), [("a.md", 1)], "a model finds what is open");
    let cut = desk.user.search(&lines("milk"), Duration::ZERO).unwrap();
    assert!(cut.hits.is_empty() && cut.cut.is_some());
}

#[test]
fn the_user_sees_links_tags_properties_and_tasks_of_private_notes() {
    let desk = fixture();
    let (whole, plan) = (&desk.vault, ChangeSet::default());
    let to = |links: Vec<index::links::OutgoingLink>| -> Vec<NotePath> {
        links.into_iter().flat_map(|link| link.targets).collect()
    };
    let from = |links: Vec<index::links::Backlink>| -> Vec<NotePath> {
        links.into_iter().map(|link| link.source).collect()
    };
    let a = path("a.md");
    assert_eq!(to(desk.user.outgoing_links(&a).unwrap()), [path("Hidden.md")]);
    assert_eq!(to(desk.user.outgoing_links(&path("Hidden.md")).unwrap()), std::slice::from_ref(&a));
    assert_eq!(from(desk.user.backlinks(&a).unwrap()), [path("Hidden.md")]);
    assert_eq!(desk.user.broken_links().unwrap().len(), 1);
    let asked = || vec!["hidden".to_owned(), "Missing".to_owned()];
    assert_eq!(desk.user.broken_among(asked()).unwrap(), ["Missing"]);
    assert_eq!(
        desk.models.broken_among(&desk.vault, asked()).unwrap(),
        asked(),
        "to a model `Hidden` is not there"
    );
    assert_eq!(desk.user.tags().unwrap().len(), 2);
    assert_eq!(desk.user.notes_with_tag("secret").unwrap(), [path("Hidden.md")]);
    assert_eq!(desk.user.property_values("mood").unwrap().len(), 1);
    assert_eq!(desk.user.notes_with_value("mood", "fine").unwrap(), [path("Diary/Monday.md")]);
    assert!(desk.user.properties().unwrap().iter().any(|one| one.name == "mood"));
    assert_eq!(desk.user.tasks().unwrap().len(), 1);

    let models = &desk.models;
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
    let desk = fixture();
    let told = || {
        let (broken, tasks) = (desk.user.broken_links().unwrap(), desk.user.tasks().unwrap());
        (broken.len(), tasks.len(), desk.user.property_values("mood").unwrap().len())
    };
    assert_eq!((told(), told()), ((1, 1, 1), (1, 1, 1)));
    assert!(desk.user.property_values("other").unwrap().is_empty(), "it is about another property");
    assert_eq!(told(), (1, 1, 1));
    desk.rewrite("b.md", "---\nmood: [better, best]\n---\n[[Somewhere]]\n- [ ] wake\n");
    assert_eq!(told(), (2, 2, 3));
    desk.rewrite("Hidden.md", "#secret milk\n- [ ] hide\n");
    assert_eq!(told(), (1, 3, 3), "one that is private changed");
}

#[test]
fn what_changes_in_private_notes_is_seen_as_soon_as_it_is_told() {
    let desk = fixture();
    assert_eq!(desk.search("coffee").total, 0);
    desk.rewrite("Diary/Tuesday.md", "---\nalias: Twosday\n---\ncoffee #days\n");
    assert_eq!(places(&desk.search("coffee")), [("Diary/Tuesday.md", 4)]);
    assert_eq!(desk.names("twosd"), ["Diary/Tuesday.md"]);
    desk.rewrite("Diary/Tuesday.md", "---\nalias: Threesday\n---\nwine\n");
    assert_eq!((desk.search("coffee").total, desk.names("twosd").len()), (0, 0));
    assert_eq!(desk.names("threesd"), ["Diary/Tuesday.md"]);
    fs::remove_file(desk.folder.path().join("Diary/Tuesday.md")).unwrap();
    desk.models.refresh(&[path("Diary/Tuesday.md")]);
    assert!(desk.names("tuesday").is_empty());
    desk.rewrite("b.md", "tea #secret\n");
    assert_eq!(places(&desk.search("tea")), [("b.md", 1)], "it became private");
    desk.rewrite("b.md", "tea again\n");
    assert_eq!(places(&desk.search("tea")), [("b.md", 1)], "it is open again");
    desk.models.save(&GO).unwrap();
    desk.models.catch_up(&GO).unwrap();
    assert_eq!(places(&desk.search("milk")).len(), 3);
}

#[test]
fn an_image_link_is_resolved_in_its_note() {
    let desk = fixture();
    let files = ["Plum.png", "House/Plum.png", "House/img/Roof one.png", "img/Roof one.png"];
    for file in files.into_iter().chain(["Diary/Face.png"]) {
        desk.write(file, "an image");
    }
    let meant = |link: &str, source: &str| {
        let source = (!source.is_empty()).then(|| path(source));
        desk.user
            .resolve_link(link, source.as_ref())
            .map(|file| file.to_string())
            .unwrap_or_default()
    };
    let check = |link: &str, source: &str, file: &str| {
        assert_eq!(meant(link, source), file, "`{link}` in `{source}`");
    };
    let stood = desk.user.outgoing_links(&path("a.md")).is_some();
    assert!(stood, "the control: it was asked with an index");
    desk.models.refresh(&files.map(path));
    desk.models.refresh(&[path("Diary/Face.png")]);

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
