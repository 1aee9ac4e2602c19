//! Stored messages as a model is sent them. The same rows give the same bytes, so that a vendor's
//! prompt cache hits.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use protocol::{CallId, Maker, Message, Part, Role};

use crate::model::{Block, ModelMessage, ToolCall};
use crate::wording;

#[cfg(test)]
mod tests;

/// The messages of a request, whatever the rows: roles alternate and the first is the user's;
/// each call has an id of its own and exactly one result, in call order at the head of the next
/// message; no text is blank. Rows of one role that follow each other become one message, so an
/// answer to a question joins the results it belongs to.
///
/// What a vendor wants back exactly as it came is sent while its turn asks, and not later; and only to
/// the model that made it, which is `asked`.
///
/// A call without a result gets one that says so; a result without a call is dropped.
#[must_use]
pub fn request_messages(rows: &[impl Borrow<Message>], asked: &Maker) -> Vec<ModelMessage> {
    let asking = rows.last().map(|row| &row.borrow().turn);
    let mut merged: Vec<ModelMessage> = Vec::new();
    for row in rows.iter().map(Borrow::borrow) {
        let maker = (Some(&row.turn) == asking).then_some(asked);
        if row.role == Role::Assistant {
            push(&mut merged, Role::User, told_before(row));
        }
        push(&mut merged, row.role, blocks(row, maker));
    }
    let mut messages = pair(merged);
    trim_open_end(&mut messages);
    messages
}

/// What the model was told for this one answer, beside the history.
fn told_before(answer: &Message) -> Vec<Block> {
    let told = answer.parts.iter().filter(|part| matches!(part, Part::Context { .. }));
    told.filter_map(|part| block(Role::User, part)).collect()
}

/// The parts that a model sees, context before words; what was kept verbatim is seen by its maker.
fn blocks(row: &Message, asked: Option<&Maker>) -> Vec<Block> {
    let context = row.parts.iter().filter(|part| matches!(part, Part::Context { .. }));
    let others = row.parts.iter().filter(|part| !matches!(part, Part::Context { .. }));
    let sent = |part: &&Part| match part {
        Part::Verbatim { maker, .. } => maker.is_some() && maker.as_ref() == asked,
        _ => true,
    };
    context.chain(others).filter(sent).filter_map(|part| block(row.role, part)).collect()
}

fn block(role: Role, part: &Part) -> Option<Block> {
    match (role, part) {
        (_, Part::Text { text }) | (Role::User, Part::Context { text }) => {
            (!text.trim().is_empty()).then(|| Block::Text(text.clone()))
        }
        (Role::Assistant, Part::Call { id, tool, arguments }) => Some(Block::Call(ToolCall {
            id: id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
        })),
        (Role::User, Part::Result { call, output, is_error }) => {
            Some(Block::Result { call: call.clone(), output: output.clone(), is_error: *is_error })
        }
        (Role::Assistant, Part::Verbatim { content, .. }) => Some(Block::Verbatim(content.clone())),
        _ => None,
    }
}

/// Gives each call its one result and each result its place.
fn pair(merged: Vec<ModelMessage>) -> Vec<ModelMessage> {
    let mut paired = Vec::new();
    let mut ids = BTreeSet::new();
    let mut open: Vec<Renamed> = Vec::new();
    for message in merged {
        match message.role {
            Role::Assistant => {
                if paired.is_empty() {
                    let beginning = Block::Text(wording::BEGINNING_MISSING.to_owned());
                    push(&mut paired, Role::User, vec![beginning]);
                }
                let blocks = message.blocks.into_iter();
                let blocks = blocks.map(|block| own_id(block, &mut ids, &mut open)).collect();
                push(&mut paired, Role::Assistant, blocks);
            }
            Role::User => {
                push(&mut paired, Role::User, answer(std::mem::take(&mut open), message.blocks))
            }
        }
    }
    push(&mut paired, Role::User, answer(open, Vec::new()));
    paired
}

/// Nothing to say is left out, and what follows then joins what came before.
fn push(messages: &mut Vec<ModelMessage>, role: Role, blocks: Vec<Block>) {
    match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ => messages.push(ModelMessage { role, blocks }),
    }
}

/// A call of the message before: its id in the rows and in the request.
struct Renamed {
    stored: CallId,
    sent: CallId,
}

/// Ids are unique within a turn; a vendor wants them unique within the request.
fn own_id(block: Block, ids: &mut BTreeSet<CallId>, open: &mut Vec<Renamed>) -> Block {
    let Block::Call(call) = block else { return block };
    let mut sent = call.id.clone();
    let mut n = 2_u32;
    while !ids.insert(sent.clone()) {
        sent = format!("{}_{n}", call.id).into();
        n += 1;
    }
    open.push(Renamed { stored: call.id.clone(), sent: sent.clone() });
    Block::Call(ToolCall { id: sent, ..call })
}

/// The results of the open calls in call order, then the words.
fn answer(open: Vec<Renamed>, blocks: Vec<Block>) -> Vec<Block> {
    let mut results: BTreeMap<CallId, Block> = BTreeMap::new();
    let mut words = Vec::new();
    for block in blocks {
        match block {
            Block::Result { ref call, .. } => {
                results.entry(call.clone()).or_insert(block);
            }
            block => words.push(block),
        }
    }
    let result = |renamed: Renamed| match results.remove(&renamed.stored) {
        Some(Block::Result { output, is_error, .. }) => {
            Block::Result { call: renamed.sent, output, is_error }
        }
        _ => Block::Result {
            call: renamed.sent,
            output: wording::NO_RESULT.to_owned(),
            is_error: true,
        },
    };
    open.into_iter().map(result).chain(words).collect()
}

/// A vendor refuses a request that ends with an answer (a paused one) that ends with blanks.
fn trim_open_end(messages: &mut [ModelMessage]) {
    let Some(ModelMessage { role: Role::Assistant, blocks }) = messages.last_mut() else { return };
    if let Some(Block::Text(text)) = blocks.last_mut() {
        text.truncate(text.trim_end().len());
    }
}
