//! Moving, deleting, folders; and how readers see pending moves and deletions.

use llm::tool_api::tool::ToolEffect;
use serde_json::json;

use super::fixture::{PlanPolicy, ToolFixture};

fn bench() -> ToolFixture {
    ToolFixture::with(&[
        ("Garden.md", b"# Garden\n"),
        ("Projects/Plan.md", b"see [[Garden]]\n"),
        ("Projects/pic.png", b"png"),
        ("Old/Note.md", b"old\n"),
    ])
}

#[tokio::test]
async fn a_note_moves_by_name_and_keeps_its_extension() {
    let mut bench = bench();
    let call = json!({ "source": "Plan", "destination": "Archive/2026/The plan" });
    let answer = bench.call_ok("move_file", call).await;
    assert_eq!(answer.effect, Some(ToolEffect::Move));
    assert_eq!(answer.text, "Applied: move `Projects/Plan.md` to `Archive/2026/The plan.md`.");
    assert_eq!(bench.text("Archive/2026/The plan.md"), "see [[Garden]]\n");
    assert!(!bench.file("Projects/Plan.md").exists());
    bench
        .call_ok("move_file", json!({ "source": "Projects/pic.png", "destination": "pics/" }))
        .await;
    assert_eq!(bench.text("pics/pic.png"), "png");
    bench.call_ok("move_file", json!({ "source": "Projects/", "destination": "Was/" })).await;
    assert!(bench.file("Was/Projects").is_dir());
}

#[tokio::test]
async fn a_name_may_change_in_case_alone() {
    let mut bench = bench();
    bench.call_ok("move_file", json!({ "source": "Garden", "destination": "GARDEN" })).await;
    assert_eq!(bench.text("GARDEN.md"), "# Garden\n");
    assert!(!bench.file("Garden.md").exists());
}

#[tokio::test]
async fn a_move_says_what_is_in_its_way() {
    let mut bench = bench();
    for (source, destination, says) in [
        ("Garden", "Projects/Plan.md", "already exists"),
        ("Garden", "projects/plan.md", "already exists"),
        ("Garden", "Garden.md", "is already there"),
        ("Garden", "Garden.txt", "Keep its extension `.md`"),
        ("Gardn", "x.md", "Garden.md"),
        ("Projects/", "Projects/Inner", "into itself"),
        ("Garden", "../Garden.md", "consists of dots"),
        ("Garden", "CON.md", "device name"),
        ("Garden", ".obsidian/x.md", "protected"),
    ] {
        let call = json!({ "source": source, "destination": destination });
        let words = bench.call_err("move_file", call).await;
        assert!(words.contains(says), "{source} to {destination}: {words}");
    }
    assert_eq!(bench.text("Garden.md"), "# Garden\n");
}

#[tokio::test]
async fn a_name_without_an_extension_is_not_taken_for_the_folder_that_has_it() {
    let mut bench = bench();
    let call = json!({ "source": "Garden", "destination": "Old" });
    let words = bench.call_err("move_file", call).await;
    assert_eq!(
        words,
        "`Old` is a folder.\nTo move `Garden.md` into it give destination `Old/`.\nFor a new name \
         beside it write `Old.md`."
    );
    let call = json!({ "source": "Garden", "destination": "Old.md" });
    bench.call_ok("move_file", call).await;
    bench.call_ok("move_file", json!({ "source": "Old.md", "destination": "Old/" })).await;
    assert_eq!(bench.text("Old/Old.md"), "# Garden\n");
}

#[tokio::test]
async fn a_name_that_is_offered_is_free() {
    let mut bench = ToolFixture::with(&[("A.md", b"a"), ("B.md", b"b"), ("b 2.md", b"c")]);
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("write_file", json!({ "path": "B 3.md", "content": "waits" })).await;
    let words = bench.call_err("move_file", json!({ "source": "A", "destination": "B" })).await;
    assert!(words.ends_with("give destination `B 4.md`."), "{words}");
}

#[tokio::test]
async fn what_is_deleted_is_in_the_trash() {
    let mut bench = bench();
    let answer = bench.call_ok("delete_file", json!({ "path": "garden" })).await;
    assert_eq!(answer.effect, Some(ToolEffect::Delete));
    assert_eq!(bench.text(".trash/Garden.md"), "# Garden\n");
    let answer = bench.call_ok("delete_file", json!({ "path": "Old" })).await;
    assert_eq!(answer.text, "Applied: put the folder `Old` into the trash.");
    assert_eq!(bench.text(".trash/Old/Note.md"), "old\n");
    for path in [".trash/Garden.md", "../x.md", ".obsidian", "/"] {
        bench.call_err("delete_file", json!({ "path": path })).await;
    }
}

