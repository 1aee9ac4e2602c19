//! `set_property`: a property in the frontmatter of a note.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, ToolBrief, ToolContext, ToolEffect, ToolFailure,
};
use markdown::{PropertyAction, PropertyEdit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::notes::notes_view::NotesView;
use crate::write_tools::edit::{NoteEdit, plan_edit};

/// Sets, extends or removes a property in a note's frontmatter.
/// Example: {"path": "Garden", "property": "tags", "action": "append", "value": "spring"}
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetPropertyInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// The name of the property, such as `tags`.
    property: String,
    /// `set` replaces its value, `append` adds to its list, `remove` removes the property.
    #[schemars(required)]
    action: Option<PropertyVerb>,
    /// A text, a number, true or false, or a list of them. Not needed to remove.
    #[serde(default)]
    #[schemars(schema_with = "value_schema")]
    value: Option<Value>,
    /// A field of `edit_section`.
    #[schemars(skip)]
    text: Option<Value>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PropertyVerb {
    Set,
    Append,
    Remove,
}

fn value_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "number", "boolean", "array"],
        "items": { "type": ["string", "number", "boolean"] }
    })
}

impl SetPropertyInput {
    pub(crate) fn edit(&self) -> Result<NoteEdit<'_>, String> {
        let value = || match &self.value {
            Some(value) => Ok(value),
            None if self.text.is_some() => Err("Give value instead of text.".to_owned()),
            None => {
                Err("value is missing: the new value of the property.\nTo remove the property \
                         give action \"remove\"."
                    .to_owned())
            }
        };
        let action = match self.action {
            Some(PropertyVerb::Set) => PropertyAction::Set(value()?),
            Some(PropertyVerb::Append) => PropertyAction::Append(value()?),
            Some(PropertyVerb::Remove) => PropertyAction::Remove,
            None => return Err("action is one of: set, append or remove.".to_owned()),
        };
        Ok(NoteEdit::Property(PropertyEdit { name: &self.property, action }))
    }
}

pub(crate) struct SetProperty(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for SetProperty {
    const NAME: &'static str = "set_property";
    type Input = SetPropertyInput;
    const BRIEF: Option<ToolBrief> = None;

    async fn plan(
        &self,
        input: SetPropertyInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let edit = input.edit().map_err(ToolFailure::labeled)?;
        plan_edit(&self.0, &input.path, &edit, None, context).await
    }
}
