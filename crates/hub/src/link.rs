//! The link as a pure machine: it decides when to dial, ping, wait and give up, and does nothing.
//!
//! ```text
//! Off ──▶ Connecting ──▶ Registering ──▶ Online
//!             ▲  │ lost       │ lost        │ lost
//!             │  ▼            ▼             ▼
//!           Waiting ◀────────────────────────      Refused: left by the user only
//! ```
//!
//! Time and chance are handed in with each input, so every story can be replayed.

mod backoff;

use std::time::Duration;

use protocol::HubState;

use backoff::Backoff;
pub use backoff::Timing;

use crate::trouble::Trouble;

/// When an input happens, and a number drawn for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Monotonic time since any fixed point.
    pub(crate) now: Duration,
    /// Random, at least 0 and below 1.
    pub(crate) chance: f64,
}

/// What happens to the link. An input that does not fit the state changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// There is a (new) config.
    TurnOn,
    /// There is none any more.
    TurnOff,
    /// The user wants it now.
    Retry,
    /// The computer woke, or the network came back.
    Wake,
    /// The dialled socket is open.
    Opened,
    /// The hub has accepted our name.
    Registered,
    /// The hub has not.
    Declined(Trouble),
    /// A frame of any kind came, or we were not listening for one.
    Heard,
    /// The dial failed or the socket ended.
    Lost(Trouble),
    /// Time went by; due at [`Link::next_tick`].
    Tick,
}

/// What the driver has to do, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Open the one socket.
    Dial,
    /// Send the registration.
    Register,
    /// Send a ping.
    Ping,
    /// Leave politely, with code 1000. The socket is gone afterwards.
    Close,
    /// Give the socket or the dial up at once.
    Drop,
    /// State or trouble changed.
    Announce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    Connecting { deadline: Duration },
    Registering { deadline: Duration },
    Online { since: Duration, ping_at: Duration, dead_at: Duration },
    Waiting { until: Duration, not_before: Duration },
    Refused,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Link {
    timing: Timing,
    state: State,
    backoff: Backoff,
    trouble: Option<Trouble>,
}

impl Link {
    /// A link that is off.
    pub(crate) fn new(timing: Timing) -> Self {
        let backoff = Backoff::new(timing.clone());
        Self { timing, state: State::Off, backoff, trouble: None }
    }

    /// Where it stands.
    pub(crate) const fn state(&self) -> HubState {
        match self.state {
            State::Off => HubState::Off,
            State::Connecting { .. } => HubState::Connecting,
            State::Registering { .. } => HubState::Registering,
            State::Online { .. } => HubState::Online,
            State::Waiting { .. } => HubState::Waiting,
            State::Refused => HubState::Refused,
        }
    }

