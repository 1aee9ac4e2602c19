//! Gathers the context block when the user's message is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use protocol::{ContentHash, ConversationId, MessagePart, NotePath, Source, TurnId, UserError};
use store::{AnswerableQuestion, DecisionRow, OpenChangeSet, Store, TurnPlace};
use vault::{Vault, VaultError};

use crate::changes::diff::unified_diff;
use crate::chat::prompt::name_list::NameList;
use crate::chat::prompt::{self, ContextBlock, DecisionLists, QuestionStatus, StaleNote};
use crate::chat::user_message::UserMessage;
use crate::hub::reply_matching::ReplyMatch;
use crate::models::spending;
use crate::notes::mentions::has_attachment;
use crate::notes::sent_note::{SentNote, SentNotes};
use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;
use crate::support::blocking::run_blocking;
use crate::support::clock::local_now;
use name_ranks::{CalledNotes, NameRanks};

mod name_ranks;

/// The number of notes that a conversation has read and that are looked at again at most.
const MAX_CHECKED_NOTES: usize = 200;

/// Gathers the context of each message of a vault.
pub(crate) struct TurnContextBuilder {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// Keeps private notes from models.
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) sent_notes: SentNotes,
}

/// The context that is sent with a message.
pub(crate) struct TurnContext {
    /// Ready to be stored before the text.
    pub(crate) parts: Vec<MessagePart>,
    /// Where that of it comes from which is neither the user's nor ours.
    pub(crate) sources: Vec<Source>,
}

/// The user's decisions as a context block tells them.
#[derive(Default)]
struct ToldDecisions {
    texts: Vec<String>,
    /// Notes whose names the model learns, in the order of the sentences.
    named: Vec<NotePath>,
    /// The notes whose text is quoted.
    quoted: Vec<NotePath>,
}

impl TurnContextBuilder {
    /// The context of a message: the block, and the parts of the open note. Of the conversation it
    /// tells what the turn hears of: the message may open another branch than the one that is shown.
    pub(crate) async fn build(
        &self,
        conversation: &ConversationId,
        message: &UserMessage,
        decisions: &[DecisionRow],
    ) -> Result<TurnContext, UserError> {
        let place = message.place();
        let set = self.store.open_change_set(conversation).await?;
        let others = self.unheard_planners(conversation, place, set.as_ref()).await?;
        let waiting: Vec<NotePath> = set
            .map(|set| set.planned.into_iter().map(|row| row.change.path).collect())
            .unwrap_or_default();
        let SentNote { line: open_note, parts: of_note, path: open } =
            self.sent_notes.sent_note(message).await?;
        let asked = self.store.question_before(conversation, place).await?;
        let asker = asked.as_ref().map(|row| row.question.turn.clone());
        let question = asked.and_then(|asked| question_status(asked, message));
        let asker = asker.filter(|_| question.is_some());
        let changed = self.stale_notes(conversation, place, &waiting).await?;
        let decided = decisions.iter().flat_map(|row| row.applied.iter().chain(&row.rejected));
        let planned: BTreeSet<NotePath> = decided.chain(&waiting).cloned().collect();
        let called = match planned.is_empty() && changed.is_empty() {
            true => CalledNotes::default(),
            false => self.called_notes(conversation, place).await?,
        };
        let (store, guard) = (&self.store, &self.privacy_guard);
        let ranks = NameRanks::load(store, guard, conversation, planned, &called).await?;
        let ToldDecisions { texts: decisions, named: decided, quoted } =
            self.decision_texts(conversation, place, decisions, &ranks).await?;
        let waiting = NameList::new(&waiting, |note| ranks.rank(note));
        let told = decided.into_iter().chain(waiting.names().iter().cloned());
        let told = told.chain(changed.iter().map(|note| note.path().clone()));
        // No call that the turn hears of spelled these names: they are known only from the vault.
        let named: Vec<NotePath> = told.filter(|note| !called.contain(note)).collect();
        let named = self.privacy_guard.without_private_linking_notes(conversation, named).await?;
        let briefing = ContextBlock {
            now: prompt::time_text(&local_now()),
            open_note,
            question,
            budget_left: spending::month_budget_left(&self.store, &self.config.get()).await?,
            decisions,
            stale_notes: changed,
            pending_notes: waiting,
        };
        let block = MessagePart::Context { text: prompt::context_block(&briefing) };
        let parts = std::iter::once(block).chain(of_note).collect();
        let notes = quoted.into_iter().chain(named).chain(open).map(Source::Note);
        let attached = has_attachment(&message.text) && !message.origin.is_hub();
        let of_turns = self.sources_of(others.into_iter().chain(asker)).await?;
        let shown = notes.chain(attached.then_some(Source::Foreign)).chain(of_turns).collect();
        Ok(TurnContext { parts, sources: shown })
    }

