//! The metadata that private rules are compared with, in every spelling that might be meant.

use std::borrow::Cow;
use std::collections::BTreeSet;

use protocol::notes::privacy::PrivacyMetadata;
use protocol::{Privacy, PrivateRules};

use crate::frontmatter::yaml_to_later_fences;
use crate::property::{self, Properties};
use crate::tag;

/// How private the bytes of a note or canvas make it. Unreadable metadata counts as everything that
/// a rule by tag or property names.
#[must_use]
pub fn privacy(rules: &PrivateRules, bytes: &[u8]) -> Privacy {
    if rules.depend_on_content() { rules.by_metadata(&metadata(bytes)) } else { Privacy::Open }
}

/// As [`privacy`] does, for a file that is no note: that its properties cannot be read says nothing, because
/// it has none.
#[must_use]
pub fn privacy_of_text(rules: &PrivateRules, bytes: &[u8]) -> Privacy {
    let found = || PrivacyMetadata { is_unclear: false, ..metadata(bytes) };
    if rules.depend_on_content() { rules.by_metadata(&found()) } else { Privacy::Open }
}

/// All tags and properties in the bytes of a note or canvas, and some that only look like it: a tag
/// in code, the key of a map in a property.
#[must_use]
pub fn metadata(bytes: &[u8]) -> PrivacyMetadata {
    let (text, is_text) = decode(bytes);
    let mut found = PrivacyMetadata { is_unclear: !is_text, ..PrivacyMetadata::default() };
    read_text(&text, &mut found);
    // A program may take a NUL for nothing or for the end of a word.
    if let Ok(whole) = std::str::from_utf8(bytes)
        && whole.contains('\0')
    {
        read_text(whole, &mut found);
    }
    found
}

fn read_text(text: &str, found: &mut PrivacyMetadata) {
    let properties = Properties::parse(text);
    found.is_unclear |= properties.malformed().is_some() || properties.lacks_names();
    add_properties(properties, found);
    for longer in yaml_to_later_fences(text) {
        match Properties::parse_yaml(longer) {
            Ok(properties) => add_properties(properties, found),
            // Text that no program reads as YAML holds no property.
            Err(wrong) => found.is_unclear |= wrong.is_yaml,
        }
    }
    tag::tag_candidates(text, |name| found.tags.push(name.to_owned()));
    let json = text.trim_start_matches('\u{feff}').trim();
    if json.starts_with('{') {
        let unescaped = unescape_json(json);
        tag::tag_candidates(&unescaped, |name| found.tags.push(name.to_owned()));
        // Of JSON: `{{title}}` begins a template.
        let is_json =
            json.trim_start_matches('{').trim_start().starts_with('"') && !json.starts_with("{{");
        if is_json && unescaped.contains("frontmatter") {
            read_canvas(json, found);
        }
    }
}

/// The properties of a canvas: `metadata.frontmatter`, as the Advanced Canvas plugin writes it.
fn read_canvas(json: &str, found: &mut PrivacyMetadata) {
    let Ok(canvas) = serde_json::from_str::<serde_json::Value>(json) else {
        found.is_unclear = true;
        return;
    };
    let Some(frontmatter) = canvas.pointer("/metadata/frontmatter") else { return };
    // JSON as serde_json writes it is YAML, too.
    match Properties::parse_yaml(&frontmatter.to_string()) {
        Ok(properties) => add_properties(properties, found),
        Err(_) => found.is_unclear = true,
    }
}

fn add_properties(properties: Properties, found: &mut PrivacyMetadata) {
    let deep = properties.into_nested();
    // Each once: a long text of tags stands in the values of every map around it.
    let tags: BTreeSet<&str> = property::tags_of(&deep).collect();
    found.tags.extend(tags.into_iter().map(str::to_owned));
    found.properties.extend(deep.into_iter().map(|one| (one.name, one.values)));
}

/// The text of a note whatever its encoding, as far as it can be read: for looking, never for writing.
#[must_use]
pub fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes).0
}

/// The text, and whether it is all of it.
fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match bytes {
        // Before UTF-16, whose mark begins in the same way.
        [0xFF, 0xFE, 0, 0, ..] => decode_utf32(bytes, u32::from_le_bytes),
        [0, 0, 0xFE, 0xFF, ..] => decode_utf32(bytes, u32::from_be_bytes),
        [0xFF, 0xFE, ..] => decode_utf16(bytes, u16::from_le_bytes),
        [0xFE, 0xFF, ..] => decode_utf16(bytes, u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            // Two bytes a sign, without the mark that says so.
            Ok(text) if text.contains('\0') => (Cow::Owned(text.replace('\0', "")), true),
            Ok(text) => (Cow::Borrowed(text), true),
            Err(_) => (String::from_utf8_lossy(bytes), false),
        },
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'static, str>, bool) {
    let (pairs, rest) = bytes.as_chunks();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    let is_text = rest.is_empty();
    match String::from_utf16(&units) {
        Ok(text) => (Cow::Owned(text), is_text),
        Err(_) => (Cow::Owned(String::from_utf16_lossy(&units)), false),
    }
}

fn decode_utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> (Cow<'static, str>, bool) {
    let (units, rest) = bytes.as_chunks();
    let signs = || units.iter().map(|four| char::from_u32(unit(*four)));
    let is_text = rest.is_empty() && signs().all(|sign| sign.is_some());
    (Cow::Owned(signs().map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()), is_text)
}

/// A JSON text with its escapes decoded, for the text of its strings. It need not be whole.
fn unescape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let mut signs = escape.chars();
        match signs.next() {
            Some('u') => {
                let (sign, length) = unescape_unit(escape);
                out.push(sign);
                signs = escape.get(length..).unwrap_or_default().chars();
            }
            Some('n' | 'r' | 't' | 'b' | 'f') => out.push('\n'),
            Some(sign) => out.push(sign),
            None => {}
        }
        rest = signs.as_str();
    }
    out.push_str(rest);
    out
}

/// The sign behind `\`, which begins with `u`, and how many bytes spell it.
fn unescape_unit(escape: &str) -> (char, usize) {
    let hex = |at: usize| {
        let digits = escape.get(at..at + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = hex(1) else { return (char::REPLACEMENT_CHARACTER, 1) };
    let second = escape.get(5..7).filter(|next| *next == "\\u").and_then(|_| hex(7));
    let units = std::iter::once(first).chain(second);
    match char::decode_utf16(units).next() {
        Some(Ok(sign)) => (sign, if sign.len_utf16() == 2 { 11 } else { 5 }),
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}