    /// When it dials again by itself.
    pub(crate) const fn waits_until(&self) -> Option<Duration> {
        match self.state {
            State::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// What went wrong last, until the link is online again.
    pub(crate) const fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// When it wants a [`Input::Tick`] if nothing else happens before.
    pub(crate) fn next_tick(&self) -> Option<Duration> {
        match self.state {
            State::Off | State::Refused => None,
            State::Connecting { deadline } | State::Registering { deadline } => Some(deadline),
            State::Online { ping_at, dead_at, .. } => Some(ping_at.min(dead_at)),
            State::Waiting { until, .. } => Some(until),
        }
    }

    /// Takes one input and says what to do about it.
    pub(crate) fn step(&mut self, at: Moment, input: Input) -> Vec<Effect> {
        match (input, self.state) {
            (Input::TurnOn, _) => self.restart(at.now),
            (Input::TurnOff, State::Off) => Vec::new(),
            (Input::TurnOff, _) => self.turn_off(),
            (Input::Retry, State::Waiting { .. } | State::Refused) => {
                self.backoff.forget();
                self.dial(at.now)
            }
            (Input::Wake, State::Waiting { not_before, .. }) => {
                let until = not_before.max(self.backoff.earliest(at.now));
                self.state = State::Waiting { until, not_before };
                let effects = self.tick(at);
                if effects.is_empty() { vec![Effect::Announce] } else { effects }
            }
            (Input::Wake, State::Online { since, dead_at, .. }) => {
                self.probe(at.now, since, dead_at)
            }
            (Input::Opened, State::Connecting { .. }) => {
                self.state = State::Registering { deadline: at.now + self.timing.registration };
                vec![Effect::Announce, Effect::Register]
            }
            (Input::Registered, State::Registering { .. }) => self.go_online(at.now),
            (Input::Declined(trouble), State::Registering { .. }) => {
                self.fail(at, trouble, Effect::Close)
            }
            (Input::Heard, State::Online { since, ping_at, .. }) => {
                let dead_at = at.now + self.timing.dead_after;
                self.state = State::Online { since, ping_at, dead_at };
                Vec::new()
            }
            (Input::Lost(trouble), _) if self.has_socket() => self.fail(at, trouble, Effect::Drop),
            (Input::Tick, _) => self.tick(at),
            _ => Vec::new(),
        }
    }

    const fn has_socket(&self) -> bool {
        matches!(
            self.state,
            State::Connecting { .. } | State::Registering { .. } | State::Online { .. }
        )
    }

    fn restart(&mut self, now: Duration) -> Vec<Effect> {
        let mut effects = self.leave();
        self.backoff.forget();
        self.trouble = None;
        effects.extend(self.dial(now));
        effects
    }

    fn turn_off(&mut self) -> Vec<Effect> {
        let mut effects = self.leave();
        self.state = State::Off;
        self.trouble = None;
        effects.push(Effect::Announce);
        effects
    }

    fn leave(&self) -> Vec<Effect> {
        if self.has_socket() { vec![Effect::Close] } else { Vec::new() }
    }

    fn dial(&mut self, now: Duration) -> Vec<Effect> {
        self.backoff.dialled(now);
        self.state = State::Connecting { deadline: now + self.timing.handshake };
        vec![Effect::Announce, Effect::Dial]
    }

    fn go_online(&mut self, now: Duration) -> Vec<Effect> {
        self.trouble = None;
        self.state = State::Online {
            since: now,
            ping_at: now + self.timing.ping_every,
            dead_at: now + self.timing.dead_after,
        };
        vec![Effect::Announce]
    }

    /// Asks a link that may have died in its sleep for a sign of life.
    fn probe(&mut self, now: Duration, since: Duration, dead_at: Duration) -> Vec<Effect> {
        self.state = State::Online {
            since,
            ping_at: now + self.timing.ping_every,
            dead_at: dead_at.min(now + self.timing.wake_grace),
        };
        vec![Effect::Ping]
    }

    fn tick(&mut self, at: Moment) -> Vec<Effect> {
        match self.state {
            State::Connecting { deadline } if deadline <= at.now => {
                self.fail(at, Trouble::Silent, Effect::Drop)
            }
            State::Registering { deadline } if deadline <= at.now => {
                self.fail(at, Trouble::Silent, Effect::Close)
            }
            State::Online { dead_at, .. } if dead_at <= at.now => {
                self.fail(at, Trouble::Silent, Effect::Drop)
            }
            State::Online { since, ping_at, dead_at } if ping_at <= at.now => {
                let ping_at = at.now + self.timing.ping_every;
                self.state = State::Online { since, ping_at, dead_at };
                vec![Effect::Ping]
            }
            State::Waiting { until, .. } if until <= at.now => self.dial(at.now),
            _ => Vec::new(),
        }
    }

    fn fail(&mut self, at: Moment, trouble: Trouble, parting: Effect) -> Vec<Effect> {
        if let State::Online { since, .. } = self.state
            && at.now.saturating_sub(since) >= self.timing.healthy_after
        {
            self.backoff.forget();
        }
        self.state = if trouble.needs_user() {
            State::Refused
        } else {
            let pause = if trouble.is_slow() { self.timing.longest_wait } else { Duration::ZERO };
            let not_before = at.now + trouble.pause().max(pause);
            let until = match trouble {
                Trouble::NotListening => self.backoff.next_free_dial(at.now, at.chance),
                _ => self.backoff.next_dial(at.now, at.chance),
            };
            let until = until.max(not_before);
            State::Waiting { until, not_before }
        };
        self.trouble = Some(trouble);
        vec![parting, Effect::Announce]
    }
}

#[cfg(test)]
mod tests;
