//! From what a person or a model wrote to the one note it means, or to a new note's path.

use protocol::notes::invisible::without_invisible;
use protocol::{NewNotePath, NewPathKind, NotePath, PathError};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::names::name_key::name_key;
use crate::names::{suggestions, sync_artifacts};
use crate::{EntryKind, Listing, Vault, VaultError};

impl Vault {
    /// Finds the existing note that `text` means. Tolerates other case, another Unicode form, a
    /// missing `.md`, missing leading folders and missing invisible characters, as long as one note
    /// answers. The result is
    /// spelled as on disk.
    pub fn resolve(&self, text: &str) -> Result<NotePath, VaultError> {
        let asked = note_path(text)?;
        for spelling in spellings(&asked)? {
            if self.is_occupied(&spelling)? && !self.hides(&spelling) {
                return Ok(spelling);
            }
        }
        let listing = self.list()?;
        let mut candidates = candidates(&listing, &asked);
        match (candidates.pop(), candidates.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                candidates.push(last);
                Err(VaultError::Ambiguous { asked: text.to_owned(), candidates })
            }
            (None, _) => {
                let nearest = suggestions::suggest_notes(&listing, &asked);
                Err(VaultError::NotFound { asked: text.to_owned(), nearest })
            }
        }
    }

    /// Judges `text` as the path of a note to create. Folders that exist are spelled as on disk
    /// and only the parts that would be made are held to the rules for new names; a sibling whose
    /// name would collide on any system is `Exists`, and so is a file or link with the name as it
    /// was given, before `.md` was added.
    ///
    /// A private path is `Withheld`, whether it exists or not, with the name that the caller gave;
    /// a path in an extra root is `InExtraRoot`.
    pub fn new_path(&self, text: &str) -> Result<NewNotePath, VaultError> {
        self.visible_new_path(&note_path(text)?, NewPathKind::Note)
    }

    /// Judges `text` as the path of a folder to create, as [`Vault::new_path`] does.
    pub fn new_folder(&self, text: &str) -> Result<NewNotePath, VaultError> {
        self.visible_new_path(&NotePath::parse(text)?, NewPathKind::Folder)
    }

    /// Judges `text` as the path that the file `from` shall have, as [`Vault::new_path`] does; its
    /// extension stays. Itself is not in its way: its name may change in case or Unicode form.
    pub fn new_path_for_rename(
        &self,
        from: &NotePath,
        text: &str,
    ) -> Result<NewNotePath, VaultError> {
        self.renamed_path(from, &note_path(text)?, NewPathKind::Moved(from))
    }

    /// Judges `text` as the path that the folder `from` shall have, in the same way.
    pub fn new_folder_for_rename(
        &self,
        from: &NotePath,
        text: &str,
    ) -> Result<NewNotePath, VaultError> {
        self.renamed_path(from, &NotePath::parse(text)?, NewPathKind::Folder)
    }

    fn renamed_path(
        &self,
        from: &NotePath,
        asked: &NotePath,
        kind: NewPathKind<'_>,
    ) -> Result<NewNotePath, VaultError> {
        match self.visible_new_path(asked, kind) {
            // Not where `from` is to become a folder above itself.
            Err(VaultError::Exists { path })
                if path == *from && asked.parts().count() == from.parts().count() =>
            {
                let folder = from.folder().map(NotePath::parse).transpose()?;
                Ok(NewNotePath::parse_in(folder.as_ref(), asked.name(), kind)?)
            }
            judged => judged,
        }
    }

    fn visible_new_path(
        &self,
        asked: &NotePath,
        kind: NewPathKind<'_>,
    ) -> Result<NewNotePath, VaultError> {
        let is_hidden = |path: &NotePath| self.hides(path);
        let withheld = || VaultError::Withheld { path: asked.clone() };
        if is_hidden(asked) {
            return Err(withheld());
        }
        // A note without an extension may still have the name of a root: it gets another one.
        if asked.folder().is_some() || matches!(kind, NewPathKind::Folder) {
            self.check_not_in_extra_root(asked)?;
        }
        match self.find_free_path(asked, kind) {
            Ok(new) if is_hidden(new.path()) => Err(withheld()),
            Err(
                VaultError::Exists { path }
                | VaultError::NotANote { path, .. }
                | VaultError::NotDownloaded { path }
                | VaultError::Denied { path, .. },
            ) if is_hidden(&path) => Err(withheld()),
            Err(VaultError::Ambiguous { candidates, .. }) if candidates.iter().any(is_hidden) => {
                Err(withheld())
            }
            Ok(new) => self.check_not_in_extra_root(new.path()).map(|()| new),
            refused => refused,
        }
    }

    fn find_free_path(
        &self,
        asked: &NotePath,
        kind: NewPathKind<'_>,
    ) -> Result<NewNotePath, VaultError> {
        let (mut folder, mut rest) = (None, asked.as_str());
        while let Some((part, deeper)) = rest.split_once('/') {
            let Some(found) = self.sibling(folder.as_ref(), part)? else { break };
            (folder, rest) = (Some(found), deeper);
        }
        let new = NewNotePath::parse_in(folder.as_ref(), rest, kind)?;
        let folder_is_there = !rest.contains('/');
        if folder_is_there && let Some(path) = self.sibling(folder.as_ref(), new.path().name())? {
            return Err(VaultError::Exists { path });
        }
        if folder_is_there
            && rest != new.path().name()
            && let Some(path) = self.sibling(folder.as_ref(), rest)?
            && self.is_occupied(&path)?
        {
            return Err(VaultError::Exists { path });
        }
        if folder_is_there
            && let Some(stand_in) = self.placeholder_for(folder.as_ref(), new.path().name())?
        {
            return Err(VaultError::NotDownloaded { path: stand_in });
        }
        Ok(new)
    }

    /// The path of a file called `name` that a sync program keeps elsewhere.
    fn placeholder_for(
        &self,
        folder: Option<&NotePath>,
        name: &str,
    ) -> Result<Option<NotePath>, VaultError> {
        let joined = |name: &str| {
            folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"))
        };
        let is_there = |name: &String| self.root().stat(&joined(name)).is_ok();
        let stands = sync_artifacts::placeholder_names(name).iter().any(is_there);
        Ok(stands.then(|| NotePath::parse(&joined(name))).transpose()?)
    }

    /// The entry of `folder` that is `name` on some system: the exact one if there is one.
    fn sibling(
        &self,
        folder: Option<&NotePath>,
        name: &str,
    ) -> Result<Option<NotePath>, VaultError> {
        let open = self.root().open_folder_or_self(folder.map(NotePath::as_str));
        let open = match (open, folder) {
            (Ok(open), _) => open,
            (Err(Errno::NOTDIR), Some(file)) => {
                return Err(VaultError::Exists { path: file.clone() });
            }
            (Err(error), Some(folder)) => {
                return Err(VaultError::from_errno("listed", folder, error));
            }
            (Err(error), None) => return Err(VaultError::Unlistable { source: error.into() }),
        };
        let spelled = |name: &str| {
            let path = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
            NotePath::parse(&path)
        };
        let wanted = spelled(name)?;
        let failed = |error| VaultError::from_errno("listed", &wanted, error);
        let mut same = Vec::new();
        for entry in open.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            match entry.file_name().to_str() {
                Ok(found) if found == name => return Ok(Some(wanted)),
                Ok(found) if name_key(found) == name_key(name) => same.push(spelled(found)?),
                _ => {}
            }
        }
        match (same.pop(), same.is_empty()) {
            (only, true) => Ok(only),
            (last, false) => {
                same.extend(last);
                same.sort();
                Err(VaultError::Ambiguous { asked: name.to_owned(), candidates: same })
            }
        }
    }

    /// Whether something other than a folder stands at exactly this spelling.
    fn is_occupied(&self, path: &NotePath) -> Result<bool, VaultError> {
        match self.stat_to_read(path.as_str()) {
            Ok(stat) => {
                Ok(FileType::from_raw_mode(stat.st_mode) != FileType::Directory
                    || path.is_markdown())
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(VaultError::from_errno("read", path, error)),
        }
    }
}

