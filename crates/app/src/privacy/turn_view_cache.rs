//! Which turns saw how much, remembered for the newest of this run of the program. Older ones are judged by their rows.
//!
//! As long as the rules and the level of a model stay the same, what was hidden from a turn is hidden still, so only
//! what is hidden since then has to be looked for in it: [`HiddenFiles`] knows that.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use protocol::{Message, NotePath, Privacy, Timestamp, TurnId, UserError};
use vault::PrivacyFilter;

use super::history_filter::mentioned_turn_cache::MentionedTurnCache;
use super::{PrivacyGuard, PrivacyView};
use crate::support::blocking::run_blocking;
use crate::support::clock::{by_file_clock, now};

/// The number of turns that are remembered. Those before are judged by what stands in them, as
/// after a restart.
const MAX_CACHED_TURNS: usize = 1_000;

/// Tells one view of the vault from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ViewMark {
    /// A digest of the rules and the privacy level.
    pub(super) rules: u64,
    /// A digest of these and of all hidden files.
    pub(super) files: u64,
    /// Numbers the lists of hidden files in the order in which they were made.
    pub(super) epoch: u64,
}

/// The files that a view hides, in the order of paths, each with the epoch since which every view of these rules hid it.
#[derive(Debug, Default)]
pub(super) struct HiddenFiles {
    mark: ViewMark,
    files: Vec<(NotePath, u64)>,
}

impl HiddenFiles {
    fn new(before: Option<&Self>, mark: ViewMark, files: Vec<NotePath>) -> Self {
        let before = before.filter(|before| before.mark.rules == mark.rules);
        let mut known = before.map(|it| it.files.as_slice()).unwrap_or_default().iter().peekable();
        let with_epoch = |path: NotePath| {
            while known.next_if(|(earlier, _)| *earlier < path).is_some() {}
            let since = known.next_if(|(earlier, _)| *earlier == path);
            let epoch = since.map_or(mark.epoch, |(_, epoch)| *epoch);
            (path, epoch)
        };
        Self { mark, files: files.into_iter().map(with_epoch).collect() }
    }

    pub(super) const fn mark(&self) -> ViewMark {
        self.mark
    }

    /// Those that some view since this epoch showed, the view of the epoch included.
    pub(super) fn hidden_since(&self, epoch: u64) -> impl Iterator<Item = &NotePath> {
        self.files.iter().filter(move |(_, since)| *since > epoch).map(|(path, _)| path)
    }
}

/// The last list of hidden files at each privacy level.
#[derive(Debug, Default)]
pub(super) struct HiddenFilesLog {
    epoch: u64,
    latest: Vec<(Privacy, Arc<HiddenFiles>)>,
}

impl HiddenFilesLog {
    /// Takes in the files, sorted, that are hidden at a level by now, with the digests of a [`ViewMark`].
    pub(super) fn add(
        &mut self,
        most: Privacy,
        (rules, digest): (u64, u64),
        files: Vec<NotePath>,
    ) -> Arc<HiddenFiles> {
        let latest = self.latest.iter().find(|(level, _)| *level == most);
        let before = latest.map(|(_, before)| Arc::clone(before));
        if let Some(same) = before.as_ref().filter(|before| before.mark.files == digest) {
            return Arc::clone(same);
        }
        self.epoch += 1;
        let mark = ViewMark { rules, files: digest, epoch: self.epoch };
        let hidden = Arc::new(HiddenFiles::new(before.as_deref(), mark, files));
        self.latest.retain(|(level, _)| *level != most);
        self.latest.push((most, Arc::clone(&hidden)));
        hidden
    }
}

/// How the view under which a message was made is related to the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownView {
    /// It hid all that is hidden now.
    Same,
    /// The rules and the level were the same, and it hid what has been hidden since this epoch.
    SameRules { epoch: u64 },
    /// It may have shown more, or nothing is known of it.
    Unknown,
}

/// Which notes were hidden from each of the newest turns.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnViewCache {
    turns: HashMap<TurnId, TurnRedaction>,
    /// Oldest first.
    order: VecDeque<TurnId>,
}

