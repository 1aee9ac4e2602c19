//! The scripted model that does each task right.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::task::{ModelTask, ScriptStep};
use crate::{Reply, ScriptedModel};

/// A model server that makes the calls of the task's `script`, each of them `repeats` times.
pub async fn start_scripted_model(task: &ModelTask, repeats: usize) -> ScriptedModel {
    let steps = task.script.iter().flat_map(|step| {
        let times = if matches!(step, ScriptStep::Call { .. }) { repeats } else { 1 };
        std::iter::repeat_n(step.clone(), times)
    });
    let left = Mutex::new(steps.collect::<VecDeque<_>>());
    ScriptedModel::responder(move |_| {
        match left.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
            Some(ScriptStep::Call { tool, args }) => Reply::calls(vec![(tool.as_str(), args)]),
            Some(ScriptStep::Text { text }) => Reply::text(&text),
            None => Reply::text("Done."),
        }
    })
    .await
}
