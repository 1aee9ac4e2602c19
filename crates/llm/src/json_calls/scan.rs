//! Finds a call in the words of a model: the first object that is written as one and fits a tool on
//! offer. Pure; time grows with the words, memory is bounded.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::quoted::Told;
use super::written::{self, MARKS, Written};
use crate::model::ToolSpec;

#[cfg(test)]
mod tests;

/// The longest object that may be a call, in bytes.
const LONGEST: usize = 64 * 1024;

/// How many objects may stand in each other.
const DEEPEST: usize = 32;

/// What the words turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// Words for the user.
    Words(String),
    /// A call. Nothing is found after it.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments, an object that fits.
        parameters: Value,
    },
    /// What looks like a call and is none. Nothing is found after it.
    NoCall {
        /// As it came, with all that followed.
        words: String,
        /// What is wrong, in words for the model.
        problem: String,
    },
}

/// Reads words that come in any pieces.
#[derive(Debug)]
pub(super) struct Scan {
    tools: Vec<ToolSpec>,
    /// What is not given out yet: an object that is open, or what may open one.
    held: String,
    /// How much of `held` was looked at.
    looked: usize,
    /// Where the objects that are open begin in `held`, outermost first.
    open: VecDeque<usize>,
    /// Objects in an open one that are closed.
    closed: Vec<(usize, usize)>,
    inside: Inside,
    over: Over,
    /// A call that stands in it is only repeated, and stays words.
    told: Arc<Told>,
}

/// Where in an object the scan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
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

#[derive(Debug)]
enum Over {
    No,
    Called,
    NoCall { problem: String },
}

impl Scan {
    /// Looks for calls of `tools`.
    pub(super) fn new(tools: Vec<ToolSpec>) -> Self {
        Self {
            tools,
            held: String::new(),
            looked: 0,
            open: VecDeque::new(),
            closed: Vec::new(),
            inside: Inside::Object,
            over: Over::No,
            told: Arc::default(),
        }
    }

    /// Of a model that was told this.
    pub(super) fn told(self, told: &Arc<Told>) -> Self {
        Self { told: Arc::clone(told), ..self }
    }

    /// Takes in more words and gives out what is certain.
    pub(super) fn feed(&mut self, words: &str) -> Vec<Found> {
        match self.over {
            Over::Called => return Vec::new(),
            Over::NoCall { .. } => {
                self.held.push_str(words);
                return Vec::new();
            }
            Over::No => self.held.push_str(words),
        }
        let mut found = Vec::new();
        while matches!(self.over, Over::No)
            && let Some((at, byte)) = self.next_byte()
        {
            self.look_at(at, byte, &mut found);
        }
        if matches!(self.over, Over::No) && self.open.is_empty() {
            let keep = begun_marks(&self.held);
            self.give_out(keep, &mut found);
        }
        found
    }

    /// No more words come: gives out the rest.
    pub(super) fn end(mut self) -> Vec<Found> {
        let mut found = Vec::new();
        if let (Over::No, Some(start)) = (&self.over, self.open.front().copied()) {
            let begun =
                self.held.get(start..).is_some_and(|open| written::begins(open, &self.tools));
            self.judge(&mut found);
            if matches!(self.over, Over::No) && begun {
                self.give_out(start, &mut found);
                self.over = Over::NoCall { problem: "the object does not end".to_owned() };
            }
        }
        match self.over {
            Over::Called => {}
            Over::NoCall { problem } => found.push(Found::NoCall { words: self.held, problem }),
            Over::No if self.held.is_empty() => {}
            Over::No => found.push(Found::Words(self.held)),
        }
        found
    }

    fn next_byte(&mut self) -> Option<(usize, u8)> {
        let at = self.looked;
        let byte = *self.held.as_bytes().get(at)?;
        self.looked += 1;
        Some((at, byte))
    }

    fn look_at(&mut self, at: usize, byte: u8, found: &mut Vec<Found>) {
        if self.open.is_empty() {
            if byte == b'{' {
                self.open(at);
            }
            return;
        }
        match (self.inside, byte) {
            (Inside::Name(_) | Inside::NameEscape(_), ..b' ') => self.abandon(found),
            (Inside::Name(start), b'\\') => self.inside = Inside::NameEscape(start),
            (Inside::NameEscape(start), _) => self.inside = Inside::Name(start),
            (Inside::Name(start), b'"') => self.inside = Inside::Named(start),
            (Inside::Name(_), _) => {}
            (Inside::Named(_), b' ' | b'\t' | b'\r' | b'\n') => {}
            (Inside::Named(_), b':') => self.inside = Inside::Object,
            (Inside::Named(_), _) if self.is_meant_as_a_call() => {
                self.inside = Inside::Object;
                return self.look_at(at, byte, found);
            }
            (Inside::Named(start), _) => self.look_again(start, found),
            (Inside::Text, b'\\') => self.inside = Inside::Escape,
            (Inside::Escape, b' '..) => self.inside = Inside::Text,
            (Inside::Text, b'"') => self.inside = Inside::Object,
            // A string holds no line end, so none of what is open is an object.
            (Inside::Text | Inside::Escape, ..b' ') => self.abandon(found),
            (Inside::Text, _) => {}
            (Inside::Brace, b' ' | b'\t' | b'\r' | b'\n') => {}
            (Inside::Brace, b'"') => self.inside = Inside::Name(at + 1),
            (Inside::Object, b'"') => self.inside = Inside::Text,
            (Inside::Brace | Inside::Object, b'}') => self.close(at, found),
            (Inside::Object, b'{') => self.open(at),
            // Braces of prose or code.
            (Inside::Brace, _) => self.abandon(found),
            (Inside::Object, _) => {}
        }
        if self.open.front().is_some_and(|start| at - start >= LONGEST) {
            self.abandon(found);
        }
    }

