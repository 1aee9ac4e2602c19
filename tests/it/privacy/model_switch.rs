//! Counts that a model got which may see more notes than the one that reads them: they tell of notes
//! that nobody named.

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{home_with_key, settings_with_model, settings_without_model};

const NOTES: [(&str, &str); 5] = [
    ("Work/A.md", "pregnant #all\n"),
    ("Work/B.md", "pregnant #home #all\n"),
    ("Work/C.md", "pregnant #home #all\n"),
    ("Work/D.md", "pregnant #home #all\n"),
    ("Open.md", "# Open\n"),
];

/// The author of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Author {
    LocalModel,
    CloudModel,
    Command,
}

pub(super) fn settings(model: &ScriptedModel, local: &[&str], is_local: bool) -> Settings {
    let local = local.iter().map(|rule| (*rule).to_owned()).collect();
    let private =
        PrivateSettings { local, endpoint_is_local: is_local, ..PrivateSettings::default() };
    Settings { private, ..settings_with_model(model) }
}

/// The messages that a cloud model gets after `author` made the call and spoke of it.
async fn told_after_switch(
    author: Author,
    call: (&'static str, Value),
    local: &[&str],
    restarts: bool,
) -> String {
    let home = home_with_key(&NOTES);
    let mut replies = vec![Reply::text("Well.")];
    if author != Author::Command {
        replies.splice(0..0, [Reply::calls(vec![call]), Reply::text("There are 4 canaries.")]);
    }
    let model = ScriptedModel::start(replies).await;
    let first = match author {
        Author::LocalModel => settings(&model, local, true),
        Author::CloudModel => settings(&model, local, false),
        Author::Command => {
            Settings { private: settings(&model, local, false).private, ..settings_without_model() }
        }
    };
    let mut running = home.open(first).await;
    let words = if author == Author::Command { "tags all" } else { "how many?" };
    let conversation = running.send_and_wait(None, words).await;
    let cloud = settings(&model, local, false);
    if restarts {
        running.quit().await;
        running = home.open(cloud).await;
    } else {
        running.replace_settings(cloud).await;
    }
    running.send_and_wait(Some(&conversation), "go on").await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_of_notes_for_local_models_is_withheld_from_others() {
    let shown_in_part: [(&str, Value); 6] = [
        ("search_files", json!({ "pattern": "pregnant", "max_results": 1, "context_lines": 0 })),
        (
            "search_files",
            json!({ "pattern": "pregnant", "file_pattern": "Work/*.md", "max_results": 1 }),
        ),
        ("find_notes", json!({ "query": "pregnant", "limit": 1 })),
        ("list_files", json!({ "path": "Work", "max_results": 1 })),
        ("list_files", json!({ "pattern": "**/*.md", "max_results": 1 })),
        ("list_tags", json!({ "pattern": "all" })),
    ];
    for (number, call) in shown_in_part.into_iter().enumerate() {
        let restarts = number % 2 == 0;
        let name = format!("{call:?}");
        let told = told_after_switch(Author::LocalModel, call.clone(), &["#home"], restarts).await;
        assert!(!told.contains("There are 4 canaries"), "{name}: {told}");
        assert!(told.contains("withheld") && told.contains("how many?"), "{name}: {told}");
        assert!(!told.contains(" in 4 notes") && !told.contains("4 entries"), "{name}: {told}");
        for (author, local) in [(Author::LocalModel, &[][..]), (Author::CloudModel, &["#home"])] {
            let told = told_after_switch(author, call.clone(), local, restarts).await;
            assert!(
                told.contains("There are 4 canaries"),
                "the control, {author:?}, {name}: {told}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_open_note_says_is_told_to_every_model() {
    let call = ("read_file", json!({ "path": "Open.md" }));
    for restarts in [true, false] {
        let told = told_after_switch(Author::LocalModel, call.clone(), &["#home"], restarts).await;
        assert!(told.contains("There are 4 canaries") && told.contains("# Open"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_of_a_command_is_withheld_from_models_that_see_less() {
    let call = || ("list_tags", json!({}));
    let told = told_after_switch(Author::Command, call(), &["#home"], false).await;
    assert!(!told.contains("4 notes") && !told.contains("all (4)"), "{told}");
    assert!(told.contains("tags all"), "{told}");
    let told = told_after_switch(Author::Command, call(), &[], false).await;
    assert!(told.contains("#all, 4 notes"), "the control: {told}");
}
