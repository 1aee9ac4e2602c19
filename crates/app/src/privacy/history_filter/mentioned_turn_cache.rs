//! Messages of mentioned conversations, kept while one turn sends its requests, or for one search.
//!
//! A turn that ended is not changed any more, so its messages are read once. Each request reads everything else: which
//! turns a conversation has, the turns that may go on, their sources, and all that depends on the rules for private
//! notes.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{Message, MessagePart, Role, TurnStatus, UserError};
use store::{ExportedTurn, Store};

/// The bytes of text that are kept for a turn. The messages of further turns are read for each request.
const MAX_CACHED_BYTES: usize = 16 << 20;

/// The messages of turns that ended.
#[derive(Debug, Default)]
pub(crate) struct MentionedTurnCache(Mutex<CachedMessages>);

#[derive(Debug, Default)]
struct CachedMessages {
    /// By the number of the turn, which no other turn ever gets.
    by_turn: HashMap<i64, Arc<[Message]>>,
    bytes: usize,
}

impl CachedMessages {
    fn add(&mut self, turn: i64, messages: &Arc<[Message]>) {
        let bytes = self.bytes + messages.iter().map(text_bytes).sum::<usize>();
        if bytes <= MAX_CACHED_BYTES && self.by_turn.insert(turn, Arc::clone(messages)).is_none() {
            self.bytes = bytes;
        }
    }
}

impl MentionedTurnCache {
    /// The messages of each of these turns in their order, each message followed by the results of its calls. A turn
    /// that is no longer stored is left out.
    pub(super) async fn messages(
        &self,
        store: &Store,
        turns: &[i64],
    ) -> Result<Vec<Arc<[Message]>>, UserError> {
        let mut found = self.cached(turns);
        let missing: Vec<i64> =
            turns.iter().copied().filter(|turn| !found.contains_key(turn)).collect();
        let read = store.exported_turns(&missing).await?;
        if read.len() != missing.len() {
            // A queued message was removed meanwhile, and nothing tells which of the turns it was.
            let all = store.exported_turns(turns).await?;
            return Ok(all.into_iter().map(messages_with_results).collect());
        }
        for (turn, exported) in missing.into_iter().zip(read) {
            let may_change = may_change(exported.status);
            let messages = messages_with_results(exported);
            if !may_change {
                self.lock().add(turn, &messages);
            }
            found.insert(turn, messages);
        }
        Ok(turns.iter().filter_map(|turn| found.remove(turn)).collect())
    }

    fn cached(&self, turns: &[i64]) -> HashMap<i64, Arc<[Message]>> {
        let cached = self.lock();
        let known = |turn: &i64| Some((*turn, Arc::clone(cached.by_turn.get(turn)?)));
        turns.iter().filter_map(known).collect()
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, CachedMessages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the messages of a turn may still change. One that was interrupted may be continued.
const fn may_change(status: TurnStatus) -> bool {
    !status.is_terminal() || matches!(status, TurnStatus::Interrupted)
}

fn messages_with_results(turn: ExportedTurn) -> Arc<[Message]> {
    let ExportedTurn { messages, calls, .. } = turn;
    let mut rows = Vec::new();
    for message in messages {
        let made = calls.iter().filter(|call| call.message == message.id);
        let results = made.filter_map(|call| {
            Some(MessagePart::Result {
                call: call.call.clone(),
                output: call.output.clone()?,
                is_error: call.is_error,
                // Nobody reads it here.
                speech: None,
            })
        });
        let parts: Vec<MessagePart> = results.collect();
        let has_results = !parts.is_empty();
        let results = has_results.then(|| Message { role: Role::User, parts, ..message.clone() });
        rows.push(message);
        rows.extend(results);
    }
    rows.into()
}

fn text_bytes(message: &Message) -> usize {
    let of_part = |part: &MessagePart| match part {
        MessagePart::Text { text } | MessagePart::Context { text } => text.len(),
        MessagePart::Result { output, .. } => output.len(),
        MessagePart::Call { arguments: value, .. }
        | MessagePart::Verbatim { content: value, .. } => value.to_string().len(),
        MessagePart::Answers { .. }
        | MessagePart::Repeated
        | MessagePart::Passed
        | MessagePart::OpenNote { .. } => 0,
    };
    message.parts.iter().map(of_part).sum()
}
