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
pub use backoff::LinkTiming;

use crate::link_error::LinkError;

/// When an input happens, and a number drawn for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepContext {
    /// Monotonic time since any fixed point.
    pub(crate) now: Duration,
    /// Random, at least 0 and below 1.
    pub(crate) chance: f64,
}

/// An input of the link. An input that does not fit the state changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkInput {
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
    Declined(LinkError),
    /// A frame of any kind came, or we were not listening for one.
    Heard,
    /// The dial failed or the socket ended.
    Lost(LinkError),
    /// Time went by; due at [`LinkStateMachine::next_tick`].
    Tick,
}

/// The effects for the driver, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEffect {
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
enum LinkState {
    Off,
    Connecting { deadline: Duration },
    Registering { deadline: Duration },
    Online { since: Duration, ping_at: Duration, dead_at: Duration },
    Waiting { until: Duration, not_before: Duration },
    Refused,
}

#[derive(Debug)]
pub(crate) struct LinkStateMachine {
    timing: LinkTiming,
    state: LinkState,
    backoff: Backoff,
    last_error: Option<LinkError>,
}

impl LinkStateMachine {
    /// A link that is off.
    pub(crate) fn new(timing: LinkTiming) -> Self {
        let backoff = Backoff::new(timing.clone());
        Self { timing, state: LinkState::Off, backoff, last_error: None }
    }

    /// Where it stands.
    pub(crate) const fn state(&self) -> HubState {
        match self.state {
            LinkState::Off => HubState::Off,
            LinkState::Connecting { .. } => HubState::Connecting,
            LinkState::Registering { .. } => HubState::Registering,
            LinkState::Online { .. } => HubState::Online,
            LinkState::Waiting { .. } => HubState::Waiting,
            LinkState::Refused => HubState::Refused,
        }
    }

