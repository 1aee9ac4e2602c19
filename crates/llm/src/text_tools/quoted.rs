//! Calls that a model only repeats: they stand in a note that it was told, in the rules file of the vault, in
//! a text that the user attached, or in what it wrote itself before.

use std::iter;
use std::sync::OnceLock;

use protocol::Role;
use serde_json::Value;

use super::call_formats::{GivenArguments, WrittenCall};
use crate::context::model_texts::CLOSE_NOW;
use crate::context::truncate;
use crate::model::{ContentBlock, ModelRequest, ToolCall};
use crate::tool_api::page_marks;

#[cfg(test)]
mod tests;

/// An object begins so few bytes before the name of its tool, unless its arguments come first.
const MAX_NAME_OFFSET: usize = 80;

/// A shorter text may stand in a note by chance.
const MIN_DISTINCTIVE_BYTES: usize = 24;

/// How many texts of a call, and lines of each, are looked for: they are enough to know the call by, and
/// a call may have thousands.
const MAX_COMPARED: usize = 32;

/// How much of a call that cannot be read is looked for, in bytes without blanks.
const COMPARED_BEGINNING: usize = 40;

/// The longest reference of HTML that is decoded, with its semicolon.
const MAX_ENTITY_BYTES: usize = 12;

/// How often escapes are decoded: the arguments may be JSON in a text, in a note that is JSON itself.
const MAX_DECODED: usize = 3;

/// As programs and people write them.
const QUOTATION_MARKS: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];

/// All that a model was told by tools, by the user and in its instructions, which hold the rules file, and the
/// texts that it wrote itself: where it quoted a call of a note, the note may have left the request since. The
/// example in our description of the tools is not in it, and neither is a call that was made or broken, so the
/// same one may be made again. A call that the model first showed as text stays text when it repeats it.
#[derive(Debug, Default)]
pub(super) struct QuotableText {
    told: Vec<String>,
    /// The texts that hold escapes, decoded when a call is first looked for.
    decoded: OnceLock<Vec<String>>,
    /// The results one after the other, without what tools write around the parts of a long text: a call may
    /// stand in two of them.
    results: Option<Box<QuotableText>>,
}

