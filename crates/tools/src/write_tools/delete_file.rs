//! `delete_file`: a note or folder into the trash.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolContext, ToolEffect, ToolFailure,
};
use protocol::{Change, ChangeAction, ChangeKind, ChangeSet, NotePath, Renames};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{FileOrFolder, NotesView};

/// Puts a note, another file or a whole folder into the trash, from where the user can restore it.
/// Nothing is ever removed for good.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`. A folder
    /// by its path, such as `Projects/Old/`.
    path: String,
}

pub(crate) struct DeleteFile(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for DeleteFile {
    const NAME: &'static str = "delete_file";
    type Input = DeleteFileInput;

    async fn plan(
        &self,
        input: DeleteFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let (change, summary) = match self.0.find_file_or_folder(&input.path, context).await? {
            FileOrFolder::File(path) => {
                let note = self.0.read_current(path, context).await?;
                refuse_moved(&note.path, context)?;
                self.0.require_writable(&note).await?;
                let lost = self.0.broken_links_suffix(&note.path, context).await?;
                let summary = format!("put `{}` into the trash{lost}", note.path);
                (Change::trash(note.path, note.bytes), summary)
            }
            FileOrFolder::Folder(path) => {
                refuse_pending(&path, context)?;
                self.0.require_movable(&FileOrFolder::Folder(path.clone()), context).await?;
                let holds = self.0.folder_contents(&path).await?;
                let summary = format!("put the folder `{path}` into the trash");
                (Change { path, act: ChangeAction::TrashFolder { holds: Some(holds) } }, summary)
            }
        };
        Ok((
            ToolEffect::Delete,
            ChangePlan {
                change_set: ChangeSet::one(change),
                summary,
                labels: SourceLabels::Complete,
            },
        ))
    }
}

/// Refuses to delete a file whose move is pending: the links that the move rewrites would stay rewritten.
fn refuse_moved(path: &NotePath, context: &ToolContext) -> Result<(), ToolFailure> {
    let changes: Vec<&Change> = context.overlay.changes().collect();
    let moves_it = |(at, change): &(usize, &&Change)| {
        let later = changes.iter().skip(at + 1);
        let later = later.filter_map(|one| Some((one.path.clone(), one.target()?.clone())));
        let later: Renames = later.collect();
        change.kind() == ChangeKind::Rename
            && change.target().is_some_and(|target| later.forward(target) == *path)
    };
    match changes.iter().enumerate().find(moves_it) {
        None => Ok(()),
        Some((_, change)) => Err(ToolFailure::new(format!(
            "The move of `{}` to `{path}` waits for the user.\nTell the user to decide about it first, then delete \
             `{path}`.",
            change.path
        ))),
    }
}

/// Refuses to delete a folder with pending changes in it.
fn refuse_pending(folder: &NotePath, context: &ToolContext) -> Result<(), ToolFailure> {
    let inside = |change: &&Change| {
        change.path.is_in(folder) || change.target().is_some_and(|to| to.is_in(folder))
    };
    match context.overlay.changes().find(inside) {
        None => Ok(()),
        Some(change) => Err(ToolFailure::new(format!(
            "A change of `{}` waits for the user, and it is in `{folder}`.\nTell the user to \
             decide about it first, then delete the folder.",
            change.path
        ))),
    }
}
