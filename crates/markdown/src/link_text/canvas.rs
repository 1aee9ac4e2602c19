//! The links of a canvas: cards that show a file, and links in the text of other cards.
//! <https://jsoncanvas.org/spec/1.0/>

use std::ops::Range;

use serde::de::IgnoredAny;

use super::{LinkText, TargetForm, links_in_document};
use crate::parser::Document;

/// All links of a canvas; none when it is no JSON.
pub(super) fn canvas_links(json: &str) -> Vec<LinkText> {
    if serde_json::from_str::<IgnoredAny>(json).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (field, raw) in card_texts(json) {
        let text = UnescapedString::from_json(json, &raw);
        match field {
            CanvasField::File => found.push(LinkText {
                at: raw,
                line: 0,
                path: text.text,
                subpath: String::new(),
                is_embed: true,
                form: TargetForm::CanvasFile,
            }),
            CanvasField::Text => {
                let document = Document::parse(&text.text);
                let links = links_in_document(&document, TargetForm::CanvasText).into_iter();
                found.extend(links.map(|link| LinkText { at: text.raw_range(&link.at), ..link }));
            }
        }
    }
    found
}

/// `text` as it stands between the quotes of a JSON string.
pub(super) fn escape_json(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// A field of a card that may hold links.
enum CanvasField {
    File,
    Text,
}

/// The JSON element that the scanner is in.
enum JsonFrame {
    List,
    /// With the name of the field it is at, once that was read.
    Object(Option<String>),
}

/// The strings under `file` and `text` of each of `nodes`, without their quotes. The text is valid
/// JSON.
fn card_texts(json: &str) -> Vec<(CanvasField, Range<usize>)> {
    let mut found = Vec::new();
    let mut frames: Vec<JsonFrame> = Vec::new();
    let mut signs = json.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '{' => frames.push(JsonFrame::Object(None)),
            '[' => frames.push(JsonFrame::List),
            '}' | ']' => {
                frames.pop();
            }
            ',' => {
                if let Some(JsonFrame::Object(field)) = frames.last_mut() {
                    *field = None;
                }
            }
            '"' => {
                let mut end = at + 1;
                while let Some((here, sign)) = signs.next() {
                    end = here;
                    match sign {
                        '\\' => drop(signs.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                let raw = at + 1..end;
                match frames.last_mut() {
                    Some(JsonFrame::Object(field @ None)) => {
                        *field = Some(UnescapedString::from_json(json, &raw).text);
                    }
                    _ => found.extend(current_field(&frames).map(|field| (field, raw))),
                }
            }
            _ => {}
        }
    }
    found
}

/// Which field of a card the scanner is at.
fn current_field(frames: &[JsonFrame]) -> Option<CanvasField> {
    let [JsonFrame::Object(Some(list)), JsonFrame::List, JsonFrame::Object(Some(name))] = frames
    else {
        return None;
    };
    match (list.as_str(), name.as_str()) {
        ("nodes", "file") => Some(CanvasField::File),
        ("nodes", "text") => Some(CanvasField::Text),
        _ => None,
    }
}

/// A JSON string as it is meant, and where each of its bytes stands.
struct UnescapedString {
    text: String,
    /// For each byte of the text, and for its end, the offset in the file.
    places: Vec<usize>,
}

impl UnescapedString {
    fn from_json(json: &str, raw: &Range<usize>) -> Self {
        let mut this = Self { text: String::new(), places: Vec::new() };
        let mut rest = json.get(raw.clone()).unwrap_or_default();
        while let Some(first) = rest.chars().next() {
            let at = raw.end - rest.len();
            let length = if first == '\\' { escape_length(rest) } else { first.len_utf8() };
            let (spelled, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            let before = this.text.len();
            if first == '\\' {
                let meant: String =
                    serde_json::from_str(&format!("\"{spelled}\"")).unwrap_or_default();
                this.text.push_str(&meant);
            } else {
                this.text.push(first);
            }
            this.places.extend(std::iter::repeat_n(at, this.text.len() - before));
            rest = behind;
        }
        this.places.push(raw.end);
        this
    }

    fn raw_range(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.places.get(at).copied().unwrap_or_default();
        place(range.start)..place(range.end)
    }
}

/// How long the escape is that `rest` begins with; two halves of one character are one.
fn escape_length(rest: &str) -> usize {
    if !rest.starts_with("\\u") {
        return 2;
    }
    let unit = rest.get(2..6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    if unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) { 12 } else { 6 }
}
