//! The names of pending and decided changes in context blocks.
//!
//! A name may tell as much of a private note as a text does. So a model is told only names of changes whose
//! call it hears and whose paths and text it may see. A name of which no plan is known any more counts as
//! withheld once an earlier turn is. How many names are left out is not told: it may be the number of private
//! notes that link to one that was moved. So a list that has room for some of the notes only is told whole or not
//! at all.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use protocol::{
    ContentHash, ConversationId, Message, MessagePart, NotePath, Privacy, Source, TurnId, UserError,
};
use store::{PlannedName, Store};
use vault::Vault;

use super::hidden_names::{HiddenNames, REDACTED};
use super::history_filter::mentioned_turn_cache::MentionedTurnCache;
use super::withheld_plans::TurnCall;
use super::{PrivacyGuard, PrivacyView};
use crate::chat::prompt::PENDING_PREFIX;
use crate::chat::prompt::decision_sentence::{DECISION_START, DecisionSentence};
use crate::chat::prompt::name_list::{LIST_SEPARATOR, OtherNotes};
use crate::support::blocking::run_blocking;

/// Replaces the names, however many, of changes whose calls are withheld.
const WITHHELD_NAMES: &str = "other notes (withheld)";

/// Replaces a list that has room for some of the notes only, if one of them is hidden.
const UNNAMED_NOTES: &str = "several notes";

/// Replaces what the user decided where it cannot be told which names are in the sentence.
const WITHHELD_DECISION: &str = "decided about changes that are withheld.";

/// The texts of planned changes that are kept.
type KeptTexts = HashMap<ContentHash, Vec<u8>>;

/// The changes that context blocks of a conversation name, by path.
#[derive(Debug, Default)]
pub(super) struct PlannedNames {
    plans: HashMap<String, NamedPlan>,
    /// The turns that planned changes with hidden names, other than changes that keep links right.
    hidden_turns: HashSet<TurnId>,
    /// The number of separators in a name, at most.
    max_separators: usize,
}

/// The last plan for a path.
#[derive(Debug)]
struct NamedPlan {
    call: TurnCall,
    /// Whether the call is withheld in the branch where it was made, which is another one.
    is_withheld: bool,
    /// Whether a path or a text that was planned for the note is hidden.
    is_hidden: bool,
}

/// Whether a name may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameVisibility {
    Shown,
    /// The note is hidden, as if there were none.
    Hidden,
    /// The change may come from text that is withheld.
    Withheld,
}

impl PrivacyGuard {
    /// The changes that the context blocks of these rows name, as far as they are stored. `cache` may be used again at
    /// any other view.
    pub(super) async fn planned_names(
        &self,
        view: &Arc<PrivacyView>,
        rows: &[Message],
        cache: &MentionedTurnCache,
    ) -> Result<PlannedNames, UserError> {
        let Some((conversation, planned)) = self.listed_plans(view, rows).await? else {
            return Ok(PlannedNames::default());
        };
        let elsewhere = calls_elsewhere(&planned, rows);
        let withheld = self.withheld_calls(view, conversation, elsewhere, cache).await?;
        self.judged_names(view, planned, withheld).await
    }

    /// The same for the rows of a mentioned conversation.
    pub(super) async fn planned_names_of_mentioned(
        &self,
        view: &Arc<PrivacyView>,
        rows: &[Message],
    ) -> Result<PlannedNames, UserError> {
        let Some((conversation, planned)) = self.listed_plans(view, rows).await? else {
            return Ok(PlannedNames::default());
        };
        let elsewhere = calls_elsewhere(&planned, rows);
        let withheld = self.withheld_calls_of_mentioned(view, conversation, elsewhere).await?;
        self.judged_names(view, planned, withheld).await
    }

