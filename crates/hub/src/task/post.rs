//! Responses on their way: a pong says that the hub has read all that was written before its ping.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::Response;
use crate::handle::NotOnline;

/// A hub remembers a hundred deliveries, ours a thousand: older receipts mean nothing to either.
const HELD: usize = 1_000;

/// A hub that has answered no ping in so long answers none.
const MUTE: Duration = Duration::from_secs(5);

/// A response, and whoever waits to hear that it was read.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) response: Response,
    /// A receipt has nobody: the link itself sees to it that it arrives.
    pub(super) sent: Option<oneshot::Sender<Result<(), NotOnline>>>,
}

impl Letter {
    /// The sender may have stopped waiting; then it does not care.
    pub(super) fn tell(self, outcome: Result<(), NotOnline>) {
        if let Some(sent) = self.sent {
            let _ = sent.send(outcome);
        }
    }
}

/// Whether a pong answers a ping of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pong {
    Asked,
    Unasked,
}

/// Whether the hub answers our pings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pongs {
    /// It may: what is written waits for it.
    Unseen,
    Seen,
    /// Nothing can be known: what is written counts as read.
    Never,
}

/// Receipts that wait for a link, and responses that were written and perhaps not read.
#[derive(Debug)]
pub(super) struct Post {
    held: VecDeque<Letter>,
    /// Oldest first, each with the number of the first ping behind it.
    under_way: VecDeque<(u64, Letter)>,
    /// Pings so far.
    pings: u64,
    /// The ping whose pong is awaited, and since when.
    asked: Option<(u64, Duration)>,
    pongs: Pongs,
}

impl Post {
    pub(super) const fn new() -> Self {
        Self {
            held: VecDeque::new(),
            under_way: VecDeque::new(),
            pings: 0,
            asked: None,
            pongs: Pongs::Unseen,
        }
    }

    /// Another hub: what was meant for the one before is given up.
    pub(super) fn forget(&mut self) {
        let letters = self.under_way.drain(..).map(|(_, letter)| letter);
        letters.chain(self.held.drain(..)).for_each(|letter| letter.tell(Err(NotOnline)));
        (self.asked, self.pongs) = (None, Pongs::Unseen);
    }

    /// Keeps a receipt until there is a link. Others are told that there is none.
    pub(super) fn hold(&mut self, letter: Letter) {
        if letter.sent.is_some() {
            return letter.tell(Err(NotOnline));
        }
        self.held.push_back(letter);
        if self.held.len() > HELD {
            self.held.pop_front();
        }
    }

    /// The next receipt that was kept.
    pub(super) fn next_held(&mut self) -> Option<Letter> {
        self.held.pop_front()
    }

    /// A response was written.
    pub(super) fn written(&mut self, letter: Letter) {
        match self.pongs {
            Pongs::Unseen | Pongs::Seen => self.under_way.push_back((self.pings + 1, letter)),
            Pongs::Never => letter.tell(Ok(())),
        }
    }

    /// The bytes of the next ping, which is sent `now`.
    pub(super) fn ping(&mut self, now: Duration) -> Bytes {
        self.pings += 1;
        self.asked.get_or_insert((self.pings, now));
        Bytes::copy_from_slice(&self.pings.to_be_bytes())
    }

    /// Whether something was written behind the last ping and none is awaited; and, of a hub that was
    /// never asked, whether it answers.
    pub(super) fn wants_ping(&self) -> bool {
        let behind = self.under_way.back().is_some_and(|(number, _)| *number > self.pings);
        self.asked.is_none() && (behind || self.pongs == Pongs::Unseen)
    }

    /// When a hub that has not answered yet counts as one that never does.
    pub(super) fn mute_at(&self) -> Option<Duration> {
        let (_, since) = self.asked.filter(|_| self.pongs == Pongs::Unseen)?;
        Some(since + MUTE)
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) {
        if self.mute_at().is_some_and(|at| at <= now) {
            self.pongs = Pongs::Never;
            self.under_way.drain(..).for_each(|(_, letter)| letter.tell(Ok(())));
        }
    }

    /// A pong came.
    pub(super) fn pong(&mut self, bytes: &[u8]) -> Pong {
        let Ok(number) = bytes.try_into().map(u64::from_be_bytes) else { return Pong::Unasked };
        if number > self.pings {
            return Pong::Unasked;
        }
        self.pongs = Pongs::Seen;
        if self.asked.is_some_and(|(asked, _)| asked <= number) {
            self.asked = None;
        }
        while let Some((_, letter)) = self.under_way.pop_front_if(|(behind, _)| *behind <= number) {
            letter.tell(Ok(()));
        }
        Pong::Asked
    }

    /// The link is gone: receipts that were perhaps not read go out again over the next one, in
    /// their order; whoever waits is told that there is no link.
    pub(super) fn lost(&mut self) {
        self.asked = None;
        let newer = std::mem::take(&mut self.held);
        for (_, letter) in std::mem::take(&mut self.under_way) {
            self.hold(letter);
        }
        newer.into_iter().for_each(|letter| self.hold(letter));
    }
}

#[cfg(test)]
mod tests;
