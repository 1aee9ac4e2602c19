//! Queries of the window: names, lines, links, tags, properties and tasks, also after a change.

use app::TimeScale;
use protocol::event::VaultInfo;
use protocol::notes::query::{
    LineMatches, MentionTarget, NoteCriterion, PatternKind, PrivateNote, TextSearch,
    TruncationReason,
};
use protocol::settings::{PrivateSettings, Settings};
use protocol::{AppEvent, ErrorCode, NoteOpener, NotePath};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model,
};
use crate::notes::file_watching::save_by_rename;

const NOTES: [(&str, &str); 4] = [
    ("Groceries.md", "# Groceries\n\n- [ ] milk for [[Harbour]]\n- [x] bread\n#lists\n"),
    ("House/Heating.md", "---\naliases: [Boiler]\nstatus: open\n---\n[[Groceries]] [[Nowhere]]\n"),
    ("Harbour.md", "# Harbour\n\nThe Éclair is moored. #lists/boats\n"),
    ("House/photo.png", "no photo"),
];

fn note_path(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

/// The notes open, and the index standing.
async fn open_indexed(test_home: &TestHome) -> RunningApp {
    let running = test_home.open(settings_without_model()).await;
    wait_for_vault_info(&running, "that the index stands", |vault| vault.indexing.is_none()).await;
    running
}

/// Waits until the vault is told to be so.
pub(crate) async fn wait_for_vault_info(
    app: &RunningApp,
    what: &str,
    accepts: impl Fn(&VaultInfo) -> bool,
) -> VaultInfo {
    let changed = app.wait_for_event(what, |event| match event {
        AppEvent::VaultChanged { vault: Some(vault) } if accepts(vault) => Some(vault.clone()),
        _ => None,
    });
    changed.await
}

async fn search(app: &RunningApp, pattern: &str, meaning: PatternKind) -> LineMatches {
    let request = TextSearch { pattern: pattern.into(), meaning, case_sensitive: false };
    app.app.search_text(request).await.expect("it searches")
}

async fn note_names(app: &RunningApp, query: &str) -> Vec<String> {
    let found = app.app.find_names(query).await.expect("it finds");
    found.names.iter().map(|named| format!("{} in {}", named.name, named.path)).collect()
}

async fn tags(app: &RunningApp) -> Vec<(String, u32)> {
    let tags = app.app.list_tags("").await.expect("it lists").expect("it stands");
    tags.words.into_iter().map(|tag| (tag.word, tag.notes)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_found_by_some_letters_of_its_names_and_what_was_shown_lately_comes_first() {
    let home = TestHome::new(&NOTES);
    let running = open_indexed(&home).await;
    assert_eq!(note_names(&running, "heatg").await, ["Heating in House/Heating.md"]);
    assert_eq!(note_names(&running, "boil").await, ["Boiler in House/Heating.md"]);
    assert_eq!(note_names(&running, "photo").await, [""; 0], "what cannot be shown is not offered");
    let found = running.app.find_names("boil").await.expect("it finds");
    assert_eq!((found.names[0].alias, found.names[0].marks.as_slice()), (true, &[(0, 4)][..]));
    for note in ["Groceries", "House/Heating"] {
        running.app.show_note(note, NoteOpener::User).await.expect("it is there");
    }
    let lately = ["Heating in House/Heating.md", "Groceries in Groceries.md"];
    assert_eq!(note_names(&running, "").await[..2], lately);
    running.quit().await;
    let again = home.open(settings_without_model()).await;
    assert_eq!(note_names(&again, "").await[..2], lately, "also after a restart");
    again.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_take_no_place_of_notes_that_are_found_by_name() {
    let images = (0..600).map(|number| format!("Attachments/Boat {number}.png"));
    let notes = (0..51).map(|number| format!("Journal/Trip {number} by boat.md"));
    let paths: Vec<String> = images.chain(notes).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    let home = TestHome::new(&files);
    let running = open_indexed(&home).await;
    for (query, expected) in [("", (50, true)), ("boat", (50, true)), ("trip 17 boat", (1, false))]
    {
        let found = running.app.find_names(query).await.expect("it finds");
        assert!(found.names.iter().all(|named| named.path.is_markdown()), "{query}");
        assert_eq!((found.names.len(), found.more), expected, "{query}");
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_notes_of_a_file_name_are_found_however_many_there_are() {
    let others = ["Cafe\u{301}.md", "README 2.md", "README.png"].map(str::to_owned);
    let named = (0..60).map(|number| format!("Project {number}/README.md"));
    let paths: Vec<String> = named.chain(others).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    let home = TestHome::new(&files);
    let running = open_indexed(&home).await;
    let found = running.app.find_names("README").await.expect("it finds");
    assert_eq!((found.names.len(), found.more), (50, true), "the control");
    for (name, expected) in
        [("README.md", 60), ("Caf\u{e9}.md", 1), ("Cafe\u{301}.md", 1), ("README", 0), ("", 0)]
    {
        let found = running.app.notes_named(name).await.expect("it finds");
        assert_eq!(found.len(), expected, "{name}");
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_could_not_be_written_is_built_once_it_can_be() {
    let home = TestHome::new(&NOTES);
    home.data.write("cache", "a file where the folder of the index should be");
    let pace = TimeScale::divided_by(600);
    let running = home.open_with_time_scale(settings_without_model(), pace).await;
    let refused = running.wait_for_event("that it can’t be written", |event| match event {
        AppEvent::Problem { error } if error.message.contains("can’t be written") => Some(()),
        _ => None,
    });
    refused.await;
    let list = async || running.app.list_tags("").await.expect("it lists");
    assert!(list().await.is_none(), "the control: there is no index");
    std::fs::remove_file(home.data.root().join("cache")).expect("removed");
    let listed = running.until("an index", list).await;
    assert!(!listed.words.is_empty());
    running.quit().await;
}

/// The text of a link to each note, by the note's path.
async fn links(app: &RunningApp) -> Vec<(String, String)> {
    let found = app.app.find_names("").await.expect("it finds").names.into_iter();
    let mut links: Vec<_> = found.map(|named| (named.path.to_string(), named.link)).collect();
    links.sort();
    links
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_note_is_its_name_or_its_path_where_another_file_has_the_name() {
    let home = TestHome::new(&[
        ("House/Heating.md", ""),
        ("House/Plan.md", ""),
        ("Trip/plan.md", ""),
        ("Plan.md", ""),
        ("Trip/House/Plan.md", ""),
    ]);
    let running = open_indexed(&home).await;
    let expected = [
        ("House/Heating.md", "Heating"),
        ("House/Plan.md", "House/Plan.md"),
        ("Plan.md", "Plan.md"),
        ("Trip/House/Plan.md", "Trip/House/Plan"),
        ("Trip/plan.md", "Trip/plan"),
    ];
    let expected = expected.map(|(path, link)| (path.to_owned(), link.to_owned()));
    assert_eq!(links(&running).await, expected);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_says_which_rule_keeps_the_note_from_the_model_that_answers() {
    let notes = [("Diary/Mine.md", ""), ("Ours.md", "#home\n"), ("Open.md", "")];
    let (home, model) = (home_with_key(&notes), ScriptedModel::start(Vec::new()).await);
    let private = |here| PrivateSettings {
        never: vec!["Diary".into()],
        local: vec!["#home".into()],
        endpoint_is_local: here,
    };
    let running =
        home.open(Settings { private: private(false), ..settings_with_model(&model) }).await;
    let told = async || {
        let found = running.app.find_names("").await.expect("it finds").names.into_iter();
        let mut told: Vec<_> = found.map(|named| (named.path.to_string(), named.private)).collect();
        told.sort_by(|one, other| one.0.cmp(&other.0));
        told.into_iter().map(|(_, private)| private).collect::<Vec<_>>()
    };
    let (never, local) = (Some(PrivateNote::Never), Some(PrivateNote::LocalOnly));
    assert_eq!(told().await, [never, None, local]);
    for (settings, expected) in [
        (Settings { private: private(true), ..settings_with_model(&model) }, [never, None, None]),
        (Settings { private: private(false), ..settings_without_model() }, [None, None, None]),
    ] {
        running.app.save_settings(settings).await.expect("saved");
        assert_eq!(told().await, expected);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_says_which_rule_keeps_it_from_the_model_that_answers() {
    let notes = [("Diary/Mine.md", "mine\n"), ("Ours.md", "#home\n"), ("Open.md", "open\n")];
    let read = |path: &str| Reply::calls(vec![("read_file", json!({ "path": path }))]);
    let replies =
        notes.iter().flat_map(|(path, _)| [read(path), Reply::text("Read.")]).collect::<Vec<_>>();
    let (home, model) = (home_with_key(&notes), ScriptedModel::start(replies).await);
    let private = |here| PrivateSettings {
        never: vec!["Diary/".into()],
        local: vec!["#home".into()],
        endpoint_is_local: here,
    };
    let running = home.open(settings_with_model(&model)).await;
    let mut mentions = vec![
        MentionTarget::Folder { path: note_path("Diary") },
        MentionTarget::Folder { path: note_path("diary/2026") },
        MentionTarget::Folder { path: note_path("Diaries") },
        MentionTarget::Tag { tag: "Home/garden".into() },
        MentionTarget::Tag { tag: "homework".into() },
    ];
    for _ in notes {
        let id = running.send_and_wait(None, "Read it.").await;
        mentions.push(MentionTarget::Conversation { id });
    }
    let told = async || running.app.private_mentions(mentions.clone()).await.expect("judged");
    assert_eq!(told().await, [None; 8]);
    let (never, local) = (Some(PrivateNote::Never), Some(PrivateNote::LocalOnly));
    for (settings, expected) in [
        (
            Settings { private: private(false), ..settings_with_model(&model) },
            [never, never, None, local, None, never, local, None],
        ),
        (
            Settings { private: private(true), ..settings_with_model(&model) },
            [never, never, None, None, None, never, None, None],
        ),
        (Settings { private: private(false), ..settings_without_model() }, [None; 8]),
    ] {
        running.app.save_settings(settings).await.expect("saved");
        assert_eq!(told().await, expected);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_found_letter_by_letter_or_by_an_expression_and_marked() {
    let home = TestHome::new(&NOTES);
    let running = open_indexed(&home).await;
    let found = search(&running, "[ ] MILK", PatternKind::Literal).await;
    assert_eq!((found.lines, found.files, found.cut), (1, 1, None));
    assert_eq!(found.notes[0].path, note_path("Groceries.md"));
    assert_eq!((found.notes[0].lines[0].line, &found.notes[0].lines[0].marks), (3, &vec![(2, 10)]));
    let found = search(&running, r"éclair|\bmoored", PatternKind::Regex).await;
    assert_eq!(found.notes[0].lines[0].marks, [(4, 10), (14, 20)]);
    let pattern =
        TextSearch { pattern: "[".into(), meaning: PatternKind::Regex, case_sensitive: true };
    let refused = running.app.search_text(pattern).await.expect_err("it is no expression");
    assert_eq!(refused.code, ErrorCode::Pattern);
    assert!(
        refused.message.contains("“[” isn’t a valid regular expression"),
        "{}",
        refused.message
    );
    save_by_rename(&home, "Many.md", &"the same line\n".repeat(9));
    wait_for_vault_info(&running, "the new note", |vault| vault.notes == 4).await;
    let found = search(&running, "the same line", PatternKind::Literal).await;
    assert_eq!((found.lines, found.notes[0].lines.len()), (9, 5));
    assert_eq!(found.cut, Some(TruncationReason::Length));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_tags_properties_and_tasks_follow_what_is_on_disk() {
    let home = TestHome::new(&NOTES);
    let running = open_indexed(&home).await;
    let app = &running.app;
    let links = app.note_links(note_path("Groceries.md")).await.expect("asked").expect("it stands");
    assert_eq!(links.out[0].to, Some(note_path("Harbour.md")));
    assert_eq!((&links.back[0].from, links.back[0].line), (&note_path("House/Heating.md"), 5));
    let links =
        app.note_links(note_path("House/Heating.md")).await.expect("asked").expect("it stands");
    assert_eq!(links.out.iter().filter(|link| link.to.is_none()).count(), 1);
    let broken = app.unresolved_links("").await.expect("asked").expect("it stands");
    assert_eq!((broken.words[0].word.as_str(), broken.total), ("Nowhere", 1));
    let having = |having| app.notes_matching(having);
    let sources =
        having(NoteCriterion::BrokenLink { link: "Nowhere".into() }).await.expect("asked");
    assert_eq!(sources.expect("it stands").notes, [note_path("House/Heating.md")]);
    assert_eq!(tags(&running).await, [("lists".into(), 2), ("lists/boats".into(), 1)]);
    let tagged = having(NoteCriterion::Tag { tag: "Lists".into() }).await.expect("asked");
    assert_eq!(
        tagged.expect("it stands").notes,
        [note_path("Groceries.md"), note_path("Harbour.md")]
    );
    let named = app.list_properties("stat").await.expect("asked").expect("it stands");
    assert_eq!((named.words[0].word.as_str(), named.words[0].notes), ("status", 1));
    let values = app.property_values("status", "").await.expect("asked").expect("it stands");
    assert_eq!(values.words[0].word, "open");
    let value = NoteCriterion::Value { property: "status".into(), value: "open".into() };
    let valued = having(value).await.expect("asked").expect("it stands");
    assert_eq!(valued.notes, [note_path("House/Heating.md")]);
    let tasks = app.list_tasks("MILK").await.expect("asked").expect("it stands");
    assert_eq!((tasks.lines, tasks.notes[0].lines[0].line), (1, 3));

    let links = || vec!["Nowhere".to_owned(), "heating".to_owned()];
    let broken = app.broken_links(links()).await.expect("asked").expect("it stands");
    assert_eq!(broken, ["Nowhere"]);

    let before = wait_for_vault_info(&running, "how it stands", |_| true).await.revision;
    save_by_rename(&home, "Nowhere.md", "#lists #new\n");
    wait_for_vault_info(&running, "that notes changed", |vault| {
        vault.revision > before && vault.notes == 4
    })
    .await;
    assert_eq!(tags(&running).await[0], ("lists".into(), 3));
    let broken = app.unresolved_links("").await.expect("asked").expect("it stands");
    assert_eq!(broken.total, 0);
    assert_eq!(app.broken_links(links()).await.expect("asked"), Some(Vec::new()));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_note_that_is_not_shown_is_told_by_a_higher_revision() {
    let home = TestHome::new(&NOTES);
    let running = open_indexed(&home).await;
    let mut seen = wait_for_vault_info(&running, "how it stands", |vault| vault.indexing.is_none())
        .await
        .revision;
    save_by_rename(&home, "Harbour.md", "# Harbour\n\n- [ ] paint the boat\n");
    // It may rise for another reason before; who asks each time does not miss the edit.
    let found = loop {
        seen = wait_for_vault_info(&running, "a higher revision", |vault| vault.revision > seen)
            .await
            .revision;
        let tasks = running.app.list_tasks("boat").await.expect("asked").expect("it stands");
        if let Some(found) = tasks.notes.into_iter().next() {
            break found;
        }
    };
    assert_eq!(found.path, note_path("Harbour.md"));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_has_a_place_for_other_programs_and_nothing_else_has() {
    let home = TestHome::new(&NOTES);
    let running = open_indexed(&home).await;
    let file = running.app.note_file_path(note_path("House/Heating.md")).await.expect("a file");
    assert_eq!(std::fs::canonicalize(&file).expect("there"), file);
    assert!(file.ends_with("House/Heating.md"), "{}", file.display());
    for (asked, why) in [("House/photo.png", "isn’t a note"), ("House/Gone.md", "Gone")] {
        let refused = running.app.note_file_path(note_path(asked)).await.expect_err(asked);
        assert!(refused.message.contains(why), "{}", refused.message);
    }
    #[cfg(unix)]
    {
        let secret = tempfile::NamedTempFile::with_suffix(".md").expect("a file");
        std::os::unix::fs::symlink(secret.path(), home.notes.root().join("Link.md"))
            .expect("linked");
        running.app.note_file_path(note_path("Link.md")).await.expect_err("a link leads out");
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_resolved_from_its_note_and_a_private_one_is_read_too() {
    let home = TestHome::new(&NOTES);
    let image = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\0;";
    for file in ["plan.gif", "plan.desktop"] {
        std::fs::write(home.notes.root().join("House").join(file), image).expect("written");
    }
    let running = open_indexed(&home).await;
    let never = PrivateSettings { never: vec!["House/".to_owned()], ..PrivateSettings::default() };
    let settings = Settings { private: never, ..Settings::default() };
    running.app.save_settings(settings).await.expect("saved");
    for (link, source) in [
        ("plan.gif", Some(note_path("House/Heating.md"))),
        ("House/plan.gif", None),
        ("../House/plan.gif", Some(note_path("House/Heating.md"))),
    ] {
        let read = running.app.image(link.to_owned(), source).await.expect(link);
        assert_eq!(read.kind().media_type(), "image/gif", "{link}");
        assert_eq!(read.into_bytes(), image, "{link}");
    }
    for (link, why) in [
        ("House/photo.png", "isn’t a PNG"),
        ("Groceries.md", "isn’t a PNG"),
        ("Gone.png", "There is no image `Gone.png`"),
        ("../../plan.gif", "There is no image"),
    ] {
        let source = Some(note_path("House/Heating.md"));
        let refused = running.app.image(link.to_owned(), source).await.expect_err(link);
        assert!(refused.message.contains(why), "{}", refused.message);
    }
    let house = || Some(note_path("House/Heating.md"));
    let file = running.app.image_file_path("plan.gif".to_owned(), house()).await.expect("a file");
    assert_eq!(std::fs::canonicalize(&file).expect("there"), file);
    assert!(file.ends_with("House/plan.gif"), "{}", file.display());
    for (link, why) in [
        ("plan.desktop", "doesn’t have an image file extension"),
        ("photo.png", "isn’t a PNG"),
        ("Gone.png", "There is no image"),
    ] {
        let refused = running.app.image_file_path(link.to_owned(), house()).await.expect_err(link);
        assert!(refused.message.contains(why), "{}", refused.message);
    }
    running.quit().await;
}
