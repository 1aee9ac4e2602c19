//! A database that has no room for the end of a turn: the answer is told, and so is that it could not be stored.

use std::sync::Arc;

use serde_json::json;
use testkit::{Reply, ScriptedModel};
use tokio::runtime::Handle;

use super::{NOTES, ask_command, ask_json};
use crate::harness::test_app::{TestHome, run_command};
use crate::hub::inbox::change_database;

/// A model that reads a note and answers; before it answers, the database refuses the end of turns if `is_full`.
async fn start_model(home: &Arc<TestHome>, is_full: bool) -> ScriptedModel {
    let home = Arc::clone(home);
    let answer = Reply::computed(move |_| {
        let refusal = "CREATE TRIGGER no_end BEFORE UPDATE OF status ON turn
                       BEGIN SELECT RAISE(ABORT, 'full'); END";
        if is_full {
            tokio::task::block_in_place(|| {
                Handle::current().block_on(change_database(&home, refusal.to_owned()));
            });
        }
        Reply::text("At nine.")
    });
    let read = Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]);
    ScriptedModel::start(vec![read, answer]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_end_cannot_be_stored_is_told_with_the_failure() {
    for (is_full, code) in [(true, 1), (false, 0)] {
        let home = Arc::new(TestHome::new(&NOTES));
        let model = start_model(&home, is_full).await;
        let said = run_command(&mut ask_command(&home, &model, &["When?"])).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), "At nine.\n"), "{said:?}");
        assert_eq!(said.stderr.contains("couldn’t read or save its data"), is_full, "{said:?}");
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_hears_the_answer_and_the_failure() {
    for (is_full, code) in [(true, 1), (false, 0)] {
        let home = Arc::new(TestHome::new(&NOTES));
        let model = start_model(&home, is_full).await;
        let (said, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &[]).await;
        assert_eq!(said.code, Some(code), "{said:?}");
        assert_eq!(told["messages"][0]["text"], "At nine.", "{told}");
        assert_eq!(told["error"].is_null(), !is_full, "{told}");
        model.finish();
    }
}
