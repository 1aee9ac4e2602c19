//! An answer becomes a note: a change of the user's own, beside the turn that answered.

use protocol::applied::AppliedBy;
use protocol::request::SavedAnswer;
use protocol::{Change, ChangeSet, MessageId, NotePath, UserError};
use vault::undo::Taken;
use vault::{Progress, Vault, VaultError};

use crate::App;
use crate::announce::News;
use crate::aside::aside;
use crate::clock::fresh;
use crate::open_vault::OpenVault;
use crate::taint::is_rules_file;
use crate::trouble::{of_note, user_error};

/// So many names like the one that is taken are tried.
const TRIES: usize = 99;

impl App {
    /// Writes an answer as a new note with this name, which may begin with folders. Durable when it
    /// returns; what has the name already is left as it is, and told.
    pub async fn save_answer(
        &self,
        answer: &MessageId,
        name: &str,
    ) -> Result<SavedAnswer, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let answered = open.store.answer(answer).await.map_err(user_error)?;
        let Some((turn, words)) = answered else {
            return Err(UserError::other("This answer is not there any more."));
        };
        let path = match place(&open, name).await? {
            Place::Free(path) => path,
            Place::Taken(taken) => return Ok(taken),
        };
        let change = Change::create(path.clone(), format!("{}\n", words.trim()));
        open.store.pass_on_taint(&[(turn.clone(), &change)]).await.map_err(user_error)?;
        let (set, taken) = (fresh(), Taken { changes: ChangeSet::one(change), ..Taken::default() });
        let applied =
            open.apply_own(&set, &taken, &turn, AppliedBy::Save, &Progress::default()).await?;
        match applied.problems.first() {
            // Somebody was faster.
            Some((_, VaultError::Exists { path })) => taken_at(&open, path.clone(), name).await,
            Some((_, error)) => Err(of_note(error)),
            None => {
                open.announce(News::Applied(vec![set.clone()]));
                Ok(SavedAnswer::Saved { path, change_set: set })
            }
        }
    }
}

/// Where a name leads.
enum Place {
    Free(NotePath),
    Taken(SavedAnswer),
}

async fn place(open: &OpenVault, name: &str) -> Result<Place, UserError> {
    let (vault, asked) = (open.vault.clone(), name.trim().to_owned());
    match aside(move || vault.new_path(&asked)).await? {
        Ok(new) => fit(new.path()).map(|()| Place::Free(new.into())),
        Err(VaultError::Exists { path }) => taken_at(open, path, name).await.map(Place::Taken),
        Err(error) => Err(of_note(&error)),
    }
}

/// A name may have been proposed by the answer: under no name it becomes rules, or no note.
fn fit(path: &NotePath) -> Result<(), UserError> {
    if is_rules_file(path) {
        return Err(UserError::other(format!(
            "`{path}` tells the assistant how to work: save the answer under another name."
        )));
    }
    if !path.is_markdown() {
        return Err(UserError::other(format!(
            "`{path}` is no note: leave out the end of the name."
        )));
    }
    Ok(())
}

async fn taken_at(open: &OpenVault, path: NotePath, name: &str) -> Result<SavedAnswer, UserError> {
    let (vault, asked) = (open.vault.clone(), name.trim().to_owned());
    let free = aside(move || free_like(&vault, &asked)).await?;
    let full = || UserError::other(format!("`{path}` is there already: give another name."));
    let free = free.ok_or_else(full)?;
    Ok(SavedAnswer::Taken { path, free })
}

/// The first of `Name 2`, `Name 3` … that is free.
fn free_like(vault: &Vault, name: &str) -> Option<String> {
    let bare = match name.get(name.len().saturating_sub(3)..) {
        Some(end) if end.eq_ignore_ascii_case(".md") => name.strip_suffix(end).unwrap_or(name),
        _ => name,
    };
    let names = (2..=TRIES).map(|number| format!("{bare} {number}"));
    names.into_iter().find(|name| vault.new_path(name).is_ok())
}
