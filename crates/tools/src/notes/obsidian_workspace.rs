//! Which note Obsidian has open, by its `workspace.json`. It is written some time after the fact.

use serde_json::Value;

/// The file of the active pane, else the one that was opened last; relative to the vault.
pub(crate) fn open_file(workspace_json: &[u8]) -> Option<String> {
    let workspace: Value = serde_json::from_slice(workspace_json).ok()?;
    let active = workspace.get("active").and_then(Value::as_str);
    let in_pane = active.and_then(|id| find_leaf(&workspace, id)).and_then(file_of_leaf);
    let last = || workspace.get("lastOpenFiles")?.get(0)?.as_str();
    in_pane.or_else(last).map(str::to_owned)
}

/// The pane with this id: panes hold panes in `children`, below `main`, `left` and `right`.
fn find_leaf<'a>(workspace: &'a Value, id: &str) -> Option<&'a Value> {
    let mut waiting: Vec<&Value> =
        ["main", "left", "right"].iter().filter_map(|side| workspace.get(side)).collect();
    while let Some(pane) = waiting.pop() {
        if pane.get("id").and_then(Value::as_str) == Some(id) {
            return Some(pane);
        }
        waiting.extend(pane.get("children").and_then(Value::as_array).into_iter().flatten());
    }
    None
}

fn file_of_leaf(leaf: &Value) -> Option<&str> {
    leaf.get("state")?.get("state")?.get("file")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<&str>) {
        assert_eq!(open_file(json.as_bytes()).as_deref(), expected, "{json}");
    }

    #[test]
    fn the_active_pane_counts_before_what_was_opened_last() {
        check(
            r#"{ "main": { "id": "m", "children": [ { "id": "t", "children": [
                 { "id": "x", "state": { "type": "markdown", "state": { "file": "A/B.md" } } },
                 { "id": "y", "state": { "type": "graph", "state": {} } } ] } ] },
                 "active": "x", "lastOpenFiles": ["C.md"] }"#,
            Some("A/B.md"),
        );
        check(r#"{ "main": {}, "active": "y", "lastOpenFiles": ["C.md", "D.md"] }"#, Some("C.md"));
        check("{}", None);
        check("not json", None);
        check(r#"{ "active": 3, "main": [], "lastOpenFiles": {} }"#, None);
    }
}
