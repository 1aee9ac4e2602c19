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

/// Whether the merged lines of a note have the properties that the sides made of those of the base. Where lines are in
/// `conflict` they may have those of ours. So they have where at most one side changed the frontmatter, and where nothing
/// can be told: a side is no UTF-8, or its frontmatter was no YAML before. The fences have to stay then.
pub(super) fn are_properties_kept(
    [base, ours, theirs]: [&[u8]; 3],
    merged: &[u8],
    conflict: OtherConflicts,
) -> bool {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(frontmatter);
    if in_base == in_ours || in_base == in_theirs || in_ours == in_theirs {
        return true;
    }
    let [Ok(base), Ok(ours), Ok(theirs)] = [base, ours, theirs].map(std::str::from_utf8) else {
        return true;
    };
    let [base, ours, theirs] = [base, ours, theirs].map(PropertyValues::of);
    if !(base.is_sound && ours.is_sound && theirs.is_sound) {
        return in_base.is_empty() || !(in_ours.is_empty() || in_theirs.is_empty());
    }
    let merged = PropertyValues::of(&String::from_utf8_lossy(merged));
    let all = [&base, &ours, &theirs, &merged];
    let names: BTreeSet<&String> = all.into_iter().flat_map(|one| one.values.keys()).collect();
    let is_kept = |name: &&String| {
        let [base, ours, theirs, merged] = all.map(|one| one.get(name));
        if conflict == OtherConflicts::Some && merged == ours {
            return true;
        }
        if base == ours || base == theirs || ours == theirs {
            return merged == if base == ours { theirs } else { ours };
        }
        // Both changed a list, a map or a long text, each other lines of it.
        let (before, after) = (parts(base), parts(merged));
        let has_added = |side| parts(side).difference(&before).all(|part| after.contains(part));
        has_added(ours) && has_added(theirs)
    };
    merged.is_sound && names.iter().all(is_kept)
}

/// Whether lines of the note are in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherConflicts {
    None,
    Some,
}

/// The items of a list, the entries of a map, and the lines of a text.
fn parts(values: Option<&Vec<String>>) -> BTreeSet<&str> {
    let texts = values.into_iter().flatten();
    texts.flat_map(|text| text.split(['\n', ','])).map(str::trim).collect()
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
