//! Messages by exchange: all messages of one turn.

use std::sync::Arc;

use protocol::{Message, TurnId};

use crate::context::tokens;

/// The messages of a turn, as sent to a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) turn: TurnId,
    pub(crate) rows: Vec<Arc<Message>>,
    /// The estimated size of its rows.
    pub(crate) tokens: u32,
}

/// The rows by exchange, in their order.
pub(crate) fn group_into_exchanges(
    rows: impl IntoIterator<Item: Into<Arc<Message>>>,
) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for row in rows.into_iter().map(Into::<Arc<Message>>::into) {
        let tokens = tokens::of_message(&row);
        match exchanges.last_mut() {
            Some(last) if last.turn == row.turn => {
                last.tokens = last.tokens.saturating_add(tokens);
                last.rows.push(row);
            }
            _ => exchanges.push(Exchange { turn: row.turn.clone(), rows: vec![row], tokens }),
        }
    }
    exchanges
}

pub(crate) fn tokens_of(exchanges: &[Exchange]) -> u32 {
    exchanges.iter().map(|exchange| exchange.tokens).fold(0, u32::saturating_add)
}
