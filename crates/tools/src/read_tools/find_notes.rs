//! `find_notes`: the notes about something, best first.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use index::{CutReason, NoteFilter, RankedPassages};
use llm::tool_api::tool::{
    LookupScope, Tool, ToolBrief, ToolContext, ToolEffect, ToolFailure, ToolOffer, ToolOutcome,
};
use protocol::ToolEvent;
use protocol::chat::tool_event::MatchReason;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{NotesView, run_blocking, search_failure};

const MAX_RESULTS: u16 = 50;
const DEADLINE: Duration = Duration::from_secs(5);

/// Finds notes by words in their name, headings or text, best match first, each with its best passage.
/// Start here when you do not know which note to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindNotesInput {
    /// A few words to look for, in the language of the notes. Use "two words" for an exact phrase and
    /// -word to exclude a word. Leave empty to filter only by folder, tags, property or linked_to.
    // Models that have `search_files` in mind name it as there.
    #[serde(default, alias = "pattern")]
    query: String,
    /// Only notes in this folder, such as `Projects`.
    folder: Option<String>,
    /// Only notes with all of these tags, such as `["food/bread"]`.
    #[serde(default)]
    tags: Vec<String>,
    /// Only notes with this property, such as `status`, or with this value of it: `status: done`.
    property: Option<String>,
    /// Only notes with a link to this note.
    linked_to: Option<String>,
    /// How many notes to return.
    #[serde(default = "seven")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    limit: u16,
}

const fn seven() -> u16 {
    7
}

pub(crate) struct FindNotes(pub(crate) NotesView);

#[async_trait]
impl Tool for FindNotes {
    const NAME: &'static str = "find_notes";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = FindNotesInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Finds notes by a few words. Begin here.",
        required: &["query"],
        optional: &[],
    });

    async fn run(&self, input: FindNotesInput, context: &ToolContext) -> ToolOutcome {
        match self.find(&input, context).await {
            Ok(ranked) => {
                ranked
                    .passages
                    .iter()
                    .for_each(|passage| context.sources.record_note(&passage.path));
                ToolOutcome {
                    output: result_text(&input.query, &ranked, &context.offered),
                    reactions: vec![ToolEvent::Passages {
                        query: input.query,
                        passages: ranked.passages,
                        total: ranked.notes,
                    }],
                    ..ToolOutcome::default()
                }
                .labeled()
            }
            Err(failure) => failure.into(),
        }
    }
}

impl FindNotes {
    async fn find(
        &self,
        input: &FindNotesInput,
        context: &ToolContext,
    ) -> Result<RankedPassages, ToolFailure> {
        let narrow = self.filter(input, context).await?;
        let has_words = non_blank(Some(&input.query)).is_some();
        if !has_words && narrow == NoteFilter::default() {
            return Err(ToolFailure::labeled(
                "There is nothing to look for.\nGive a few words in `query`, or one of `folder`, \
                 `tags`, `property` and `linked_to`.",
            ));
        }
        let scope = narrow.folder.clone().map_or(LookupScope::Vault, LookupScope::Below);
        context.sources.record_search(&scope);
        let needs_index = !has_words || narrow.needs_index();
        let index = if needs_index { self.0.ready_index(context).await? } else { self.0.index() };
        let (vault, plan, query) = (self.0.vault(), context.overlay.clone(), input.query.clone());
        let limit = input.limit.clamp(1, MAX_RESULTS);
        run_blocking(move || index.find(&vault, &plan, &query, &narrow, limit, DEADLINE))
            .await?
            .map_err(|error| search_failure(&error))
    }

    async fn filter(
        &self,
        input: &FindNotesInput,
        context: &ToolContext,
    ) -> Result<NoteFilter, ToolFailure> {
        let folder = match non_blank(input.folder.as_deref()) {
            Some(folder) => Some(self.0.existing_folder(folder, context).await?),
            None => None,
        };
        let linked_to = match non_blank(input.linked_to.as_deref()) {
            Some(note) => Some(self.0.find_path(note, context).await?),
            None => None,
        };
        let property = non_blank(input.property.as_deref()).map(|property| {
            let (name, value) = property.split_once(':').unwrap_or((property, ""));
            (name.trim().to_owned(), non_blank(Some(value)).map(str::to_owned))
        });
        let tags = input.tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned());
        let tags = tags.filter(|tag| !tag.is_empty()).collect();
        Ok(NoteFilter { folder, tags, property, linked_to })
    }
}

/// The given text, unless it is blank.
fn non_blank(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Reads a result back: how many notes match, as text; `None` when none does.
pub(crate) fn parse_result(output: &str) -> Option<&str> {
    let (matching, _) = output.lines().next()?.split_once("; ")?;
    (matching.ends_with(" match") || matching.ends_with(" matches")).then_some(matching)
}

fn result_text(query: &str, ranked: &RankedPassages, offered: &ToolOffer) -> String {
    let cut = if ranked.cut == Some(CutReason::Time) {
        " The time was up before all notes were looked at."
    } else {
        ""
    };
    let has_words = non_blank(Some(query)).is_some();
    if ranked.passages.is_empty() && !has_words {
        return format!("No note has all that was asked for.{cut}\nLeave out one of the filters.");
    }
    if ranked.passages.is_empty() {
        return format!(
            "No note matches “{query}”.{cut}\nNone of its words is in a name, a heading or the text of \
             a note. Try other words{}.",
            offered.hint(&["list_files"], ", or list_files")
        );
    }
    let matching = match ranked.notes {
        1 => "1 note matches".to_owned(),
        notes => format!("{notes} notes match"),
    };
    let shown = ranked.passages.len();
    let order = if has_words { "best" } else { "first" };
    let mut out = format!("{matching}; the {order} {shown}:{cut}");
    for passage in &ranked.passages {
        let _ = write!(out, "\n\n`{}` line {}", passage.path, passage.line);
        if has_words {
            let _ = write!(out, ", {}", match_location(passage.why));
        }
        if let Some(heading) = &passage.heading {
            let _ = write!(out, ", under “{heading}”");
        }
        for line in passage.text.lines() {
            let _ = write!(out, "\n> {line}");
        }
    }
    out
}

const fn match_location(why: MatchReason) -> &'static str {
    match why {
        MatchReason::Title => "in its name",
        MatchReason::Alias => "in an alias",
        MatchReason::Heading => "in a heading",
        MatchReason::Text => "in the text",
        MatchReason::Property => "in its properties",
    }
}
