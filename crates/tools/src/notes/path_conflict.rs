//! Finds what blocks a new path, and suggests another one.

use llm::tool_api::tool::{ToolContext, ToolFailure};
use protocol::{NotePath, PlannedState};

use crate::notes::notes_view::{FileOrFolder, NotesView, run_blocking};

/// Numbers tried behind a name that is taken.
const NUMBERS_TRIED: std::ops::Range<u32> = 2..10;

impl NotesView {
    /// The failure for `asked`, a folder's new path (no `from`) or where `from` was to go, when
    /// `there` is in its way.
    pub(crate) async fn path_taken(
        &self,
        asked: &str,
        there: &NotePath,
        from: Option<&FileOrFolder>,
        context: &ToolContext,
    ) -> Result<ToolFailure, ToolFailure> {
        let is_folder = self.find_folder(there.as_str(), context).await?.is_some();
        let below = rest_below(asked, there);
        if is_folder && below.is_empty() {
            return Ok(match from {
                None => ToolFailure::new(format!(
                    "The folder `{there}` already exists. No change needed.{}",
                    context.offered.hint(&["list_files"], "\nList it with list_files.")
                )),
                Some(from) => into_folder(from, there),
            });
        }
        let (said, wants_folder) = if below.is_empty() {
            (format!("`{there}` already exists."), !matches!(from, Some(FileOrFolder::File(_))))
        } else {
            (format!("`{there}` already exists and is no folder."), true)
        };
        let field = if from.is_some() { "destination" } else { "path" };
        let others = alternative_names(there, wants_folder).map(|name| format!("{name}{below}"));
        Ok(ToolFailure::new(match self.first_free(others.collect(), from, context).await? {
            Some(free) => {
                format!("{said}\nChoose another name: for example give {field} `{free}`.")
            }
            None => format!("{said}\nChoose another name."),
        }))
    }

    /// Refuses a destination that could be the folder of that name as well as a new name.
    pub(crate) async fn refuse_folder_destination(
        &self,
        from: &FileOrFolder,
        asked: &str,
        to: &NotePath,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let is_name_given = NotePath::parse(asked).is_ok_and(|asked| asked.name() == to.name());
        if is_name_given {
            return Ok(());
        }
        match self.find_folder(asked, context).await? {
            Some(folder) => {
                let ToolFailure { text: into, .. } = into_folder(from, &folder);
                Err(ToolFailure::new(format!("{into}\nFor a new name beside it write `{to}`.")))
            }
            None => Ok(()),
        }
    }

    async fn first_free(
        &self,
        names: Vec<String>,
        from: Option<&FileOrFolder>,
        context: &ToolContext,
    ) -> Result<Option<NotePath>, ToolFailure> {
        let (vault, overlay, from) = (self.vault(), context.overlay.clone(), from.cloned());
        let free = move || {
            names.iter().find_map(|name| {
                let judged = match &from {
                    Some(FileOrFolder::File(from)) => vault.new_path_for_rename(from, name),
                    Some(FileOrFolder::Folder(_)) | None => vault.new_folder(name),
                };
                let path = NotePath::from(judged.ok()?);
                let is_free = matches!(overlay.planned_state(&path), PlannedState::OnDisk(same) if same == path);
                is_free.then_some(path)
            })
        };
        run_blocking(free).await
    }
}

fn into_folder(from: &FileOrFolder, folder: &NotePath) -> ToolFailure {
    let (FileOrFolder::File(from) | FileOrFolder::Folder(from)) = from;
    ToolFailure::new(format!(
        "`{folder}` is a folder.\nTo move `{from}` into it give destination `{folder}/`."
    ))
}

/// Whether a failure says that the destination is a folder.
pub(crate) fn is_folder(output: &str) -> bool {
    output.lines().next().is_some_and(|line| line.ends_with("` is a folder."))
        && output.contains("\nTo move `")
}

/// The rest of `asked` below `there`, with the `/` before it.
fn rest_below(asked: &str, there: &NotePath) -> String {
    let asked = NotePath::parse(asked).ok();
    let parts = asked.iter().flat_map(NotePath::parts).skip(there.parts().count());
    parts.map(|part| format!("/{part}")).collect()
}

/// Other names beside `path`: numbered ones, for a folder first the one without its extension.
fn alternative_names(path: &NotePath, wants_folder: bool) -> impl Iterator<Item = String> {
    let named = path.extension().and_then(|_| path.as_str().rsplit_once('.'));
    let (stem, extension) = match named {
        Some((stem, extension)) => (stem.to_owned(), format!(".{extension}")),
        None => (path.as_str().to_owned(), String::new()),
    };
    let bare = (wants_folder && !extension.is_empty()).then(|| stem.clone());
    let extension = if wants_folder { String::new() } else { extension };
    bare.into_iter().chain(NUMBERS_TRIED.map(move |number| format!("{stem} {number}{extension}")))
}
