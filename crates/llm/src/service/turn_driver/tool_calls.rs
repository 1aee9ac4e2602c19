//! Runs the calls of a turn: reads side by side, plans one at a time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use protocol::fault_injection::point;
use protocol::{CallId, ChangeSet, NotePath, Source};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{DriverFlow, TurnDriver, next_input};
use crate::context::model_texts;
use crate::model::ToolCall;
use crate::ports::change_applier::NoteOverlay;
use crate::ports::turn_policy::TurnEvent;
use crate::tool_api::tool::{
    CallOutcome, ChangePlan, SourceLabels, SourceLog, ToolContext, ToolOffer, ToolOutcome,
};
use crate::turn::TurnInput;

impl TurnDriver<'_> {
    /// Runs calls that change no note, side by side. A halt drops those that still run.
    pub(super) async fn run_calls(&mut self, calls: Vec<ToolCall>) -> DriverFlow {
        let ids: Vec<CallId> = calls.iter().map(|call| call.id.clone()).collect();
        let mut called = match self.call_all(calls).await {
            Ok(called) => called,
            Err(flow) => return flow,
        };
        let outcome = |id: CallId| {
            let outcome = match called.remove(&id) {
                Some(CallOutcome::Outcome(outcome)) => outcome,
                Some(CallOutcome::Planned(..)) | None => {
                    ToolOutcome::failed(model_texts::TOOL_FAILED)
                }
            };
            TurnInput::Outcome(id, outcome)
        };
        ControlFlow::Continue(ids.into_iter().map(outcome).collect())
    }

    /// Lets a call plan and has the plan judged. A halt drops the planning, never the judging: it
    /// may be writing.
    pub(super) async fn plan(&mut self, call: ToolCall) -> DriverFlow {
        let (id, tool) = (call.id.clone(), call.tool.clone());
        let arguments = call.arguments.clone();
        let mut called = match self.call_all(vec![call]).await {
            Ok(called) => called,
            Err(flow) => return flow,
        };
        match called.remove(&id) {
            Some(CallOutcome::Planned(effect, plan)) => {
                let shows = self.sources_of_plan(&id, tool, &plan);
                let along = changed_along(&plan.change_set, &arguments);
                let place = &self.recorder;
                point("llm.decide.before");
                let changes = &place.parts.changes;
                let outcome = changes.decide(place.turn, &id, effect, plan, self.cancel.stop).await;
                point("llm.decide.after");
                let told = along.iter().filter(|path| outcome.output.contains(path.as_str()));
                told.for_each(|path| shows.record_note(path));
                outcome.sources.iter().cloned().for_each(|source| shows.record(source));
                next_input(TurnInput::Decision(id, outcome))
            }
            Some(CallOutcome::Outcome(outcome)) => next_input(TurnInput::Outcome(id, outcome)),
            None => {
                next_input(TurnInput::Outcome(id, ToolOutcome::failed(model_texts::TOOL_FAILED)))
            }
        }
    }

    /// The sources of the text about a plan: what it is about, and none of the text it read.
    fn sources_of_plan(&mut self, id: &CallId, tool: String, plan: &ChangePlan) -> SourceLog {
        let shows = self.recorder.sources.get(id).map(SourceLog::of_plan).unwrap_or_default();
        shows.record(Source::Tool(tool));
        if plan.labels == SourceLabels::Missing {
            shows.record(Source::Foreign);
        }
        self.recorder.sources.insert(id.clone(), shows.clone());
        shows
    }

    /// Each call is a task of its own: they use all cores, and one that panics fails alone (it
    /// is missing from what comes back).
    async fn call_all(
        &mut self,
        calls: Vec<ToolCall>,
    ) -> Result<BTreeMap<CallId, CallOutcome>, DriverFlow> {
        let ids: Vec<CallId> = calls.iter().map(|call| call.id.clone()).collect();
        let around = self.recorder.parts.changes.note_overlay(self.recorder.turn, &ids).await;
        let mut tasks = JoinSet::new();
        for call in calls {
            self.recorder.publish(TurnEvent::Called(call.id.clone()));
            let context = self.context(call.id.clone(), &around);
            let registry = self.recorder.parts.registry.clone();
            let refusal = self.refusal(&call.tool);
            if refusal.is_none() {
                context.sources.record(Source::Tool(call.tool.clone()));
            }
            self.recorder.sources.insert(call.id.clone(), context.sources.clone());
            tasks.spawn(async move {
                let called = match refusal {
                    Some(lesson) => CallOutcome::Outcome(ToolOutcome::failed(lesson)),
                    None => registry.call(&call.tool, call.arguments, &context).await,
                };
                (call.id, called)
            });
        }
        let mut called = BTreeMap::new();
        while let Some(joined) =
            self.cancel.unless_cancelled(tasks.join_next()).await.map_err(DriverFlow::from)?
        {
            match joined {
                Ok((id, outcome)) => _ = called.insert(id, outcome),
                Err(error) => tracing::error!(%error, "a tool did not come back"),
            }
        }
        Ok(called)
    }

    /// The executor checks again what was on offer: a model may call what it was never told of.
    fn refusal(&self, tool: &str) -> Option<String> {
        let offered: Vec<&str> = self.setup.tools.iter().map(String::as_str).collect();
        (!offered.contains(&tool)).then(|| model_texts::no_such_tool(tool, &offered))
    }

    fn context(&self, call: CallId, around: &NoteOverlay) -> ToolContext {
        ToolContext {
            conversation: self.recorder.turn.conversation.clone(),
            turn: self.recorder.turn.turn.clone(),
            call,
            overlay: around.overlay.clone(),
            withheld: around.withheld.clone(),
            seen: around.seen.clone(),
            max_output_bytes: self.recorder.results.max_output_bytes(),
            sources: SourceLog::default(),
            offered: ToolOffer::only(&self.setup.tools),
        }
    }
}

/// The notes of a plan that are changed along with the one that the call is about, such as those whose
/// links are rewritten, without those that the call spelled.
fn changed_along(plan: &ChangeSet, arguments: &Value) -> Vec<NotePath> {
    let given = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    let given: Vec<&str> = given.filter_map(Value::as_str).collect();
    let is_given = |path: &NotePath| given.iter().any(|text| path.matches_spelling(text));
    let paths: Vec<&NotePath> = plan.changes().map(|change| &change.path).collect();
    let along = paths.into_iter().filter(|path| !is_given(path));
    if plan.changes().nth(1).is_some() { along.cloned().collect() } else { Vec::new() }
}
