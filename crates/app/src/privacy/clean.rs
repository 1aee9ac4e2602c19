//! Which turns of this run of the program heard how much, of the newest of them.

use std::collections::{HashMap, VecDeque};

use protocol::{Message, Timestamp, TurnId};

/// So many turns are remembered. Those before are judged by what stands in them, as after a restart.
const REMEMBERED: usize = 1_000;

/// What was hidden from turns.
#[derive(Debug, Clone, Default)]
pub(super) struct Clean {
    turns: HashMap<TurnId, Hidden>,
    /// Oldest first.
    order: VecDeque<TurnId>,
}

/// What was hidden from a turn, and since when. What it heard before may have been more.
#[derive(Debug, Clone, Copy)]
struct Hidden {
    fingerprint: u64,
    since: Option<Timestamp>,
}

impl Clean {
    /// A turn begins: all that it hears is without what this fingerprint is of.
    pub(super) fn begin(&mut self, turn: &TurnId, fingerprint: u64, now: Timestamp) {
        match self.turns.get(turn) {
            Some(hidden) if hidden.fingerprint == fingerprint => {}
            Some(_) => self.go_on(turn, fingerprint, now),
            None => self.insert(turn, Hidden { fingerprint, since: None }),
        }
    }

    /// From now on it is this that is hidden from the turn.
    pub(super) fn go_on(&mut self, turn: &TurnId, fingerprint: u64, now: Timestamp) {
        self.insert(turn, Hidden { fingerprint, since: Some(now) });
    }

    /// Whether what this fingerprint is of was hidden when the message was made, as far as is known.
    pub(super) fn has(&self, message: &Message, fingerprint: u64) -> bool {
        self.turns.get(&message.turn).is_some_and(|hidden| {
            hidden.fingerprint == fingerprint && hidden.since.is_none_or(|since| message.at > since)
        })
    }

    fn insert(&mut self, turn: &TurnId, hidden: Hidden) {
        if self.turns.insert(turn.clone(), hidden).is_none() {
            self.order.push_back(turn.clone());
        }
        while self.order.len() > REMEMBERED
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
        let mut clean = Clean::default();
        for number in 0..3 * REMEMBERED {
            clean.begin(&turn(number), 7, Timestamp(0));
        }
        assert_eq!(clean.turns.len(), REMEMBERED);
        assert!(!clean.has(&message(2 * REMEMBERED - 1, 9), 7));
        assert!(clean.has(&message(2 * REMEMBERED, 9), 7));
        assert!(clean.has(&message(3 * REMEMBERED - 1, 9), 7));
    }

    #[test]
    fn what_a_turn_heard_before_something_else_was_hidden_is_not_clean() {
        let mut clean = Clean::default();
        for _ in 0..3 * REMEMBERED {
            clean.begin(&turn(1), 7, Timestamp(3));
        }
        assert!(clean.has(&message(1, 1), 7) && clean.has(&message(1, 9), 7));
        clean.begin(&turn(1), 8, Timestamp(5));
        for (at, is_clean) in [(1, false), (5, false), (6, true)] {
            assert_eq!(clean.has(&message(1, at), 8), is_clean, "{at}");
            assert!(!clean.has(&message(1, at), 7), "{at}");
        }
        clean.go_on(&turn(2), 8, Timestamp(5));
        assert!(!clean.has(&message(2, 5), 8) && clean.has(&message(2, 6), 8));
        assert_eq!(clean.order.len(), 2);
    }
}
