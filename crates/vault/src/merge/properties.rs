//! Frontmatter that both sides changed: lines that come together well may be other properties than either side has.
//!
//! A side may take the fences out with the property between them, or the name of a list whose items the other side adds.
//! So the properties are compared, and where the lines do not keep them the whole frontmatter conflicts. Frontmatter
//! that is no YAML, or has a name twice, is compared too: its entries are read one by one, and all values of a name
//! count.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use markdown::{Frontmatter, Properties};

/// The values of the properties of a note, by their names.
#[derive(Debug)]
struct PropertyValues {
    /// The values of each time that a name stands there, in order.
    values: BTreeMap<String, Vec<Vec<String>>>,
    /// Whether the frontmatter is YAML.
    is_yaml: bool,
    /// Whether these are all: of what is no UTF-8, too long, or neither YAML nor entries, nothing can be told.
    is_known: bool,
}

impl PropertyValues {
    fn of(note: &[u8]) -> Self {
        let properties = Properties::parse(&text_of_same_length(note));
        let mut values: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for one in properties.top_level() {
            values.entry(one.name.clone()).or_default().push(one.values.clone());
        }
        let is_yaml = properties.malformed().is_none();
        let lines = frontmatter(note);
        let is_read = is_yaml || lines.is_empty() || !values.is_empty();
        Self { values, is_yaml, is_known: is_read && std::str::from_utf8(lines).is_ok() }
    }

    fn get(&self, name: &str) -> Option<&Vec<Vec<String>>> {
        self.values.get(name)
    }
}

/// Whether the merged lines of a note have the properties that the sides made of those of the base. Where lines are in
/// `conflict` they may have those of ours. So they have where at most one side changed the frontmatter. Where the
/// properties of a side cannot be told, the merged frontmatter has to be that of one side.
pub(super) fn are_properties_kept(
    sides: [&[u8]; 3],
    merged: &[u8],
    conflict: OtherConflicts,
) -> bool {
    let [in_base, in_ours, in_theirs] = sides.map(frontmatter);
    if in_base == in_ours || in_base == in_theirs || in_ours == in_theirs {
        return true;
    }
    let sides = sides.map(PropertyValues::of);
    let are_all = |is_so: fn(&PropertyValues) -> bool| sides.iter().all(is_so);
    let (are_yaml, are_known) = (are_all(|side| side.is_yaml), are_all(|side| side.is_known));
    // Lines that are no YAML are properties only between the fences.
    let are_fences_gone = !in_base.is_empty() && (in_ours.is_empty() || in_theirs.is_empty());
    if !(are_yaml && are_known) && are_fences_gone {
        return false;
    }
    let in_merged = frontmatter(merged);
    if !are_known {
        return in_merged == in_ours || in_merged == in_theirs;
    }
    let ([base, ours, theirs], merged) = (&sides, PropertyValues::of(merged));
    let all = [base, ours, theirs, &merged];
    let names: BTreeSet<&String> = all.into_iter().flat_map(|one| one.values.keys()).collect();
    (merged.is_yaml || !are_yaml) && names.iter().all(|name| is_kept(name, all, conflict))
}

/// Whether a property of the last of these is the one that ours and theirs made of the one of the base.
fn is_kept(name: &str, all: [&PropertyValues; 4], conflict: OtherConflicts) -> bool {
    let [base, ours, theirs, merged] = all.map(|one| one.get(name));
    if conflict == OtherConflicts::Some && merged == ours {
        return true;
    }
    if base == ours || base == theirs || ours == theirs {
        return merged == if base == ours { theirs } else { ours };
    }
    // Both changed a list, a map or a long text, each other lines of it. Not so where each has the name for itself.
    let times = |side: Option<&Vec<Vec<String>>>| side.map_or(0, Vec::len);
    let (before, after) = (parts(base), parts(merged));
    let has_added = |side| parts(side).difference(&before).all(|part| after.contains(part));
    times(merged) <= times(ours).max(times(theirs)) && has_added(ours) && has_added(theirs)
}

/// Whether lines of the note are in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherConflicts {
    None,
    Some,
}

/// The items of a list, the entries of a map, and the lines of a text.
fn parts(values: Option<&Vec<Vec<String>>>) -> BTreeSet<&str> {
    let texts = values.into_iter().flatten().flatten();
    texts.flat_map(|text| text.split(['\n', ','])).map(str::trim).collect()
}

/// The bytes of the frontmatter at the beginning of a note, with the line end of its last line; empty where there is
/// none, and where it does not end with a line as the merge counts lines.
pub(super) fn frontmatter(note: &[u8]) -> &[u8] {
    let starts = note.strip_prefix("\u{feff}".as_bytes()).unwrap_or(note);
    if !starts.starts_with(b"---") {
        return &[];
    }
    let matter = Frontmatter::parse(&text_of_same_length(note));
    let lines = matter.and_then(|matter| note.get(..matter.span.end)).unwrap_or_default();
    if lines.ends_with(b"\n") || lines.len() == note.len() { lines } else { &[] }
}

/// A note as text, with a `?` for each byte that is no UTF-8.
fn text_of_same_length(note: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(note) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(note.len());
    for chunk in note.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}