    /// When it dials again automatically.
    pub(crate) const fn next_dial_at(&self) -> Option<Duration> {
        match self.state {
            LinkState::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// The last error, until the link is online again.
    pub(crate) const fn last_error(&self) -> Option<&LinkError> {
        self.last_error.as_ref()
    }

    /// When it wants a [`LinkInput::Tick`] if nothing else happens before.
    pub(crate) fn next_tick(&self) -> Option<Duration> {
        match self.state {
            LinkState::Off | LinkState::Refused => None,
            LinkState::Connecting { deadline } | LinkState::Registering { deadline } => {
                Some(deadline)
            }
            LinkState::Online { ping_at, dead_at, .. } => Some(ping_at.min(dead_at)),
            LinkState::Waiting { until, .. } => Some(until),
        }
    }

    /// Takes one input and says what to do about it.
    pub(crate) fn step(&mut self, at: StepContext, input: LinkInput) -> Vec<LinkEffect> {
        match (input, self.state) {
            (LinkInput::TurnOn, _) => self.restart(at.now),
            (LinkInput::TurnOff, LinkState::Off) => Vec::new(),
            (LinkInput::TurnOff, _) => self.turn_off(),
            (LinkInput::Retry, LinkState::Waiting { .. } | LinkState::Refused) => {
                self.backoff.reset();
                self.dial(at.now)
            }
            (LinkInput::Wake, LinkState::Waiting { not_before, .. }) => {
                let until = not_before.max(self.backoff.earliest_dial(at.now));
                self.state = LinkState::Waiting { until, not_before };
                let effects = self.tick(at);
                if effects.is_empty() { vec![LinkEffect::Announce] } else { effects }
            }
            (LinkInput::Wake, LinkState::Online { since, dead_at, .. }) => {
                self.probe(at.now, since, dead_at)
            }
            (LinkInput::Opened, LinkState::Connecting { .. }) => {
                self.state = LinkState::Registering { deadline: at.now + self.timing.registration };
                vec![LinkEffect::Announce, LinkEffect::Register]
            }
            (LinkInput::Registered, LinkState::Registering { .. }) => self.go_online(at.now),
            (LinkInput::Declined(trouble), LinkState::Registering { .. }) => {
                self.fail(at, trouble, LinkEffect::Close)
            }
            (LinkInput::Heard, LinkState::Online { since, ping_at, .. }) => {
                let dead_at = at.now + self.timing.dead_after;
                self.state = LinkState::Online { since, ping_at, dead_at };
                Vec::new()
            }
            (LinkInput::Lost(trouble), _) if self.has_socket() => {
                self.fail(at, trouble, LinkEffect::Drop)
            }
            (LinkInput::Tick, _) => self.tick(at),
            _ => Vec::new(),
        }
    }

    const fn has_socket(&self) -> bool {
        matches!(
            self.state,
            LinkState::Connecting { .. } | LinkState::Registering { .. } | LinkState::Online { .. }
        )
    }

    fn restart(&mut self, now: Duration) -> Vec<LinkEffect> {
        let mut effects = self.close_or_drop();
        self.backoff.reset();
        self.last_error = None;
        effects.extend(self.dial(now));
        effects
    }

    fn turn_off(&mut self) -> Vec<LinkEffect> {
        let mut effects = self.close_or_drop();
        self.state = LinkState::Off;
        self.last_error = None;
        effects.push(LinkEffect::Announce);
        effects
    }

    fn close_or_drop(&self) -> Vec<LinkEffect> {
        if self.has_socket() { vec![LinkEffect::Close] } else { Vec::new() }
    }

    fn dial(&mut self, now: Duration) -> Vec<LinkEffect> {
        self.backoff.record_dial(now);
        self.state = LinkState::Connecting { deadline: now + self.timing.handshake };
        vec![LinkEffect::Announce, LinkEffect::Dial]
    }

    fn go_online(&mut self, now: Duration) -> Vec<LinkEffect> {
        self.backoff.record_online();
        self.last_error = None;
        self.state = LinkState::Online {
            since: now,
            ping_at: now + self.timing.ping_every,
            dead_at: now + self.timing.dead_after,
        };
        vec![LinkEffect::Announce]
    }

    /// Asks a link that may have died in its sleep for a sign of life.
    fn probe(&mut self, now: Duration, since: Duration, dead_at: Duration) -> Vec<LinkEffect> {
        self.state = LinkState::Online {
            since,
            ping_at: now + self.timing.ping_every,
            dead_at: dead_at.min(now + self.timing.wake_grace),
        };
        vec![LinkEffect::Ping]
    }

    fn tick(&mut self, at: StepContext) -> Vec<LinkEffect> {
        match self.state {
            LinkState::Connecting { deadline } if deadline <= at.now => {
                self.fail(at, LinkError::Silent, LinkEffect::Drop)
            }
            LinkState::Registering { deadline } if deadline <= at.now => {
                self.fail(at, LinkError::Silent, LinkEffect::Close)
            }
            LinkState::Online { dead_at, .. } if dead_at <= at.now => {
                self.fail(at, LinkError::Silent, LinkEffect::Drop)
            }
            LinkState::Online { since, ping_at, dead_at } if ping_at <= at.now => {
                let ping_at = at.now + self.timing.ping_every;
                self.state = LinkState::Online { since, ping_at, dead_at };
                vec![LinkEffect::Ping]
            }
            LinkState::Waiting { until, .. } if until <= at.now => self.dial(at.now),
            _ => Vec::new(),
        }
    }

    fn fail(
        &mut self,
        at: StepContext,
        trouble: LinkError,
        parting: LinkEffect,
    ) -> Vec<LinkEffect> {
        if let LinkState::Online { since, .. } = self.state
            && at.now.saturating_sub(since) >= self.timing.healthy_after
        {
            self.backoff.reset();
        }
        self.state = if trouble.needs_user() {
            LinkState::Refused
        } else {
            let pause =
                if trouble.needs_slow_retry() { self.timing.longest_wait } else { Duration::ZERO };
            let not_before = at.now + trouble.retry_pause().max(pause);
            let until = match trouble {
                LinkError::NotListening => self.backoff.next_free_dial(at.now, at.chance),
                _ => self.backoff.next_dial(at.now, at.chance),
            };
            let until = until.max(not_before);
            LinkState::Waiting { until, not_before }
        };
        self.last_error = Some(trouble);
        vec![parting, LinkEffect::Announce]
    }
}

#[cfg(test)]
mod tests;
