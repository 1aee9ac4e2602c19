//! A reader as simple as can be: it repairs a call by what the failure says, word for word.

use serde_json::{Value, json};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepairCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// The next calls.
pub(super) struct RepairedCalls {
    /// The calls to make before.
    pub(super) first: Vec<RepairCall>,
    pub(super) then: RepairCall,
}

/// Repairs `call` from `failure` and nothing else; the same call when nothing in it helps.
pub(super) fn repair(call: &RepairCall, failure: &str) -> RepairedCalls {
    let mut then = call.clone();
    let mut first = Vec::new();
    if let Some(again) = failure.split("Read it ").nth(1) {
        let path = between(failure, "`", "`").unwrap_or_default();
        first.push(RepairCall { tool: "read_file".to_owned(), arguments: json!({ "path": path }) });
        if let Some(fields) = then.arguments.as_object_mut() {
            fields.remove("expect_hash");
        }
        if again.contains("with replace_all") {
            then.arguments["replace_all"] = json!(true);
        }
        return RepairedCalls { first, then };
    }
    let rules: [fn(&mut RepairCall, &str) -> Option<()>; 9] =
        [tool, shape, field, text, numbers, heading, property, given, path];
    for rule in rules {
        let mut changed = call.clone();
        if rule(&mut changed, failure).is_some() && changed != *call {
            return RepairedCalls { first, then: changed };
        }
    }
    RepairedCalls { first, then }
}

fn tool(call: &mut RepairCall, failure: &str) -> Option<()> {
    if failure.starts_with("There is no tool ") {
        call.tool = between(failure, "Did you mean `", "`")?.to_owned();
    } else {
        let rest = failure.split_once("List it with ")?.1;
        call.tool = rest.split([' ', ',', '.']).next()?.to_owned();
    }
    Some(())
}

/// The error of the parser of the arguments.
fn shape(call: &mut RepairCall, failure: &str) -> Option<()> {
    let allowed = || failure.split("expected ").nth(1).unwrap_or_default();
    if let Some(unknown) = between(failure, "unknown field `", "`") {
        let value = fields(call)?.remove(unknown)?;
        let takes = failure.split("It takes ").nth(1)?;
        let required = takes.split("), ").find_map(|field| {
            let name = between(field, "`", "`")?;
            let is_missing = call.arguments.get(name).is_none();
            (field.contains("required") && is_missing).then(|| name.to_owned())
        });
        if let Some(name) = required {
            call.arguments[name] = value;
        }
        return Some(());
    }
    if !failure.starts_with("Wrong arguments") {
        return None;
    }
    let name = between(failure, " at `", "`")?.to_owned();
    let value = call.arguments.get(&name)?.clone();
    let repaired = if failure.contains("unknown variant") {
        json!(nearest(value.as_str()?, quoted(allowed()))?)
    } else {
        match value {
            Value::Array(items) => items.into_iter().next()?,
            Value::String(text) if serde_json::from_str::<Value>(&text).is_ok() => {
                serde_json::from_str(&text).ok()?
            }
            #[expect(clippy::cast_possible_truncation, reason = "a line number")]
            Value::Number(number) if number.is_f64() => json!(number.as_f64()? as i64),
            _ => {
                fields(call)?.remove(&name);
                return Some(());
            }
        }
    };
    call.arguments[name] = repaired;
    Some(())
}

/// "Give x instead of y", "Leave out y" and "set overwrite".
fn field(call: &mut RepairCall, failure: &str) -> Option<()> {
    if let Some((before, after)) = failure.split_once(" instead of ")
        && let Some((_, name)) = before.rsplit_once("Give ")
    {
        let old = after.split(['.', '\n']).next()?;
        let value = fields(call)?.remove(old)?;
        call.arguments[name] = value;
        return Some(());
    }
    if failure.contains("Leave out the first line of text") {
        let text = call.arguments["text"].as_str()?.split_once('\n')?.1.to_owned();
        call.arguments["text"] = json!(text);
        return Some(());
    }
    if let Some(name) = between(failure, "action is one of: ", ".") {
        let given = call.arguments["action"].as_str().unwrap_or_default().to_owned();
        let allowed = name.replace(" or ", ", ");
        call.arguments["action"] = json!(nearest(&given, allowed.split(", "))?);
        return Some(());
    }
    for marker in ["Leave out ", "Call without "] {
        if let Some(name) = failure.split(marker).nth(1) {
            let name = name.split([',', '.', ' ']).next()?;
            if fields(call)?.remove(name).is_some() {
                return Some(());
            }
        }
    }
    if failure.contains("set overwrite to replace") {
        call.arguments["overwrite"] = json!(true);
        return Some(());
    }
    None
}

