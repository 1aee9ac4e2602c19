//! A matcher that looks at the letters of a note rather than reading it: the control that the
//! spellings must get past.

/// Whether the folded `text` has `tag` or a tag nested in it, anywhere.
pub fn has_tag(text: &str, tag: &str) -> bool {
    let covers = |found: &str| {
        found.strip_prefix(tag).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let inline = text.match_indices('#').any(|(at, _)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let end = after.find(|letter| !is_tag_letter(letter)).unwrap_or(after.len());
        let begins = !text.get(..at).unwrap_or_default().ends_with(char::is_alphanumeric);
        begins && covers(after.get(..end).unwrap_or_default())
    });
    let listed = |name| {
        any_value(text, name, |value| {
            let words = elements(value).flat_map(str::split_whitespace);
            words.map(|word| word.trim_start_matches('#')).any(covers)
        })
    };
    inline || listed("tags") || listed("tag")
}

/// Whether the folded `text` has the property with the value, or with any for `None`.
pub fn has_property(text: &str, name: &str, value: Option<&str>) -> bool {
    any_value(text, name, |found| match value {
        None => true,
        Some(value) => found.trim() == value || elements(found).any(|element| element == value),
    })
}

/// So many places may be one key. Each may go on to the end of the properties, so more would cost as
/// much as the square of them; nobody writes so many, and in doubt the note is private.
const MOST: usize = 64;

/// Whether one of the values that `name` may have is so, or nobody can tell.
fn any_value(text: &str, name: &str, is_so: impl Fn(&str) -> bool) -> bool {
    values(text, name).take(MOST).any(is_so) || values(text, name).nth(MOST).is_some()
}

/// The letters of a tag, as in Obsidian.
pub fn is_tag_letter(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '_' | '-' | '/')
        // Emoji and marks of other scripts: everything beyond ASCII that is no blank or sign.
        || (!letter.is_ascii() && !letter.is_whitespace() && !is_sign(letter))
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{303F}' | '\u{A1}'..='\u{BF}')
}

/// The text behind each place in the properties that may be the key `name`, up to the next key
/// at the beginning of a line. Quoted, nested and inline (`{…}`) keys count too.
fn values<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let properties = properties(text);
    properties.match_indices(name).filter_map(move |(at, _)| {
        let before = properties.get(..at)?.chars().next_back();
        let after = properties.get(at + name.len()..)?;
        let after = after.trim_start_matches(['"', '\'']).trim_start_matches([' ', '\t']);
        let value = after.strip_prefix(':')?;
        let begins = before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
        begins.then(|| value.get(..end_of_value(value)).unwrap_or(value))
    })
}

/// The properties on top, without their fences; to the end of the text when the fence never closes.
fn properties(text: &str) -> &str {
    let Some((first, rest)) = text.split_once('\n') else { return "" };
    if first.trim_end() != "---" {
        return "";
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            break;
        }
        at += line.len();
    }
    rest.get(..at).unwrap_or(rest)
}

/// Up to the next line that is neither indented nor empty nor an item of a list.
fn end_of_value(value: &str) -> usize {
    let mut at = 0;
    for (number, line) in value.split_inclusive('\n').enumerate() {
        let goes_on = number == 0 || line.trim().is_empty() || line.starts_with([' ', '\t', '-']);
        if !goes_on {
            break;
        }
        at += line.len();
    }
    at
}

/// The single values of a scalar or a list, without quotes, dashes and comments.
fn elements(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', '[', ']', '{', '}', '\n']).map(|element| {
        let element = element.split_once(" #").map_or(element, |(element, _)| element).trim();
        let element = element.strip_prefix("- ").unwrap_or(element);
        element.trim_matches([' ', '\t', '"', '\''])
    })
}