#[tokio::test]
async fn a_name_of_several_notes_is_not_taken_for_the_folder_that_has_it() {
    let mut bench = ToolFixture::with(&[
        ("Recipes/Recipes.md", b"# Recipes\n"),
        ("Archive/Recipes.md", b"old\n"),
    ]);
    for (tool, call) in [
        ("delete_file", json!({ "path": "Recipes" })),
        ("move_file", json!({ "source": "Recipes", "destination": "Food" })),
    ] {
        let words = bench.call_err(tool, call).await;
        assert!(words.starts_with("Several notes are called “Recipes”."), "{tool}: {words}");
    }
    assert_eq!(bench.text("Recipes/Recipes.md"), "# Recipes\n");
    // The control: with a `/` at its end it names the folder.
    bench.call_ok("move_file", json!({ "source": "Recipes/", "destination": "Food" })).await;
    bench.call_ok("delete_file", json!({ "path": "Food/" })).await;
    assert_eq!(bench.text(".trash/Food/Recipes.md"), "# Recipes\n");
}

#[tokio::test]
async fn a_note_with_a_pending_deletion_is_not_taken_for_the_folder_that_has_its_name() {
    let mut bench = ToolFixture::with(&[("Plan.md", b"plan\n"), ("Plan/Steps.md", b"steps\n")]);
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("delete_file", json!({ "path": "Plan" })).await;
    let words = bench.call_err("delete_file", json!({ "path": "Plan" })).await;
    assert!(words.contains("pending move or deletion"), "{words}");
    // The control: with a `/` at its end it names the folder.
    bench.call_ok("delete_file", json!({ "path": "Plan/" })).await;
}

#[tokio::test]
async fn a_folder_is_made_once() {
    let mut bench = bench();
    let answer = bench.call_ok("create_folder", json!({ "path": "New/Deep" })).await;
    assert_eq!(answer.effect, Some(ToolEffect::Folder));
    assert!(bench.file("New/Deep").is_dir());
    let again = bench.call_err("create_folder", json!({ "path": "new/deep" })).await;
    assert!(again.contains("`New/Deep` already exists"), "{again}");
    let note = bench.call_err("create_folder", json!({ "path": "Garden.md" })).await;
    assert_eq!(
        note,
        "`Garden.md` already exists.\nChoose another name: for example give path `Garden`."
    );
}

#[tokio::test]
async fn a_note_with_a_pending_move_is_read_edited_and_listed_at_its_new_path() {
    let mut bench = bench();
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("move_file", json!({ "source": "Projects/", "destination": "Work" })).await;
    assert_eq!(bench.text("Projects/Plan.md"), "see [[Garden]]\n", "nothing is written");
    let read = bench.call_ok("read_file", json!({ "path": "Work/Plan.md" })).await;
    assert!(read.text.contains("see [[Garden]]"), "{}", read.text);
    let edit = json!({ "path": "Plan", "old_text": "see", "new_text": "look at" });
    bench.call_ok("edit_file", edit).await;
    let found = bench.call_ok("search_files", json!({ "pattern": "look at" })).await;
    assert!(found.text.contains("Work/Plan.md"), "{}", found.text);
    let listed = bench.call_ok("list_files", json!({ "pattern": "**/*.md" })).await;
    assert!(listed.text.contains("Work/Plan.md"), "{}", listed.text);
    assert!(!listed.text.contains("Projects"), "{}", listed.text);
    for (tool, call) in [
        ("read_file", json!({ "path": "Projects/Plan.md" })),
        ("write_file", json!({ "path": "Projects/Plan.md", "content": "x" })),
        ("move_file", json!({ "source": "Projects/Plan.md", "destination": "x.md" })),
    ] {
        let words = bench.call_err(tool, call).await;
        assert!(words.contains("pending move or deletion"), "{tool}: {words}");
    }
}

#[tokio::test]
async fn a_folder_whose_creation_is_pending_is_not_moved_until_the_user_decides() {
    let mut bench =
        ToolFixture::with(&[("Index.md", b"see [[New/x]]\n"), ("Old/Note.md", b"old\n")]);
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("create_folder", json!({ "path": "New" })).await;
    // A note is created at once, and its folder with it.
    bench.policy = PlanPolicy::Apply;
    bench.call_ok("write_file", json!({ "path": "New/x.md", "content": "x\n" })).await;
    bench.policy = PlanPolicy::Wait;
    let moved = json!({ "source": "New/", "destination": "Work" });
    let words = bench.call_err("move_file", moved).await;
    assert!(words.contains("waits for the user"), "{words}");
    // The control: a folder around one that is pending is moved.
    bench.call_ok("create_folder", json!({ "path": "Old/Deep" })).await;
    bench.call_ok("move_file", json!({ "source": "Old/", "destination": "Was" })).await;
    let words =
        bench.call_err("move_file", json!({ "source": "Was/Deep", "destination": "Deep" })).await;
    assert!(words.contains("waits for the user"), "{words}");
}

