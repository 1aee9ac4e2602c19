//! A change of settings, made key by key over the text of the file: keys that the change does not
//! name stay as they are, comments too.

use std::collections::BTreeSet;

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde_json::Value as Json;
use toml_edit::{ArrayOfTables, Item, Table, TableLike, Value};

/// Changes in `into` whatever differs between `before` and `after`. Lists are changed entry by entry: what was
/// added or taken out elsewhere stays so.
pub(super) fn patch_table(into: &mut dyn TableLike, before: &dyn TableLike, after: &dyn TableLike) {
    let keys: BTreeSet<&str> = before.iter().chain(after.iter()).map(|(key, _)| key).collect();
    for key in keys {
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) if item_to_json(old) == item_to_json(new) => {}
            (old, Some(new)) => patch_key(into, key, old, new),
            (_, None) => {
                into.remove(key);
            }
        }
    }
}

fn patch_key(into: &mut dyn TableLike, key: &str, old: Option<&Item>, new: &Item) {
    let is_list = |item: &Item| item.is_array() || item.is_array_of_tables();
    if let Some(new) = new.as_table_like() {
        if into.get(key).and_then(Item::as_table_like).is_none() {
            into.insert(key, Item::Table(Table::new()));
        }
        let nothing = Table::new();
        let old = old.and_then(Item::as_table_like).unwrap_or(&nothing);
        if let Some(inner) = into.get_mut(key).and_then(Item::as_table_like_mut) {
            patch_table(inner, old, new);
        }
    } else if is_list(new) {
        let (before, after) = (old.map(values).unwrap_or_default(), values(new));
        if !into.get(key).is_some_and(is_list) {
            into.insert(key, Item::Value(Value::Array(toml_edit::Array::new())));
        }
        if let Some(list) = into.get_mut(key) {
            patch_list(list, &before, &after, new);
        }
    } else {
        match (into.get_mut(key), new) {
            (Some(Item::Value(value)), Item::Value(new)) => {
                let decor = value.decor().clone();
                *value = new.clone();
                *value.decor_mut() = decor;
            }
            _ => {
                into.insert(key, new.clone());
            }
        }
    }
}

fn patch_list(list: &mut Item, before: &[Value], after: &[Value], whole: &Item) {
    let was: Vec<Json> = values(list).iter().map(value_to_json).collect();
    let (old, new): (Vec<Json>, Vec<Json>) =
        (before.iter().map(value_to_json).collect(), after.iter().map(value_to_json).collect());
    let taken_out = |entry: &Json| has_entry(&old, entry) && !has_entry(&new, entry);
    for at in (0..was.len()).rev() {
        if was.get(at).is_some_and(taken_out) {
            remove(list, at);
        }
    }
    for (value, entry) in after.iter().zip(&new) {
        let held: Vec<Json> = values(list).iter().map(value_to_json).collect();
        match held.iter().position(|other| entry_name(other) == entry_name(entry)) {
            Some(at) if !old.contains(entry) => replace(list, at, value),
            None if !has_entry(&old, entry) => push(list, value),
            _ => {}
        }
    }
    // Nobody else has changed it: then it is in the order that was asked for as well.
    if was == old && item_to_json(list) != Json::Array(new) {
        *list = whole.clone();
    }
}

/// Whether there is an entry of the same name.
fn has_entry(list: &[Json], entry: &Json) -> bool {
    list.iter().any(|other| entry_name(other) == entry_name(entry))
}

/// The key of an entry: a model's id, a folder's path.
fn entry_name(entry: &Json) -> &Json {
    ["id", "model", "folder"].into_iter().find_map(|key| entry.get(key)).unwrap_or(entry)
}

