//! A task as `tasks.toml` has it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Text alternatives, of which one must occur; upper and lower case are the same.
pub(super) type AnyOf = Vec<String>;

/// The tasks of `tasks.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTaskList {
    /// In the order of the file.
    #[serde(rename = "task")]
    pub tasks: Vec<ModelTask>,
}

/// One task: messages of the user, and the end state in which it is done.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTask {
    /// Names it.
    pub id: String,
    /// The ability that it tries.
    pub kind: String,
    /// The user's messages, each sent when the turn before has ended.
    pub messages: Vec<String>,
    /// Notes beside those of the sample vault, by path.
    #[serde(default)]
    pub(super) extra_notes: BTreeMap<String, String>,
    /// Leave changes pending; otherwise the user accepts them after each turn.
    #[serde(default)]
    pub(super) keep_pending: bool,
    /// The end state.
    #[serde(default)]
    pub(super) answer: Vec<AnyOf>,
    /// Texts that must not occur in the last answer.
    #[serde(default)]
    pub(super) answer_lacks: Vec<String>,
    /// The assistant must ask the user, as a question of the tool or in the answer.
    #[serde(default)]
    pub(super) asks: bool,
    /// The notes that must be pending at the end, all of them.
    #[serde(default)]
    pub(super) pending: Vec<String>,
    /// The notes that differ from before, by path; every other file must have its former bytes.
    #[serde(default)]
    pub(super) notes: BTreeMap<String, NoteExpectation>,
    /// The replies of a model that does it right.
    pub(super) script: Vec<ScriptStep>,
}

/// The end state of one note.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteExpectation {
    /// It is in no place of the vault but the trash.
    #[serde(default)]
    pub(super) gone: bool,
    /// Texts that it has; of each, one alternative.
    #[serde(default)]
    pub(super) has: Vec<AnyOf>,
    /// Texts that it lacks.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// Every line that it had is still there, in order.
    #[serde(default)]
    pub(super) keeps_lines: bool,
}

/// One reply of the scripted model.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum ScriptStep {
    Call { tool: String, args: Value },
    Text { text: String },
}

impl ModelTaskList {
    /// The tasks that are part of the sources.
    ///
    /// # Panics
    /// If the file is not valid; a test reads it.
    #[must_use]
    pub fn built_in() -> Self {
        toml::from_str(include_str!("tasks.toml")).expect("tasks.toml is valid")
    }
}
