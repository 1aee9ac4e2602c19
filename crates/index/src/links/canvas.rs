//! The links of a canvas: cards that show a file, and links in the text of other cards.
//! <https://jsoncanvas.org/spec/1.0/>

use std::ops::Range;

use serde::de::IgnoredAny;

use super::spelled::{Form, Spelled, of_document};
use crate::markdown::Document;

/// All links of a canvas; none when it is no JSON.
pub(super) fn links(json: &str) -> Vec<Spelled> {
    if serde_json::from_str::<IgnoredAny>(json).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (field, raw) in card_texts(json) {
        let text = Unescaped::of(json, &raw);
        match field {
            Field::File => found.push(Spelled {
                at: raw,
                line: 0,
                path: text.text,
                subpath: String::new(),
                is_embed: true,
                form: Form::CanvasFile,
            }),
            Field::Text => {
                let document = Document::parse(&text.text);
                let links = of_document(&document, Form::CanvasText).into_iter();
                found.extend(links.map(|link| Spelled { at: text.raw(&link.at), ..link }));
            }
        }
    }
    found
}

/// `text` as it stands between the quotes of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// A field of a card that may hold links.
enum Field {
    File,
    Text,
}

/// What the scanner is in.
enum Frame {
    List,
    /// With the name of the field it is at, once that was read.
    Object(Option<String>),
}

/// The strings under `file` and `text` of each of `nodes`, without their quotes. The text is valid
/// JSON.
fn card_texts(json: &str) -> Vec<(Field, Range<usize>)> {
    let mut found = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut signs = json.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '{' => frames.push(Frame::Object(None)),
            '[' => frames.push(Frame::List),
            '}' | ']' => {
                frames.pop();
            }
            ',' => {
                if let Some(Frame::Object(field)) = frames.last_mut() {
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
                    Some(Frame::Object(field @ None)) => {
                        *field = Some(Unescaped::of(json, &raw).text);
                    }
                    _ => found.extend(field(&frames).map(|field| (field, raw))),
                }
            }
            _ => {}
        }
    }
    found
}

/// Which field of a card the scanner is at.
fn field(frames: &[Frame]) -> Option<Field> {
    let [Frame::Object(Some(list)), Frame::List, Frame::Object(Some(name))] = frames else {
        return None;
    };
    match (list.as_str(), name.as_str()) {
        ("nodes", "file") => Some(Field::File),
        ("nodes", "text") => Some(Field::Text),
        _ => None,
    }
}

/// A JSON string as it is meant, and where each of its bytes stands.
struct Unescaped {
    text: String,
    /// For each byte of the text, and for its end, the offset in the file.
    places: Vec<usize>,
}

impl Unescaped {
    fn of(json: &str, raw: &Range<usize>) -> Self {
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

    fn raw(&self, range: &Range<usize>) -> Range<usize> {
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
