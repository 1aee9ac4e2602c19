//! Editing, appending, writing.

use llm::tool_api::tool::ToolEffect;
use protocol::NotePath;
use serde_json::json;

use super::fixture::{PlanPolicy, ToolFixture};
use crate::ports::environment::{ActiveNote, ActiveNoteSource, SentNote};

async fn edited(before: &[u8], old: &str, new: &str) -> String {
    let mut bench = ToolFixture::with(&[("n.md", before)]);
    let edit = json!({ "path": "n.md", "old_text": old, "new_text": new });
    let answer = bench.call_ok("edit_file", edit).await;
    assert_eq!(answer.effect, Some(ToolEffect::Edit));
    bench.text("n.md")
}

#[tokio::test]
async fn an_edit_touches_only_the_bytes_it_names() {
    assert_eq!(edited(b"a\nb\nc", "b", "B").await, "a\nB\nc");
    assert_eq!(edited(b"a\r\nb\r\nc\n", "a\nb", "1\n2").await, "1\r\n2\r\nc\n");
    assert_eq!(edited(b"\xef\xbb\xbfa\nb", "a", "A").await, "\u{feff}A\nb");
    assert_eq!(edited("žába\nčáp".as_bytes(), "čáp", "").await, "žába\n");
}

#[tokio::test]
async fn a_text_that_is_not_there_is_answered_with_the_closest_lines() {
    let mut bench = ToolFixture::with(&[("n.md", b"# List\n- milk, 2 litres\n")]);
    let edit = json!({ "path": "n", "old_text": "- milk, 3 litres", "new_text": "x" });
    let words = bench.call_err("edit_file", edit).await;
    assert!(words.contains("2| - milk, 2 litres"), "{words}");
}

#[tokio::test]
async fn a_text_that_is_there_twice_is_answered_with_both_places() {
    let mut bench = ToolFixture::with(&[("n.md", b"tea\ncoffee\ntea\n")]);
    let edit = json!({ "path": "n", "old_text": "tea", "new_text": "mate" });
    let words = bench.call_err("edit_file", edit).await;
    assert!(words.contains("2 times") && words.ends_with("1| tea\n3| tea"), "{words}");
    assert_eq!(bench.text("n.md"), "tea\ncoffee\ntea\n");
}

#[tokio::test]
async fn replacing_all_needs_a_reading_of_what_is_there_now() {
    let mut bench = ToolFixture::with(&[("n.md", b"tea\ntea\n")]);
    let edit = json!({ "path": "n", "old_text": "tea", "new_text": "mate", "replace_all": true });
    assert!(bench.call_err("edit_file", edit.clone()).await.contains("was not read yet"));
    bench.call_ok("read_file", json!({ "path": "n" })).await;
    bench.write_externally("n.md", "tea\ntea\ntea\n");
    assert!(bench.call_err("edit_file", edit.clone()).await.contains("changed since it was read"));
    bench.call_ok("read_file", json!({ "path": "n" })).await;
    bench.call_ok("edit_file", edit).await;
    assert_eq!(bench.text("n.md"), "mate\nmate\nmate\n");
}

#[tokio::test]
async fn a_note_that_changed_elsewhere_is_edited_as_it_is_now_and_says_so() {
    let mut bench = ToolFixture::with(&[("n.md", b"one\ntwo\n")]);
    bench.call_ok("read_file", json!({ "path": "n" })).await;
    bench.write_externally("n.md", "zero\none\ntwo\n");
    let edit = json!({ "path": "n", "old_text": "two", "new_text": "2" });
    let answer = bench.call_ok("edit_file", edit).await;
    assert!(answer.text.contains("the note changed after it was read"), "{}", answer.text);
    assert_eq!(bench.text("n.md"), "zero\none\n2\n");
    let own = json!({ "path": "n", "old_text": "2", "new_text": "two" });
    assert!(!bench.call_ok("edit_file", own).await.text.contains("had changed"));
}

