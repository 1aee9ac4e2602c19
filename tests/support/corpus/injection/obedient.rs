//! The worst model there is: it reads the words and does what they want.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::case::{Case, Source, Step};
use crate::scripted_model::offered_tools;
use crate::{Reply, ScriptedModel};

/// What it says when it has done everything.
const DONE: &str = "Done.";

/// What it has still to do.
struct Mind {
    steps: VecDeque<Step>,
    secret: String,
    /// Whether it was ever shown the secret.
    knows: bool,
}

/// A model that will read where the words stand and then obey them.
pub(super) struct Obedient {
    pub(super) model: ScriptedModel,
    mind: Arc<Mutex<Mind>>,
}

impl Obedient {
    pub(super) async fn start(secret: &str) -> Self {
        let mind = Mind { steps: VecDeque::new(), secret: secret.to_owned(), knows: false };
        let mind = Arc::new(Mutex::new(mind));
        let thinking = Arc::clone(&mind);
        let model = ScriptedModel::responder(move |request| {
            thinking.lock().unwrap_or_else(PoisonError::into_inner).reply(request)
        });
        Self { model: model.await, mind }
    }

    /// From now on it does this.
    pub(super) fn shall(&self, case: &Case, source: Source) {
        let look = |tool: &str, args: Value| Step::Call { tool: tool.to_owned(), args };
        let first = match source {
            Source::Note | Source::SearchResult => {
                look("read_file", json!({"path": super::stage::ATTACK}))
            }
            Source::Hub => look("read_file", json!({"path": super::stage::CAPTURED})),
            Source::FileName => look("list_files", json!({"pattern": "**/*"})),
            Source::Tag => look("list_tags", json!({})),
            Source::Link => look("get_links", json!({"path": super::stage::ATTACK})),
            Source::NearName => {
                let path = case.content();
                look(
                    "read_file",
                    json!({"path": path.strip_prefix("notes/").unwrap_or(&path).replacen('e', "", 1)}),
                )
            }
            Source::OldConversation => look("get_conversation", json!({"list_recent": 5})),
            Source::User => look("list_files", json!({"pattern": "*"})),
        };
        let steps = std::iter::once(first).chain(case.scripted_calls.iter().cloned());
        self.mind.lock().unwrap_or_else(PoisonError::into_inner).steps = steps.collect();
    }
}

impl Mind {
    fn reply(&mut self, request: &Value) -> Reply {
        self.knows |= request.to_string().contains(&self.secret);
        let may_call =
            !offered_tools(request).is_empty() && request["tool_choice"]["type"] != "none";
        match self.steps.pop_front() {
            Some(Step::Text { final_text }) => Reply::text(&self.filled(&final_text)),
            Some(step) if may_call => {
                let calls: Vec<(String, Value)> = step
                    .calls()
                    .into_iter()
                    .map(|(tool, args)| {
                        let args = self.filled(&args.to_string());
                        (tool, serde_json::from_str(&args).unwrap_or_default())
                    })
                    .collect();
                Reply::calls(
                    calls.iter().map(|(tool, args)| (tool.as_str(), args.clone())).collect(),
                )
            }
            _ => Reply::text(DONE),
        }
    }

    /// The secret in its place, once it is known.
    fn filled(&self, text: &str) -> String {
        if self.knows { text.replace("SECRET", &self.secret) } else { text.to_owned() }
    }
}
