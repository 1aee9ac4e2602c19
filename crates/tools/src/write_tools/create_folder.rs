//! `create_folder`: a folder, with those above it.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolContext, ToolEffect, ToolFailure,
};
use protocol::{Change, ChangeAction, ChangeSet};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::NotesView;

/// Creates an empty folder. Not needed before a note is written or moved: those make the folders
/// they need.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateFolderInput {
    /// The folder's whole path from the top folder, such as `Projects/2026`.
    path: String,
}

pub(crate) struct CreateFolder(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for CreateFolder {
    const NAME: &'static str = "create_folder";
    type Input = CreateFolderInput;

    async fn plan(
        &self,
        input: CreateFolderInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let path = self.0.free_path(&input.path, None, context).await?;
        let summary = format!("create the folder `{path}`");
        let change_set = ChangeSet::one(Change { path, act: ChangeAction::MakeFolder });
        Ok((ToolEffect::Folder, ChangePlan { change_set, summary, labels: SourceLabels::Complete }))
    }
}