#[tokio::test]
async fn a_region_that_vanished_since_it_was_read_is_an_error_that_says_so() {
    let mut bench = ToolFixture::with(&[("n.md", b"one\ntwo\n")]);
    let hash = protocol::ContentHash::of(b"one\ntwo\n");
    bench.write_externally("n.md", "one\n");
    let edit = json!({
        "path": "n", "old_text": "two", "new_text": "2", "expect_hash": hash.short(),
    });
    let words = bench.call_err("edit_file", edit).await;
    assert!(words.contains("The note changed since it was read"), "{words}");
}

#[tokio::test]
async fn edits_that_would_do_nothing_are_refused() {
    let mut bench = ToolFixture::with(&[("n.md", b"one\n"), ("latin.md", b"caf\xe9")]);
    for (path, old, new, part) in [
        ("n", "", "x", "old_text is empty"),
        ("n", "one", "one", "would not change"),
        ("latin", "caf", "x", "not UTF-8"),
        ("missing", "a", "b", "There is no note “missing”"),
    ] {
        let edit = json!({ "path": path, "old_text": old, "new_text": new });
        let words = bench.call_err("edit_file", edit).await;
        assert!(words.contains(part), "{words}");
    }
}

#[tokio::test]
async fn fields_of_other_edits_that_are_unset_do_not_matter() {
    let mut bench = ToolFixture::with(&[("n.md", b"one\ntwo\n")]);
    let edit = |value: &str| json!({ "path": "n", "old_text": "two", "new_text": "2", "heading": "", "value": value });
    // The control: a value that is set is told.
    let words = bench.call_err("edit_file", edit("x")).await;
    assert!(words.contains("unknown field `value`"), "{words}");
    assert_eq!(bench.text("n.md"), "one\ntwo\n");
    bench.call_ok("edit_file", edit("")).await;
    assert_eq!(bench.text("n.md"), "one\n2\n");
}

#[tokio::test]
async fn a_section_is_edited_only_as_it_was_read() {
    let call = json!({ "path": "n", "heading": "A", "action": "append", "text": "x" });
    let mut bench = ToolFixture::with(&[("n.md", b"# A\none\n")]);
    assert!(bench.call_err("edit_section", call.clone()).await.contains("Read it first"));
    bench.call_ok("read_file", json!({ "path": "n" })).await;
    bench.write_externally("n.md", "zero\n# A\none\n");
    assert!(bench.call_err("edit_section", call.clone()).await.contains("Read it again"));
    let mut expecting = call.clone();
    expecting["expect_hash"] = json!(protocol::ContentHash::of(b"# A\none\n").short());
    assert!(bench.call_err("edit_section", expecting.clone()).await.contains("Read it again"));
    assert_eq!(bench.text("n.md"), "zero\n# A\none\n");
    let now = protocol::ContentHash::of(b"zero\n# A\none\n");
    expecting["expect_hash"] = json!(now.short());
    let answer = bench.call_ok("edit_section", expecting).await;
    assert_eq!(answer.effect, Some(ToolEffect::Edit));
}

#[tokio::test]
async fn a_property_is_set_without_a_reading_behind_a_byte_order_mark() {
    let mut bench = ToolFixture::with(&[("n.md", b"\xef\xbb\xbf---\r\na: 1\r\n---\r\ntext")]);
    let set = json!({ "path": "n", "property": "a", "action": "set", "value": 2 });
    bench.call_ok("set_property", set.clone()).await;
    assert_eq!(bench.text("n.md"), "\u{feff}---\r\na: 2\r\n---\r\ntext");
    assert!(bench.call_err("set_property", set.clone()).await.contains("No change needed"));
    bench.write_externally("n.md", "---\na: 1\n---\nmore\n");
    let answer = bench.call_ok("set_property", set).await;
    assert!(answer.text.contains("changed after it was read"), "{}", answer.text);
}

async fn appended(before: &[u8], content: &str, heading: Option<&str>) -> String {
    let mut bench = ToolFixture::with(&[("n.md", before)]);
    let append = json!({ "path": "n", "content": content, "heading": heading });
    let answer = bench.call_ok("append_file", append).await;
    assert_eq!(answer.effect, Some(ToolEffect::Create));
    bench.text("n.md")
}

