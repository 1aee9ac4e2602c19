//! The interface of a tool. [`crate::tool_api::registry`] holds the tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{
    CallId, ChangeSet, ContentHash, ConversationId, NotePath, Speech, ToolEvent, TurnId,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use thiserror::Error;

pub use crate::tool_api::provenance::{LookupScope, SourceLog};

/// The effect of a tool: decides whether calls run in parallel, and which policy applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolEffect {
    /// Looks only.
    Read,
    /// Makes a note or adds to its end.
    Create,
    /// Changes what a note says.
    Edit,
    /// Replaces a whole note.
    Overwrite,
    /// Gives a note or folder another path, and rewrites the links to it.
    Move,
    /// Puts a note or folder into the trash.
    Delete,
    /// Makes a folder.
    Folder,
    /// Talks to the user.
    Speak,
    /// Ends the conversation.
    End,
}

impl ToolEffect {
    /// Whether the tool plans changes of notes.
    #[must_use]
    pub const fn changes_notes(self) -> bool {
        !matches!(self, Self::Read | Self::Speak | Self::End)
    }
}

/// The context of a call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The conversation in which the model calls.
    pub conversation: ConversationId,
    /// The turn in which the model calls.
    pub turn: TurnId,
    /// The call itself, unique within its turn.
    pub call: CallId,
    /// Pending changes: reads see them as if they were applied.
    pub overlay: Arc<ChangeSet>,
    /// The paths of pending changes that are not in the overlay, because the turn may not see them.
    pub withheld: Arc<BTreeSet<NotePath>>,
    /// The content of each note as this conversation last read it.
    pub seen: Arc<BTreeMap<NotePath, ContentHash>>,
    /// How many bytes of a result the model has room for. A tool whose result can be read on in parts
    /// cuts it here; what is longer is cut without it.
    pub max_output_bytes: usize,
    /// Where a tool records the sources of its result.
    pub sources: SourceLog,
    /// The tools that the model may call next.
    pub offered: ToolOffer,
}

/// The tools that a model is offered. A failure that names a tool asks here first: a model that calls one
/// that it was not told of loses a round.
#[derive(Debug, Clone, Default)]
pub struct ToolOffer(Option<Arc<[String]>>);

impl ToolOffer {
    /// Only these. The default is all tools.
    #[must_use]
    pub fn only(tools: &[String]) -> Self {
        Self(Some(tools.into()))
    }

    /// Whether all of these tools are offered.
    #[must_use]
    pub fn has_all(&self, tools: &[&str]) -> bool {
        let is_offered = |tool: &&str| {
            self.0.as_ref().is_none_or(|offered| offered.iter().any(|name| name == tool))
        };
        tools.iter().all(is_offered)
    }

    /// `hint`, which names these tools, if all of them are offered; else nothing.
    #[must_use]
    pub fn hint<'a>(&self, tools: &[&str], hint: &'a str) -> &'a str {
        if self.has_all(tools) { hint } else { "" }
    }
}

/// Whether the source of all text is known. Names of notes and folders, tags, link texts and
/// headings are text of the vault as much as the body of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceLabels {
    /// All text of the vault in it has its source in [`ToolContext::sources`] or was spelled by the
    /// call; the rest is the tool's own.
    Complete,
    /// Not recorded: the text counts as [`protocol::Source::Foreign`].
    #[default]
    Missing,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolOutcome {
    /// Text for the model.
    pub output: String,
    /// Whether it is known where `output` comes from. A tool that says nothing is not believed.
    pub labels: SourceLabels,
    /// Whether it reports a failure; then `output` says what to do next.
    pub is_error: bool,
    /// The words for the user; a question and the end of the conversation end the turn. Only a tool that talks may
    /// have some.
    pub speech: Option<Speech>,
    /// Events for the window.
    pub reactions: Vec<ToolEvent>,
    /// Contents read.
    pub seen: Vec<(NotePath, ContentHash)>,
}

impl ToolOutcome {
    /// A success.
    #[must_use]
    pub fn ok(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// A failure, with a text that lets a weak model repair its call.
    #[must_use]
    pub fn failed(output: impl Into<String>) -> Self {
        Self { output: output.into(), is_error: true, ..Self::default() }
    }

    /// The same, with its sources recorded: see [`SourceLabels::Complete`].
    #[must_use]
    pub fn labeled(self) -> Self {
        Self { labels: SourceLabels::Complete, ..self }
    }
}

impl From<ToolFailure> for ToolOutcome {
    fn from(ToolFailure { text, labels }: ToolFailure) -> Self {
        Self { labels, ..Self::failed(text) }
    }
}

/// A failure, written for the model: what was wrong and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct ToolFailure {
    /// The words for the model.
    pub text: String,
    /// Whether it is known where they come from.
    pub labels: SourceLabels,
}

impl ToolFailure {
    /// A failure that may hold text of the vault.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), labels: SourceLabels::Missing }
    }

    /// A failure with its sources recorded: see [`SourceLabels::Complete`].
    #[must_use]
    pub fn labeled(text: impl Into<String>) -> Self {
        Self { text: text.into(), labels: SourceLabels::Complete }
    }
}

/// The changes that a tool plans. Nothing is written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePlan {
    /// The changes, to be applied in their order.
    pub change_set: ChangeSet,
    /// The changes as an instruction, for the model ("append 1 line to `a.md`"). The result of the call
    /// adds whether they are applied or wait for review.
    pub summary: String,
    /// Whether the sources of the summary are known; of the vault it may hold only what
    /// [`SourceLog::record_name`] recorded.
    pub labels: SourceLabels,
}

/// Something the model may do that changes no note.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// Its name, unique in the registry.
    const NAME: &'static str;
    /// Decides whether its calls run in parallel, and which policy applies.
    const EFFECT: ToolEffect;
    /// Its arguments: the type is schema, prompt and parser; its doc comment is the description.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// How it is told to a model with little room; `None` where there is no shorter way.
    const BRIEF: Option<ToolBrief> = None;

    /// Runs the call. Problems that the model can repair are outcomes too.
    async fn run(&self, input: Self::Input, context: &ToolContext) -> ToolOutcome;
}

/// Something the model may do that changes notes: it plans and writes nothing.
#[async_trait]
pub trait ChangingTool: Send + Sync + 'static {
    /// Its name, unique in the registry.
    const NAME: &'static str;
    /// Its arguments: the type is schema, prompt and parser; its doc comment is the description.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// How it is told to a model with little room; `None` where there is no shorter way.
    const BRIEF: Option<ToolBrief> = None;

    /// Plans it, on top of `context.overlay`; says which effect it turned out to have.
    async fn plan(
        &self,
        input: Self::Input,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure>;
}

/// The short description of a tool for a model with little room, in place of its whole description
/// and schema. Arguments that it does not mention are accepted all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolBrief {
    /// The purpose of the tool, in a sentence or two.
    pub description: &'static str,
    /// Names of arguments that it is to be given.
    pub required: &'static [&'static str],
    /// Names of arguments that it may be given.
    pub optional: &'static [&'static str],
}

/// The outcome of handing arguments to a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// It ran.
    Outcome(ToolOutcome),
    /// The changes are planned, and nothing is written yet.
    Planned(ToolEffect, ChangePlan),
}
