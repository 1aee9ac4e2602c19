//! What a server says is wrong, in whichever of the usual shapes.

use serde_json::Value;

/// A server's own account of an error. Parts that it did not give are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The kind of error, in the vendor's words: its code where it has one, else its type.
    pub(crate) kind: String,
    /// What a person is told.
    pub(crate) message: String,
}

impl Trouble {
    /// Reads the body of an error.
    pub(crate) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).map(|body| Self::find(&body)).unwrap_or_default()
    }

    /// `{"error": {…}}`, `{"error": "…"}`, the error alone, or a list of one of these.
    pub(crate) fn find(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        match body.get("error") {
            Some(Value::String(message)) => Self { message: message.clone(), kind: String::new() },
            Some(error @ Value::Object(_)) => Self::of(error),
            _ => Self::of(body),
        }
    }

    /// Reads an error itself.
    pub(crate) fn of(error: &Value) -> Self {
        let word = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let kind = Some(word("code")).filter(|code| !code.is_empty());
        let message = Some(word("message")).filter(|message| !message.is_empty());
        Self {
            kind: kind.unwrap_or_else(|| word("type")),
            message: message.unwrap_or_else(|| word("detail")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_read_in_every_usual_shape() {
        for (body, kind, message) in [
            (json!({"type": "error", "error": {"type": "a", "message": "b"}}), "a", "b"),
            (json!({"error": {"message": "b", "type": "t", "param": null, "code": "a"}}), "a", "b"),
            (json!({"error": {"message": "b", "code": 429}}), "429", "b"),
            (json!({"error": {"message": "b", "type": "t", "code": null}}), "t", "b"),
            (json!({"error": "b"}), "", "b"),
            (json!([{"error": {"code": 400, "message": "b"}}]), "400", "b"),
            (json!({"object": "error", "message": "b", "type": "a"}), "a", "b"),
            (json!({"detail": "b"}), "", "b"),
            (json!({"error": null}), "", ""),
            (json!("odd"), "", ""),
        ] {
            let expected = Trouble { kind: kind.into(), message: message.into() };
            assert_eq!(Trouble::read(body.to_string().as_bytes()), expected, "{body}");
        }
        assert_eq!(Trouble::read(b"<html>"), Trouble::default());
    }
}