    fn open(&mut self, at: usize) {
        if self.open.len() == DEEPEST {
            self.open.pop_front();
        }
        self.open.push_back(at);
        self.inside = Inside::Brace;
    }

    fn close(&mut self, at: usize, found: &mut Vec<Found>) {
        self.inside = Inside::Object;
        if let Some(start) = self.open.pop_back() {
            self.closed.push((start, at + 1));
        }
        if self.open.is_empty() {
            self.judge(found);
            self.closed.clear();
        }
    }

    /// What is open is no object. Those that were closed in it may be calls all the same.
    fn abandon(&mut self, found: &mut Vec<Found>) {
        self.judge(found);
        self.closed.clear();
        self.open.clear();
        self.inside = Inside::Object;
    }

    /// Whether it is to be told of as one even if it is no object.
    fn is_meant_as_a_call(&self) -> bool {
        let mut open = self.open.iter().filter_map(|start| self.held.get(*start..));
        open.any(|open| written::begins(open, &self.tools))
    }

    /// What looked like a name is none, so it may hold the brace of a call itself.
    fn look_again(&mut self, from: usize, found: &mut Vec<Found>) {
        self.abandon(found);
        if matches!(self.over, Over::No) {
            self.looked = from;
        }
    }

    /// Looks whether a closed object is a call, the outer before the inner. They stand in each
    /// other at most [`DEEPEST`] times, so each byte is parsed that often at most.
    fn judge(&mut self, found: &mut Vec<Found>) {
        self.closed.sort_unstable_by_key(|(start, _)| *start);
        let mut problem = None;
        for (start, end) in std::mem::take(&mut self.closed) {
            let Some(object) = self.held.get(start..end) else { continue };
            match self.call(object) {
                Judged::Call { tool, parameters } => {
                    let before = self.held.get(..start).unwrap_or_default();
                    let before = before.get(..marks(before)).unwrap_or_default().to_owned();
                    found.extend((!before.is_empty()).then_some(Found::Words(before)));
                    found.push(Found::Call { tool, parameters });
                    self.over = Over::Called;
                    self.held.clear();
                    return;
                }
                Judged::NoCall(why) => problem = problem.or(Some((start, why))),
                Judged::Other => {}
            }
        }
        if let Some((start, problem)) = problem {
            self.give_out(start, found);
            self.over = Over::NoCall { problem };
        }
    }

    fn call(&self, object: &str) -> Judged {
        let begins = written::begins(object, &self.tools);
        let value = match serde_json::from_str::<Value>(object) {
            Ok(value) => value,
            Err(error) if begins => return Judged::NoCall(format!("it is no JSON: {error}")),
            Err(_) => return Judged::Other,
        };
        match written::read(&value, &self.tools) {
            Some(Written { tool, arguments: Ok(parameters) })
                if self.told.holds(&tool, &parameters) =>
            {
                Judged::Other
            }
            Some(Written { tool, arguments: Ok(parameters) }) => Judged::Call { tool, parameters },
            Some(Written { arguments: Err(problem), .. }) => Judged::NoCall(problem),
            None => Judged::Other,
        }
    }

    /// Gives out the first bytes of what is held as words.
    fn give_out(&mut self, until: usize, found: &mut Vec<Found>) {
        if until == 0 || !self.held.is_char_boundary(until) {
            return;
        }
        let rest = self.held.split_off(until);
        let words = std::mem::replace(&mut self.held, rest);
        self.looked = self.looked.saturating_sub(until);
        found.push(Found::Words(words));
    }
}

enum Judged {
    Call { tool: String, parameters: Value },
    NoCall(String),
    Other,
}

/// Where the marks begin that stand before a call at the end of `text`: the beginning of a code block,
/// or a tag. They are not shown when a call follows. Else the end of `text`.
fn marks(text: &str) -> usize {
    let tagged = text.trim_end();
    let before = MARKS.iter().find_map(|mark| tagged.strip_suffix(mark));
    before.map_or_else(|| fence(text), str::len)
}

/// The same, also where a mark has only begun.
fn begun_marks(text: &str) -> usize {
    let begun = text.rfind(['<', '[']).filter(|from| {
        let last = text.get(*from..).unwrap_or_default();
        MARKS.iter().any(|mark| mark.starts_with(last))
    });
    begun.unwrap_or_else(|| marks(text))
}

/// Where the beginning of a code block stands at the end of `text`: its marks are not shown when a
/// call follows. Else the end of `text`.
fn fence(text: &str) -> usize {
    let end = text.trim_end().trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let marks = end.len() - end.trim_end_matches('`').len();
    if (1..=3).contains(&marks) && text.len() - end.len() <= 16 {
        end.len() - marks
    } else {
        text.len()
    }
}
