//! Finds a call in the text of a model: the first object that is written as one and fits a tool on
//! offer. A call in a thought is text; a thought that the answer does not end is none. Pure; time grows
//! with the text, and so does memory after a call, which may be text yet; before it, memory is bounded.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::call_formats::{self, CALL_MARKS, CallProblem, WrittenCall};
use super::quoted::QuotableText;
use super::thoughts::{THOUGHT_END, THOUGHT_START, ThoughtState};
use crate::model::ToolSpec;

#[cfg(test)]
mod tests;

/// The longest object that may be a call, in bytes.
const MAX_OBJECT_BYTES: usize = 64 * 1024;

/// How many objects may stand in each other.
const MAX_DEPTH: usize = 32;

/// A piece of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExtractedPart {
    /// Text for the user.
    Text(String),
    /// A call, given out at the end of the text. Nothing is found after it.
    Call {
        tool: String,
        /// Its arguments, an object that fits.
        parameters: Value,
    },
    /// Looks like a call and is none. Nothing is found after it.
    NoCall {
        /// As it came, with all that followed.
        text: String,
        /// The problem, in words for the model.
        problem: String,
    },
}

/// Reads text that comes in any pieces.
#[derive(Debug)]
pub(super) struct CallScanner {
    tools: Vec<ToolSpec>,
    /// The text that is held back: an open object, or what may open one, or a call and what follows it.
    held: String,
    /// How much of `held` was looked at.
    looked: usize,
    /// Where the objects that are open begin in `held`, outermost first.
    open: VecDeque<usize>,
    /// Objects in an open one that are closed.
    closed: Vec<(usize, usize)>,
    inside: ScanState,
    over: ScanEnd,
    thought: ThoughtState,
    /// A call that stands in it is only repeated, and stays text.
    told: Arc<QuotableText>,
}

/// Where in an object the scan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// After an opening brace: only a name or a closing brace may follow.
    Brace,
    /// In the first name of an object, which begins here.
    Name(usize),
    /// After a backslash in that name.
    NameEscape(usize),
    /// After that name: only a colon may follow.
    Named(usize),
    /// Between names and values.
    Object,
    /// In a string.
    Text,
    /// After a backslash in a string.
    Escape,
}

/// A call that was found counts at the end, unless the end of a thought comes after it.
#[derive(Debug)]
enum ScanEnd {
    No,
    Called { tool: String, parameters: Value },
    NoCall { problem: String },
}

impl CallScanner {
    /// Looks for calls of `tools`.
    pub(super) fn new(tools: Vec<ToolSpec>) -> Self {
        Self {
            tools,
            held: String::new(),
            looked: 0,
            open: VecDeque::new(),
            closed: Vec::new(),
            inside: ScanState::Object,
            over: ScanEnd::No,
            thought: ThoughtState::Unknown,
            told: Arc::default(),
        }
    }

    /// Of a model that was told this.
    pub(super) fn with_quotable(self, quotable: &Arc<QuotableText>) -> Self {
        Self { told: Arc::clone(quotable), ..self }
    }

    /// Accepts more text and gives out what is certain.
    pub(super) fn feed(&mut self, text: &str) -> Vec<ExtractedPart> {
        if matches!(self.over, ScanEnd::Called { .. }) && self.thought == ThoughtState::Closed {
            return Vec::new();
        }
        self.held.push_str(text);
        let mut found = Vec::new();
        while let Some((at, byte)) = self.next_byte() {
            if byte == b'>' {
                self.read_thought_tag(at);
            }
            if matches!(self.over, ScanEnd::No) {
                self.scan_byte(at, byte, &mut found);
            }
        }
        if matches!(self.over, ScanEnd::No) && self.open.is_empty() {
            let keep = trailing_partial_marks(&self.held);
            self.emit_text(keep, &mut found);
        }
        found
    }

    /// No more text comes: gives out the rest. Where the answer `is_cut`, it may end within the name of a tool.
    pub(super) fn end(mut self, is_cut: bool) -> Vec<ExtractedPart> {
        let mut found = Vec::new();
        if is_cut && self.thought == ThoughtState::Open {
            // It only thought of a call when it was cut.
            self.close_thought();
        }
        if let (ScanEnd::No, Some(start)) = (&self.over, self.open.front().copied()) {
            let begun = self.held.get(start..).is_some_and(|open| {
                let is_meant = call_formats::starts_call(open, &self.tools)
                    || is_cut && call_formats::is_cut_in_name(open, &self.tools);
                is_meant && !self.told.contains_beginning(open)
            });
            self.check_closed(&mut found);
            if matches!(self.over, ScanEnd::No) && begun {
                self.emit_text(start, &mut found);
                self.over = ScanEnd::NoCall { problem: "the object does not end".to_owned() };
            }
        }
        match self.over {
            ScanEnd::Called { tool, parameters } => {
                found.push(ExtractedPart::Call { tool, parameters });
            }
            ScanEnd::NoCall { problem } => {
                found.push(ExtractedPart::NoCall { text: self.held, problem })
            }
            ScanEnd::No if self.held.is_empty() => {}
            ScanEnd::No => found.push(ExtractedPart::Text(self.held)),
        }
        found
    }