fn values(item: &Item) -> Vec<Value> {
    match item.clone().into_value() {
        Ok(Value::Array(array)) => array.iter().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The value of an item, in any notation.
fn item_to_json(item: &Item) -> Json {
    item.clone().into_value().map_or(Json::Null, |value| value_to_json(&value))
}

fn value_to_json(value: &Value) -> Json {
    Json::deserialize(value.clone().into_deserializer()).unwrap_or(Json::Null)
}

fn table(value: &Value) -> Table {
    value.as_inline_table().cloned().map(toml_edit::InlineTable::into_table).unwrap_or_default()
}

fn remove(list: &mut Item, at: usize) {
    match list {
        Item::ArrayOfTables(tables) => drop(tables.remove(at)),
        Item::Value(Value::Array(array)) => drop(array.remove(at)),
        _ => {}
    }
}

fn replace(list: &mut Item, at: usize, value: &Value) {
    match list {
        Item::ArrayOfTables(tables) => {
            if let Some(old) = tables.get_mut(at) {
                *old = table(value);
            }
        }
        Item::Value(Value::Array(array)) => drop(array.replace(at, value.clone())),
        _ => {}
    }
}

fn push(list: &mut Item, value: &Value) {
    match list {
        Item::ArrayOfTables(tables) => ArrayOfTables::push(tables, table(value)),
        Item::Value(Value::Array(array)) => array.push(value.clone()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use protocol::settings::{ExtraRoot, PrivateSettings};
    use protocol::{ModelInfo, Settings};
    use toml_edit::DocumentMut;

    use super::*;

    fn changed(file: &str, before: &Settings, after: &Settings) -> String {
        let mut document: DocumentMut = file.parse().expect("TOML");
        let told = |settings| toml_edit::ser::to_document(settings).expect("settings");
        patch_table(document.as_table_mut(), told(before).as_table(), told(after).as_table());
        document.to_string()
    }

    fn never(rules: &[&str]) -> Settings {
        let never = rules.iter().map(|rule| (*rule).to_owned()).collect();
        Settings { private: PrivateSettings { never, ..Default::default() }, ..Settings::default() }
    }

    #[test]
    fn only_what_was_changed_is_written_over_what_was_changed_elsewhere() {
        let file =
            "# mine\ntheme = \"dark\" # at night\n\n[private]\nnever = [\"By hand\"] # new\n";
        let before = Settings::default();
        let after = Settings { follow_links: true, ..Settings::default() };
        assert_eq!(
            changed(file, &before, &after),
            "# mine\ntheme = \"dark\" # at night\nfollowLinks = true\n\n[private]\nnever = [\"By hand\"] # new\n"
        );
        assert_eq!(changed(file, &before, &before), file);
    }

    #[test]
    fn rules_are_added_and_taken_out_one_by_one() {
        let file = "[private]\nnever = [\"A\", \"By hand\"]\n";
        let written = |before: &[&str], after: &[&str]| {
            let text = changed(file, &never(before), &never(after));
            toml_edit::de::from_str::<Settings>(&text).expect("settings").private.never
        };
        assert_eq!(written(&["A"], &["A", "B"]), ["A", "By hand", "B"]);
        assert_eq!(written(&["A"], &[]), ["By hand"]);
        assert_eq!(written(&["A"], &["B"]), ["By hand", "B"]);
        assert_eq!(written(&["A", "By hand"], &["By hand", "A"]), ["By hand", "A"], "in order");
        // It was taken out by hand, and this window does not know that yet.
        assert_eq!(written(&["A", "Gone"], &["A", "Gone", "B"]), ["A", "By hand", "B"]);
    }

    #[test]
    fn entries_with_a_name_are_changed_in_their_place_in_either_way_of_writing() {
        let model = |id: &str, window| ModelInfo { id: id.into(), window, ..Default::default() };
        let root = |folder: &str| ExtraRoot { folder: folder.into(), name: String::new() };
        let before = Settings {
            models: vec![model("a", None)],
            extra_roots: vec![root("/a")],
            ..Settings::default()
        };
        let after = Settings {
            models: vec![model("a", Some(9)), model("c", None)],
            extra_roots: Vec::new(),
            ..Settings::default()
        };
        for file in [
            "[[models]]\nid = \"a\"\n\n[[models]]\nid = \"b\"\n\n[[extraRoots]]\nfolder = \"/a\"\n",
            "models = [{ id = \"a\" }, { id = \"b\" }]\nextraRoots = [{ folder = \"/a\" }]\n",
        ] {
            let text = changed(file, &before, &after);
            let now: Settings = toml_edit::de::from_str(&text).expect("settings");
            assert_eq!(now.models, [model("a", Some(9)), model("b", None), model("c", None)]);
            assert_eq!(now.extra_roots, []);
        }
    }
}
