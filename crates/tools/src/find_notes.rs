//! `find_notes`: the notes about something, best first.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use index::{Cut, Ranked};
use llm::tool::{Effect, Tool, ToolContext, ToolFailure, ToolOutcome};
use protocol::Reaction;
use protocol::reaction::Why;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::note_text::count;
use crate::notes::{Notes, off_thread};

const MOST: u16 = 50;
const DEADLINE: Duration = Duration::from_secs(5);

/// Finds the notes whose title, headings or text match the words best, each with its best passage.
/// Begin here when you do not know which note to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindNotesInput {
    /// A few words to look for, in the language of the notes.
    query: String,
    /// How many passages to return, at most 50.
    #[serde(default = "seven")]
    limit: u16,
}

const fn seven() -> u16 {
    7
}

pub(crate) struct FindNotes(pub(crate) Notes);

#[async_trait]
impl Tool for FindNotes {
    const NAME: &'static str = "find_notes";
    const EFFECT: Effect = Effect::Read;
    type Input = FindNotesInput;

    async fn run(&self, input: FindNotesInput, context: &ToolContext) -> ToolOutcome {
        let limit = input.limit.clamp(1, MOST);
        match self.find(&input.query, limit, context).await {
            Ok(ranked) => ToolOutcome {
                output: words(&input.query, &ranked),
                reactions: vec![Reaction::Passages {
                    query: input.query,
                    passages: ranked.passages,
                    total: ranked.total,
                }],
                ..ToolOutcome::default()
            },
            Err(failure) => ToolOutcome::failed(failure.0),
        }
    }
}

impl FindNotes {
    async fn find(
        &self,
        query: &str,
        limit: u16,
        context: &ToolContext,
    ) -> Result<Ranked, ToolFailure> {
        let (vault, overlay, query) = (self.0.vault(), context.overlay.clone(), query.to_owned());
        off_thread(move || index::find(&vault, &overlay, &query, limit, DEADLINE))
            .await?
            .map_err(|error| ToolFailure(error.to_string()))
    }
}

/// Reads a result back: how many passages match, in words; `None` when none does.
pub(crate) fn read(output: &str) -> Option<&str> {
    let (matching, _) = output.lines().next()?.split_once(" in ")?;
    (matching.ends_with(" match") || matching.ends_with(" matches")).then_some(matching)
}

fn words(query: &str, ranked: &Ranked) -> String {
    let cut = if ranked.cut == Some(Cut::Time) {
        " The time was up before all notes were looked at."
    } else {
        ""
    };
    if ranked.passages.is_empty() {
        return format!(
            "No passage matches “{query}”.{cut}\nNone of its words is in a title, a heading or the \
             text of a note. Try other words, or list_files."
        );
    }
    let notes = usize::try_from(ranked.notes).unwrap_or(usize::MAX);
    let matching = match ranked.total {
        1 => "1 passage matches".to_owned(),
        total => format!("{total} passages match"),
    };
    let shown = ranked.passages.len();
    let mut out = format!("{matching} in {}; the best {shown}:{cut}", count(notes, "note"));
    for passage in &ranked.passages {
        let why = match passage.why {
            Why::Title => "in the title",
            Why::Heading => "in a heading",
            Why::Text => "in the text",
        };
        let _ = write!(out, "\n\n`{}` line {}, {why}", passage.path, passage.line);
        if let Some(heading) = &passage.heading {
            let _ = write!(out, ", under “{heading}”");
        }
        for line in passage.text.lines() {
            let _ = write!(out, "\n> {line}");
        }
    }
    out
}
