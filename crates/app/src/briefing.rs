//! Gathers what the context block says at the moment when the user's words are stored.

use std::collections::BTreeMap;

use protocol::{ContentHash, ConversationId, NotePath, Part, Source, UserError};
use store::{AskedRow, VerdictRow};
use vault::{Vault, VaultError};

use crate::aside::aside;
use crate::context::{self, Asked, Briefing, Changed};
use crate::diff::unified;
use crate::hub_question::Standing;
use crate::naming::has_attachment;
use crate::open_vault::OpenVault;
use crate::sent_note::SentNote;
use crate::spending;
use crate::submit::Words;
use crate::trouble::user_error;

/// So many of the notes that a conversation has read are looked at again at most.
const LOOKED_AT: usize = 200;

/// What goes along with some words.
pub(crate) struct Context {
    /// Ready to be stored before the words.
    pub(crate) parts: Vec<Part>,
    /// Where that of it comes from which is neither the user's nor ours.
    pub(crate) shown: Vec<Source>,
}

impl OpenVault {
    /// The context of some words: the block, and what is sent of the open note.
    pub(crate) async fn context_of(
        &self,
        conversation: &ConversationId,
        words: &Words,
        verdicts: &[VerdictRow],
    ) -> Result<Context, UserError> {
        let set = self.store.open_change_set(conversation).await.map_err(user_error)?;
        let waiting: Vec<NotePath> = set
            .map(|set| set.planned.into_iter().map(|row| row.change.path).collect())
            .unwrap_or_default();
        let SentNote { line: open_note, parts: of_note, path: open } =
            self.sent_note(words).await?;
        let question = self.store.question_before(conversation, None).await.map_err(user_error)?;
        let decided = verdicts.iter().flat_map(|row| row.applied.iter().chain(&row.rejected));
        let decided: Vec<NotePath> = decided.cloned().collect();
        let (verdicts, quoted) = self.verdicts_in_words(verdicts).await?;
        let changed = self.changed_since(conversation, &waiting).await?;
        let told = decided.into_iter().chain(waiting.iter().cloned());
        let told = told.chain(changed.iter().map(|note| note.path().clone())).collect();
        let briefing = Briefing {
            now: context::time(&jiff::Zoned::now()),
            open_note,
            question: question.and_then(|question| asked(question, words)),
            left: spending::month_left(&self.store, &self.config.get()).await?,
            verdicts,
            changed,
            waiting,
        };
        let block = Part::Context { text: context::block(&briefing) };
        let parts = std::iter::once(block).chain(of_note).collect();
        let named = self.named_by_vault(conversation, told).await?;
        let notes = quoted.into_iter().chain(named).chain(open).map(Source::Note);
        let attached = has_attachment(&words.text) && !words.origin.is_hub();
        let shown = notes.chain(attached.then_some(Source::Foreign)).collect();
        Ok(Context { parts, shown })
    }

    /// Those of the notes whose names the conversation has from the vault: no call spelled them. That
    /// is so for notes that were changed along with another one, whose links were rewritten.
    async fn named_by_vault(
        &self,
        conversation: &ConversationId,
        notes: Vec<NotePath>,
    ) -> Result<Vec<NotePath>, UserError> {
        if notes.is_empty() {
            return Ok(notes);
        }
        let given = self.store.places_given(conversation).await.map_err(user_error)?;
        let is_given = |note: &NotePath| given.iter().any(|place| note.is_spelled_by(place));
        Ok(notes.into_iter().filter(|note| !is_given(note)).collect())
    }

    /// The user's decisions; of notes that some model must not see, or that are gone and may be such by now,
    /// only that. Beside it the notes that are quoted.
    async fn verdicts_in_words(
        &self,
        verdicts: &[VerdictRow],
    ) -> Result<(Vec<String>, Vec<NotePath>), UserError> {
        let mut words = Vec::with_capacity(verdicts.len());
        let mut quoted = Vec::new();
        for verdict in verdicts {
            let mut declined = self.store.declined(verdict).await.map_err(user_error)?;
            let notes = declined.iter().map(|change| change.path.clone()).collect();
            let gone = self.keeper.gone_from_any(notes).await?;
            declined.retain(|change| !gone.contains(&change.path));
            let (vault, verdict) = (self.keeper.seen_by_any(), verdict.clone());
            let in_words = move || {
                let shown = || declined.iter().filter(|change| !vault.hides(&change.path));
                let words = context::verdict(&verdict, &shown().map(unified).collect::<Vec<_>>());
                (words, shown().map(|change| change.path.clone()).collect::<Vec<_>>())
            };
            let (told, notes) = aside(in_words).await?;
            words.push(told);
            quoted.extend(notes);
        }
        Ok((words, quoted))
    }

    /// Notes that are no longer as the conversation has read or written them. Those that wait for
    /// a verdict are told as such; those that some model must not see, or that are gone and may be such by
    /// now, are not told.
    async fn changed_since(
        &self,
        conversation: &ConversationId,
        waiting: &[NotePath],
    ) -> Result<Vec<Changed>, UserError> {
        let mut seen = self.store.seen(conversation).await.map_err(user_error)?;
        seen.retain(|path, _| !waiting.contains(path));
        let (vault, screened) = (self.vault.clone(), self.keeper.seen_by_any());
        let mut changed = aside(move || changed(&vault, &screened, seen)).await?;
        let gone = changed.iter().filter_map(Changed::gone).cloned().collect();
        let hidden = self.keeper.gone_from_any(gone).await?;
        changed.retain(|note| note.gone().is_none_or(|path| !hidden.contains(path)));
        Ok(changed)
    }
}

fn changed(vault: &Vault, screened: &Vault, seen: BTreeMap<NotePath, ContentHash>) -> Vec<Changed> {
    let looked_at = seen.into_iter().take(LOOKED_AT);
    let changed = looked_at.filter_map(|(path, hash)| match vault.read(&path) {
        Ok(note) if note.hash == hash || screened.hides(&path) => None,
        Ok(_) => Some(Changed::Otherwise(path)),
        Err(VaultError::NotFound { .. }) if screened.hides(&path) => None,
        Err(VaultError::NotFound { .. }) => Some(Changed::Gone(path)),
        Err(_) => None,
    });
    changed.collect()
}

/// What the words mean for the question that waits.
fn asked(row: AskedRow, words: &Words) -> Option<Asked> {
    let standing = words.received_at.map(|at| Standing::of(&row, at, None));
    let question = row.question;
    if words.answers.as_ref() == Some(&question.id) {
        return None;
    }
    Some(match standing {
        Some(Standing::MayAnswer) => {
            Asked::MayBeAnswered(question.id, question.text, question.options)
        }
        _ if words.origin.is_hub() => Asked::Waits(question.text, question.options),
        _ => Asked::PutAside(question.text),
    })
}