/// The view of a turn, and since when it holds. Before that the turn may have seen more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TurnRedaction {
    view: ViewMark,
    /// The notes that were gone and might be private; `None` before it heard anything.
    gone: Option<Arc<BTreeSet<NotePath>>>,
    since: ViewStart,
    /// Its view before that; `None` where other rules or another level held by then, or nobody knows.
    first: Option<FirstView>,
}

/// From when on all that a turn hears is without what its view hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewStart {
    TurnStart,
    /// In messages that were made after this.
    After(Timestamp),
    /// The request that the model answers was filtered by another view.
    NextRequest,
}

/// All that was hidden from a turn from its beginning on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FirstView {
    epoch: u64,
    gone: Option<Arc<BTreeSet<NotePath>>>,
}

impl FirstView {
    /// By now text of these notes is hidden as well, and no longer that of others.
    fn narrow(&mut self, gone: &Arc<BTreeSet<NotePath>>) {
        let both = match &self.gone {
            Some(before) if before != gone => {
                Arc::new(before.intersection(gone).cloned().collect())
            }
            _ => Arc::clone(gone),
        };
        self.gone = Some(both);
    }
}

impl TurnViewCache {
    /// A turn begins: all that it hears is without what this view hides.
    pub(super) fn begin(&mut self, turn: &TurnId, view: ViewMark, now: Timestamp) {
        match self.turns.get(turn) {
            Some(hidden) if hidden.view.files == view.files => {}
            Some(_) => self.update(turn, view, now),
            None => {
                let first = Some(FirstView { epoch: view.epoch, gone: None });
                self.insert(
                    turn,
                    TurnRedaction { view, gone: None, since: ViewStart::TurnStart, first },
                );
            }
        }
    }

    /// From now on it is this that is hidden from the turn.
    pub(super) fn update(&mut self, turn: &TurnId, view: ViewMark, now: Timestamp) {
        self.set_view(turn, view, ViewStart::After(now));
    }

    /// This is what the tools of the turn hide by now. The model that answers may have heard more.
    fn update_at_next_request(&mut self, turn: &TurnId, view: ViewMark) {
        self.set_view(turn, view, ViewStart::NextRequest);
    }

    /// Whether the view of the turn holds from its next request on only.
    fn waits_for_request(&self, turn: &TurnId) -> bool {
        self.turns.get(turn).is_some_and(|known| known.since == ViewStart::NextRequest)
    }

    fn set_view(&mut self, turn: &TurnId, view: ViewMark, since: ViewStart) {
        let before = self.turns.get(turn).filter(|before| before.view.rules == view.rules);
        let first = before.and_then(|before| before.first.clone());
        self.insert(turn, TurnRedaction { view, gone: None, since, first });
    }

    /// From now on text of these notes, which are gone, is hidden from the turn as well.
    pub(super) fn add_missing_notes(
        &mut self,
        turn: &TurnId,
        gone: &Arc<BTreeSet<NotePath>>,
        now: Timestamp,
    ) {
        let Some(hidden) = self.turns.get_mut(turn) else { return };
        if hidden.gone.as_ref().is_some_and(|before| before != gone) {
            hidden.since = ViewStart::After(now);
        }
        if let Some(first) = &mut hidden.first {
            first.narrow(gone);
        }
        hidden.gone = Some(Arc::clone(gone));
    }

