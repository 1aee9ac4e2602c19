//! Which key is used next: a pure machine. It reads no clock; times are since any fixed moment.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::settings::KeyPolicy;

#[cfg(test)]
mod tests;

/// How long a key rests when the server does not say.
const REST: Duration = Duration::from_secs(30);

/// A key that was just used up is not the next one.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// How many calls that failed for other reasons are remembered with their keys.
const REMEMBERED: usize = 64;

/// Keys by number, at least one.
#[derive(Debug)]
pub(super) struct Keys {
    policy: KeyPolicy,
    states: Vec<State>,
    /// The key that comes next, or is in use until it fails.
    next: usize,
    /// Which key a call goes on with.
    stays: BTreeMap<u64, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Resting { until: Duration },
    Refused,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// Send it with this key.
    Key(usize),
    /// All keys that are accepted rest for so long.
    Wait(Duration),
}

/// Why a key did not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not accepted.
    Refused,
    /// It was used too often; rests as long as the server asked.
    Limited(Option<Duration>),
    /// Nothing that another key would change.
    Other,
}

/// What is left after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Another key is ready at once.
    Another,
    /// None is.
    Nothing,
}

impl Keys {
    pub(super) fn new(policy: KeyPolicy, count: usize) -> Self {
        let states = vec![State::Ready; count.max(1)];
        Self { policy, states, next: 0, stays: BTreeMap::new() }
    }

    /// The key for `call`. A call that failed for another reason goes on with its key.
    pub(super) fn pick(&mut self, call: u64, now: Duration) -> Pick {
        self.wake(now);
        if let Some(key) = self.stays.remove(&call)
            && self.is_ready(key)
        {
            return Pick::Key(key);
        }
        let count = self.states.len();
        let Some(key) = (0..count).map(|n| (self.next + n) % count).find(|key| self.is_ready(*key))
        else {
            return Pick::Wait(self.shortest_rest(now));
        };
        self.next = match self.policy {
            KeyPolicy::Failover => key,
            KeyPolicy::RoundRobin => (key + 1) % count,
        };
        Pick::Key(key)
    }

    /// Takes in what came of `call` with `key`.
    pub(super) fn failed(&mut self, call: u64, key: usize, fault: Fault, now: Duration) -> Left {
        self.wake(now);
        let state = match fault {
            Fault::Other => {
                if self.stays.len() >= REMEMBERED {
                    self.stays.pop_first();
                }
                self.stays.insert(call, key);
                return Left::Nothing;
            }
            Fault::Refused => State::Refused,
            Fault::Limited(asked) => {
                State::Resting { until: now + asked.unwrap_or(REST).max(SHORTEST_REST) }
            }
        };
        if let Some(known) = self.states.get_mut(key) {
            *known = state;
        }
        // Also when its rest is over before the call is sent again.
        if self.next == key {
            self.next = (key + 1) % self.states.len();
        }
        if self.states.contains(&State::Ready) {
            return Left::Another;
        }
        if self.states.iter().all(|state| *state == State::Refused) {
            // What was wrong may have been put right by the next call.
            self.states.fill(State::Ready);
        }
        Left::Nothing
    }

    fn wake(&mut self, now: Duration) {
        for state in &mut self.states {
            if matches!(state, State::Resting { until } if *until <= now) {
                *state = State::Ready;
            }
        }
    }

    fn is_ready(&self, key: usize) -> bool {
        self.states.get(key) == Some(&State::Ready)
    }

    fn shortest_rest(&self, now: Duration) -> Duration {
        let rests = self.states.iter().filter_map(|state| match state {
            State::Resting { until } => Some(until.saturating_sub(now)),
            State::Ready | State::Refused => None,
        });
        rests.min().unwrap_or_default()
    }
}
