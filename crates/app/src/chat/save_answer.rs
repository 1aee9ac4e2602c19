//! Saves an answer as a note: a change set of the user's own, beside the turn that answered.
//!
//! The note inherits that text came from the hub. It is never a rules file, under any name.

use protocol::changes::history::AppliedBy;
use protocol::request::SavedAnswer;
use protocol::{Change, ChangeSet, MessageId, NotePath, UserError};
use vault::undo::UndoPlan;
use vault::{Progress, Vault, VaultError};

use crate::App;
use crate::events::domain_event::DomainEvent;
use crate::privacy::provenance::is_rules_file;
use crate::support::blocking::run_blocking;
use crate::support::clock::new_id;
use crate::user_texts;

/// The number of names like the one that is taken that are tried.
const MAX_NAME_SUFFIX: usize = 99;

impl App {
    /// Writes an answer as a new note with this name, which may begin with folders. Durable when it
    /// returns; what has the name already is left as it is, and told.
    pub async fn save_answer(
        &self,
        answer: &MessageId,
        name: &str,
    ) -> Result<SavedAnswer, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.change_lock.lock().await;
        let answered = changes.store.answer_by_id(answer).await?;
        let Some((turn, text)) = answered else {
            return Err(UserError::other(user_texts::answer_gone()));
        };
        let path = match answer_path(&changes.vault, name).await? {
            AnswerPath::Free(path) => path,
            AnswerPath::Taken(taken) => return Ok(taken),
        };
        let change = Change::create(path.clone(), format!("{}\n", text.trim()));
        changes.store.propagate_taint(&[(turn.clone(), &change)]).await?;
        let (set, taken) =
            (new_id(), UndoPlan { changes: ChangeSet::one(change), ..UndoPlan::default() });
        let applied = changes
            .apply_user_set(&set, &taken, &turn, AppliedBy::Save, &Progress::default())
            .await?;
        match applied.problems.first() {
            // Somebody was faster.
            Some((_, VaultError::Exists { path })) => {
                name_taken(&changes.vault, path.clone(), name).await
            }
            Some((_, error)) => Err(error.into()),
            None => {
                changes.emit(DomainEvent::Applied(vec![set.clone()]));
                Ok(SavedAnswer::Saved { path, change_set: set })
            }
        }
    }
}

/// Where a name leads.
enum AnswerPath {
    Free(NotePath),
    Taken(SavedAnswer),
}

async fn answer_path(vault: &Vault, name: &str) -> Result<AnswerPath, UserError> {
    let (notes, asked) = (vault.clone(), name.trim().to_owned());
    match run_blocking(move || notes.new_path(&asked)).await? {
        Ok(new) => ensure_allowed_name(new.path()).map(|()| AnswerPath::Free(new.into())),
        Err(VaultError::Exists { path }) => {
            name_taken(vault, path, name).await.map(AnswerPath::Taken)
        }
        Err(error) => Err(error.into()),
    }
}

/// A name may have been proposed by the answer: under no name it becomes rules, or no note.
fn ensure_allowed_name(path: &NotePath) -> Result<(), UserError> {
    if is_rules_file(path) {
        return Err(UserError::other(user_texts::answer_not_over_rules(path.as_str())));
    }
    if !path.is_markdown() {
        return Err(UserError::other(user_texts::not_a_note_name(path.as_str())));
    }
    Ok(())
}

async fn name_taken(vault: &Vault, path: NotePath, name: &str) -> Result<SavedAnswer, UserError> {
    let (vault, asked) = (vault.clone(), name.trim().to_owned());
    let free = run_blocking(move || next_free_name(&vault, &asked)).await?;
    let full = || UserError::other(user_texts::note_exists(path.as_str()));
    let free = free.ok_or_else(full)?;
    Ok(SavedAnswer::Taken { path, free })
}

/// The first of `Name 2`, `Name 3` … that is free.
fn next_free_name(vault: &Vault, name: &str) -> Option<String> {
    let bare = match name.get(name.len().saturating_sub(3)..) {
        Some(end) if end.eq_ignore_ascii_case(".md") => name.strip_suffix(end).unwrap_or(name),
        _ => name,
    };
    let names = (2..=MAX_NAME_SUFFIX).map(|number| format!("{bare} {number}"));
    names.into_iter().find(|name| vault.new_path(name).is_ok())
}