    /// The conversation of these rows, and its planned changes that context blocks of the rows name; `None` where they
    /// name none or nothing is hidden.
    async fn listed_plans<'r>(
        &self,
        view: &Arc<PrivacyView>,
        rows: &'r [Message],
    ) -> Result<Option<(&'r ConversationId, Vec<PlannedName>)>, UserError> {
        let lines = plan_lines(rows);
        let (Some(store), Some(first)) = (self.effect_history.get(), rows.first()) else {
            return Ok(None);
        };
        if view.hides_nothing() || lines.is_empty() {
            return Ok(None);
        }
        let listed = ListedNames::read(&lines);
        let planned = store.planned_names(&first.conversation).await?;
        let judge = Arc::clone(view);
        let planned = run_blocking(move || listed.relevant(planned, &judge)).await?;
        Ok(Some((&first.conversation, planned)))
    }

    /// The names of these changes. The calls of other branches that are withheld are `withheld`.
    async fn judged_names(
        &self,
        view: &Arc<PrivacyView>,
        planned: Vec<PlannedName>,
        withheld: BTreeSet<TurnCall>,
    ) -> Result<PlannedNames, UserError> {
        let texts = match self.effect_history.get() {
            Some(store) if view.rules.depend_on_content() => {
                let hashes: Vec<ContentHash> =
                    planned.iter().filter_map(|plan| plan.after.clone()).collect();
                store.contents(&hashes).await?
            }
            _ => KeptTexts::new(),
        };
        let (seen, view) = (self.vault_for_view(view), Arc::clone(view));
        run_blocking(move || {
            PlannedNames::new(planned, &withheld, |plan| is_hidden(plan, &texts, &view, &seen))
        })
        .await
    }
}

impl PrivacyGuard {
    /// The notes without those that a change of this conversation only keeps links right in and some model must not
    /// see. A context block names such a note only to a model that may see it, so it is a source of turns of such
    /// models only: [`Self::add_private_linking_notes`] adds it then.
    pub(crate) async fn without_private_linking_notes(
        &self,
        conversation: &ConversationId,
        mut notes: Vec<NotePath>,
    ) -> Result<Vec<NotePath>, UserError> {
        let Some(store) = self.effect_history.get().filter(|_| !notes.is_empty()) else {
            return Ok(notes);
        };
        let linking = linking_notes(store, conversation).await?;
        let open = self.vault_for_any_model();
        run_blocking(move || {
            notes.retain(|note| !linking.contains(note) || !open.hides(note));
            notes
        })
        .await
    }

    /// The turn is heard by a model with this view: private notes that it may see, and in which changes of the
    /// conversation only keep links right, are sources of the turn. The context of this turn or of an earlier one may
    /// name them. Durable when it returns.
    pub(super) async fn add_private_linking_notes(
        &self,
        turn: &TurnId,
        view: &PrivacyView,
    ) -> Result<(), UserError> {
        let is_wider = view.max_privacy > Privacy::Open && view.rules.has_local_only();
        let Some(store) = self.effect_history.get().filter(|_| is_wider) else { return Ok(()) };
        let opening = store.opening_message(turn).await?;
        let Some((message, _)) = opening else { return Ok(()) };
        let linking = linking_notes(store, &message.conversation).await?;
        let (open, seen) = (self.vault_for_any_model(), self.vault_for_view(view));
        let private = run_blocking(move || {
            let is_private = |note: &NotePath| open.hides(note) && !seen.hides(note);
            let private = linking.into_iter().filter(is_private);
            private.map(Source::Note).collect::<Vec<_>>()
        });
        store.add_sources(turn, &private.await?).await?;
        Ok(())
    }
}

/// The calls of these changes that are of other branches than the rows.
fn calls_elsewhere(planned: &[PlannedName], rows: &[Message]) -> Vec<TurnCall> {
    let here: HashSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
    let elsewhere = planned.iter().filter(|plan| !here.contains(&plan.turn));
    elsewhere.map(|plan| (plan.turn.clone(), plan.call.clone())).collect()
}

/// The notes in which changes of a conversation, decided or not, only keep links right.
async fn linking_notes(
    store: &Store,
    conversation: &ConversationId,
) -> Result<BTreeSet<NotePath>, UserError> {
    let planned = store.planned_notes(conversation).await?;
    let linking = planned.into_iter().filter(|planned| planned.updates_links);
    Ok(linking.map(|planned| planned.note).collect())
}

impl PlannedNames {
    fn new(
        planned: Vec<PlannedName>,
        withheld: &BTreeSet<TurnCall>,
        is_hidden: impl Fn(&PlannedName) -> bool,
    ) -> Self {
        let mut names = Self::default();
        for plan in planned {
            let hides = is_hidden(&plan);
            let name = plan.path.as_str().to_owned();
            let was_hidden = names.plans.get(&name).is_some_and(|before| before.is_hidden);
            // Of a note whose links were kept right the turn was told nothing.
            if hides && !plan.updates_links {
                names.hidden_turns.insert(plan.turn.clone());
            }
            let call = (plan.turn, plan.call);
            let is_withheld = withheld.contains(&call);
            names.max_separators = names.max_separators.max(name.matches(LIST_SEPARATOR).count());
            names
                .plans
                .insert(name, NamedPlan { call, is_withheld, is_hidden: hides || was_hidden });
        }
        names
    }