impl QuotableText {
    /// The request must not be put into text yet: its instructions would describe the tools then, and the calls
    /// that were made would be texts of the model. Nor may it hold an answer that is to be corrected.
    pub(super) fn from_request(request: &ModelRequest) -> Self {
        let (mut texts, mut joined, mut results) = (vec![request.system.clone()], String::new(), 0);
        let is_note =
            |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text == CLOSE_NOW);
        let mut had_tools = true;
        for message in &request.messages {
            let is_closing = !had_tools && message.role == Role::Assistant;
            had_tools = !message.blocks.last().is_some_and(is_note);
            for block in &message.blocks {
                match block {
                    // No tools were offered, so an answer that is a call was meant as one.
                    ContentBlock::Text(text) if is_closing && begins_with_call(text) => {}
                    ContentBlock::Text(text) => texts.push(text.clone()),
                    ContentBlock::Result { output, .. } => {
                        texts.push(output.clone());
                        joined.push_str(page_marks::strip(truncate::strip_note(output)));
                        results += 1;
                    }
                    // A note may have been copied into another one, and a thought may quote it.
                    ContentBlock::Call(ToolCall { arguments: written, .. })
                    | ContentBlock::Verbatim(written) => {
                        let mut strings = Vec::new();
                        strings_of(written, &mut strings);
                        texts.extend(strings.into_iter().map(str::to_owned));
                    }
                }
            }
        }
        let results = (results > 1).then(|| Box::new(Self::of(vec![joined])));
        Self { results, ..Self::of(texts) }
    }

    const fn of(told: Vec<String>) -> Self {
        Self { told, decoded: OnceLock::new(), results: None }
    }

    /// Whether the model was told this call, whatever is wrong with it: see [`Self::contains_call`].
    pub(super) fn repeats(&self, call: &WrittenCall) -> bool {
        match &call.arguments {
            Ok(given) => self.contains_call(&call.tool, given),
            Err(problem) => match &problem.given {
                GivenArguments::Read(given) => self.contains_call(&call.tool, given),
                GivenArguments::Unreadable(text) => self.contains_beginning(text),
            },
        }
    }

    /// Whether one of these texts holds the first signs of `call`, whatever the spaces: it cannot be read, so
    /// where it ends is not known.
    pub(super) fn contains_beginning(&self, call: &str) -> bool {
        let begins: String = without_spaces(call).take(COMPARED_BEGINNING).collect();
        let is_in = |text: &String| without_spaces(text).collect::<String>().contains(&begins);
        let in_results = || self.results.as_ref().is_some_and(|all| all.contains_beginning(call));
        begins.len() >= MIN_DISTINCTIVE_BYTES
            && (self.told.iter().chain(self.decoded()).any(is_in) || in_results())
    }

    /// Whether one of these texts holds a call of the tool, written as JSON in any order and spelling, with all
    /// strings of the arguments. Then the call counts as repeated, because the author of a note must not make
    /// the model call. A call without any strings is known by the name of its tool alone: it may still end the
    /// conversation.
    ///
    /// Time grows with the texts.
    pub(super) fn contains_call(&self, tool: &str, arguments: &Value) -> bool {
        let mut strings = Vec::new();
        strings_of(arguments, &mut strings);
        strings.retain(|text| !text.trim().is_empty());
        strings.sort_unstable_by(|one, two| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
        strings.dedup();
        strings.truncate(MAX_COMPARED);
        let is_in = |text: &String| holds_call(text, tool, &strings);
        let is_comparable = !tool.is_empty() || !strings.is_empty();
        is_comparable
            && (self.told.iter().chain(self.decoded()).any(is_in)
                || self.results.as_ref().is_some_and(|all| all.joined_contain(tool, &strings)))
    }

    /// The same for the results that were joined. Other results stand between those of one note, so short texts count
    /// only in quotation marks.
    fn joined_contain(&self, tool: &str, strings: &[&str]) -> bool {
        let is_in = |text: &String| {
            object_start(text, tool).is_some()
                && strings.iter().all(|words| contains_value(text, words))
        };
        self.told.iter().chain(self.decoded()).any(is_in)
    }

    fn decoded(&self) -> &[String] {
        self.decoded.get_or_init(|| {
            let decodings = |text: &String| {
                iter::successors(decode_escapes(text), |text| decode_escapes(text))
                    .take(MAX_DECODED)
                    .collect::<Vec<_>>()
            };
            self.told.iter().flat_map(decodings).collect()
        })
    }
}

/// Where the object that names a tool begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectStart {
    /// Right before the name.
    Near,
    /// Anywhere before it: the arguments may be in between.
    Far,
}

/// Whether a text is a call and no words about one, as far as its beginning tells.
fn begins_with_call(text: &str) -> bool {
    ["{", "```", "<tool_call>"].iter().any(|start| text.trim_start().starts_with(start))
}

fn holds_call(text: &str, tool: &str, strings: &[&str]) -> bool {
    match object_start(text, tool) {
        None => false,
        Some(ObjectStart::Near) => strings.iter().all(|words| contains_text(text, words)),
        Some(ObjectStart::Far) => strings.iter().all(|words| contains_value(text, words)),
    }
}

/// Where an object begins that has the tool's name in quotation marks; `None` if none has.
fn object_start(text: &str, tool: &str) -> Option<ObjectStart> {
    let first = text.find('{')?;
    let mut found = None;
    for (at, _) in text.match_indices(tool).filter(|(at, _)| *at > first) {
        let (before, after) = (text.get(..at)?, text.get(at + tool.len()..)?);
        let is_name = before.ends_with(QUOTATION_MARKS)
            && after.trim_start_matches('\\').starts_with(QUOTATION_MARKS);
        let from = text.floor_char_boundary(at.saturating_sub(MAX_NAME_OFFSET));
        if is_name && text.get(from..at)?.contains('{') {
            return Some(ObjectStart::Near);
        }
        found = found.or(is_name.then_some(ObjectStart::Far));
    }
    found
}

/// Whether the text holds `words`, as they are or as JSON writes them.
fn contains_text(text: &str, words: &str) -> bool {
    // Lines of a note may stand in it with numbers or marks before them.
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    text.contains(&written_as_json(words))
        || lines.take(MAX_COMPARED).all(|line| text.contains(line))
}

