//! Values that may be anything, however large: only what is of use is kept while they are read.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// A string; anything else is `null`.
pub(super) fn string_or_null<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    input.deserialize_any(StringVisitor { key: None })
}

/// An object with the input method, where it is a string; anything else is `null`.
pub(super) fn input_method<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    input.deserialize_any(StringVisitor { key: Some("inputMethod") })
}

/// Keeps a string, or of an object the string under `key`.
struct StringVisitor {
    key: Option<&'static str>,
}

/// Reads through whatever is passed over as well, so that the reader's limit of nesting holds.
struct StringOrNull(Value);

impl<'de> Deserialize<'de> for StringOrNull {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        string_or_null(input).map(Self)
    }
}

impl<'de> Visitor<'de> for StringVisitor {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(if self.key.is_none() { text.into() } else { Value::Null })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Value::Null;
        while let Some(key) = map.next_key::<String>()? {
            if self.key == Some(key.as_str()) {
                let StringOrNull(word) = map.next_value()?;
                kept = json!({ key: word });
            } else {
                map.next_value::<StringOrNull>()?;
            }
        }
        Ok(kept)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        while all.next_element::<StringOrNull>()?.is_some() {}
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}
