//! Links: kept by moves and creations, told by tools that look.

use llm::tool_api::tool::ToolEffect;
use serde_json::json;

use super::fixture::{PlanPolicy, ToolFixture};

fn bench() -> ToolFixture {
    ToolFixture::with(&[
        (
            "Garden.md",
            b"---\ntags: [plants]\n---\n# Garden\n\nSee [[Plan]] and [[Gone]].\n\n## Herbs\n",
        ),
        ("Projects/Plan.md", b"up: [[Garden#Herbs|herbs]]\r\n[back](../Garden.md) `[[Garden]]`"),
        ("Diary.md", b"![[Garden]] #daily\n[[projects/plan]]\n"),
        ("Board.canvas", br#"{"nodes":[{"type":"file","file":"Garden.md"}]}"#),
        ("Latin.md", b"caf\xe9 [[Garden]]"),
    ])
}

#[tokio::test]
async fn a_move_rewrites_every_link_in_one_plan() {
    let mut bench = bench();
    let call = json!({ "source": "Garden", "destination": "Areas/Plot" });
    let answer = bench.call_ok("move_file", call).await;
    assert_eq!(answer.effect, Some(ToolEffect::Move));
    assert_eq!(
        answer.text,
        "Applied: move `Garden.md` to `Areas/Plot.md`, and rewrite 4 links in 3 notes so that they still \
         lead to the same place. 1 link in `Latin.md` will not lead to the same place, because what \
         is not UTF-8 text is not changed. Tell the user."
    );
    assert_eq!(
        bench.text("Projects/Plan.md"),
        "up: [[Plot#Herbs|herbs]]\r\n[back](../Areas/Plot.md) `[[Garden]]`"
    );
    assert_eq!(bench.text("Diary.md"), "![[Plot]] #daily\n[[projects/plan]]\n");
    assert_eq!(bench.text("Board.canvas"), r#"{"nodes":[{"type":"file","file":"Areas/Plot.md"}]}"#);
    let answer =
        bench.call_ok("move_file", json!({ "source": "Projects/", "destination": "P" })).await;
    assert!(answer.text.contains("rewrite 1 link in 1 note"), "{}", answer.text);
    assert_eq!(bench.text("Diary.md"), "![[Plot]] #daily\n[[P/Plan]]\n");
    assert_eq!(
        bench.text("P/Plan.md"),
        "up: [[Plot#Herbs|herbs]]\r\n[back](../Areas/Plot.md) `[[Garden]]`"
    );
}

#[tokio::test]
async fn pending_moves_are_seen_by_the_next_one() {
    let mut bench = bench();
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("move_file", json!({ "source": "Garden", "destination": "Plot" })).await;
    bench.call_ok("move_file", json!({ "source": "Plot", "destination": "Areas/Acre" })).await;
    let read = bench.call_ok("read_file", json!({ "path": "Projects/Plan.md" })).await;
    assert!(read.text.contains("up: [[Acre#Herbs|herbs]]"), "{}", read.text);
    assert!(read.text.contains("[back](../Areas/Acre.md)"), "{}", read.text);
    let links = bench.call_ok("get_links", json!({ "path": "Acre", "direction": "in" })).await;
    assert_eq!(
        links.text,
        "3 notes link to `Areas/Acre.md`:\n- `Board.canvas`, line 1\n- `Diary.md`, line 1\n- \
         `Projects/Plan.md`, lines 1, 2"
    );
    assert!(bench.text("Diary.md").contains("[[Garden]]"), "nothing is written");
}

#[tokio::test]
async fn a_new_note_takes_over_no_link_and_is_reviewed_when_others_must_change() {
    let mut bench = bench();
    let call = json!({ "path": "Plan.md", "content": "another" });
    let answer = bench.call_ok("write_file", call).await;
    assert_eq!(answer.effect, Some(ToolEffect::Edit));
    assert!(
        answer
            .text
            .ends_with("rewrite 1 link in 1 note so that they still lead to the same place.")
    );
    assert!(bench.text("Garden.md").contains("See [[Projects/Plan]] and [[Gone]]."));
    let call = json!({ "path": "Gone.md", "content": "here now" });
    assert_eq!(bench.call_ok("append_file", call).await.effect, Some(ToolEffect::Create));
    assert!(bench.text("Garden.md").contains("and [[Gone]]."));
}

#[tokio::test]
async fn a_name_that_links_cannot_spell_is_refused_with_the_reason() {
    let mut bench = bench();
    let call = json!({ "source": "Garden", "destination": "Garden #2" });
    let words = bench.call_err("move_file", call).await;
    assert!(words.contains("Choose a name without `#`"), "{words}");
    assert!(words.contains("- `Diary.md`, line 1: "), "{words}");
}

#[tokio::test]
async fn a_deletion_says_how_many_links_led_there() {
    let answer = bench().call_ok("delete_file", json!({ "path": "Garden" })).await;
    assert_eq!(
        answer.text,
        "Applied: put `Garden.md` into the trash, which breaks 4 links in 3 notes."
    );
}

#[tokio::test]
async fn links_are_shown_with_where_they_lead() {
    let mut bench = bench();
    let answer = bench.call_ok("get_links", json!({ "path": "garden" })).await;
    assert_eq!(
        answer.text,
        "`Garden.md` has 2 links:\n- line 6: `Projects/Plan.md`\n- line 6: “Gone”, which does not \
         exist\n3 notes link to `Garden.md`:\n- `Board.canvas`, line 1\n- `Diary.md`, line 1\n- \
         `Projects/Plan.md`, lines 1, 2"
    );
    bench.write_externally("Plan.md", "");
    let answer = bench.call_ok("get_links", json!({ "path": "Garden", "direction": "out" })).await;
    assert!(
        answer.text.contains("`Plan.md` (“Plan” could also mean `Projects/Plan.md`)"),
        "{}",
        answer.text
    );
    let words = bench.call_err("get_links", json!({ "path": "Gardn" })).await;
    assert!(words.contains("- `Garden.md`"), "{words}");
}

#[tokio::test]
async fn a_note_is_told_about_without_its_text() {
    let mut bench = bench();
    let answer = bench.call_ok("get_file_info", json!({ "path": "Garden" })).await;
    let (head, rest) = answer.text.split_once("\nChanged 20").unwrap();
    assert_eq!(head.split(" · hash").next(), Some("`Garden.md` · 70 bytes · 8 lines · 6 words"));
    assert!(head.ends_with(
        "\nProperties:\n- tags: plants\nTags: #plants\nOutline:\n- line 4: # Garden\n- line 8: ## Herbs"
    ), "{head}");
    assert!(rest.contains("created 20"), "{rest}");
    assert!(rest.contains("`Garden.md` has 2 links:"), "{rest}");
    assert!(rest.contains("3 notes link to `Garden.md`:"), "{rest}");
    let answer = bench.call_ok("get_file_info", json!({ "path": "Latin" })).await;
    assert!(answer.text.contains("It is not a note with text."), "{}", answer.text);
    bench.policy = PlanPolicy::Wait;
    let edit = json!({ "path": "Diary", "old_text": "#daily", "new_text": "#weekly" });
    bench.call_ok("edit_file", edit).await;
    let answer = bench.call_ok("get_file_info", json!({ "path": "Diary" })).await;
    assert!(
        answer.text.contains("Tags: #weekly") && answer.text.contains("wait"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn links_in_private_notes_are_kept_and_not_mentioned() {
    let notes: &[(&str, &[u8])] = &[
        ("Garden.md", b""),
        ("a.md", b"[[Garden]]"),
        ("Secret/x.md", b"[[Garden]] [[Garden]]"),
        ("y.md", b"#secret [[Garden]]"),
    ];
    let mut bench = ToolFixture::with_private(&["Secret", "#secret"], notes);
    let links = bench.call_ok("get_links", json!({ "path": "Garden", "direction": "in" })).await;
    assert_eq!(links.text, "1 note links to `Garden.md`:\n- `a.md`, line 1");
    let words =
        bench.call_err("move_file", json!({ "source": "Garden", "destination": "#1" })).await;
    assert!(words.contains("`a.md`") && !words.to_lowercase().contains("secret"), "{words}");
    assert!(!words.contains("y.md"), "{words}");
    let call = json!({ "source": "Garden", "destination": "Plot" });
    let answer = bench.call_ok("move_file", call).await;
    assert!(answer.text.contains("rewrite 1 link in 1 note "), "{}", answer.text);
    assert_eq!(bench.text("Secret/x.md"), "[[Plot]] [[Plot]]");
    assert_eq!(bench.text("y.md"), "#secret [[Plot]]");
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the test makes a file that no path can name")]
async fn a_move_says_that_links_in_what_cannot_be_read_stay_as_they_are() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut bench = bench();
    let odd = bench.file("Garden.md").with_file_name(OsStr::from_bytes(b"\xff.md"));
    std::fs::write(odd, "[[Garden]]").unwrap();
    let call = json!({ "source": "Garden", "destination": "Areas/Plot" });
    let answer = bench.call_ok("move_file", call).await;
    assert!(answer.text.contains("1 place of the vault that cannot be read"), "{}", answer.text);
}
