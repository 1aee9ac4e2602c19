//! The thirty tasks of `./dev bench tasks`, worked on by a scripted model: the end states can be
//! reached, and they are missed by a model that does nothing.

use std::collections::BTreeSet;

use protocol::{ProviderKind, Settings};
use testkit::ScriptedModel;
use testkit::corpus::model_tasks::{ModelTaskList, TaskOutcome, run_task, start_scripted_model};
use testkit::scripted_model::{KEY, Reply};

fn settings(model: &ScriptedModel) -> Settings {
    let (provider, base_url) = (ProviderKind::Anthropic, model.base_url());
    Settings { provider, base_url, ..Settings::default() }
}

#[test]
fn there_are_thirty_tasks_with_ids_of_their_own() {
    let tasks = ModelTaskList::built_in().tasks;
    assert_eq!(tasks.len(), 30);
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids.len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_task_succeeds_with_the_calls_of_its_script_and_wastes_none() {
    let mut complaints = Vec::new();
    for task in &ModelTaskList::built_in().tasks {
        let model = start_scripted_model(task, 1).await;
        let outcome = run_task(task, &settings(&model), Some(KEY)).await;
        complaints.extend(outcome.failures.iter().map(|it| format!("{}: {it}", task.id)));
        let TaskOutcome { calls, wasted, input_tokens, output_tokens, .. } = outcome;
        if wasted > 0 || input_tokens == 0 || output_tokens == 0 {
            complaints.push(format!(
                "{}: calls={calls} wasted={wasted} input={input_tokens} output={output_tokens}",
                task.id
            ));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_task_fails_with_a_model_that_only_says_done() {
    let mut passed = Vec::new();
    for task in ModelTaskList::built_in().tasks {
        let model = ScriptedModel::responder(|_| Reply::text("Done.")).await;
        if run_task(&task, &settings(&model), Some(KEY)).await.failures.is_empty() {
            passed.push(task.id);
        }
    }
    assert!(passed.is_empty(), "done without work: {passed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_repeated_counts_as_wasted() {
    let tasks = ModelTaskList::built_in().tasks;
    let task = tasks.iter().find(|task| task.id == "find-exact-text").expect("the task");
    let model = start_scripted_model(task, 2).await;
    let outcome = run_task(task, &settings(&model), Some(KEY)).await;
    assert_eq!((outcome.calls, outcome.wasted), (2, 1), "{:?}", outcome.failures);
}