    /// The turns that planned pending changes and that a turn at this place does not hear of. Its
    /// tools show it their text all the same.
    async fn unheard_planners(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
        set: Option<&OpenChangeSet>,
    ) -> Result<BTreeSet<TurnId>, UserError> {
        let Some(set) = set else { return Ok(BTreeSet::new()) };
        let heard = self.store.turns_before(conversation, place).await?;
        let planners = set.planned.iter().map(|row| row.turn.clone());
        Ok(planners.filter(|turn| !heard.contains(turn)).collect())
    }

    /// The sources of the text of these turns, but for the user's own text and the application's.
    async fn sources_of(
        &self,
        turns: impl Iterator<Item = TurnId>,
    ) -> Result<BTreeSet<Source>, UserError> {
        let mut all = BTreeSet::new();
        for turn in turns {
            all.extend(self.store.context_sources(&turn).await?);
        }
        all.retain(|source| !matches!(source, Source::User | Source::Tool(_)));
        Ok(all)
    }

    /// The notes that the calls named which a turn at this place hears of. Calls do not name notes whose links were
    /// rewritten when another note changed, nor those that another branch changes.
    async fn called_notes(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<CalledNotes, UserError> {
        let given = self.store.path_arguments(conversation, place).await?;
        Ok(CalledNotes::from_arguments(&given))
    }

    /// The user's decisions; of notes that some model must not see, or that are gone and may be such by now,
    /// only that.
    async fn decision_texts(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
        decisions: &[DecisionRow],
        ranks: &NameRanks<'_>,
    ) -> Result<ToldDecisions, UserError> {
        let mut told = ToldDecisions::default();
        for decision in decisions {
            let mut declined = self.store.rejected_parts(decision).await?;
            let notes = declined.iter().map(|change| change.path.clone()).collect();
            let gone = self.missing_notes(conversation, place, notes).await?;
            declined.retain(|change| !gone.contains(&change.path));
            let vault = self.privacy_guard.vault_for_any_model();
            let lists = DecisionLists::new(decision, |note| ranks.rank(note));
            told.named.extend(lists.names().cloned());
            let in_words = move || {
                let shown = || declined.iter().filter(|change| !vault.hides(&change.path));
                let diffs: Vec<String> = shown().map(unified_diff).collect();
                let text = prompt::decision_text(&lists, &diffs);
                (text, shown().map(|change| change.path.clone()).collect::<Vec<_>>())
            };
            let (text, notes) = run_blocking(in_words).await?;
            told.texts.push(text);
            told.quoted.extend(notes);
        }
        Ok(told)
    }

    /// Notes that have changed since a turn before this place read or wrote them. Notes with pending
    /// changes are told elsewhere. Notes that some model must not see, or that are gone and may be
    /// such notes by now, are not told.
    async fn stale_notes(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
        waiting: &[NotePath],
    ) -> Result<Vec<StaleNote>, UserError> {
        let mut seen = self.store.read_state(conversation, place).await?;
        let waiting: BTreeSet<&NotePath> = waiting.iter().collect();
        seen.retain(|path, _| !waiting.contains(path));
        let (vault, screened) = (self.vault.clone(), self.privacy_guard.vault_for_any_model());
        let mut changed = run_blocking(move || compare_with_disk(&vault, &screened, seen)).await?;
        let gone = changed.iter().filter_map(StaleNote::removed_path).cloned().collect();
        let hidden = self.missing_notes(conversation, place, gone).await?;
        changed.retain(|note| note.removed_path().is_none_or(|path| !hidden.contains(path)));
        Ok(changed)
    }

    /// Those of the notes, which turns before this place knew, that are gone and that some model must not
    /// see by now.
    async fn missing_notes(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
        notes: BTreeSet<NotePath>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        if notes.is_empty() {
            return Ok(notes);
        }
        let turns = self.store.turns_before(conversation, place).await?;
        self.privacy_guard.missing_for_any(notes, &turns).await
    }
}

fn compare_with_disk(
    vault: &Vault,
    screened: &Vault,
    seen: BTreeMap<NotePath, ContentHash>,
) -> Vec<StaleNote> {
    let looked_at = seen.into_iter().take(MAX_CHECKED_NOTES);
    let changed = looked_at.filter_map(|(path, hash)| match vault.read(&path) {
        Ok(note) if note.hash == hash || screened.hides(&path) => None,
        Ok(_) => Some(StaleNote::Otherwise(path)),
        Err(VaultError::NotFound { .. }) if screened.hides(&path) => None,
        Err(VaultError::NotFound { .. }) => Some(StaleNote::Gone(path)),
        Err(_) => None,
    });
    changed.collect()
}

/// How the message relates to the open question.
fn question_status(row: AnswerableQuestion, message: &UserMessage) -> Option<QuestionStatus> {
    let standing = message.received_at.map(|at| ReplyMatch::classify(&row, at, None));
    let question = row.question;
    if message.answers.as_ref() == Some(&question.id) {
        return None;
    }
    Some(match standing {
        Some(ReplyMatch::MayAnswer) => {
            QuestionStatus::MayBeAnswered(question.id, question.text, question.options)
        }
        _ if message.origin.is_hub() => QuestionStatus::Open(question.text, question.options),
        _ => QuestionStatus::Skipped(question.text),
    })
}
