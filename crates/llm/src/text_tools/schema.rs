//! Whether a value fits a tool's schema, as far as our schemas go. The registry parses what passes
//! here anyway; this decides whether an object in an answer is a call at all.

use serde_json::Value;

use crate::model::is_unset;

/// How many values are compared with schemas before one counts as fitting.
const MAX_COMPARISONS: u32 = 500;

/// `Err` says what does not fit, in words for the model.
pub(crate) fn validate(value: &Value, schema: &Value) -> Result<(), String> {
    let mut check = SchemaCheck { root: schema, left: MAX_COMPARISONS };
    check.value("parameters", value, schema)
}

struct SchemaCheck<'a> {
    root: &'a Value,
    left: u32,
}

impl SchemaCheck<'_> {
    fn value(&mut self, at: &str, value: &Value, schema: &Value) -> Result<(), String> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            let found = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            return found.map_or(Ok(()), |schema| self.value(at, value, schema));
        }
        kind(at, value, schema)?;
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
            && !allowed.contains(value)
        {
            return Err(format!("`{at}` is none of {}", Value::from(allowed.clone())));
        }
        if schema.get("const").is_some_and(|only| only != value) {
            return Err(format!("`{at}` is not {}", schema["const"]));
        }
        self.choice(at, value, schema)?;
        match value {
            Value::Object(fields) => self.object(at, fields, schema),
            Value::Array(items) => match schema.get("items") {
                Some(schema) => {
                    items.iter().try_for_each(|item| self.value(&format!("{at}[]"), item, schema))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// One of several schemas. Whether no other fits too is left to the parser.
    fn choice(&mut self, at: &str, value: &Value, schema: &Value) -> Result<(), String> {
        for word in ["anyOf", "oneOf"] {
            let Some(schemas) = schema.get(word).and_then(Value::as_array) else { continue };
            let mut problem = None;
            let fits = schemas.iter().any(|schema| {
                let checked = self.value(at, value, schema);
                checked.map_err(|error| problem = Some(error)).is_ok()
            });
            if let (false, Some(problem)) = (fits, problem) {
                return Err(problem);
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        at: &str,
        fields: &serde_json::Map<String, Value>,
        schema: &Value,
    ) -> Result<(), String> {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        for name in &required {
            if !fields.contains_key(*name) {
                return Err(format!("`{at}.{name}` is missing"));
            }
        }
        let properties = schema.get("properties");
        // An optional field may as well be `null`.
        let is_omitted = |name: &str, value: &Value| value.is_null() && !required.contains(&name);
        for (name, value) in fields.iter().filter(|(name, value)| !is_omitted(name, value)) {
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.value(&format!("{at}.{name}"), value, schema)?,
                None if schema.get("additionalProperties") == Some(&Value::Bool(false))
                    && !is_unset(value) =>
                {
                    return Err(format!("there is no `{at}.{name}`"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn kind(at: &str, value: &Value, schema: &Value) -> Result<(), String> {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    };
    let fits = match schema.get("type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    if fits { Ok(()) } else { Err(format!("`{at}` must be of type {}", schema["type"])) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "lines": { "type": ["integer", "null"] },
                "kind": { "$ref": "#/$defs/kind" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "place": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            },
            "required": ["path"],
            "additionalProperties": false,
            "$defs": { "kind": { "enum": ["a", "b"] }, "loop": { "$ref": "#/$defs/loop" } },
        })
    }

    #[test]
    fn what_fits_fits() {
        for value in [
            json!({"path": "x"}),
            json!({"path": "x", "lines": 3, "kind": "a", "tags": ["t"], "place": "p"}),
            json!({"path": "x", "lines": null, "place": null}),
            json!({"path": "x", "more": "", "most": " ", "none": null}),
        ] {
            assert_eq!(validate(&value, &schema()), Ok(()), "{value}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, problem) in [
            (json!({}), "`parameters.path` is missing"),
            (json!([]), "`parameters` must be of type \"object\""),
            (json!({"path": 1}), "`parameters.path` must be of type \"string\""),
            (json!({"path": "x", "lines": 1.5}), "`parameters.lines` must be of type"),
            (json!({"path": "x", "kind": "c"}), "`parameters.kind` is none of [\"a\",\"b\"]"),
            (json!({"path": "x", "tags": [1]}), "`parameters.tags[]` must be of type"),
            (json!({"path": "x", "place": 1}), "`parameters.place` must be of type"),
            (json!({"path": "x", "more": 1}), "there is no `parameters.more`"),
            (json!({"path": "x", "more": "m"}), "there is no `parameters.more`"),
            (json!({"path": "x", "kind": ""}), "`parameters.kind` is none of [\"a\",\"b\"]"),
        ] {
            let found = validate(&value, &schema()).unwrap_err();
            assert!(found.starts_with(problem), "{value}: {found}");
        }
    }

    #[test]
    fn a_schema_that_means_itself_ends() {
        let around =
            json!({ "$ref": "#/$defs/loop", "$defs": { "loop": { "$ref": "#/$defs/loop" } } });
        assert_eq!(validate(&json!(1), &around), Ok(()));
    }
}
