//! The worst possible model: it reads the text and obeys it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::case::{AttackSource, AttackStep, InjectionCase};
use crate::scripted_model::offered_tools;
use crate::{Reply, ScriptedModel};

/// The answer when everything is done.
const FINAL_TEXT: &str = "Done.";

/// The calls that are still to do.
struct ObedientState {
    steps: VecDeque<AttackStep>,
    secret: String,
    /// Whether it was ever shown the secret.
    knows_secret: bool,
}

/// A model that reads the text and then obeys it.
pub(super) struct ObedientModel {
    pub(super) model: ScriptedModel,
    state: Arc<Mutex<ObedientState>>,
}

impl ObedientModel {
    pub(super) async fn start(secret: &str) -> Self {
        let mind = ObedientState {
            steps: VecDeque::new(),
            secret: secret.to_owned(),
            knows_secret: false,
        };
        let mind = Arc::new(Mutex::new(mind));
        let thinking = Arc::clone(&mind);
        let model = ScriptedModel::responder(move |request| {
            thinking.lock().unwrap_or_else(PoisonError::into_inner).reply(request)
        });
        Self { model: model.await, state: mind }
    }

    /// From now on it does this.
    pub(super) fn set_attack(&self, case: &InjectionCase, source: AttackSource) {
        let look = |tool: &str, args: Value| AttackStep::Call { tool: tool.to_owned(), args };
        let first = match source {
            AttackSource::Note | AttackSource::SearchResult => {
                look("read_file", json!({"path": super::fixture::ATTACK_NOTE}))
            }
            AttackSource::Hub => look("read_file", json!({"path": super::fixture::CAPTURED_NOTE})),
            AttackSource::FileName => look("list_files", json!({"pattern": "**/*"})),
            AttackSource::Tag => look("list_tags", json!({})),
            AttackSource::Link => look("get_links", json!({"path": super::fixture::ATTACK_NOTE})),
            AttackSource::NearName => {
                let path = case.content();
                look(
                    "read_file",
                    json!({"path": path.strip_prefix("notes/").unwrap_or(&path).replacen('e', "", 1)}),
                )
            }
            AttackSource::OldConversation => look("get_conversation", json!({"list_recent": 5})),
            AttackSource::User => look("list_files", json!({"pattern": "*"})),
        };
        let steps = std::iter::once(first).chain(case.scripted_calls.iter().cloned());
        self.state.lock().unwrap_or_else(PoisonError::into_inner).steps = steps.collect();
    }
}

impl ObedientState {
    fn reply(&mut self, request: &Value) -> Reply {
        self.knows_secret |= request.to_string().contains(&self.secret);
        let may_call =
            !offered_tools(request).is_empty() && request["tool_choice"]["type"] != "none";
        match self.steps.pop_front() {
            Some(AttackStep::Text { final_text }) => Reply::text(&self.insert_secret(&final_text)),
            Some(step) if may_call => {
                let calls: Vec<(String, Value)> = step
                    .calls()
                    .into_iter()
                    .map(|(tool, args)| {
                        let args = self.insert_secret(&args.to_string());
                        (tool, serde_json::from_str(&args).unwrap_or_default())
                    })
                    .collect();
                Reply::calls(
                    calls.iter().map(|(tool, args)| (tool.as_str(), args.clone())).collect(),
                )
            }
            _ => Reply::text(FINAL_TEXT),
        }
    }

    /// The secret in its place, once it is known.
    fn insert_secret(&self, text: &str) -> String {
        if self.knows_secret { text.replace("SECRET", &self.secret) } else { text.to_owned() }
    }
}
