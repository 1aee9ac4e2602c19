//! Answers that a limit ended: which limit it was is told, and no other.

use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::{NOTES, ask_command, ask_json};
use crate::harness::test_app::{TestHome, run_command};
use crate::settings::LAST_LINE;

#[tokio::test(flavor = "multi_thread")]
async fn at_the_spending_limit_that_limit_is_told_and_not_the_one_of_steps() {
    const LIMIT: &str = "This answer reached your limit of $0.0100.";
    let look = || vec![("read_file", json!({ "path": "Harbour.md" }))];
    let reply = || Reply::text_and_calls("I look.", look()).counting(50_000);
    let home = TestHome::new(&NOTES);
    home.data.write("config.toml", format!("[spending]\nturnCents = 1\n{LAST_LINE}\n"));

    let model = ScriptedModel::start(vec![reply()]).await;
    let said = run_command(&mut ask_command(&home, &model, &["When?"])).await;
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.stdout.contains("I look."), "{said:?}");
    assert!(said.stderr.contains(LIMIT) && !said.stderr.contains("limit of steps"), "{said:?}");
    model.finish();

    let model = ScriptedModel::start(vec![reply()]).await;
    let (said, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &[]).await;
    assert_eq!(said.code, Some(4), "{said:?}");
    assert_eq!(told["stop_reason"], "limit");
    let keys: Vec<&String> = told["error"].as_object().expect("an error").keys().collect();
    assert_eq!(keys, ["code", "message"], "{told}");
    let error = told["error"]["message"].as_str().unwrap_or_default();
    assert!(error.starts_with(LIMIT), "{told}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_answer_that_its_length_cut_off_is_told_as_such() {
    let cut = || Reply::text("The ferry leaves");
    for (reply, code, is_length) in [
        (cut().stopping_with("max_tokens"), 0, true),
        (cut().stopping_with("refusal"), 1, false),
        (cut(), 0, false),
    ] {
        let (home, model) = (TestHome::new(&NOTES), ScriptedModel::start(vec![reply]).await);
        let said = run_command(&mut ask_command(&home, &model, &["When?"])).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), "The ferry leaves\n"));
        let told = said.stderr.contains("(Answer cut off: length limit reached)");
        assert_eq!(told, is_length, "{said:?}");
        model.finish();
    }
}
