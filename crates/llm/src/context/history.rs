//! Stored messages as a model is sent them. The same rows give the same bytes, so that a provider's
//! prompt cache hits.
//!
//! Blocks that a provider keeps verbatim, such as its thinking, carry their author and are sent
//! back to no other provider.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use protocol::{AnswerAuthor, CallId, Message, MessagePart, Role};

use crate::context::model_texts;
use crate::model::{ContentBlock, ModelMessage, ToolCall};

#[cfg(test)]
mod tests;

/// The messages of a request, for any rows: roles alternate and the first is the user's; each call
/// has an id of its own and exactly one result, in call order at the head of the next message; no
/// text is blank. Rows of one role that follow each other become one message, so an answer to a
/// question joins the results it belongs to.
///
/// Verbatim content of a provider is sent back exactly as it came while its turn asks, not later,
/// and only to the model that made it, which is `asked`.
///
/// A call without a result gets one that says so; a result without a call is dropped.
#[must_use]
pub fn request_messages(rows: &[impl Borrow<Message>], asked: &AnswerAuthor) -> Vec<ModelMessage> {
    let asking = rows.last().map(|row| &row.borrow().turn);
    let mut merged: Vec<ModelMessage> = Vec::new();
    for row in rows.iter().map(Borrow::borrow) {
        let maker = (Some(&row.turn) == asking).then_some(asked);
        if row.role == Role::Assistant {
            push(&mut merged, Role::User, notes_before(row));
        }
        push(&mut merged, row.role, blocks(row, maker));
    }
    let mut messages = pair_results(merged);
    trim_open_end(&mut messages);
    messages
}

/// The notes to the model for this one answer, beside the history.
fn notes_before(answer: &Message) -> Vec<ContentBlock> {
    let told = answer.parts.iter().filter(|part| matches!(part, MessagePart::Context { .. }));
    told.filter_map(|part| block(Role::User, part)).collect()
}

/// The parts that a model sees, context before text; verbatim content only for its maker.
fn blocks(row: &Message, asked: Option<&AnswerAuthor>) -> Vec<ContentBlock> {
    let context = row.parts.iter().filter(|part| matches!(part, MessagePart::Context { .. }));
    let others = row.parts.iter().filter(|part| !matches!(part, MessagePart::Context { .. }));
    let sent = |part: &&MessagePart| match part {
        MessagePart::Verbatim { maker, .. } => maker.is_some() && maker.as_ref() == asked,
        _ => true,
    };
    context.chain(others).filter(sent).filter_map(|part| block(row.role, part)).collect()
}

fn block(role: Role, part: &MessagePart) -> Option<ContentBlock> {
    match (role, part) {
        (_, MessagePart::Text { text }) | (Role::User, MessagePart::Context { text }) => {
            (!text.trim().is_empty()).then(|| ContentBlock::Text(text.clone()))
        }
        (Role::Assistant, MessagePart::Call { id, tool, arguments }) => {
            Some(ContentBlock::Call(ToolCall {
                id: id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
            }))
        }
        (Role::User, MessagePart::Result { call, output, is_error, speech }) => {
            Some(ContentBlock::Result {
                call: call.clone(),
                output: output.clone(),
                is_error: *is_error,
                speech: speech.clone(),
            })
        }
        (Role::Assistant, MessagePart::Verbatim { content, .. }) => {
            Some(ContentBlock::Verbatim(content.clone()))
        }
        _ => None,
    }
}

/// Gives each call its one result and each result its place.
fn pair_results(merged: Vec<ModelMessage>) -> Vec<ModelMessage> {
    let mut paired = Vec::new();
    let mut ids = BTreeSet::new();
    let mut open: Vec<RenamedCall> = Vec::new();
    for message in merged {
        match message.role {
            Role::Assistant => {
                if paired.is_empty() {
                    let beginning = ContentBlock::Text(model_texts::BEGINNING_MISSING.to_owned());
                    push(&mut paired, Role::User, vec![beginning]);
                }
                let blocks = message.blocks.into_iter();
                let blocks = blocks.map(|block| unique_id(block, &mut ids, &mut open)).collect();
                push(&mut paired, Role::Assistant, blocks);
            }
            Role::User => push(
                &mut paired,
                Role::User,
                answer_open_calls(std::mem::take(&mut open), message.blocks),
            ),
        }
    }
    push(&mut paired, Role::User, answer_open_calls(open, Vec::new()));
    paired
}

/// Empty messages are skipped; their neighbors are joined.
fn push(messages: &mut Vec<ModelMessage>, role: Role, blocks: Vec<ContentBlock>) {
    match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ => messages.push(ModelMessage { role, blocks }),
    }
}

/// A call of the message before: its id in the rows and in the request.
struct RenamedCall {
    stored: CallId,
    sent: CallId,
}

/// The longest id of a call that every provider takes, in characters.
const MAX_CALL_ID: usize = 40;

/// An id that ends so, and begins as this one as far as there is room.
fn bounded_id(id: &CallId, end: &str) -> CallId {
    let beginning = id.as_str().chars().take(MAX_CALL_ID.saturating_sub(end.len()));
    beginning.chain(end.chars()).collect::<String>().into()
}

/// Ids are unique within a turn, and as long as one provider wants them; a provider wants them unique within
/// the request, and another one wants them short.
fn unique_id(
    block: ContentBlock,
    ids: &mut BTreeSet<CallId>,
    open: &mut Vec<RenamedCall>,
) -> ContentBlock {
    let ContentBlock::Call(call) = block else { return block };
    let mut sent = bounded_id(&call.id, "");
    let mut n = 2_u32;
    while !ids.insert(sent.clone()) {
        sent = bounded_id(&call.id, &format!("_{n}"));
        n += 1;
    }
    open.push(RenamedCall { stored: call.id.clone(), sent: sent.clone() });
    ContentBlock::Call(ToolCall { id: sent, ..call })
}

/// The results of the open calls in call order, then the text.
fn answer_open_calls(open: Vec<RenamedCall>, blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    let mut results: BTreeMap<CallId, ContentBlock> = BTreeMap::new();
    let mut words = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Result { ref call, .. } => {
                results.entry(call.clone()).or_insert(block);
            }
            block => words.push(block),
        }
    }
    let result = |renamed: RenamedCall| match results.remove(&renamed.stored) {
        Some(ContentBlock::Result { output, is_error, speech, .. }) => {
            ContentBlock::Result { call: renamed.sent, output, is_error, speech }
        }
        _ => ContentBlock::Result {
            call: renamed.sent,
            output: model_texts::NO_RESULT.to_owned(),
            is_error: true,
            speech: None,
        },
    };
    open.into_iter().map(result).chain(words).collect()
}

/// A provider refuses a request that ends with an answer (a paused one) that ends with blanks.
fn trim_open_end(messages: &mut [ModelMessage]) {
    let Some(ModelMessage { role: Role::Assistant, blocks }) = messages.last_mut() else { return };
    if let Some(ContentBlock::Text(text)) = blocks.last_mut() {
        text.truncate(text.trim_end().len());
    }
}
