//! Tags that a model was told with the list of all tags, which names no note. One that only notes have
//! that are private by now is told of those.

use std::collections::{BTreeSet, HashMap};

use index::Index;
use protocol::{ChangeSet, Message, MessagePart, TurnId};
use vault::Vault;

/// The tags that each turn was told, by whatever result: a long list is read on with another tool, and a
/// result may be handed on without its call.
pub(super) fn tags_by_turn(rows: &[Message]) -> HashMap<TurnId, BTreeSet<String>> {
    let mut told: HashMap<TurnId, BTreeSet<String>> = HashMap::new();
    for row in rows {
        for part in &row.parts {
            let MessagePart::Result { output, .. } = part else { continue };
            let mut tags = output.lines().filter_map(parse_tag_line).peekable();
            if tags.peek().is_some() {
                told.entry(row.turn.clone()).or_default().extend(tags);
            }
        }
    }
    told
}

/// The tag of a line of the list: `- #food, 3 notes`.
fn parse_tag_line(line: &str) -> Option<String> {
    let (tag, notes) = line.strip_prefix("- #")?.rsplit_once(", ")?;
    let (count, unit) = notes.split_once(' ')?;
    let is_counted = count.parse::<usize>().is_ok() && ["note", "notes"].contains(&unit.trim_end());
    is_counted.then(|| tag.to_lowercase())
}

/// The tags of the notes that `seen` shows; none while the index does not stand, so that in doubt a tag
/// is private.
pub(super) fn visible_tags(index: &Index, seen: &Vault) -> BTreeSet<String> {
    let tags = index.tags(seen, &ChangeSet::default()).unwrap_or_default();
    tags.into_iter().map(|tag| tag.tag.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_read_as_its_tag() {
        assert_eq!(parse_tag_line("- #Food/bread, 3 notes").as_deref(), Some("food/bread"));
        assert_eq!(
            parse_tag_line("and 3 more, not shown: raise `limit` or give a `pattern`."),
            None
        );
        assert_eq!(parse_tag_line("2 tags:"), None);
        assert_eq!(parse_tag_line("- #food, and more of it"), None);
    }
}