#[tokio::test]
async fn lines_are_added_at_the_end_in_the_notes_own_form() {
    assert_eq!(appended(b"a\n", "b", None).await, "a\nb\n");
    assert_eq!(appended(b"a", "b\n", None).await, "a\nb\n");
    assert_eq!(appended(b"a\r\n", "b\nc", None).await, "a\r\nb\r\nc\r\n");
    assert_eq!(appended(b"a\r\nb", "c", None).await, "a\r\nb\r\nc\r\n");
    assert_eq!(appended(b"", "a", None).await, "a\n");
    assert_eq!(appended(b"\xef\xbb\xbf", "a", None).await, "\u{feff}a\n");
}

#[tokio::test]
async fn lines_are_added_at_the_end_of_the_text_under_a_heading() {
    let note = b"# A\none\n\n## B\ntwo\n\n# C";
    assert_eq!(appended(note, "x", Some("A")).await, "# A\none\nx\n\n## B\ntwo\n\n# C");
    assert_eq!(appended(note, "x", Some("## b")).await, "# A\none\n\n## B\ntwo\nx\n\n# C");
    assert_eq!(appended(note, "x", Some("C")).await, "# A\none\n\n## B\ntwo\n\n# C\nx\n");
}

#[tokio::test]
async fn a_heading_that_is_not_clear_is_answered_with_the_headings() {
    let mut bench = ToolFixture::with(&[("n.md", b"# A\n## B\n## b\n"), ("plain.md", b"text\n")]);
    for (path, heading, part) in [
        ("n", "Z", "Its headings are:\nline 1: # A\nline 2: ## B"),
        ("n", "B", "has 2 headings “B”"),
        ("plain", "A", "has no headings"),
        ("absent", "A", "There is no note `absent.md` yet"),
    ] {
        let append = json!({ "path": path, "content": "x", "heading": heading });
        let words = bench.call_err("append_file", append).await;
        assert!(words.contains(part), "{words}");
    }
    let clear = json!({ "path": "n", "content": "x", "heading": "## b" });
    assert!(bench.call_ok("append_file", clear).await.text.contains("under “b”"));
}

#[tokio::test]
async fn appending_creates_missing_notes_and_knows_the_daily_note() {
    let mut bench = ToolFixture::with(&[("Diary/2026-11-20.md", b"yesterday\n")]);
    bench.call_ok("append_file", json!({ "path": "inbox/Inbox.md", "content": "milk" })).await;
    assert_eq!(bench.text("inbox/Inbox.md"), "milk\n");
    let daily = json!({ "path": "daily", "content": "woke early" });
    let answer = bench.call_ok("append_file", daily).await;
    assert_eq!(answer.text, "Applied: create `2026-11-21.md` with 1 line.");
    let again = json!({ "path": "daily", "content": "slept" });
    assert_eq!(
        bench.call_ok("append_file", again).await.text,
        "Applied: append 1 line to `2026-11-21.md`."
    );
    assert_eq!(bench.text("2026-11-21.md"), "woke early\nslept\n");
}

#[tokio::test]
async fn a_bare_name_means_the_note_of_that_name_and_a_path_means_itself() {
    let mut bench = ToolFixture::with(&[
        ("Deep/inbox/Inbox.md", b"deep\n"),
        ("Diary/2026-11-21.md", b"rain\n"),
    ]);
    bench.call_ok("append_file", json!({ "path": "inbox/Inbox.md", "content": "milk" })).await;
    assert_eq!(bench.text("Deep/inbox/Inbox.md"), "deep\n");
    assert_eq!(bench.text("inbox/Inbox.md"), "milk\n");
    let daily = bench.call_ok("append_file", json!({ "path": "daily", "content": "sun" })).await;
    assert_eq!(daily.text, "Applied: append 1 line to `Diary/2026-11-21.md`.");
}