fn text(call: &mut RepairCall, failure: &str) -> Option<()> {
    if failure.contains("give new_text \"\"") {
        call.arguments["new_text"] = json!("");
        return Some(());
    }
    if let Some(literal) = between(failure, "search for `", "`.") {
        call.arguments["pattern"] = json!(literal);
        return Some(());
    }
    if failure.contains("Write for example `*.md`") {
        let field = about(call, failure)?;
        call.arguments[field] = json!("**/*.md");
        return Some(());
    }
    if !failure.starts_with("old_text ") {
        return None;
    }
    if failure.contains("set replace_all") {
        call.arguments["replace_all"] = json!(true);
        return Some(());
    }
    let bare = |line: &str| {
        Some(line.split_once("| ").filter(|(n, _)| n.parse::<u32>().is_ok())?.1.to_owned())
    };
    if failure.contains("Leave out the line numbers") {
        let old = call.arguments["old_text"].as_str()?;
        let lines: Vec<String> = old.lines().filter_map(bare).collect();
        call.arguments["old_text"] = json!(lines.join("\n"));
        return Some(());
    }
    if let Some(exact) = failure.split("as JSON: ").nth(1) {
        call.arguments["old_text"] = serde_json::from_str(exact).ok()?;
        return Some(());
    }
    let lines: Vec<String> = failure.lines().filter_map(bare).collect();
    call.arguments["old_text"] = json!(lines.join("\n"));
    (!lines.is_empty()).then_some(())
}

fn numbers(call: &mut RepairCall, failure: &str) -> Option<()> {
    let name = failure.split(' ').next()?.to_owned();
    if failure.contains(" is before start_line ") {
        let (first, last) =
            (call.arguments["start_line"].clone(), call.arguments["end_line"].clone());
        call.arguments["start_line"] = last;
        call.arguments["end_line"] = first;
        return Some(());
    }
    let number = |text: &str| text.parse::<u32>().ok();
    if let Some(last) = between(failure, "The last line is ", ".").and_then(number) {
        call.arguments[name] = json!(last);
    } else if let Some(first) = between(failure, "Use start_line ", ".").and_then(number) {
        call.arguments["start_line"] = json!(first);
    } else if let Some(line) = between(failure, "Give line ", ".").and_then(number) {
        call.arguments["line"] = json!(line);
    } else {
        let line = call.arguments.get(&name)?.as_u64()?;
        let meant =
            between(failure, &format!("below it, line {line} is "), ".").and_then(number)?;
        call.arguments[name] = json!(meant);
    }
    Some(())
}

fn heading(call: &mut RepairCall, failure: &str) -> Option<()> {
    let asked = call.arguments.get("heading")?.as_str()?.to_owned();
    let listed = failure.lines().filter_map(|line| line.strip_prefix("line ")?.split_once(": "));
    let meant = between(failure, "Did you mean “", "”")
        .or_else(|| between(failure.split("exactly one of these:").nth(1)?, "`", "`"))
        .or_else(|| nearest(&asked, listed.map(|(_, heading)| heading)))?;
    call.arguments["heading"] = json!(meant);
    Some(())
}

fn property(call: &mut RepairCall, failure: &str) -> Option<()> {
    let name = call.arguments.get("property")?.as_str()?.to_owned();
    if failure.contains("Its properties are:") {
        call.arguments["property"] = json!(nearest(&name, paths(failure))?);
    } else if failure.contains("give action \"set\"") {
        let value = call.arguments["value"].clone();
        call.arguments["action"] = json!("set");
        call.arguments["value"] = json!([between(failure, "it holds ", ".")?, value]);
    } else if failure.contains("give action \"remove\"") {
        call.arguments["action"] = json!("remove");
    } else if failure.contains("nor a list of these") {
        let values = call.arguments["value"].as_object()?.values().next()?.clone();
        call.arguments["value"] = values;
    } else {
        return None;
    }
    Some(())
}