    /// The view that was in force when the message was made, beside the `present` one. Where text of one of
    /// these notes was not hidden by then, or that is not known, it counts as unknown.
    pub(super) fn known_view(
        &self,
        message: &Message,
        present: ViewMark,
        gone: Option<&BTreeSet<NotePath>>,
    ) -> KnownView {
        let known = self.turns.get(&message.turn);
        let Some(hidden) = known.filter(|hidden| hidden.view.rules == present.rules) else {
            return KnownView::Unknown;
        };
        let is_last = match hidden.since {
            ViewStart::TurnStart => true,
            ViewStart::After(since) => message.at > since,
            ViewStart::NextRequest => false,
        };
        let (epoch, hid) = match &hidden.first {
            _ if is_last => (hidden.view.epoch, hidden.gone.as_ref()),
            Some(first) => (first.epoch, first.gone.as_ref()),
            None => return KnownView::Unknown,
        };
        let was_gone = |note: &NotePath| hid.is_some_and(|before| before.contains(note));
        if epoch > present.epoch || gone.is_some_and(|gone| !gone.iter().all(was_gone)) {
            return KnownView::Unknown;
        }
        match is_last && hidden.view.epoch == present.epoch {
            true => KnownView::Same,
            false => KnownView::SameRules { epoch },
        }
    }

    fn insert(&mut self, turn: &TurnId, hidden: TurnRedaction) {
        if self.turns.insert(turn.clone(), hidden).is_none() {
            self.order.push_back(turn.clone());
        }
        while self.order.len() > MAX_CACHED_TURNS
            && let Some(oldest) = self.order.pop_front()
        {
            self.turns.remove(&oldest);
        }
    }
}

/// The views of a turn that runs or is replayed.
pub(super) struct TurnViews {
    /// The one by which its last request was filtered, or its next one will be.
    pub(super) of_request: Arc<PrivacyView>,
    /// The newest one, by which its tools were answered.
    newest: Arc<PrivacyView>,
    pub(super) mentioned_turn_cache: Arc<MentionedTurnCache>,
}

impl TurnViews {
    pub(super) fn new(view: Arc<PrivacyView>) -> Self {
        Self { of_request: Arc::clone(&view), newest: view, mentioned_turn_cache: Arc::default() }
    }
}

impl PrivacyGuard {
    /// The notes that the current rules hide from the turn. Until its next request the model may still hear what the
    /// view of the last one showed.
    pub(super) async fn turn_view(&self, turn: &TurnId) -> Result<Arc<PrivacyView>, UserError> {
        let (newest, generation) = {
            let state = self.state();
            (state.views_of(turn).map(|views| Arc::clone(&views.newest)), state.generation)
        };
        let Some(view) = newest else { return self.view_for(Privacy::Open).await };
        // Without an index every note would be looked into, for each request.
        if view.generation == generation && self.index.version().is_none() {
            return Ok(view);
        }
        let fresh = self.view_for(view.max_privacy).await?;
        let mut state = self.state();
        if let Some(views) = state.views_of_mut(turn) {
            let is_other = fresh.fingerprint() != views.newest.fingerprint();
            views.newest = Arc::clone(&fresh);
            if is_other {
                state.turn_view_cache.update_at_next_request(turn, fresh.hidden.mark());
            }
        }
        Ok(fresh)
    }

    /// [`Self::turn_view`], by which the next request of the turn is filtered.
    pub(super) async fn view_for_request(
        &self,
        turn: &TurnId,
    ) -> Result<Arc<PrivacyView>, UserError> {
        let view = self.turn_view(turn).await?;
        let mut state = self.state();
        if state.turn_view_cache.waits_for_request(turn) {
            state.turn_view_cache.update(turn, view.hidden.mark(), now());
        }
        if let Some(views) = state.views_of_mut(turn) {
            views.of_request = Arc::clone(&view);
        }
        Ok(view)
    }

    /// Whether the request that was filtered last for the turn may be sent. It may not once other rules hold, or a file
    /// is hidden that its view showed. A file that was made since then at a private place does not count: no request
    /// can hold its text.
    pub(crate) async fn is_request_current(&self, turn: &TurnId) -> Result<bool, UserError> {
        let before = {
            let state = self.state();
            let Some(views) = state.views_of(turn) else { return Ok(true) };
            if views.of_request.generation != state.generation {
                return Ok(false);
            }
            Arc::clone(&views.of_request)
        };
        let view = self.turn_view(turn).await?;
        let since = view.hidden.hidden_since(before.hidden.mark().epoch);
        let (by_path, by_text): (Vec<NotePath>, Vec<NotePath>) =
            since.cloned().partition(|path| view.rules.by_path(path) > view.max_privacy);
        if by_path.is_empty() || !by_text.is_empty() {
            return Ok(by_text.is_empty());
        }
        let (vault, known_until) = (self.vault.unfiltered(), by_file_clock(before.made_at));
        let is_new = move |path: &NotePath| {
            let born = vault.file_id(path).and_then(|file| file.born);
            born.is_some_and(|born| born / 1_000_000 > known_until.0)
        };
        run_blocking(move || by_path.iter().all(is_new)).await
    }

