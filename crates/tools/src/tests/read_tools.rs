//! Reading, listing, searching, finding.

use protocol::{NotePath, ToolEvent};
use serde_json::json;

use super::fixture::{PlanPolicy, ToolFixture};
use crate::ports::environment::{ActiveNote, ActiveNoteSource, SentNote};

fn house() -> ToolFixture {
    ToolFixture::with(&[
        ("Groceries.md", b"# Groceries\n\n- milk\n- brown bread\n"),
        ("House/Boiler.md", b"# Boiler\n\nPressure 1.2 to 1.5 bar.\n"),
        ("House/Plan.md", b"plan of the house\n"),
        ("Garden/Plan.md", b"plan of the garden\n"),
        ("latin.md", b"caf\xe9\n"),
        ("bom.md", b"\xef\xbb\xbfone\r\ntwo"),
    ])
}

#[tokio::test]
async fn a_note_is_read_by_its_name_with_numbers_and_hash() {
    let mut bench = house();
    let answer = bench.call_ok("read_file", json!({ "path": "groceries" })).await;
    let head = answer.text.lines().next().unwrap();
    assert!(head.starts_with("`Groceries.md` · 4 lines · hash "), "{head}");
    assert!(answer.text.ends_with("---\n1| # Groceries\n2| \n3| - milk\n4| - brown bread"));
    let path = NotePath::parse("Groceries.md").unwrap();
    assert_eq!(answer.reactions, [ToolEvent::Read { path }]);
}

#[tokio::test]
async fn a_range_shows_just_those_lines_and_a_wrong_one_says_what_there_is() {
    let mut bench = house();
    let range = json!({ "path": "Groceries", "start_line": 3, "end_line": 3 });
    assert!(bench.call_ok("read_file", range).await.text.ends_with("---\n3| - milk"));
    let beyond = json!({ "path": "Groceries", "start_line": 9 });
    assert!(bench.call_err("read_file", beyond).await.contains("has only 4 lines"));
    let reversed = json!({ "path": "Groceries", "start_line": 3, "end_line": 2 });
    assert!(bench.call_err("read_file", reversed).await.contains("is before start_line"));
}

#[tokio::test]
async fn the_rest_of_a_line_that_was_cut_is_read_from_where_it_was_cut() {
    let line = format!("{}the end", "word ".repeat(20_000));
    let mut bench = ToolFixture::with(&[("Long.md", format!("{line}\nnext\n").as_bytes())]);
    let cut = bench.call_ok("read_file", json!({ "path": "Long" })).await.text;
    assert!(!cut.contains("the end"));
    assert!(cut.ends_with("Go on with start_line 1 and line_offset 100000."), "{}", cut.len());
    let write = json!({ "path": "Long.md", "content": "short\n", "overwrite": true });
    assert!(bench.call_err("write_file", write.clone()).await.contains("Line 1 of"));
    let rest = json!({ "path": "Long", "start_line": 1, "line_offset": 100_000 });
    let rest = bench.call_ok("read_file", rest).await.text;
    assert!(rest.ends_with("1| [goes on at byte 100000] the end\n2| next"), "{rest}");
    let beyond = json!({ "path": "Long", "start_line": 2, "line_offset": 4 });
    assert!(bench.call_err("read_file", beyond).await.contains("has only 4 bytes"));
    bench.call_ok("write_file", write).await;
    assert_eq!(bench.text("Long.md"), "short\n");
}

#[tokio::test]
async fn a_byte_order_mark_and_line_ends_do_not_show_and_other_encodings_are_refused() {
    let mut bench = house();
    let text = bench.call_ok("read_file", json!({ "path": "bom.md" })).await.text;
    assert!(text.ends_with("---\n1| one\n2| two"), "{text:?}");
    assert!(bench.call_err("read_file", json!({ "path": "latin" })).await.contains("not UTF-8"));
}

#[tokio::test]
async fn a_name_that_is_not_clear_is_answered_with_the_paths_to_choose_from() {
    let mut bench = house();
    let several = bench.call_err("read_file", json!({ "path": "Plan" })).await;
    assert!(several.ends_with("- `Garden/Plan.md`\n- `House/Plan.md`"), "{several}");
    let near = bench.call_err("read_file", json!({ "path": "Grocery" })).await;
    assert!(near.contains("- `Groceries.md`"), "{near}");
    let outside = bench.call_err("read_file", json!({ "path": "../secret.md" })).await;
    assert!(outside.contains(".."), "{outside}");
}

