//! Context blocks without the question of a model that they quote.
//!
//! A model words a question and its options as it likes, with quotation marks, line breaks and tags. So
//! no mark tells where they end: everything behind the beginning of the question is left out. In
//! blocks as they are made now the question is the last part; in older ones other lines follow and
//! are left out too.

use crate::chat::prompt::{
    CONTEXT_END_TAG, QuestionStatus, SKIPPED_QUESTION_START, WAITING_QUESTION_START, question_text,
};

/// The block with its question and the options withheld, whether it still waits or was put aside.
pub(super) fn without_question(context: &str) -> String {
    let starts = [SKIPPED_QUESTION_START, WAITING_QUESTION_START];
    let line_of = |start: &&str| context.find(&format!("\n{start}"));
    let Some(at) = starts.iter().filter_map(line_of).min() else {
        return context.to_owned();
    };
    let (before, question) = context.split_at(at);
    let withheld = "(withheld)".to_owned();
    let status = match question_id(question) {
        _ if question.trim_start().starts_with(SKIPPED_QUESTION_START) => {
            QuestionStatus::Skipped(withheld)
        }
        Some(id) => QuestionStatus::MayBeAnswered(id.into(), withheld, Vec::new()),
        None => QuestionStatus::Open(withheld, Vec::new()),
    };
    format!("{before}\n{}\n{CONTEXT_END_TAG}", question_text(&status))
}

/// The id of a question to which the message may be the answer.
fn question_id(question: &str) -> Option<&str> {
    let (id, _) = question
        .trim_start()
        .strip_prefix(WAITING_QUESTION_START)?
        .strip_prefix(" `")?
        .split_once('`')?;
    let is_of_id = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    id.chars().all(is_of_id).then_some(id)
}
