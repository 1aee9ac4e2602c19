//! `edit_file`: one text of a note for another; everything else in the note keeps its bytes.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, ToolBrief, ToolContext, ToolEffect, ToolFailure, ToolOffer,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::notes::notes_view::NotesView;
use crate::write_tools::edit::replace_text::TextReplacement;
use crate::write_tools::edit::{NoteEdit, is_blank, plan_edit};

/// Replaces text in a note. Read the note first and copy `old_text` exactly, without line numbers. It
/// must occur exactly once: include enough of the text around it. An empty `new_text` deletes it.
/// Example: {"path": "Groceries", "old_text": "- milk\n", "new_text": "- oat milk\n"}
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// The text to replace, exactly as it is in the note, line breaks included.
    old_text: String,
    /// The text to put in its place.
    #[schemars(required)]
    new_text: Option<String>,
    /// True to replace every occurrence of `old_text` instead of exactly one.
    #[serde(default)]
    replace_all: bool,
    /// The hash that read_file showed, to fail if the note has changed since.
    expect_hash: Option<String>,
    /// Fields of other edits: a call that gives one of them is told where it belongs.
    #[schemars(skip)]
    line: Option<Value>,
    #[schemars(skip)]
    start_line: Option<Value>,
    #[schemars(skip)]
    end_line: Option<Value>,
    #[schemars(skip)]
    heading: Option<Value>,
    #[schemars(skip)]
    property: Option<Value>,
    #[schemars(skip)]
    text: Option<Value>,
}

impl EditFileInput {
    pub(crate) fn edit(&self, offered: &ToolOffer) -> Result<NoteEdit<'_>, String> {
        let given = |field: &Option<Value>| field.as_ref().is_some_and(|value| !is_blank(value));
        let others = [
            ("heading", &self.heading),
            ("property", &self.property),
            ("line", &self.line),
            ("start_line", &self.start_line),
            ("end_line", &self.end_line),
        ];
        if let Some((name, _)) = others.iter().find(|(_, field)| given(field)) {
            return Err(format!(
                "edit_file replaces old_text wherever it is in the note. Leave out {name}.{}",
                offered.hint(
                    &["edit_section", "set_property"],
                    "\nTo change the text under a heading call edit_section; to change a property \
                     call set_property."
                )
            ));
        }
        if self.old_text.is_empty() {
            let hint = offered.hint(
                &["append_file", "write_file"],
                "\nTo add lines call append_file; to write a whole note call write_file.",
            );
            return Err(format!("old_text is empty, so there is nothing to replace.{hint}"));
        }
        match &self.new_text {
            Some(new) => Ok(NoteEdit::Text(TextReplacement {
                old: &self.old_text,
                new,
                replace_all: self.replace_all,
            })),
            None if given(&self.text) => Err("Give new_text instead of text.".to_owned()),
            None => Err("new_text is missing: the text to put in place of old_text.\nTo delete \
                         old_text give new_text \"\"."
                .to_owned()),
        }
    }
}

pub(crate) struct EditFile(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = EditFileInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Replaces text in a note. Copy old_text from the note, without line numbers; it must occur once.",
        required: &["path", "old_text", "new_text"],
        optional: &[],
    });

    async fn plan(
        &self,
        input: EditFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let edit = input.edit(&context.offered).map_err(ToolFailure::labeled)?;
        plan_edit(&self.0, &input.path, &edit, input.expect_hash.as_deref(), context).await
    }
}
