//! The id of a message that is too long: its frame is not parsed as a whole, and its middle may be missing.

use std::fmt;
use std::io::Read as _;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

const ID_KEY: &str = r#""id""#;

/// How many keys that may be the id are looked at; each look may read the end once more.
const MAX_IDS: usize = 64;

/// Opens a frame at the place where a message has its id.
const OPENING: &[u8] = br#"{"payload":{"#;

/// The id in the beginning of a message's frame, else the one in its end.
pub(super) fn find_id(beginning: &str, end: &str) -> Option<String> {
    let mut frame = LongFrame::default();
    // It fails where the beginning ends, with what was read until then.
    let _ = frame.read(serde_json::Deserializer::from_str(beginning));
    if frame.is_other_than_message() {
        return None;
    }
    frame.id.or_else(|| {
        let keys = end.match_indices(ID_KEY).map(|(at, _)| end.split_at(at));
        let keys = keys.filter(|(before, _)| before.trim_end().ends_with(['{', ',']));
        keys.take(MAX_IDS).find_map(|(_, rest)| id_of_rest(rest))
    })
}

/// The id that `rest` begins with, if it closes just the payload and the frame. One of an inner object leaves a bracket
/// over.
fn id_of_rest(rest: &str) -> Option<String> {
    let mut frame = LongFrame::default();
    frame.read(serde_json::Deserializer::from_reader(OPENING.chain(rest.as_bytes()))).ok()?;
    if frame.is_other_than_message() { None } else { frame.id }
}

/// As much as was read of a frame.
#[derive(Debug, Default)]
struct LongFrame {
    kind: Option<String>,
    id: Option<String>,
}

impl LongFrame {
    fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        mut input: serde_json::Deserializer<R>,
    ) -> Result<(), serde_json::Error> {
        input.deserialize_map(self)?;
        input.end()
    }

    fn is_other_than_message(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind != "message")
    }
}

impl<'de> Visitor<'de> for &mut LongFrame {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a frame")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => self.kind = Some(map.next_value()?),
                "payload" => map.next_value_seed(PayloadId(&mut self.id))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Keeps the id of a payload as soon as it is read.
struct PayloadId<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for PayloadId<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PayloadId<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a payload")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                *self.0 = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// Inner objects with ids of their own.
    const METADATA: &str = r#""metadata":{"id":"x","list":[{"a":0,"id":"y"},"id"],"z":{"id":"z"}}"#;

    /// Frames in three parts. Of the one in the middle some may be missing.
    fn frames_with(text: &str) -> [(&'static str, String, &'static str); 4] {
        let text = serde_json::to_string(text).unwrap();
        let rest = format!(r#"{METADATA},"text":{text}"#);
        let turned = format!(r#""text":{text},{METADATA}"#);
        [
            (r#"{"type":"message","payload":{"id":"m1""#, format!(",{rest}}}}}"), ""),
            (r#"{"payload":{ "id" : "m1""#, format!(r#",{turned}}},"type":"message"}}"#), ""),
            (r#"{"type":"message","payload":{"#, rest, r#","id":"m1"}}"#),
            (r#"{"payload":{"#, turned, r#", "id" : "m1","timestamp":""},"type":"message"}"#),
        ]
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), r#"[\\"{}:,id ]{0,40}"#, r#"(","id":"m2"\}\}){1,3}"#]
    }

    fn cut_at(text: &str, at: &Index) -> usize {
        text.floor_char_boundary(at.index(text.len() + 1))
    }

    proptest! {
        #[test]
        fn the_id_is_found_wherever_the_frame_is_cut_behind_or_before_it(
            text in any_text(), one in any::<Index>(), other in any::<Index>(),
        ) {
            for (beginning, middle, end) in frames_with(&text) {
                let (one, other) = (cut_at(&middle, &one), cut_at(&middle, &other));
                let (from, to) = (one.min(other), one.max(other));
                let (beginning, end) =
                    (format!("{beginning}{}", &middle[..from]), format!("{}{end}", &middle[to..]));
                let found = find_id(&beginning, &end);
                prop_assert_eq!(found.as_deref(), Some("m1"), "{} … {}", beginning, end);
            }
        }

        #[test]
        fn no_text_makes_it_panic(beginning in any::<String>(), end in r#"["id:{},\\ ]{0,60}"#) {
            find_id(&beginning, &end);
        }
    }

    #[test]
    fn an_id_that_is_not_a_messages_is_not_found() {
        for (beginning, end) in [
            (r#"{"type":"messages","payload":{"id":"m1","text":"x"#, ""),
            (r#"{"type":"message","id":"m1","payload":{"text":"x"#, ""),
            (r#"{"type":"message","payload":{"id":7,"text":"x"#, ""),
            (r#"{"type":"message","payload":{"metadata":{"id":"m1"},"text":"x"#, ""),
            (r#"{"type":"message","payload":["id","m1"#, ""),
            ("", r#"x","id":"m1"},"type":"messages"}"#),
            ("", r#"x","metadata":{"a":0,"id":"m1"}}}"#),
            ("", r#"x","list":[{"a":0,"id":"m1"}]}}"#),
            ("", r#"x"},"id":"m1"}"#),
            ("", r#"x","id":7}}"#),
            ("", r#"x","id":"m1"}"#),
            // The end of a string, and its key.
            ("", r#"x,\"id":"m1"}}"#),
            ("", r#""id":"m1"}}"#),
        ] {
            assert_eq!(find_id(beginning, end), None, "{beginning} … {end}");
        }
        let found = find_id("", r#"x","id":"m1"}}"#);
        assert_eq!(found.as_deref(), Some("m1"), "the control");
    }
}
