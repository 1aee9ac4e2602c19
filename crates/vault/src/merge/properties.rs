//! Frontmatter that both sides changed: lines that come together well may be other properties than either side has.
//!
//! A side may take the fences out with the property between them, or the name of a list whose items the other side adds.
//! So the properties are compared, and where the lines do not keep them the whole frontmatter conflicts.

use std::collections::{BTreeMap, BTreeSet};

use markdown::{Frontmatter, Properties};

/// The values of the properties of a note, by their names.
#[derive(Debug, PartialEq, Eq)]
struct PropertyValues {
    values: BTreeMap<String, Vec<String>>,
    /// Whether the frontmatter is YAML, and no name stands twice in it.
    is_sound: bool,
}

impl PropertyValues {
    fn of(text: &str) -> Self {
        let properties = Properties::parse(text);
        let all = properties.top_level();
        let values: BTreeMap<String, Vec<String>> =
            all.iter().map(|one| (one.name.clone(), one.values.clone())).collect();
        let is_sound = properties.malformed().is_none() && values.len() == all.len();
        Self { values, is_sound }
    }

    fn get(&self, name: &str) -> Option<&Vec<String>> {
        self.values.get(name)
    }
}

/// Whether the merged lines of a note have the properties that the sides made of those of the base. So they have where
/// at most one side changed the frontmatter, and where nothing can be told: a side is no UTF-8, or its frontmatter was
/// no YAML before.
pub(super) fn are_properties_kept(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    merged: impl FnOnce() -> Vec<u8>,
) -> bool {
    let (begins, [base, ours, theirs]) =
        ([base, ours, theirs].map(frontmatter), [base, ours, theirs]);
    let [in_base, in_ours, in_theirs] = begins;
    if in_base == in_ours || in_base == in_theirs || in_ours == in_theirs {
        return true;
    }
    let [Ok(base), Ok(ours), Ok(theirs)] = [base, ours, theirs].map(std::str::from_utf8) else {
        return true;
    };
    let [base, ours, theirs] = [base, ours, theirs].map(PropertyValues::of);
    if !(base.is_sound && ours.is_sound && theirs.is_sound) {
        return true;
    }
    let merged = merged();
    let merged = PropertyValues::of(&String::from_utf8_lossy(&merged));
    let all = [&base, &ours, &theirs, &merged];
    let names: BTreeSet<&String> = all.into_iter().flat_map(|one| one.values.keys()).collect();
    let is_kept = |name: &&String| {
        let [base, ours, theirs, merged] = all.map(|one| one.get(name));
        if base == ours || base == theirs || ours == theirs {
            return merged == if base == ours { theirs } else { ours };
        }
        // Both changed a list, each in its own way.
        let has_added = |side: Option<&Vec<String>>| {
            let is_new = |value: &&String| base.is_none_or(|base| !base.contains(*value));
            let added: Vec<&String> = side.into_iter().flatten().filter(is_new).collect();
            added.iter().all(|value| merged.is_some_and(|merged| merged.contains(value)))
        };
        has_added(ours) && has_added(theirs)
    };
    merged.is_sound && names.iter().all(is_kept)
}

/// The bytes of the frontmatter at the beginning of a note, with the line end of its last line; empty where there is
/// none, and where it does not end with a line as the merge counts lines.
pub(super) fn frontmatter(note: &[u8]) -> &[u8] {
    let starts = note.strip_prefix("\u{feff}".as_bytes()).unwrap_or(note);
    if !starts.starts_with(b"---") {
        return &[];
    }
    let matter = std::str::from_utf8(note).ok().and_then(Frontmatter::parse);
    let lines = matter.and_then(|matter| note.get(..matter.span.end)).unwrap_or_default();
    if lines.ends_with(b"\n") || lines.len() == note.len() { lines } else { &[] }
}
