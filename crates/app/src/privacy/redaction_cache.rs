//! Which turns saw how much, remembered for the newest of this run of the program. Older ones are judged by their rows.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use protocol::{Message, NotePath, Timestamp, TurnId};

/// The number of turns that are remembered. Those before are judged by what stands in them, as
/// after a restart.
const MAX_CACHED_TURNS: usize = 1_000;

/// The views of turns.
#[derive(Debug, Clone, Default)]
pub(super) struct RedactionCache {
    turns: HashMap<TurnId, TurnRedaction>,
    /// Oldest first.
    order: VecDeque<TurnId>,
}

/// The view of a turn, and since when it holds. Before that the turn may have seen more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TurnRedaction {
    fingerprint: u64,
    /// The notes that were gone and might be private; `None` before it heard anything.
    gone: Option<Arc<BTreeSet<NotePath>>>,
    since: Option<Timestamp>,
}

impl RedactionCache {
    /// A turn begins: all that it hears is without what this fingerprint is of.
    pub(super) fn begin(&mut self, turn: &TurnId, fingerprint: u64, now: Timestamp) {
        match self.turns.get(turn) {
            Some(hidden) if hidden.fingerprint == fingerprint => {}
            Some(_) => self.update(turn, fingerprint, now),
            None => self.insert(turn, TurnRedaction { fingerprint, gone: None, since: None }),
        }
    }

    /// From now on it is this that is hidden from the turn.
    pub(super) fn update(&mut self, turn: &TurnId, fingerprint: u64, now: Timestamp) {
        self.insert(turn, TurnRedaction { fingerprint, gone: None, since: Some(now) });
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
            hidden.since = Some(now);
        }
        hidden.gone = Some(Arc::clone(gone));
    }

    /// Whether the view of this fingerprint was in force when the message was made, and text of
    /// these notes was hidden as well, as far as is known.
    pub(super) fn was_hidden(
        &self,
        message: &Message,
        fingerprint: u64,
        gone: Option<&BTreeSet<NotePath>>,
    ) -> bool {
        self.turns.get(&message.turn).is_some_and(|hidden| {
            let was_gone =
                |note: &NotePath| hidden.gone.as_ref().is_some_and(|before| before.contains(note));
            hidden.fingerprint == fingerprint
                && hidden.since.is_none_or(|since| message.at > since)
                && gone.is_none_or(|gone| gone.iter().all(was_gone))
        })
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

    #[test]
    fn the_newest_turns_are_remembered_however_many_there_were() {
        let mut clean = RedactionCache::default();
        for number in 0..3 * MAX_CACHED_TURNS {
            clean.begin(&turn(number), 7, Timestamp(0));
        }
        assert_eq!(clean.turns.len(), MAX_CACHED_TURNS);
        assert!(!clean.was_hidden(&message(2 * MAX_CACHED_TURNS - 1, 9), 7, None));
        assert!(clean.was_hidden(&message(2 * MAX_CACHED_TURNS, 9), 7, None));
        assert!(clean.was_hidden(&message(3 * MAX_CACHED_TURNS - 1, 9), 7, None));
    }

    #[test]
    fn what_a_turn_heard_before_something_else_was_hidden_is_not_clean() {
        let mut clean = RedactionCache::default();
        for _ in 0..3 * MAX_CACHED_TURNS {
            clean.begin(&turn(1), 7, Timestamp(3));
        }
        assert!(
            clean.was_hidden(&message(1, 1), 7, None) && clean.was_hidden(&message(1, 9), 7, None)
        );
        clean.begin(&turn(1), 8, Timestamp(5));
        for (at, is_clean) in [(1, false), (5, false), (6, true)] {
            assert_eq!(clean.was_hidden(&message(1, at), 8, None), is_clean, "{at}");
            assert!(!clean.was_hidden(&message(1, at), 7, None), "{at}");
        }
        clean.update(&turn(2), 8, Timestamp(5));
        assert!(
            !clean.was_hidden(&message(2, 5), 8, None) && clean.was_hidden(&message(2, 6), 8, None)
        );
        assert_eq!(clean.order.len(), 2);
    }

    #[test]
    fn what_a_turn_heard_of_notes_that_are_gone_by_now_is_not_clean() {
        let notes = |names: &[&str]| {
            let paths = names.iter().map(|name| NotePath::parse(name).expect("a path"));
            paths.collect::<BTreeSet<_>>()
        };
        let mut clean = RedactionCache::default();
        clean.begin(&turn(1), 7, Timestamp(3));
        assert!(clean.was_hidden(&message(1, 4), 7, None));
        assert!(!clean.was_hidden(&message(1, 4), 7, Some(&notes(&["a.md"]))));
        clean.add_missing_notes(&turn(1), &Arc::new(notes(&["a.md"])), Timestamp(3));
        assert!(clean.was_hidden(&message(1, 4), 7, Some(&notes(&["a.md"]))));
        assert!(!clean.was_hidden(&message(1, 4), 7, Some(&notes(&["a.md", "b.md"]))));
        clean.add_missing_notes(&turn(1), &Arc::new(notes(&["a.md", "b.md"])), Timestamp(5));
        assert!(!clean.was_hidden(&message(1, 4), 7, Some(&notes(&["b.md"]))), "it was told of it");
        assert!(clean.was_hidden(&message(1, 6), 7, Some(&notes(&["b.md"]))));
    }
}