    /// Whether the turn planned a change with a hidden name that it may have been told.
    pub(super) fn has_hidden_of(&self, turn: &TurnId) -> bool {
        self.hidden_turns.contains(turn)
    }
}

/// The names in the lists of context blocks.
#[derive(Debug, Default)]
struct ListedNames {
    /// The names, split at the separators that they hold themselves.
    parts: HashSet<String>,
    /// Whether a list has room for some of the notes only.
    is_cut: bool,
    /// Whether a line has no list that can be read, so that it may name any note.
    is_unreadable: bool,
}

impl ListedNames {
    fn read(lines: &BTreeSet<&str>) -> Self {
        let mut all = Self::default();
        for line in lines {
            if let Some(list) = line.strip_prefix(PENDING_PREFIX) {
                all.add_list(list);
                continue;
            }
            let Some(sentence) = DecisionSentence::parse(line) else {
                all.is_unreadable = true;
                continue;
            };
            let DecisionSentence { applied, applied_in_part, rejected, edited } = sentence;
            for list in [applied, applied_in_part, rejected, edited] {
                all.add_list(&list);
            }
        }
        all
    }

    fn add_list(&mut self, list: &str) {
        let (names, others) = OtherNotes::split(list);
        self.is_cut |= others.is_some();
        self.parts.extend(names.split(LIST_SEPARATOR).map(str::to_owned));
    }

    /// Whether the name may be in a list.
    fn hold(&self, name: &str) -> bool {
        self.is_unreadable || name.split(LIST_SEPARATOR).all(|part| self.parts.contains(part))
    }

    /// The plans that are looked at: those with a listed name. Where a list is cut, also those with a hidden name, and
    /// those that alone give their call a text, which a model worded. The others only rewrite links.
    fn relevant(&self, planned: Vec<PlannedName>, view: &PrivacyView) -> Vec<PlannedName> {
        let mut texts: HashMap<TurnCall, usize> = HashMap::new();
        for plan in planned.iter().filter(|plan| self.is_cut && plan.has_text) {
            *texts.entry((plan.turn.clone(), plan.call.clone())).or_default() += 1;
        }
        let is_only_text = |plan: &PlannedName| {
            plan.has_text && texts.get(&(plan.turn.clone(), plan.call.clone())) == Some(&1)
        };
        let is_relevant = |plan: &PlannedName| {
            self.hold(plan.path.as_str())
                || (self.is_cut && (is_only_text(plan) || hides_name(plan, view)))
        };
        planned.into_iter().filter(is_relevant).collect()
    }
}

/// Whether a view hides one of the paths of a change, whatever text it gives the note.
fn hides_name(plan: &PlannedName, view: &PrivacyView) -> bool {
    let hides = |path: &NotePath| {
        view.hidden_names.occur_in(path.as_str()) || view.rules.by_path(path) > view.max_privacy
    };
    [Some(&plan.path), plan.target.as_ref()].into_iter().flatten().any(hides)
}

/// Whether a view hides one of the paths of a change, or the text that it gives the note. Of a text that is no
/// longer kept only the note itself can tell.
fn is_hidden(plan: &PlannedName, texts: &KeptTexts, view: &PrivacyView, seen: &Vault) -> bool {
    let text = plan.after.as_ref().and_then(|hash| texts.get(hash));
    let hides = |path: &NotePath| {
        seen.hides(path)
            || match text {
                Some(text) => !seen.shows(path, text, None),
                None => {
                    plan.has_text
                        && view.rules.depend_on_content_of(path)
                        && seen.file_id(path).is_none()
                }
            }
    };
    [Some(&plan.path), plan.target.as_ref()].into_iter().flatten().any(hides)
}

/// The lines of context blocks that name changes, each once.
fn plan_lines(rows: &[Message]) -> BTreeSet<&str> {
    let blocks = rows.iter().flat_map(|row| &row.parts).filter_map(|part| match part {
        MessagePart::Context { text } => Some(text.as_str()),
        _ => None,
    });
    let names_plans =
        |line: &&str| line.starts_with(PENDING_PREFIX) || line.starts_with(DECISION_START);
    blocks.flat_map(|block| block.split('\n')).filter(names_plans).collect()
}