    fn next_byte(&mut self) -> Option<(usize, u8)> {
        let at = self.looked;
        let byte = *self.held.as_bytes().get(at)?;
        self.looked += 1;
        Some((at, byte))
    }

    /// Follows the thoughts by the tag that may end at `at`. One in a string of an object is content,
    /// unless a tag opened the thought around it.
    fn read_thought_tag(&mut self, at: usize) {
        let read = self.held.get(..=at).unwrap_or_default();
        let is_in_string = matches!(
            self.inside,
            ScanState::Name(_) | ScanState::NameEscape(_) | ScanState::Text | ScanState::Escape
        );
        let may_end = match self.thought {
            ThoughtState::Unknown => !is_in_string,
            ThoughtState::Open => true,
            ThoughtState::Closed => false,
        };
        if may_end && read.ends_with(THOUGHT_END) {
            self.close_thought();
        } else if self.thought != ThoughtState::Open
            && self.open.is_empty()
            && read.ends_with(THOUGHT_START)
        {
            // After a call a tag opens another thought, and ends none around that call.
            self.thought = match self.over {
                ScanEnd::No => ThoughtState::Open,
                ScanEnd::Called { .. } | ScanEnd::NoCall { .. } => ThoughtState::Closed,
            };
        }
    }

    /// The text that is held until here was a thought, and no call.
    fn close_thought(&mut self) {
        self.thought = ThoughtState::Closed;
        self.over = ScanEnd::No;
        self.open.clear();
        self.closed.clear();
        self.inside = ScanState::Object;
    }

    fn scan_byte(&mut self, at: usize, byte: u8, found: &mut Vec<ExtractedPart>) {
        if self.open.is_empty() {
            if byte == b'{' {
                self.open(at);
            }
            return;
        }
        match (self.inside, byte) {
            (ScanState::Name(_) | ScanState::NameEscape(_), ..b' ') => self.abandon(found),
            (ScanState::Name(start), b'\\') => self.inside = ScanState::NameEscape(start),
            (ScanState::NameEscape(start), _) => self.inside = ScanState::Name(start),
            (ScanState::Name(start), b'"') => self.inside = ScanState::Named(start),
            (ScanState::Name(_), _) => {}
            (ScanState::Named(_), b' ' | b'\t' | b'\r' | b'\n') => {}
            (ScanState::Named(_), b':') => self.inside = ScanState::Object,
            (ScanState::Named(_), _) if self.is_meant_as_a_call() => {
                self.inside = ScanState::Object;
                return self.scan_byte(at, byte, found);
            }
            (ScanState::Named(start), _) => self.rescan_from(start, found),
            (ScanState::Text, b'\\') => self.inside = ScanState::Escape,
            (ScanState::Escape, b' '..) => self.inside = ScanState::Text,
            (ScanState::Text, b'"') => self.inside = ScanState::Object,
            // A broken call is still told as one, though no string of JSON holds a line end.
            (ScanState::Text | ScanState::Escape, ..b' ') if self.is_meant_as_a_call() => {
                self.inside = ScanState::Text;
            }
            // A string holds no line end, so none of what is open is an object.
            (ScanState::Text | ScanState::Escape, ..b' ') => self.abandon(found),
            (ScanState::Text, _) => {}
            (ScanState::Brace, b' ' | b'\t' | b'\r' | b'\n') => {}
            (ScanState::Brace, b'"') => self.inside = ScanState::Name(at + 1),
            (ScanState::Object, b'"') => self.inside = ScanState::Text,
            (ScanState::Brace | ScanState::Object, b'}') => self.close(at, found),
            (ScanState::Object, b'{') => self.open(at),
            (ScanState::Brace, _) if self.is_meant_as_a_call() => self.inside = ScanState::Object,
            // Braces of prose or code.
            (ScanState::Brace, _) => self.abandon(found),
            (ScanState::Object, _) => {}
        }
        if self.open.front().is_some_and(|start| at - start >= MAX_OBJECT_BYTES) {
            self.abandon(found);
        }
    }

    fn open(&mut self, at: usize) {
        if self.open.len() == MAX_DEPTH {
            self.open.pop_front();
        }
        self.open.push_back(at);
        self.inside = ScanState::Brace;
    }

    fn close(&mut self, at: usize, found: &mut Vec<ExtractedPart>) {
        self.inside = ScanState::Object;
        if let Some(start) = self.open.pop_back() {
            self.closed.push((start, at + 1));
        }
        if self.open.is_empty() {
            self.check_closed(found);
            self.closed.clear();
        }
    }