#[tokio::test]
async fn a_note_is_written_once_and_replaced_only_when_it_was_read() {
    let mut bench = ToolFixture::with(&[]);
    let new = bench.call_ok("write_file", json!({ "path": "A/Note", "content": "one\n" })).await;
    assert_eq!(new.effect, Some(ToolEffect::Create));
    assert_eq!(bench.text("A/Note.md"), "one\n");

    let mut bench = ToolFixture::with(&[("Note.md", b"one\n")]);
    let again = json!({ "path": "note.md", "content": "two\n" });
    assert!(bench.call_err("write_file", again).await.contains("`Note.md` already exists"));
    let replace = json!({ "path": "Note.md", "content": "two\n", "overwrite": true });
    assert!(bench.call_err("write_file", replace.clone()).await.contains("Read it first"));
    bench.call_ok("read_file", json!({ "path": "Note.md" })).await;
    bench.write_externally("Note.md", "one and more\n");
    assert!(
        bench.call_err("write_file", replace.clone()).await.contains("changed since it was read")
    );
    assert_eq!(bench.text("Note.md"), "one and more\n");
    bench.call_ok("read_file", json!({ "path": "Note.md" })).await;
    assert_eq!(bench.call_ok("write_file", replace).await.effect, Some(ToolEffect::Overwrite));
    assert_eq!(bench.text("Note.md"), "two\n");
}

#[tokio::test]
async fn a_path_means_itself_when_a_note_is_written() {
    let mut bench = ToolFixture::with(&[("Deep/Plan.md", b"deep\n")]);
    bench.call_ok("write_file", json!({ "path": "Plan.md", "content": "top\n" })).await;
    assert_eq!(
        (bench.text("Plan.md"), bench.text("Deep/Plan.md")),
        ("top\n".into(), "deep\n".into())
    );
    for path in ["../out.md", ".obsidian/x.md", "a:b.md"] {
        bench.call_err("write_file", json!({ "path": path, "content": "x" })).await;
    }
}

#[tokio::test]
async fn plans_stack_on_pending_plans() {
    let mut bench = ToolFixture::with(&[("n.md", b"one\n")]);
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("append_file", json!({ "path": "n", "content": "two" })).await;
    bench.call_ok("edit_file", json!({ "path": "n", "old_text": "two", "new_text": "2" })).await;
    bench.call_ok("write_file", json!({ "path": "new", "content": "a\n" })).await;
    bench.call_ok("append_file", json!({ "path": "new", "content": "b" })).await;
    let read = bench.call_ok("read_file", json!({ "path": "new" })).await.text;
    assert!(read.ends_with("1| a\n2| b"), "{read}");
    assert_eq!(bench.text("n.md"), "one\n");
    bench.policy = PlanPolicy::Apply;
    let read = bench.call_ok("read_file", json!({ "path": "n" })).await.text;
    assert!(read.ends_with("1| one\n2| 2"), "{read}");
}

#[tokio::test]
async fn the_daily_note_is_where_obsidian_keeps_it() {
    let settings: &[u8] = br#"{ "folder": "Diary", "format": "YYYY/MM-DD" }"#;
    let mut bench = ToolFixture::with(&[(".obsidian/daily-notes.json", settings)]);
    bench.call_ok("append_file", json!({ "path": "daily", "content": "woke early" })).await;
    assert_eq!(bench.text("Diary/2026/11-21.md"), "woke early\n");
    let read = bench.call_ok("read_file", json!({ "path": "daily" })).await;
    assert!(read.text.contains("woke early"), "{}", read.text);
}

