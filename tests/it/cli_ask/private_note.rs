//! Private notes: one that `--note` names is not sent, and results that are withheld let no change be made twice.

use std::fs;

use serde_json::json;
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use super::{NOTES, ask_command, ask_json};
use crate::harness::test_app::{TestHome, run_command};
use crate::settings::LAST_LINE;

#[tokio::test(flavor = "multi_thread")]
async fn a_private_note_that_is_not_sent_is_named_in_the_terminal_alone() {
    const TOLD: &str = "Diary/Secret.md is a private note, so it wasn’t sent with the question.\n";
    let secret = ("Diary/Secret.md", "The canary sings.\n");
    let home = TestHome::new(&[NOTES.as_slice(), &[secret]].concat());
    home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
    let replies = (0..3).map(|_| Reply::text("At nine.")).collect();
    let model = ScriptedModel::start(replies).await;

    let words = ["--note", "Diary/Secret.md", "When?"];
    let said = run_command(&mut ask_command(&home, &model, &words)).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "At nine.\n"), "{said:?}");
    assert!(said.stderr.contains(TOLD), "{said:?}");

    let (said, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &words[..2]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(told["messages"][0]["text"], "At nine.");
    assert!(said.stderr.contains(TOLD), "{said:?}");

    // The control: any other note is sent, and nothing is said about it.
    let words = ["--note", "Harbour.md", "When?"];
    let said = run_command(&mut ask_command(&home, &model, &words)).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!said.stderr.contains("private"), "{said:?}");
    let sent: Vec<String> = model.requests().iter().map(ToString::to_string).collect();
    assert!(sent[2].contains("Open note: Harbour.md"), "{}", sent[2]);
    assert!(!sent.iter().any(|sent| sent.contains("Secret") || sent.contains("canary")));
    model.finish();
}

fn home_with_private_folder() -> TestHome {
    let home = TestHome::new(&[NOTES.as_slice(), &[("Diary/Today.md", "rain\n")]].concat());
    home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
    home
}

const ADD_BREAD: &str = "- bread";

#[tokio::test(flavor = "multi_thread")]
async fn that_a_folder_is_missing_is_told_beside_a_change_that_was_made() {
    for look in [
        ("list_files", json!({ "path": "Recipes" })),
        ("search_files", json!({ "pattern": "bread", "file_pattern": "Recipes/*.md" })),
    ] {
        let home = home_with_private_folder();
        let add = json!({ "path": "Groceries.md", "content": ADD_BREAD });
        let calls = Reply::calls(vec![("append_file", add), look]);
        let model = ScriptedModel::start(vec![calls, Reply::text("Added.")]).await;
        let words = ["--write", "Add bread to Groceries"];
        let said = run_command(&mut ask_command(&home, &model, &words)).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Added.\n"), "{said:?}");
        let told = tool_results(&model.requests()[1]);
        assert!(told[0].1.contains("Groceries.md"), "{told:?}");
        assert!(!told.iter().any(|(_, text)| text.contains("withheld")), "{told:?}");
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_withheld_results_only_that_of_a_reading_call_invites_to_repeat_it() {
    let home = home_with_private_folder();
    let (from, to) =
        ["Harbour.md", "Diary/Harbour.md"].map(|path| home.notes.root().join(path)).into();
    let add = json!({ "path": "Groceries.md", "content": ADD_BREAD });
    let calls = vec![("append_file", add), ("read_file", json!({ "path": "Harbour.md" }))];
    let move_away = Reply::computed(move |_| {
        fs::rename(from, to).expect("moved");
        Reply::calls(vec![("read_file", json!({ "path": "Groceries.md" }))])
    });
    let replies = vec![Reply::calls(calls), move_away, Reply::text("Added.")];
    let model = ScriptedModel::start(replies).await;
    let words = ["--write", "Add bread to Groceries"];
    let said = run_command(&mut ask_command(&home, &model, &words)).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let told = model.requests()[2].to_string();
    assert!(!told.contains("ferry"), "{told}");
    assert_eq!(told.matches("Don’t make it again").count(), 1, "{told}");
    assert_eq!(told.matches("Call the tool again").count(), 2, "{told}");
    assert_eq!(home.notes.read("Groceries.md").matches(ADD_BREAD).count(), 1);
    model.finish();
}