    /// Whether the turn may hear this note now, and its path is no link.
    pub(crate) async fn shows_note_to(
        &self,
        turn: &TurnId,
        note: &NotePath,
    ) -> Result<bool, UserError> {
        let filter = {
            let state = self.state();
            let most = state.views_of(turn).map_or(Privacy::Open, |it| it.newest.max_privacy);
            PrivacyFilter::new(state.rules.clone(), most)
        };
        let (seen, path) = (self.vault.filtered(Arc::new(filter)), note.clone());
        run_blocking(move || seen.read(&path).is_ok_and(|found| found.real == found.path)).await
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ConversationId, MessageId, Role};

    use super::*;

    fn turn(number: usize) -> TurnId {
        TurnId::from(number.to_string().as_str())
    }

    fn message(number: usize, at: i64) -> Message {
        Message {
            id: MessageId::from("m"),
            conversation: ConversationId::from("c"),
            turn: turn(number),
            role: Role::User,
            parts: Vec::new(),
            at: Timestamp(at),
        }
    }

    /// A view with these rules and hidden files, as the list of this epoch.
    const fn view(rules: u64, files: u64, epoch: u64) -> ViewMark {
        ViewMark { rules, files, epoch }
    }

    /// A view under rules of its own.
    const fn only(number: u64) -> ViewMark {
        view(number, number, number)
    }

    fn notes(names: &[&str]) -> BTreeSet<NotePath> {
        names.iter().map(|name| NotePath::parse(name).expect("a path")).collect()
    }

    #[test]
    fn the_newest_turns_are_remembered_however_many_there_were() {
        let mut clean = TurnViewCache::default();
        for number in 0..3 * MAX_CACHED_TURNS {
            clean.begin(&turn(number), only(7), Timestamp(0));
        }
        assert_eq!(clean.turns.len(), MAX_CACHED_TURNS);
        for (number, expected) in [
            (2 * MAX_CACHED_TURNS - 1, KnownView::Unknown),
            (2 * MAX_CACHED_TURNS, KnownView::Same),
            (3 * MAX_CACHED_TURNS - 1, KnownView::Same),
        ] {
            assert_eq!(clean.known_view(&message(number, 9), only(7), None), expected, "{number}");
        }
    }

    #[test]
    fn what_a_turn_heard_under_other_rules_is_unknown() {
        let mut clean = TurnViewCache::default();
        let known = |clean: &TurnViewCache, number, at, now| {
            clean.known_view(&message(number, at), now, None)
        };
        for _ in 0..3 * MAX_CACHED_TURNS {
            clean.begin(&turn(1), only(7), Timestamp(3));
        }
        for at in [1, 9] {
            assert_eq!(known(&clean, 1, at, only(7)), KnownView::Same, "{at}");
        }
        clean.begin(&turn(1), only(8), Timestamp(5));
        for (at, expected) in
            [(1, KnownView::Unknown), (5, KnownView::Unknown), (6, KnownView::Same)]
        {
            assert_eq!(known(&clean, 1, at, only(8)), expected, "{at}");
            assert_eq!(known(&clean, 1, at, only(7)), KnownView::Unknown, "{at}");
        }
        clean.update(&turn(1), only(7), Timestamp(7));
        assert_eq!(known(&clean, 1, 1, only(7)), KnownView::Unknown, "it saw more between");
        clean.update(&turn(2), only(8), Timestamp(5));
        assert_eq!(known(&clean, 2, 5, only(8)), KnownView::Unknown);
        assert_eq!(known(&clean, 2, 6, only(8)), KnownView::Same);
        assert_eq!(clean.order.len(), 2);
    }

