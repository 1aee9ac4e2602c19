//! `edit_section`: the text under one heading, or one block with an id.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, ToolBrief, ToolContext, ToolEffect, ToolFailure,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::NotesView;
use crate::notes::shown_lines::require_shown;
use crate::ports::conversation_archive::ConversationArchive;
use crate::text::text_encoding::decode;
use crate::write_tools::edit::freshness::Freshness;
use crate::write_tools::edit::section::{SectionEdit, SectionPart};
use crate::write_tools::edit::{NoteEdit, plan_edit};

/// Changes the text under one heading of a note, or one block with an id. The heading itself stays.
/// Read the note first.
/// Example: {"path": "Garden", "heading": "Tasks", "action": "append", "text": "- [ ] Water the roses"}
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditSectionInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// The heading, such as `Tasks`. If it occurs more than once, give it with the headings above it,
    /// such as `Monday > Tasks`. Or a block id, such as `^a1b2`.
    heading: String,
    /// `append` and `prepend` add lines at the end or the beginning of the text directly under the
    /// heading. `replace` replaces all of its text, the headings below it included.
    #[schemars(required)]
    action: Option<SectionAction>,
    /// The lines, in Markdown, without the heading itself.
    #[schemars(required)]
    text: Option<String>,
    /// The hash that read_file showed, to fail if the note has changed since.
    expect_hash: Option<String>,
    /// A field of `edit_file`.
    #[schemars(skip)]
    new_text: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SectionAction {
    Append,
    Prepend,
    Replace,
}

impl EditSectionInput {
    pub(crate) fn edit(&self) -> Result<NoteEdit<'_>, String> {
        let part = match self.action {
            Some(SectionAction::Replace) => SectionPart::Whole,
            Some(SectionAction::Append) => SectionPart::End,
            Some(SectionAction::Prepend) => SectionPart::Beginning,
            None => return Err("action is one of: append, prepend or replace.".to_owned()),
        };
        let text = match self.text.as_deref() {
            Some(text) if part == SectionPart::Whole || !text.is_empty() => text,
            _ if self.new_text.is_some() => return Err("Give text instead of new_text.".to_owned()),
            _ => return Err("text is missing: the lines, in Markdown.".to_owned()),
        };
        Ok(NoteEdit::Section(SectionEdit { heading: &self.heading, part, text }))
    }
}

pub(crate) struct EditSection {
    pub(crate) notes: NotesView,
    pub(crate) archive: Arc<dyn ConversationArchive>,
}

impl EditSection {
    /// Refuses to replace a section of a note that is as the model knows it, while a line of the section was not
    /// shown: other tools tell the hash, too. Of any other note the edit says what to do.
    async fn require_section_shown(
        &self,
        name: &str,
        section: &SectionEdit<'_>,
        expected: Option<&str>,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        if section.part != SectionPart::Whole {
            return Ok(());
        }
        let note = self.notes.find_note(name, context).await?;
        if Freshness::of_note(&note, expected, context) != Freshness::Current {
            return Ok(());
        }
        let text = decode(&note.path, &note.bytes).map_err(ToolFailure::labeled)?;
        match section.replaced_range(&note.path, text) {
            Some(range) => {
                require_shown(self.archive.as_ref(), &note.path, text, range, context).await
            }
            None => Ok(()),
        }
    }
}

#[async_trait]
impl ChangingTool for EditSection {
    const NAME: &'static str = "edit_section";
    type Input = EditSectionInput;
    const BRIEF: Option<ToolBrief> = None;

    async fn plan(
        &self,
        input: EditSectionInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let edit = input.edit().map_err(ToolFailure::labeled)?;
        let expected = input.expect_hash.as_deref();
        if let NoteEdit::Section(section) = &edit {
            self.require_section_shown(&input.path, section, expected, context).await?;
        }
        plan_edit(&self.notes, &input.path, &edit, expected, context).await
    }
}
