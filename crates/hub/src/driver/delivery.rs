//! Responses on their way: a pong says that the hub has read all that was written before its ping.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::HubResponse;
use crate::handle::NotOnline;

/// A hub remembers a hundred deliveries, ours a thousand: older receipts mean nothing to either.
const MAX_HELD: usize = 1_000;

/// A hub that has not answered a ping within this time answers none.
const PONG_TIMEOUT: Duration = Duration::from_secs(5);

/// A response, and the caller that waits for its delivery.
#[derive(Debug)]
pub(super) struct PendingResponse {
    pub(super) response: HubResponse,
    /// A receipt has nobody: the link itself sees to it that it arrives.
    pub(super) sent: Option<oneshot::Sender<Result<(), NotOnline>>>,
}

impl PendingResponse {
    /// The sender may have stopped waiting; then it does not care.
    pub(super) fn notify_sender(self, outcome: Result<(), NotOnline>) {
        if let Some(sent) = self.sent {
            let _ = sent.send(outcome);
        }
    }
}

/// Whether a pong answers a ping of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PongKind {
    Asked,
    Unasked,
}

/// Whether the hub answers our pings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PongSupport {
    /// It may: what is written waits for it.
    Unseen,
    Seen,
    /// Nothing can be known: what is written counts as read.
    Never,
}

/// Receipts that are queued for a link, and responses that were written and perhaps not read.
#[derive(Debug)]
pub(super) struct DeliveryQueue {
    held: VecDeque<PendingResponse>,
    /// Oldest first, each with the number of the first ping behind it.
    in_flight: VecDeque<(u64, PendingResponse)>,
    /// Pings so far.
    pings: u64,
    /// The ping whose pong is awaited, and since when.
    awaited_ping: Option<(u64, Duration)>,
    pong_support: PongSupport,
}

impl DeliveryQueue {
    pub(super) const fn new() -> Self {
        Self {
            held: VecDeque::new(),
            in_flight: VecDeque::new(),
            pings: 0,
            awaited_ping: None,
            pong_support: PongSupport::Unseen,
        }
    }

    /// Another hub: what was meant for the one before is given up.
    pub(super) fn clear(&mut self) {
        let letters = self.in_flight.drain(..).map(|(_, letter)| letter);
        letters.chain(self.held.drain(..)).for_each(|letter| letter.notify_sender(Err(NotOnline)));
        (self.awaited_ping, self.pong_support) = (None, PongSupport::Unseen);
    }

    /// Keeps a receipt until there is a link. Others are told that there is none.
    pub(super) fn hold(&mut self, response: PendingResponse) {
        if response.sent.is_some() {
            return response.notify_sender(Err(NotOnline));
        }
        self.held.push_back(response);
        if self.held.len() > MAX_HELD {
            self.held.pop_front();
        }
    }

    /// The next receipt that was kept.
    pub(super) fn next_held(&mut self) -> Option<PendingResponse> {
        self.held.pop_front()
    }

    /// A response was written.
    pub(super) fn add_in_flight(&mut self, response: PendingResponse) {
        match self.pong_support {
            PongSupport::Unseen | PongSupport::Seen => {
                self.in_flight.push_back((self.pings + 1, response))
            }
            PongSupport::Never => response.notify_sender(Ok(())),
        }
    }

    /// The bytes of the next ping, which is sent `now`.
    pub(super) fn next_ping(&mut self, now: Duration) -> Bytes {
        self.pings += 1;
        self.awaited_ping.get_or_insert((self.pings, now));
        Bytes::copy_from_slice(&self.pings.to_be_bytes())
    }

    /// Whether something was written behind the last ping and none is awaited; and, of a hub that was
    /// never asked, whether it answers.
    pub(super) fn needs_ping(&self) -> bool {
        let behind = self.in_flight.back().is_some_and(|(number, _)| *number > self.pings);
        self.awaited_ping.is_none() && (behind || self.pong_support == PongSupport::Unseen)
    }

    /// When a hub that has not answered yet counts as one that never does.
    pub(super) fn pong_deadline(&self) -> Option<Duration> {
        let (_, since) = self.awaited_ping.filter(|_| self.pong_support == PongSupport::Unseen)?;
        Some(since + PONG_TIMEOUT)
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) {
        if self.pong_deadline().is_some_and(|at| at <= now) {
            self.pong_support = PongSupport::Never;
            self.in_flight.drain(..).for_each(|(_, letter)| letter.notify_sender(Ok(())));
        }
    }

    /// A pong came.
    pub(super) fn on_pong(&mut self, bytes: &[u8]) -> PongKind {
        let Ok(number) = bytes.try_into().map(u64::from_be_bytes) else { return PongKind::Unasked };
        if number > self.pings {
            return PongKind::Unasked;
        }
        self.pong_support = PongSupport::Seen;
        if self.awaited_ping.is_some_and(|(asked, _)| asked <= number) {
            self.awaited_ping = None;
        }
        while let Some((_, letter)) = self.in_flight.pop_front_if(|(behind, _)| *behind <= number) {
            letter.notify_sender(Ok(()));
        }
        PongKind::Asked
    }

    /// The link is gone: receipts that were perhaps not read are sent again over the next one, in
    /// their order; waiting callers are told that there is no link.
    pub(super) fn on_link_lost(&mut self) {
        self.awaited_ping = None;
        let newer = std::mem::take(&mut self.held);
        for (_, letter) in std::mem::take(&mut self.in_flight) {
            self.hold(letter);
        }
        newer.into_iter().for_each(|letter| self.hold(letter));
    }
}

#[cfg(test)]
mod tests;