#[tokio::test]
async fn pending_changes_are_read_found_and_searched_as_if_applied() {
    let mut bench = house();
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("append_file", json!({ "path": "Groceries", "content": "- xylophone" })).await;
    bench.call_ok("write_file", json!({ "path": "Music/Band", "content": "xylophone\n" })).await;
    let read = bench.call_ok("read_file", json!({ "path": "Groceries" })).await.text;
    assert!(read.contains("wait for the user's review") && read.contains("5| - xylophone"));
    let by_title = bench.call_ok("read_file", json!({ "path": "band" })).await.text;
    assert!(by_title.starts_with("`Music/Band.md`"), "{by_title}");
    let search = bench.call_ok("search_files", json!({ "pattern": "xylo" })).await.text;
    assert!(search.contains("2 matching lines in 2 notes"), "{search}");
    let find = bench.call_ok("find_notes", json!({ "query": "xylophone" })).await.text;
    assert!(find.starts_with("2 notes match; the best 2:"), "{find}");
    assert!(!bench.file("Music/Band.md").exists());
    assert!(!bench.text("Groceries.md").contains("xylophone"));
}

#[tokio::test]
async fn listing_is_by_pattern_and_tells_the_true_total() {
    let mut bench = house();
    let all = bench.call_ok("list_files", json!({ "pattern": "**/*.md" })).await;
    assert!(all.text.starts_with("6 entries match `**/*.md`, newest first:"), "{}", all.text);
    let cut = bench.call_ok("list_files", json!({ "pattern": "**/*.md", "max_results": 2 })).await;
    assert!(cut.text.starts_with("6 entries match"), "{}", cut.text);
    assert!(cut.text.contains("4 more are not shown"), "{}", cut.text);
    let folder = bench.call_ok("list_files", json!({ "path": "House/" })).await.text;
    assert!(folder.starts_with("2 entries match `House/*`"), "{folder}");
    let none = bench.call_ok("list_files", json!({ "pattern": "*.txt" })).await.text;
    assert!(none.starts_with("Nothing matches `*.txt`"), "{none}");
}

#[tokio::test]
async fn the_top_folder_is_listed_without_a_path() {
    let mut bench = house();
    for path in ["", " ", ".", "./", "/", "/."] {
        let refused = bench.call_err("list_files", json!({ "path": path })).await;
        assert!(refused.contains("Leave out path"), "{path:?}: {refused}");
    }
    let absolute = bench.call_err("list_files", json!({ "path": "/House" })).await;
    assert!(absolute.contains("is absolute"), "{absolute}");
}