    #[test]
    fn of_a_turn_under_the_same_rules_it_is_known_which_files_were_hidden() {
        let mut clean = TurnViewCache::default();
        clean.begin(&turn(1), view(7, 1, 1), Timestamp(3));
        clean.update(&turn(1), view(7, 2, 2), Timestamp(5));
        for (at, now, expected) in [
            (4, view(7, 2, 2), KnownView::SameRules { epoch: 1 }),
            (4, view(7, 3, 3), KnownView::SameRules { epoch: 1 }),
            (6, view(7, 2, 2), KnownView::Same),
            (6, view(7, 3, 3), KnownView::SameRules { epoch: 2 }),
            // A view of before knows nothing of what is hidden since then.
            (6, view(7, 1, 1), KnownView::Unknown),
            (6, view(8, 3, 3), KnownView::Unknown),
        ] {
            assert_eq!(clean.known_view(&message(1, at), now, None), expected, "{at}, {now:?}");
        }
    }

    #[test]
    fn what_a_turn_heard_of_notes_that_are_gone_by_now_is_unknown() {
        let mut clean = TurnViewCache::default();
        let known = |clean: &TurnViewCache, at, names: &[&str]| {
            clean.known_view(&message(1, at), only(7), Some(&notes(names)))
        };
        clean.begin(&turn(1), only(7), Timestamp(3));
        assert_eq!(known(&clean, 4, &[]), KnownView::Same);
        assert_eq!(known(&clean, 4, &["a.md"]), KnownView::Unknown);
        clean.add_missing_notes(&turn(1), &Arc::new(notes(&["a.md"])), Timestamp(3));
        assert_eq!(known(&clean, 4, &["a.md"]), KnownView::Same);
        assert_eq!(known(&clean, 4, &["a.md", "b.md"]), KnownView::Unknown);
        clean.add_missing_notes(&turn(1), &Arc::new(notes(&["a.md", "b.md"])), Timestamp(5));
        assert_eq!(known(&clean, 4, &["b.md"]), KnownView::Unknown, "it was told of it");
        assert_eq!(known(&clean, 4, &["a.md"]), KnownView::SameRules { epoch: 7 });
        assert_eq!(known(&clean, 6, &["b.md"]), KnownView::Same);
    }

    #[test]
    fn a_file_counts_as_hidden_since_the_first_view_of_an_unbroken_row() {
        let mut log = HiddenFilesLog::default();
        let mut add = |most: Privacy, digests: (u64, u64), files: &[&str]| {
            log.add(most, digests, notes(files).into_iter().collect())
        };
        let since = |hidden: &HiddenFiles, epoch: u64| {
            hidden.hidden_since(epoch).map(ToString::to_string).collect::<Vec<_>>()
        };
        let first = add(Privacy::Open, (7, 1), &["a.md", "b.md"]);
        let again = add(Privacy::Open, (7, 1), &["a.md", "b.md"]);
        assert_eq!(again.mark(), first.mark(), "nothing changed");
        let other = add(Privacy::Local, (9, 9), &["b.md"]);
        assert_ne!(other.mark().epoch, first.mark().epoch);
        let second = add(Privacy::Open, (7, 2), &["b.md", "c.md"]);
        assert_eq!(since(&second, first.mark().epoch), ["c.md"]);
        // `a.md` was shown between.
        let third = add(Privacy::Open, (7, 3), &["a.md", "b.md", "c.md"]);
        assert_eq!(since(&third, first.mark().epoch), ["a.md", "c.md"]);
        assert_eq!(since(&third, second.mark().epoch), ["a.md"]);
        assert_eq!(since(&third, third.mark().epoch), [""; 0]);
        let others = add(Privacy::Open, (8, 4), &["a.md", "b.md"]);
        assert_eq!(
            since(&others, third.mark().epoch),
            ["a.md", "b.md"],
            "the control: other rules"
        );
    }
}