#[tokio::test]
async fn a_note_that_was_shown_only_in_part_is_not_replaced_before_the_rest_was() {
    let text = b"# A\none\n\n# B\ntwo\nthree\n";
    let write = json!({ "path": "n.md", "content": "new\n", "overwrite": true });
    let section = |heading: &str| json!({ "path": "n", "heading": heading, "action": "replace", "text": "x" });
    let mut bench = ToolFixture::with(&[("n.md", text)]);
    bench.call_ok("read_file", json!({ "path": "n", "end_line": 3 })).await;
    let refused = bench.call_err("write_file", write.clone()).await;
    assert!(refused.contains("Line 4 of") && refused.contains("start_line 4"), "{refused}");
    let mut expecting = write.clone();
    expecting["expect_hash"] = json!(protocol::ContentHash::of(text).short());
    assert!(bench.call_err("write_file", expecting).await.contains("Line 4 of"));
    assert!(bench.call_err("edit_section", section("B")).await.contains("Line 5 of"));
    let mut append = section("B");
    append["action"] = json!("append");
    // The controls: nothing is lost by adding, nor in a section that was shown.
    bench.call_ok("edit_section", append).await;
    bench.call_ok("edit_section", section("A")).await;
    assert_eq!(bench.text("n.md"), "# A\nx\n\n# B\ntwo\nthree\nx\n");

    let mut bench = ToolFixture::with(&[("n.md", text)]);
    for (first, last) in [(1, 2), (3, 5), (6, 9)] {
        assert!(bench.call_err("write_file", write.clone()).await.contains("Read it"));
        let page = json!({ "path": "n", "start_line": first, "end_line": last });
        bench.call_ok("read_file", page).await;
    }
    bench.call_ok("write_file", write).await;
    assert_eq!(bench.text("n.md"), "new\n");
}

#[tokio::test]
async fn a_hash_without_the_lines_replaces_nothing() {
    let notes: [(&str, &[u8]); 1] = [("n.md", b"# A\none\n\n# B\ntwo\n")];
    let hash = protocol::ContentHash::of(notes[0].1).short().to_owned();
    let sent = SentNote::Sent(ActiveNote {
        path: NotePath::parse("n.md").unwrap(),
        source: ActiveNoteSource::Message,
        selected: String::new(),
        heading: None,
    });
    for tool in ["get_file_info", "get_active_note"] {
        let mut bench = ToolFixture::with(&notes);
        *bench.environment.0.lock().unwrap() = sent.clone();
        let of_note = if tool == "get_file_info" { json!({ "path": "n" }) } else { json!({}) };
        let about = bench.call_ok(tool, of_note).await.text;
        assert!(about.contains(&hash) && !about.contains("two"), "{about}");
        let section = json!({ "path": "n", "heading": "B", "action": "replace", "text": "x",
            "expect_hash": hash });
        let write = json!({ "path": "n.md", "content": "new\n", "overwrite": true,
            "expect_hash": hash });
        for (call, arguments) in [("edit_section", &section), ("write_file", &write)] {
            let refused = bench.call_err(call, arguments.clone()).await;
            assert!(refused.contains("was not shown"), "{tool}, {call}: {refused}");
        }
        assert_eq!(bench.text("n.md").as_bytes(), notes[0].1, "{tool}");
        // The controls: the same calls work once the lines were shown.
        bench.call_ok("read_file", json!({ "path": "n" })).await;
        bench.call_ok("edit_section", section).await;
        assert_eq!(bench.text("n.md"), "# A\none\n\n# B\nx\n", "{tool}");
        let now = json!({ "path": "n.md", "content": "new\n", "overwrite": true });
        bench.call_ok("write_file", now).await;
        assert_eq!(bench.text("n.md"), "new\n", "{tool}");
    }
}

#[tokio::test]
async fn a_path_that_leads_on_from_a_file_is_not_that_file() {
    for path in ["Plan.md/x.md", "data.csv/x.md", "Plan.md/deep/x.md"] {
        let mut bench = ToolFixture::with(&[("Plan.md", b"plan\n"), ("data.csv", b"1,2\n")]);
        bench.call_ok("read_file", json!({ "path": "Plan.md" })).await;
        let append = json!({ "path": path, "content": "more" });
        let words = bench.call_err("append_file", append).await;
        assert!(words.contains("a file, not a folder"), "{path}: {words}");
        let write = json!({ "path": path, "content": "all new", "overwrite": true });
        bench.call_err("write_file", write).await;
        assert_eq!(
            (bench.text("Plan.md"), bench.text("data.csv")),
            ("plan\n".into(), "1,2\n".into())
        );
    }
}