#[expect(clippy::disallowed_methods, reason = "the test makes files that no tool would make")]
#[tokio::test]
async fn a_name_that_is_not_utf8_is_named_byte_by_byte_as_unlisted() {
    use std::os::unix::ffi::OsStrExt;
    let mut bench = house();
    for name in [b"bad\xFF.md", b"bad\xFE.md"] {
        std::fs::write(bench.file("").join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let listed = bench.call_ok("list_files", json!({ "pattern": "**/*.md" })).await.text;
    assert!(listed.starts_with("6 entries"), "{listed}");
    for name in [r"`bad\xFF.md`: its name is not UTF-8", r"`bad\xFE.md`: its name is not UTF-8"] {
        assert!(listed.contains(name), "{listed}");
    }
    let elsewhere = bench.call_ok("list_files", json!({ "path": "House" })).await.text;
    assert!(!elsewhere.contains("Left out"), "{elsewhere}");
}

#[tokio::test]
async fn searching_shows_hits_with_their_lines_and_explains_a_bad_pattern() {
    let mut bench = house();
    let hit =
        bench.call_ok("search_files", json!({ "pattern": "BROWN", "context_lines": 1 })).await;
    assert!(hit.text.contains("`Groceries.md`\n  3| - milk\n> 4| - brown bread"), "{}", hit.text);
    assert_eq!(hit.reactions, [ToolEvent::Searched { query: "BROWN".to_owned(), hits: 1 }]);
    let cased = json!({ "pattern": "BROWN", "case_sensitive": true });
    assert!(bench.call_ok("search_files", cased).await.text.starts_with("No line matches"));
    let bad = bench.call_err("search_files", json!({ "pattern": "(milk" })).await;
    assert!(bad.contains(r"\(milk"), "{bad}");
}

#[tokio::test]
async fn finding_returns_passages_for_the_window_and_text_for_the_model() {
    let mut bench = house();
    let found = bench.call_ok("find_notes", json!({ "query": "boiler pressure" })).await;
    assert!(found.text.contains("`House/Boiler.md`"), "{}", found.text);
    let [ToolEvent::Passages { query, passages, .. }] = found.reactions.as_slice() else {
        panic!("{:?}", found.reactions)
    };
    assert_eq!((query.as_str(), passages[0].path.as_str()), ("boiler pressure", "House/Boiler.md"));
    bench.write_externally("House/Heat.md", "---\naliases: [Radiator]\n---\nwarm\n");
    let alias = bench.call_ok("find_notes", json!({ "query": "radiator" })).await.text;
    assert!(alias.contains("`House/Heat.md` line 1, in an alias"), "{alias}");
    let none = bench.call_ok("find_notes", json!({ "query": "zeppelin" })).await.text;
    assert!(none.starts_with("No note matches “zeppelin”."), "{none}");
}

#[tokio::test]
async fn finding_is_narrowed_by_folder_tags_property_and_links() {
    let mut bench = ToolFixture::with(&[
        ("Projects/Garden.md", b"---\nstatus: Done\n---\nbeans #food/green [[Soil]]\n"),
        ("Projects/Kitchen.md", b"---\nstatus: open\n---\nbeans #food\n"),
        ("Diary.md", b"beans with [[Soil]]\n"),
        ("Soil.md", b"earth\n"),
    ]);
    let mut check = async |narrow: serde_json::Value, paths: &[&str]| {
        let mut arguments = json!({ "query": "beans" });
        arguments.as_object_mut().unwrap().extend(narrow.as_object().unwrap().clone());
        let found = bench.call_ok("find_notes", arguments).await;
        let [ToolEvent::Passages { passages, .. }] = found.reactions.as_slice() else {
            panic!("{:?}", found.reactions)
        };
        let mut found: Vec<_> = passages.iter().map(|passage| passage.path.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, paths, "{narrow}");
    };
    check(json!({}), &["Diary.md", "Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "folder": "projects/" }), &["Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "tags": ["#food"] }), &["Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "tags": ["food", "Food/Green"] }), &["Projects/Garden.md"]).await;
    check(json!({ "property": "status: done" }), &["Projects/Garden.md"]).await;
    check(json!({ "property": "Status" }), &["Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "linked_to": "soil" }), &["Diary.md", "Projects/Garden.md"]).await;
    check(json!({ "linked_to": "soil", "folder": "Projects" }), &["Projects/Garden.md"]).await;
    let none =
        bench.call_err("find_notes", json!({ "query": "beans", "folder": "Porjects" })).await;
    assert!(none.contains("`Projects"), "{none}");
}

#[tokio::test]
async fn filters_alone_find_notes() {
    let mut bench = ToolFixture::with(&[
        ("Projects/Garden.md", b"---\nstatus: done\n---\n# Beds\n\nbeans #food\n"),
        ("Projects/Kitchen.md", b"#food\n"),
        ("Diary.md", b"with [[Kitchen]]\n"),
    ]);
    let mut check = async |arguments: serde_json::Value, paths: &[&str]| {
        let found = bench.call_ok("find_notes", arguments.clone()).await;
        let [ToolEvent::Passages { passages, .. }] = found.reactions.as_slice() else {
            panic!("{:?}", found.reactions)
        };
        let found: Vec<_> = passages.iter().map(|passage| passage.path.as_str()).collect();
        assert_eq!(found, paths, "{arguments}");
    };
    check(json!({ "tags": ["food"] }), &["Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "query": " ", "property": "status: done" }), &["Projects/Garden.md"]).await;
    check(json!({ "folder": "Projects" }), &["Projects/Garden.md", "Projects/Kitchen.md"]).await;
    check(json!({ "linked_to": "Kitchen" }), &["Diary.md"]).await;
    check(json!({ "tags": ["zzz"] }), &[]).await;
    check(json!({ "tags": ["food"], "limit": 1 }), &["Projects/Garden.md"]).await;
    let told = bench.call_ok("find_notes", json!({ "property": "status" })).await.text;
    let expected = "1 note matches; the first 1:\n\n`Projects/Garden.md` line 6, under “Beds”\n> \
                    beans #food";
    assert_eq!(told, expected);
    let nothing = bench.call_err("find_notes", json!({ "query": " " })).await;
    assert!(nothing.starts_with("There is nothing to look for."), "{nothing}");
}

#[tokio::test]
async fn a_note_is_shown_to_the_user_at_a_heading() {
    let mut bench = house();
    let path = NotePath::parse("House/Boiler.md").unwrap();
    let shown = bench.call_ok("show_note", json!({ "path": "boiler" })).await;
    assert_eq!(shown.text, "Shown to the user: `House/Boiler.md`");
    assert_eq!(shown.reactions, [ToolEvent::OpenNote { path: path.clone(), line: None }]);
    let at = bench.call_ok("show_note", json!({ "path": "boiler", "heading": "boiler" })).await;
    assert_eq!(at.reactions, [ToolEvent::OpenNote { path, line: Some(1) }]);
    let none =
        bench.call_err("show_note", json!({ "path": "boiler", "heading": "Zeppelin" })).await;
    assert!(none.contains("has no heading “Zeppelin”"), "{none}");
}

#[tokio::test]
async fn the_open_note_and_the_clock_come_from_the_desk() {
    let mut bench = house();
    let none = bench.call_ok("get_active_note", json!({})).await.text;
    assert!(none.starts_with("No note is open."), "{none}");
    let path = NotePath::parse("House/Boiler.md").unwrap();
    let (selected, heading) = ("set to 1.2\nbar".to_owned(), Some("Pressure".to_owned()));
    let active = ActiveNote { path, source: ActiveNoteSource::Message, selected, heading };
    *bench.environment.0.lock().unwrap() = SentNote::Sent(active.clone());
    let open = bench.call_ok("get_active_note", json!({})).await.text;
    assert!(
        open.starts_with("`House/Boiler.md` · open when the user sent the message · hash "),
        "{open}"
    );
    assert!(open.ends_with("these words under “Pressure”:\n> set to 1.2\n> bar"), "{open}");
    let away = NotePath::parse("Gone/Boiler.md").unwrap();
    *bench.environment.0.lock().unwrap() = SentNote::Sent(ActiveNote { path: away, ..active });
    let gone = bench.call_ok("get_active_note", json!({})).await.text;
    assert!(gone.contains("not there any more") && !gone.contains("1.2"), "{gone}");
    let now = bench.call_ok("get_current_time", json!({})).await.text;
    assert_eq!(now, "Saturday, 2026-11-21 09:30:00 +01:00 (Europe/Ljubljana)");
}

#[tokio::test]
async fn without_a_note_of_ours_the_one_that_obsidian_has_open_counts() {
    let workspace: &[u8] = br#"{ "lastOpenFiles": ["Boiler.md"] }"#;
    let mut bench =
        ToolFixture::with(&[(".obsidian/workspace.json", workspace), ("Boiler.md", b"x")]);
    let open = bench.call_ok("get_active_note", json!({})).await.text;
    assert!(open.starts_with("`Boiler.md` · open in Obsidian (this may lag behind"), "{open}");
    // It is likely the note that the user excluded.
    *bench.environment.0.lock().unwrap() = SentNote::Excluded;
    let excluded = bench.call_ok("get_active_note", json!({})).await.text;
    assert!(excluded.starts_with("The user did not send the open note"), "{excluded}");
    assert!(!excluded.contains("Boiler"), "{excluded}");
}

#[tokio::test]
async fn tags_are_listed_with_the_notes_that_have_them() {
    let notes: [(&str, &[u8]); 2] = [("a.md", b"#food/bread #tea"), ("b.md", b"#food")];
    let mut bench = ToolFixture::with(&notes);
    let all = bench.call_ok("list_tags", json!({})).await.text;
    assert_eq!(all, "3 tags:\n- #food, 2 notes\n- #food/bread, 1 note\n- #tea, 1 note");
    let some = bench.call_ok("list_tags", json!({ "pattern": "#Bread" })).await.text;
    assert_eq!(some, "1 tag:\n- #food/bread, 1 note");
    let cut = bench.call_ok("list_tags", json!({ "limit": 2 })).await.text;
    assert!(cut.ends_with("and 1 more, not shown: raise `limit` or give a `pattern`."), "{cut}");
    let none = bench.call_ok("list_tags", json!({ "pattern": "wine" })).await.text;
    assert_eq!(none, "No tag has “wine” in its name. Leave out `pattern` to see all.");
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("write_file", json!({ "path": "c", "content": "#wine" })).await;
    let planned = bench.call_ok("list_tags", json!({ "pattern": "wine" })).await.text;
    assert_eq!(planned, "1 tag:\n- #wine, 1 note");
}
