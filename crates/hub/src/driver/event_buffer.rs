//! Where events leave: in order, bounded, and without making the socket wait.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::HubEvent;

/// Events on their way out. While any is left nothing is read from the hub, so there are never
/// more than one message, one status and one count.
#[derive(Debug)]
pub(super) struct EventBuffer {
    events: mpsc::Sender<HubEvent>,
    pending: VecDeque<HubEvent>,
}

/// The result of driving an outlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendProgress {
    /// An event went into the channel.
    Taken,
    /// Nobody listens any more.
    Gone,
}

impl EventBuffer {
    pub(super) const fn new(events: mpsc::Sender<HubEvent>) -> Self {
        Self { events, pending: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Adds an event. While the channel is full, a status or count gives way to the newer one.
    pub(super) fn push(&mut self, event: HubEvent) {
        if !self.pending.is_empty() {
            self.push_or_replace(event);
        } else if let Err(unsent) = self.events.try_send(event) {
            self.push_or_replace(unsent.into_inner());
        }
    }

    fn push_or_replace(&mut self, event: HubEvent) {
        let kind = std::mem::discriminant(&event);
        if !matches!(event, HubEvent::Message(_)) {
            self.pending.retain(|earlier| std::mem::discriminant(earlier) != kind);
        }
        self.pending.push_back(event);
    }

    /// Moves one event into the channel as soon as there is room. Cancel-safe. With none left it
    /// waits for the receiver's end.
    pub(super) async fn send_next(&mut self) -> SendProgress {
        if self.pending.is_empty() {
            self.events.closed().await;
            return SendProgress::Gone;
        }
        let Ok(room) = self.events.reserve().await else { return SendProgress::Gone };
        if let Some(event) = self.pending.pop_front() {
            room.send(event);
        }
        SendProgress::Taken
    }
}

#[cfg(test)]
mod tests {
    use protocol::{HubState, HubStatus};

    use super::*;

    #[tokio::test]
    async fn unseen_statuses_give_way_and_the_order_of_the_rest_stays() {
        let (events, mut outside) = mpsc::channel(1);
        let mut outlet = EventBuffer::new(events);
        let status = |state| HubEvent::Status(HubStatus { state, ..HubStatus::off() });
        outlet.push(status(HubState::Off));
        outlet.push(status(HubState::Waiting));
        outlet.push(HubEvent::Ignored { count: 1 });
        outlet.push(status(HubState::Connecting));
        outlet.push(HubEvent::Ignored { count: 2 });
        let is = |event: Option<HubEvent>, state| matches!(event, Some(HubEvent::Status(status)) if status.state == state);
        assert!(is(outside.recv().await, HubState::Off));
        assert_eq!(outlet.send_next().await, SendProgress::Taken);
        assert!(is(outside.recv().await, HubState::Connecting));
        assert_eq!(outlet.send_next().await, SendProgress::Taken);
        assert!(matches!(outside.recv().await, Some(HubEvent::Ignored { count: 2 })));
        drop(outside);
        assert_eq!(outlet.send_next().await, SendProgress::Gone);
    }

    #[tokio::test]
    async fn a_full_channel_keeps_the_event_here() {
        let (events, mut outside) = mpsc::channel(1);
        let mut outlet = EventBuffer::new(events);
        outlet.push(HubEvent::Ignored { count: 1 });
        assert!(outlet.is_empty());
        outlet.push(HubEvent::Ignored { count: 2 });
        tokio::select! {
            biased;
            _ = outlet.send_next() => panic!("there was no room"),
            () = std::future::ready(()) => {}
        }
        assert!(!outlet.is_empty());
        assert!(matches!(outside.recv().await, Some(HubEvent::Ignored { count: 1 })));
        assert_eq!(outlet.send_next().await, SendProgress::Taken);
    }
}