/// "give path `daily`": any field, any text.
fn given(call: &mut RepairCall, failure: &str) -> Option<()> {
    let (name, value) = failure.split("give ").skip(1).find_map(|rest| {
        let (name, value) = rest.split_once(" `")?;
        (!name.contains(' ')).then_some((name, value.split_once('`')?.0))
    })?;
    call.arguments[name] = json!(value);
    Some(())
}

fn path(call: &mut RepairCall, failure: &str) -> Option<()> {
    let field = about(call, failure)?;
    let asked = call.arguments[&field].as_str()?.to_owned();
    let part = between(failure, "`", "`").unwrap_or_default();
    let (stem, extension) = part
        .rsplit_once('.')
        .map_or((part, ""), |(stem, _)| (stem, part.strip_prefix(stem).unwrap_or_default()));
    let path = if let Some(near) = paths(failure).next() {
        near.to_owned()
    } else if failure.contains("Write `/` between folders") {
        asked.replace('\\', "/")
    } else if failure.contains("without `..`") {
        asked.split('/').filter(|part| *part != "..").collect::<Vec<_>>().join("/")
    } else if failure.contains("Write the path from the top of the vault") {
        asked.split("://").last()?.trim_start_matches('/').to_owned()
    } else if let Some(signs) = between(failure, "contains one of `", "`") {
        asked.replace(|sign| signs.contains(sign), "")
    } else if failure.contains("Remove the `/` at the end") {
        asked.trim_end_matches('/').to_owned()
    } else if failure.contains("a dot or space at its end. Remove it") {
        let extension = extension.trim_end_matches(['.', ' ']);
        asked.replace(part, &format!("{}{extension}", stem.trim_end_matches(['.', ' '])))
    } else if let Some(extension) = between(failure, "Keep its extension `", "`")
        .or_else(|| between(failure, "End the name in `", "`"))
    {
        format!("{}{extension}", asked.rsplit_once('.').map_or(asked.as_str(), |(stem, _)| stem))
    } else if failure.contains("Use another name") {
        asked.replace(part, &format!("{stem} 2{extension}"))
    } else {
        return None;
    };
    call.arguments[field] = json!(path);
    Some(())
}

/// The field that a failure quotes, whole or else in part.
fn about(call: &RepairCall, failure: &str) -> Option<String> {
    let texts = call.arguments.as_object()?.iter();
    let texts: Vec<(&String, &str)> =
        texts.filter_map(|(name, value)| Some((name, value.as_str()?))).collect();
    let failure = failure.replace(['“', '”'], "`");
    let is_whole = |said: &str, text: &str| text == said || text.escape_debug().eq(said.chars());
    let whole =
        quoted(&failure).find_map(|said| texts.iter().find(|(_, text)| is_whole(said, text)));
    let first = quoted(&failure).next()?;
    let part = || texts.iter().find(|(_, text)| text.contains(first));
    let path = || texts.iter().find(|(name, _)| *name == "path");
    whole.or_else(part).or_else(path).map(|(name, _)| (*name).clone())
}

fn fields(call: &mut RepairCall) -> Option<&mut serde_json::Map<String, Value>> {
    call.arguments.as_object_mut()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split_once(from)?.1.split_once(to).map(|(found, _)| found)
}

/// The paths or names of a list, one a line.
fn paths(failure: &str) -> impl Iterator<Item = &str> {
    failure.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split_once('`')?.0))
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The choice that shares the most letters in a row with `asked`.
fn nearest<'a>(asked: &str, choices: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness =
        |choice: &&str| (crate::text::similar_lines::similarity(choice, asked) * 1000.0).round();
    choices.reduce(|best, next| if likeness(&next) > likeness(&best) { next } else { best })
}
