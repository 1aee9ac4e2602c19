//! Which folder a name means, and which it may have meant.

use llm::tool_api::tool::{LookupScope, ToolContext, ToolFailure};
use protocol::{ChangeAction, NotePath};
use vault::EntryKind;

use crate::notes::notes_view::{NotesView, run_blocking, vault_failure};
use crate::text::suggestions::{self, NameSuggestions};

/// How far a file pattern reaches, as it is spelled. Where it is not certain that it stays on one level,
/// it reaches further down.
fn scope_of_pattern(pattern: &str) -> LookupScope {
    let pattern = pattern.trim_start_matches("./");
    let spelled = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    let Some((folder, _)) = spelled.rsplit_once('/') else { return LookupScope::Vault };
    let Ok(path) = NotePath::parse(folder) else { return LookupScope::Vault };
    let name = pattern.get(folder.len() + 1..).unwrap_or_default();
    // A class such as `[!a]` may match a `/`.
    let is_deep = name.is_empty() || name.contains(['/', '[', '\\']) || name.contains("**");
    if is_deep { LookupScope::Below(path) } else { LookupScope::Folder(path) }
}

impl NotesView {
    /// How far a search for files by this pattern looks. That no folder has the name is an answer about the whole
    /// vault: a folder that is not there, or that a reader does not see, is no source.
    pub(crate) async fn lookup_scope(&self, pattern: &str) -> Result<LookupScope, ToolFailure> {
        let scope = scope_of_pattern(pattern);
        let (LookupScope::Folder(folder) | LookupScope::Below(folder)) = &scope else {
            return Ok(scope);
        };
        let (vault, folder) = (self.vault(), folder.clone());
        let is_there = run_blocking(move || vault.file_times(&folder).is_ok()).await?;
        Ok(if is_there { scope } else { LookupScope::Vault })
    }

    /// The folder that `asked` means, in any case, where a reader sees it.
    pub(crate) async fn find_folder(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Option<NotePath>, ToolFailure> {
        let Ok(asked) = NotePath::parse(&asked.trim().to_lowercase()) else { return Ok(None) };
        Ok(self.all_folders(context).await?.into_iter().find(|path| {
            NotePath::parse(&path.as_str().to_lowercase()).is_ok_and(|path| path == asked)
        }))
    }

    /// The folder that `asked` means, in any case.
    pub(crate) async fn existing_folder(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        if let Some(found) = self.find_folder(asked, context).await? {
            return Ok(found);
        }
        Err(match self.suggest_folders(asked, context).await? {
            Some(near) => near,
            None => ToolFailure::labeled(format!(
                "There is no folder `{asked}`. {}",
                match context.offered.has_all(&["list_files"]) {
                    true => "List the folders with list_files.",
                    false => "Leave out folder to look in all of them.",
                }
            )),
        })
    }

    /// The error when no note is called `asked`: it suggests folders of that name, if there are
    /// any.
    pub(crate) async fn or_suggest_folders(
        &self,
        asked: &str,
        missing: ToolFailure,
        context: &ToolContext,
    ) -> Result<ToolFailure, ToolFailure> {
        let is_folder = asked.trim().ends_with('/');
        if !is_folder
            && suggestions::parse(&missing.text) != Some(NameSuggestions::Near(Vec::new()))
        {
            return Ok(missing);
        }
        Ok(self.suggest_folders(asked, context).await?.unwrap_or(missing))
    }

    /// The failure that offers folders with a name like `asked`, if any has one.
    async fn suggest_folders(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Option<ToolFailure>, ToolFailure> {
        let near = suggestions::similar_folders(asked, self.all_folders(context).await?);
        context.sources.record_search(&LookupScope::Vault);
        near.iter().for_each(|folder| context.sources.record_note(folder));
        let offer = || ToolFailure::labeled(suggestions::no_folder(asked, &near, &context.offered));
        Ok((!near.is_empty()).then(offer))
    }

    /// All folders, where a reader sees them.
    async fn all_folders(&self, context: &ToolContext) -> Result<Vec<NotePath>, ToolFailure> {
        let vault = self.vault();
        let listing =
            run_blocking(move || vault.list()).await?.map_err(|error| vault_failure(&error))?;
        let folders = listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
        let seen = folders.filter_map(|entry| context.overlay.disk_path(&entry.path));
        let made =
            context.overlay.changes().filter(|change| change.act == ChangeAction::MakeFolder);
        let renames = context.overlay.renames();
        Ok(seen.chain(made.map(|change| renames.forward(&change.path))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stays_in_the_folder_that_it_spells_and_on_its_level_only_where_that_is_certain() {
        let path = |text| NotePath::parse(text).expect("a path");
        let (folder, below) =
            (|text| LookupScope::Folder(path(text)), |text| LookupScope::Below(path(text)));
        for (pattern, scope) in [
            ("inbox/*.md", folder("inbox")),
            ("inbox/*", folder("inbox")),
            ("./Inbox/?{a,b}*.md", folder("Inbox")),
            ("a/b/c?.md", folder("a/b")),
            ("a/b", folder("a")),
            ("./inbox/**", below("inbox")),
            ("inbox/**/*.md", below("inbox")),
            ("inbox/*/x.md", below("inbox")),
            ("inbox/a**", below("inbox")),
            ("inbox/[!a]*", below("inbox")),
            ("inbox/\\*", below("inbox")),
            ("inbox/", below("inbox")),
            ("inbox/{../Diary,x}/*.md", below("inbox")),
            ("inbox/{x,sub/y}.md", below("inbox")),
            ("a*/b/c.md", LookupScope::Vault),
            ("{inbox,Diary}/*.md", LookupScope::Vault),
            ("../inbox/*.md", LookupScope::Vault),
            ("*.md", LookupScope::Vault),
            ("inbox", LookupScope::Vault),
            ("/x", LookupScope::Vault),
        ] {
            assert_eq!(scope_of_pattern(pattern), scope, "{pattern}");
        }
    }
}
