//! Tags that a model was told with the list of all tags, which names no note. One that only notes have
//! that are private by now is told of those.

use std::collections::{BTreeSet, HashMap};

use index::Index;
use protocol::{CallId, ChangeSet, Message, Part, TurnId};
use vault::Vault;

/// The tool that lists them; a line a tag: `- #food, 3 notes`.
const TOOL: &str = "list_tags";

/// The tags that each turn was told.
pub(super) fn told(rows: &[Message]) -> HashMap<TurnId, BTreeSet<String>> {
    let parts = || rows.iter().flat_map(|row| row.parts.iter().map(move |part| (&row.turn, part)));
    let calls: BTreeSet<(&TurnId, &CallId)> = parts()
        .filter_map(|(turn, part)| match part {
            Part::Call { id, tool, .. } if tool == TOOL => Some((turn, id)),
            _ => None,
        })
        .collect();
    let mut told: HashMap<TurnId, BTreeSet<String>> = HashMap::new();
    for (turn, part) in parts() {
        if let Part::Result { call, output, .. } = part
            && calls.contains(&(turn, call))
        {
            told.entry(turn.clone()).or_default().extend(output.lines().filter_map(tag));
        }
    }
    told
}

fn tag(line: &str) -> Option<String> {
    let (tag, _) = line.strip_prefix("- #")?.rsplit_once(", ")?;
    Some(tag.to_lowercase())
}

/// The tags of the notes that `seen` shows; none while the index does not stand, so that in doubt a tag
/// is private.
pub(super) fn shown(index: &Index, seen: &Vault) -> BTreeSet<String> {
    let tags = index.tags(seen, &ChangeSet::default()).unwrap_or_default();
    tags.into_iter().map(|tag| tag.tag.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_read_as_its_tag() {
        assert_eq!(tag("- #Food/bread, 3 notes").as_deref(), Some("food/bread"));
        assert_eq!(tag("and 3 more, not shown: raise `limit` or give a `pattern`."), None);
        assert_eq!(tag("2 tags:"), None);
    }
}
