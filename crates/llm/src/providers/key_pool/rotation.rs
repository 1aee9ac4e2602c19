//! Which key is used next: a pure machine. It reads no clock; times are since any fixed moment.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::settings::KeyPolicy;

#[cfg(test)]
mod tests;

/// How long a key rests when the server does not say.
const DEFAULT_COOLDOWN: Duration = Duration::from_secs(30);

/// A key that was just used up is not the next one.
const MIN_COOLDOWN: Duration = Duration::from_secs(1);

/// How many calls that failed are remembered, of each kind.
const MAX_REMEMBERED_CALLS: usize = 64;

/// Keys by number, at least one.
#[derive(Debug)]
pub(super) struct KeyRotation {
    policy: KeyPolicy,
    states: Vec<KeyState>,
    /// The key that comes next, or is in use until it fails.
    next: usize,
    /// Which key a call goes on with.
    stays: BTreeMap<u64, usize>,
    /// How many keys did not do for a call that goes on with another.
    faults: BTreeMap<u64, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyState {
    Ready,
    Resting { until: Duration },
    Refused,
}

/// The choice for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyChoice {
    /// Send it with this key.
    Key(usize),
    /// All keys that are accepted rest for this time.
    Wait(Duration),
}

/// Why a key did not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyFault {
    /// It is not accepted.
    Refused,
    /// It was used too often; rests as long as the server asked.
    Limited(Option<Duration>),
    /// Nothing that another key would change.
    Other,
}

/// The remaining options after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyFallback {
    /// Another key is ready at once.
    Another,
    /// None is.
    Nothing,
}

impl KeyRotation {
    pub(super) fn new(policy: KeyPolicy, count: usize) -> Self {
        let states = vec![KeyState::Ready; count.max(1)];
        Self { policy, states, next: 0, stays: BTreeMap::new(), faults: BTreeMap::new() }
    }

    /// The key for `call`. A call that failed for another reason goes on with its key.
    pub(super) fn select(&mut self, call: u64, now: Duration) -> KeyChoice {
        self.end_cooldowns(now);
        if let Some(key) = self.stays.remove(&call)
            && self.is_ready(key)
        {
            return KeyChoice::Key(key);
        }
        let count = self.states.len();
        let Some(key) = (0..count).map(|n| (self.next + n) % count).find(|key| self.is_ready(*key))
        else {
            return KeyChoice::Wait(self.shortest_cooldown(now));
        };
        self.next = match self.policy {
            KeyPolicy::Failover => key,
            KeyPolicy::RoundRobin => (key + 1) % count,
        };
        KeyChoice::Key(key)
    }

    /// Takes in what came of `call` with `key`.
    pub(super) fn failed(
        &mut self,
        call: u64,
        key: usize,
        fault: KeyFault,
        now: Duration,
    ) -> KeyFallback {
        self.end_cooldowns(now);
        let state = match fault {
            KeyFault::Other => {
                make_room(&mut self.stays);
                self.stays.insert(call, key);
                return KeyFallback::Nothing;
            }
            KeyFault::Refused => KeyState::Refused,
            KeyFault::Limited(asked) => KeyState::Resting {
                until: now.saturating_add(asked.unwrap_or(DEFAULT_COOLDOWN).max(MIN_COOLDOWN)),
            },
        };
        if let Some(known) = self.states.get_mut(key) {
            *known = state;
        }
        // Also when its rest is over before the call is sent again.
        if self.next == key {
            self.next = (key + 1) % self.states.len();
        }
        let faults = self.faults.remove(&call).unwrap_or_default() + 1;
        // A key whose rest is over is not tried again by the same call.
        if faults < self.states.len() && self.states.contains(&KeyState::Ready) {
            make_room(&mut self.faults);
            self.faults.insert(call, faults);
            return KeyFallback::Another;
        }
        if self.states.iter().all(|state| *state == KeyState::Refused) {
            // The cause of the faults may be gone at the next call.
            self.states.fill(KeyState::Ready);
        }
        KeyFallback::Nothing
    }

    fn end_cooldowns(&mut self, now: Duration) {
        for state in &mut self.states {
            if matches!(state, KeyState::Resting { until } if *until <= now) {
                *state = KeyState::Ready;
            }
        }
    }

    fn is_ready(&self, key: usize) -> bool {
        self.states.get(key) == Some(&KeyState::Ready)
    }

    fn shortest_cooldown(&self, now: Duration) -> Duration {
        let rests = self.states.iter().filter_map(|state| match state {
            KeyState::Resting { until } => Some(until.saturating_sub(now)),
            KeyState::Ready | KeyState::Refused => None,
        });
        rests.min().unwrap_or_default()
    }
}

fn make_room(calls: &mut BTreeMap<u64, usize>) {
    if calls.len() >= MAX_REMEMBERED_CALLS {
        calls.pop_first();
    }
}
