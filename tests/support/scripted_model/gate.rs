//! A gate in the middle of an answer: a test acts before the model has finished.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::polling::TEST_TIMEOUT;

/// Holds an answer back before each piece after the first. Closed when made; cheap to clone.
#[derive(Debug, Clone)]
pub struct Gate {
    tickets: Arc<Semaphore>,
    arrivals: Arc<watch::Sender<usize>>,
}

impl Gate {
    /// A gate that lets nothing through yet.
    #[must_use]
    pub fn closed() -> Self {
        Self { tickets: Arc::new(Semaphore::new(0)), arrivals: Arc::new(watch::Sender::new(0)) }
    }

    /// Lets this many more pieces through.
    pub fn let_through(&self, pieces: usize) {
        self.tickets.add_permits(pieces);
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.tickets.close();
    }

    /// Resolves once an answer has stood at the gate `times` times: its earlier pieces are sent.
    pub async fn wait_until_reached(&self, times: usize) {
        let mut arrivals = self.arrivals.subscribe();
        let arrived =
            tokio::time::timeout(TEST_TIMEOUT, arrivals.wait_for(|seen| *seen >= times)).await;
        let seen = *self.arrivals.borrow();
        assert!(arrived.is_ok(), "an answer stood at the gate {seen} times, not {times}");
    }

    pub(super) async fn pass(&self) {
        self.arrivals.send_modify(|seen| *seen += 1);
        // A closed semaphore is an open gate.
        if let Ok(ticket) = self.tickets.acquire().await {
            ticket.forget();
        }
    }
}