    /// The open text is no object. Objects that were closed in it may be calls all the same.
    fn abandon(&mut self, found: &mut Vec<ExtractedPart>) {
        self.check_closed(found);
        self.closed.clear();
        self.open.clear();
        self.inside = ScanState::Object;
    }

    /// Whether it is to be told of as one even if it is no object.
    fn is_meant_as_a_call(&self) -> bool {
        let mut open = self.open.iter().filter_map(|start| self.held.get(*start..));
        open.any(|open| call_formats::starts_call(open, &self.tools))
    }

    /// The supposed name is none, so it may hold the brace of a call itself.
    fn rescan_from(&mut self, from: usize, found: &mut Vec<ExtractedPart>) {
        self.abandon(found);
        if matches!(self.over, ScanEnd::No) {
            self.looked = from;
        }
    }

    /// Looks whether a closed object is a call, the outer before the inner. They stand in each
    /// other at most [`MAX_DEPTH`] times, so each byte is parsed that often at most.
    fn check_closed(&mut self, found: &mut Vec<ExtractedPart>) {
        self.closed.sort_unstable_by_key(|(start, _)| *start);
        let mut problem = None;
        for (start, end) in std::mem::take(&mut self.closed) {
            let Some(object) = self.held.get(start..end) else { continue };
            match self.parse_call(object) {
                ParsedObject::Call { tool, parameters } => {
                    // The end of a thought may stand between it and where the scan is.
                    self.looked = end;
                    let until = trailing_marks(self.held.get(..start).unwrap_or_default());
                    self.emit_text(until, found);
                    self.over = ScanEnd::Called { tool, parameters };
                    return;
                }
                ParsedObject::NoCall(why) => problem = problem.or(Some((start, end, why))),
                ParsedObject::Other => {}
            }
        }
        if let Some((start, end, problem)) = problem {
            self.looked = end;
            self.emit_text(start, found);
            self.over = ScanEnd::NoCall { problem };
        }
    }

    /// Reads the object as a call; one that the model was told is another text.
    fn parse_call(&self, object: &str) -> ParsedObject {
        let begins = call_formats::starts_call(object, &self.tools);
        let call = match serde_json::from_str::<Value>(object) {
            Ok(value) => call_formats::parse_call(&value, &self.tools),
            Err(error) => begins.then(|| {
                let problem = CallProblem::unreadable(object, format!("it is no JSON: {error}"));
                let tool = call_formats::named_tool(object, &self.tools);
                WrittenCall { tool, arguments: Err(problem) }
            }),
        };
        match call.filter(|call| !self.told.repeats(call)) {
            Some(WrittenCall { tool, arguments: Ok(parameters) }) => {
                ParsedObject::Call { tool, parameters }
            }
            Some(WrittenCall { arguments: Err(problem), .. }) => ParsedObject::NoCall(problem.text),
            None => ParsedObject::Other,
        }
    }

    /// Gives out the first bytes of the held text.
    fn emit_text(&mut self, until: usize, found: &mut Vec<ExtractedPart>) {
        if until == 0 || !self.held.is_char_boundary(until) {
            return;
        }
        let rest = self.held.split_off(until);
        let text = std::mem::replace(&mut self.held, rest);
        self.looked = self.looked.saturating_sub(until);
        found.push(ExtractedPart::Text(text));
    }
}

enum ParsedObject {
    Call { tool: String, parameters: Value },
    NoCall(String),
    Other,
}

/// Where the marks begin that stand before a call at the end of `text`: the beginning of a code block,
/// or a tag. They are not shown when a call follows. Else the end of `text`.
fn trailing_marks(text: &str) -> usize {
    let tagged = text.trim_end();
    let before = CALL_MARKS.iter().find_map(|mark| tagged.strip_suffix(mark));
    before.map_or_else(|| trailing_fence(text), str::len)
}

/// The same, also where a mark has only begun.
fn trailing_partial_marks(text: &str) -> usize {
    let begun = text.rfind(['<', '[']).filter(|from| {
        let last = text.get(*from..).unwrap_or_default();
        let mut marks = CALL_MARKS.iter().chain(&[THOUGHT_START, THOUGHT_END]);
        marks.any(|mark| mark.len() > last.len() && mark.starts_with(last))
    });
    begun.unwrap_or_else(|| trailing_marks(text))
}

/// Where the beginning of a code block stands at the end of `text`: its marks are not shown when a
/// call follows. Else the end of `text`.
fn trailing_fence(text: &str) -> usize {
    let end = text.trim_end().trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let marks = end.len() - end.trim_end_matches('`').len();
    if (1..=3).contains(&marks) && text.len() - end.len() <= 16 {
        end.len() - marks
    } else {
        text.len()
    }
}