/// Leaves names of changes out of a context block.
pub(super) struct NamesFilter<'a> {
    pub(super) names: &'a PlannedNames,
    pub(super) view: &'a PrivacyView,
    /// The names of notes that are gone and may be hidden.
    pub(super) gone: &'a HiddenNames,
    /// The calls of this history that are withheld.
    pub(super) withheld: &'a BTreeSet<TurnCall>,
    /// Whether the turn of the block, or one before it, looked at hidden notes.
    pub(super) is_tainted: bool,
}

impl NamesFilter<'_> {
    /// The block without the names that may not be told; `None` where it has no such name.
    pub(super) fn filter_block(&self, block: &str) -> Option<String> {
        let lines: Vec<Cow<'_, str>> =
            block.split('\n').map(|line| self.filter_line(line)).collect();
        let told = lines.join("\n");
        (told != block).then_some(told)
    }

    fn filter_line<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if let Some(list) = line.strip_prefix(PENDING_PREFIX) {
            return Cow::Owned(format!("{PENDING_PREFIX}{}", self.filter_list(list)));
        }
        if !line.starts_with(DECISION_START) {
            return Cow::Borrowed(line);
        }
        match DecisionSentence::parse(line) {
            Some(sentence) => {
                Cow::Owned(sentence.map_lists(|list| self.filter_list(list)).to_string())
            }
            None if self.is_tainted => Cow::Owned(format!("{DECISION_START}{WITHHELD_DECISION}")),
            None => Cow::Borrowed(line),
        }
    }

    /// The list without those names. A name may hold separators, so the longest one that is known is taken.
    fn filter_list(&self, list: &str) -> String {
        let (list, others) = OtherNotes::split(list);
        let (mut told, mut hides, withholds) = self.visible_names(list);
        let hides_any = others.is_some()
            && (hides || withholds || told.iter().any(|name| self.occurs_hidden(name)));
        match others {
            Some(OtherNotes::Private) if self.view.max_privacy == Privacy::Open => hides = true,
            // The number of the rest would tell how many names are left out.
            Some(_) if hides_any => {
                return if withholds { WITHHELD_NAMES } else { UNNAMED_NOTES }.to_owned();
            }
            Some(others) => told.push(others.as_str()),
            None => {}
        }
        if withholds {
            told.push(WITHHELD_NAMES);
        } else if hides && told.is_empty() {
            told.push(REDACTED);
        }
        told.join(LIST_SEPARATOR)
    }

    /// Whether a name is one that is redacted in every text.
    fn occurs_hidden(&self, name: &str) -> bool {
        self.view.hidden_names.occur_in(name) || self.gone.occur_in(name)
    }

    /// The names of a list that may be told, and whether others are hidden and withheld.
    fn visible_names<'l>(&self, list: &'l str) -> (Vec<&'l str>, bool, bool) {
        if list.is_empty() {
            return (Vec::new(), false, false);
        }
        let ends = list.match_indices(LIST_SEPARATOR).map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([list.len()]).collect();
        let (mut told, mut left) = (Vec::new(), ends.as_slice());
        let (mut from, mut hides, mut withholds) = (0, false, false);
        while let Some(next) = left.first() {
            let is_known = |end: &usize| {
                list.get(from..*end).is_some_and(|name| self.names.plans.contains_key(name))
            };
            let longest = left.iter().take(self.names.max_separators + 1).rposition(is_known);
            let at = longest.unwrap_or_default();
            let end = left.get(at).copied().unwrap_or(*next);
            let name = list.get(from..end).unwrap_or_default();
            match self.judge(name) {
                NameVisibility::Shown => told.push(name),
                NameVisibility::Hidden => hides = true,
                NameVisibility::Withheld => withholds = true,
            }
            from = end + LIST_SEPARATOR.len();
            left = left.get(at + 1..).unwrap_or_default();
        }
        (told, hides, withholds)
    }

    fn judge(&self, name: &str) -> NameVisibility {
        let (is_withheld, is_hidden) = match self.names.plans.get(name) {
            Some(plan) => (plan.is_withheld || self.withheld.contains(&plan.call), plan.is_hidden),
            None => {
                let hides = |path: NotePath| self.view.rules.by_path(&path) > self.view.max_privacy;
                (self.is_tainted, NotePath::parse(name).is_ok_and(hides))
            }
        };
        match (is_withheld, is_hidden) {
            (true, _) => NameVisibility::Withheld,
            (false, true) => NameVisibility::Hidden,
            (false, false) => NameVisibility::Shown,
        }
    }
}

#[cfg(test)]
mod tests;