#[tokio::test]
async fn a_note_whose_move_is_pending_is_not_deleted_until_the_user_decides() {
    let mut bench = bench();
    bench.policy = PlanPolicy::Wait;
    let moved = json!({ "source": "Garden", "destination": "Work/Yard" });
    bench.call_ok("move_file", moved).await;
    let words = bench.call_err("delete_file", json!({ "path": "Yard" })).await;
    assert!(words.contains("decide about it first"), "{words}");
    // The control: a note in a moved folder, and any other.
    bench.call_ok("move_file", json!({ "source": "Old/", "destination": "Was" })).await;
    for note in ["Was/Note.md", "Plan"] {
        bench.call_ok("delete_file", json!({ "path": note })).await;
    }
}

#[tokio::test]
async fn a_note_with_a_pending_deletion_is_gone_for_readers() {
    let mut bench = bench();
    bench.policy = PlanPolicy::Wait;
    bench.call_ok("delete_file", json!({ "path": "Garden" })).await;
    assert!(
        bench
            .call_err("read_file", json!({ "path": "Garden" }))
            .await
            .contains("pending move or deletion")
    );
    let listed = bench.call_ok("list_files", json!({ "pattern": "**/*.md" })).await;
    assert!(!listed.text.contains("Garden.md"), "{}", listed.text);
    bench.call_ok("append_file", json!({ "path": "Old/Note.md", "content": "x" })).await;
    let words = bench.call_err("delete_file", json!({ "path": "Old/" })).await;
    assert!(words.contains("decide about it first"), "{words}");
}

#[expect(clippy::disallowed_methods, reason = "a test looks at the bytes of its own files")]
#[tokio::test]
async fn a_move_names_the_notes_whose_links_it_leaves() {
    let wide: Vec<u8> =
        "\u{FEFF}see [[Garden]]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut bench = ToolFixture::with(&[
        ("Garden.md", b"# Garden\n"),
        ("Latin.md", b"caf\xe9 [[Garden]] and [[Garden|again]]\n"),
        ("Other.md", b"caf\xe9 [[Elsewhere]]\n"),
        ("Wide.md", &wide),
        ("Fixed.md", b"[[Garden]]\n"),
        ("Plan.md", b"[[Garden]]\n"),
    ]);
    let fixed = bench.file("Fixed.md");
    let mut mode = std::fs::metadata(&fixed).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&fixed, mode).unwrap();
    let call = json!({ "source": "Garden", "destination": "Home/Yard" });
    let answer = bench.call_ok("move_file", call).await;
    assert_eq!(
        answer.text,
        "Applied: move `Garden.md` to `Home/Yard.md`, and rewrite 1 link in 1 note so that they still lead \
         to the same place. 3 links in `Latin.md`, `Wide.md` will not lead to the same place, \
         because what is not UTF-8 text is not changed. Tell the user. 1 link in `Fixed.md` will \
         not lead to the same place, because write-protected notes are not changed. Tell the user."
    );
    assert_eq!(bench.text("Plan.md"), "[[Yard]]\n");
    assert_eq!(bench.text("Fixed.md"), "[[Garden]]\n");
    assert_eq!(
        std::fs::read(bench.file("Latin.md")).unwrap(),
        b"caf\xe9 [[Garden]] and [[Garden|again]]\n"
    );
    assert_eq!(std::fs::read(bench.file("Wide.md")).unwrap(), wide);
}

#[tokio::test]
async fn a_write_protected_note_is_refused_before_anything_is_planned() {
    let mut bench = ToolFixture::with(&[("Fixed.md", b"old\n")]);
    let fixed = bench.file("Fixed.md");
    let mut mode = std::fs::metadata(&fixed).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&fixed, mode).unwrap();
    bench.call_ok("read_file", json!({ "path": "Fixed" })).await;
    for (tool, call) in [
        ("edit_file", json!({ "path": "Fixed", "old_text": "old", "new_text": "new" })),
        ("append_file", json!({ "path": "Fixed", "content": "more" })),
        ("write_file", json!({ "path": "Fixed.md", "content": "new", "overwrite": true })),
        ("delete_file", json!({ "path": "Fixed" })),
    ] {
        let words = bench.call_err(tool, call).await;
        assert!(words.contains("is write-protected"), "{tool}: {words}");
    }
    bench.call_ok("move_file", json!({ "source": "Fixed", "destination": "Kept" })).await;
    assert_eq!(bench.text("Kept.md"), "old\n");
}
