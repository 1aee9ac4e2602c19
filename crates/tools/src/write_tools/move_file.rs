//! `move_file`: another path for a note, another file or a folder.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolContext, ToolEffect, ToolFailure,
};
use protocol::{Change, ChangeAction, ChangeSet, NotePath, Source};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{FileOrFolder, NotesView};

/// Moves or renames a note, another file or a folder. All links to it are rewritten, so that they
/// still lead to it. Folders that the destination needs are made. The destination must not exist.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveFileInput {
    /// What to move: a path such as `Projects/Garden.md`, or just a note's name such as `Garden`. A
    /// folder by its path, such as `Projects/Old/`.
    source: String,
    /// Its new path from the top folder, such as `Archive/Garden.md`. With a `/` at its end it is
    /// the folder to move into, under the same name.
    destination: String,
}

pub(crate) struct MoveFile(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for MoveFile {
    const NAME: &'static str = "move_file";
    type Input = MoveFileInput;

    async fn plan(
        &self,
        input: MoveFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let thing = self.0.find_file_or_folder(&input.source, context).await?;
        let (FileOrFolder::File(from) | FileOrFolder::Folder(from)) = &thing;
        refuse_pending_folder(&thing, context)?;
        self.0.require_movable(&thing, context).await?;
        if is_vault_root(&input.destination) {
            return Err(ToolFailure::new(format!(
                "`{}` names no folder.\nTo move `{from}` into the top folder give destination \
                 `{}`.",
                input.destination,
                from.name()
            )));
        }
        // A blank at an end is refused, not removed: the name made is the name that was written.
        let asked = destination(from, &input.destination);
        let to = self.0.free_path(&asked, Some(&thing), context).await?;
        if to.is_in(from) && to != *from {
            return Err(into_itself(from, &to));
        }
        self.0.refuse_folder_destination(&thing, &asked, &to, context).await?;
        if to.as_str() == from.as_str() {
            return Err(ToolFailure::new(format!("`{from}` is already there. No change needed.")));
        }
        let kept = self.0.updates_after_move(from, &to, context).await?;
        // That no link had to change is told of every note as well.
        context.sources.record_named_source(Source::Vault);
        let summary = format!("move `{from}` to `{to}`{}", kept.summary_suffix(context));
        let change = match thing {
            FileOrFolder::File(from) => Change::rename(from, to),
            FileOrFolder::Folder(from) => Change::rename_folder(from, to),
        };
        let change_set: ChangeSet = kept.changes.into_iter().chain([change]).collect();
        Ok((ToolEffect::Move, ChangePlan { change_set, summary, labels: SourceLabels::Complete }))
    }
}

/// Refuses to move a folder whose creation is pending: the disk may not have it, or have it without what is planned in
/// it.
fn refuse_pending_folder(thing: &FileOrFolder, context: &ToolContext) -> Result<(), ToolFailure> {
    let FileOrFolder::Folder(folder) = thing else { return Ok(()) };
    let renames = context.overlay.renames();
    let makes_it = |change: &Change| {
        change.act == ChangeAction::MakeFolder && renames.forward(&change.path) == *folder
    };
    if context.overlay.changes().any(makes_it) {
        return Err(ToolFailure::new(format!(
            "The folder `{folder}` does not exist yet. Its creation waits for the user's review.\n\
             Tell the user to decide about it first, then move the folder."
        )));
    }
    Ok(())
}

/// A destination that is a folder keeps the note's name.
fn destination(from: &NotePath, asked: &str) -> String {
    match asked.strip_suffix('/') {
        Some(folder) => format!("{folder}/{}", from.name()),
        None => asked.to_owned(),
    }
}

/// `/` and `./` name no folder in the vault.
fn is_vault_root(asked: &str) -> bool {
    asked.contains('/') && asked.split('/').all(|part| matches!(part, "" | "."))
}

fn into_itself(from: &NotePath, to: &NotePath) -> ToolFailure {
    let inside = to.parts().skip(from.parts().count());
    let outside: Vec<_> = from.folder().into_iter().chain(inside).collect();
    ToolFailure::new(format!(
        "`{from}` cannot be moved into itself.\nChoose a place outside it: for example give \
         destination `{}`.",
        outside.join("/")
    ))
}