/// Whether the text holds `words` as a value of an object: short ones in quotation marks.
fn contains_value(text: &str, words: &str) -> bool {
    let words = words.trim();
    let is_plain = !words.contains('\n') && !words.contains(QUOTATION_MARKS);
    if words.len() >= MIN_DISTINCTIVE_BYTES || !is_plain || !is_only_text(words) {
        return contains_text(text, words);
    }
    let is_quoted = |words: &str| {
        text.match_indices(words).any(|(at, _)| {
            let (before, after) = (text.get(..at), text.get(at + words.len()..));
            let is_filler = |c: char| c.is_whitespace() || c == '\\';
            before.is_some_and(|before| before.trim_end().ends_with(QUOTATION_MARKS))
                && after.is_some_and(|after| {
                    after.trim_start_matches(is_filler).starts_with(QUOTATION_MARKS)
                })
        })
    };
    is_quoted(words) || is_quoted(&written_as_json(words))
}

/// Whether JSON has no other way to write it than as a text: a number or a truth value is also read from one.
fn is_only_text(words: &str) -> bool {
    !serde_json::from_str::<Value>(words)
        .is_ok_and(|value| value.is_number() || value.is_boolean() || value.is_null())
}

/// As it stands between the quotation marks.
fn written_as_json(words: &str) -> String {
    let written = serde_json::to_string(words).unwrap_or_default();
    written.get(1..written.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// The text with each escape of JSON, Markdown and HTML replaced by what it stands for; `None` when it has none.
/// A model that quotes a note leaves out the escapes of its format.
fn decode_escapes(text: &str) -> Option<String> {
    let (mut decoded, mut rest) = (String::new(), text);
    let mut has_escapes = false;
    while let Some(at) = rest.find(['\\', '&']) {
        let (before, escape) = rest.split_at(at);
        let (mark, escape) = escape.split_at(1);
        decoded.push_str(before);
        let found = if mark == "&" { decode_entity(escape) } else { decode_escape(escape) };
        has_escapes |= found.is_some();
        match found {
            Some((sign, after)) => {
                decoded.push(sign);
                rest = after;
            }
            None => {
                decoded.push_str(mark);
                rest = escape;
            }
        }
    }
    decoded.push_str(rest);
    has_escapes.then_some(decoded)
}

/// The sign that an escape stands for, whose backslash comes before `text`, and the text behind it. JSON has some
/// of them; in Markdown any punctuation may have a backslash.
fn decode_escape(text: &str) -> Option<(char, &str)> {
    let mut rest = text.chars();
    let sign = match rest.next()? {
        sign if sign.is_ascii_punctuation() => sign,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return decode_code_point(rest.as_str()),
        _ => return None,
    };
    Some((sign, rest.as_str()))
}

/// The signs of a call that have a name in HTML.
const ENTITIES: [(&str, char); 14] = [
    ("quot", '"'),
    ("apos", '\''),
    ("amp", '&'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("lbrace", '{'),
    ("lcub", '{'),
    ("rbrace", '}'),
    ("rcub", '}'),
    ("colon", ':'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("nbsp", ' '),
];

/// The sign that a reference of HTML stands for, whose `&` comes before `text`, and the text behind it.
fn decode_entity(text: &str) -> Option<(char, &str)> {
    let near = text.get(..text.floor_char_boundary(MAX_ENTITY_BYTES)).unwrap_or_default();
    let (name, _) = near.split_once(';')?;
    let after = text.get(name.len() + 1..)?;
    let sign = match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse(), |hex| u32::from_str_radix(hex, 16));
            code.ok().and_then(char::from_u32)?
        }
        None => ENTITIES.iter().find_map(|(known, sign)| (*known == name).then_some(*sign))?,
    };
    Some((sign, after))
}

fn decode_code_point(text: &str) -> Option<(char, &str)> {
    let (unit, rest) = decode_code_unit(text)?;
    if let Some(sign) = char::from_u32(unit.into()) {
        return Some((sign, rest));
    }
    let (second, rest) = decode_code_unit(rest.strip_prefix("\\u")?)?;
    let sign = char::decode_utf16([unit, second]).next()?.ok()?;
    Some((sign, rest))
}

fn decode_code_unit(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((unit, rest))
}

fn without_spaces(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|sign| !sign.is_whitespace())
}

fn strings_of<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(all) => all.iter().for_each(|value| strings_of(value, found)),
        Value::Object(all) => all.values().for_each(|value| strings_of(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