/// Parses what is to name a note: with a `/` at its end it would name a folder.
pub(crate) fn note_path(text: &str) -> Result<NotePath, PathError> {
    let asked = NotePath::parse(text)?;
    if text.ends_with('/') {
        let advice = "Remove the `/` at the end, or write the note’s name behind it.";
        return Err(PathError(format!("`{asked}/` names a folder, not a note. {advice}")));
    }
    Ok(asked)
}

/// The path as given, then with `.md`.
pub(crate) fn spellings(asked: &NotePath) -> Result<Vec<NotePath>, VaultError> {
    let mut spellings = vec![asked.clone()];
    if !asked.is_markdown() && asked.name().len() <= 252 {
        spellings.push(NotePath::parse(&format!("{asked}.md"))?);
    }
    Ok(spellings)
}

/// The notes that answer to `asked`. Each way of answering counts only if none before it found
/// any: the same path in another Unicode form, in another case, at the end of a longer path.
fn candidates(listing: &Listing, asked: &NotePath) -> Vec<NotePath> {
    let wanted = name_key(&without_invisible(asked.as_str()));
    let wanted = wanted.strip_suffix(".md").unwrap_or(&wanted);
    let mut answers: [Vec<NotePath>; 3] = Default::default();
    let files = listing.entries.iter().filter(|entry| entry.kind != EntryKind::Folder);
    for path in files.map(|entry| &entry.path) {
        let folded = name_key(&without_invisible(path.as_str()));
        let named = folded.strip_suffix(".md").unwrap_or(&folded);
        let [same, same_case, ending] = &mut answers;
        if path == asked {
            same.push(path.clone());
        } else if named == wanted {
            same_case.push(path.clone());
        } else if named.strip_suffix(wanted).is_some_and(|folders| folders.ends_with('/')) {
            ending.push(path.clone());
        }
    }
    answers.into_iter().find(|answers| !answers.is_empty()).unwrap_or_default()
}
