//! Rules for private notes as people write them.

use unicode_normalization::UnicodeNormalization as _;

use super::{Rule, folded};
use crate::NotePath;
use crate::invisible::is_invisible;
use crate::private::spelling::{folded_name, is_tag_sign};

/// Behind a folder, each of these means all that is in it.
const ALL_BELOW: [&str; 6] = ["/**/*.md", "/**/*", "/**", "/*.md", "/*", "/"];

/// Names of properties that may be meant as what they say.
const TAGS: [&str; 2] = ["tag", "tags"];
const PLACES: [&str; 4] = ["path", "folder", "file", "place"];

/// Signs that no folder or note is to be called by in a rule: whoever writes one means a pattern, a link or a
/// value, and a rule that silently covers nothing is worse than none.
const UNCLEAR: [char; 12] = ['*', '?', '[', ']', '{', '}', '"', '<', '>', '|', '=', '＝'];

/// The rules that `text` may mean, all of which count; `None` where nobody can tell.
pub(super) fn read(text: &str) -> Option<Vec<Rule>> {
    let seen: String =
        text.chars().filter(|sign| sign.is_whitespace() || !is_invisible(*sign)).collect();
    let mut rules = read_seen(&seen)?;
    // A folder may be called so indeed, with signs that nobody sees, or have the usual letters for those of
    // another width.
    if matches!(rules.as_slice(), [Rule::Place(_)]) {
        for other in [text.trim().to_owned(), seen.nfkc().collect()] {
            rules.extend(place(&other).filter(|rule| !rules.contains(rule)));
        }
    }
    Some(rules)
}

fn read_seen(text: &str) -> Option<Vec<Rule>> {
    let text = unquoted(text);
    if let Some(tag) = text.strip_prefix(['#', '＃']) {
        return Some(vec![tagged(tag)?]);
    }
    if let Some((name, value)) = text.split_once(':') {
        return property(name, value);
    }
    if let Some((name, value)) = text.split_once(['：', '=', '＝']) {
        let mut rules = property(name, value)?;
        rules.extend(place(text));
        return Some(rules);
    }
    let mut rules = vec![place(text)?];
    if text.contains(',') {
        // One folder of that name, or a list.
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            rules.extend(read_seen(part)?);
        }
    }
    Some(rules)
}

fn tagged(tag: &str) -> Option<Rule> {
    let is_tag = tag.chars().all(|sign| is_tag_sign(sign) || is_invisible(sign));
    let tag = folded_name(tag).trim_matches('/').to_owned();
    (is_tag && !tag.is_empty()).then_some(Rule::Tag(tag))
}

fn property(name: &str, value: &str) -> Option<Vec<Rule>> {
    let (name, value) = (folded_name(name), value.trim());
    let is_drive = name.chars().count() == 1 && value.starts_with(['/', '\\']);
    if name.is_empty() || is_drive || name.contains(['/', '\\', '"', '\'', '#']) {
        return None;
    }
    let list = value.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    let is_link = list.is_some_and(|inside| inside.starts_with('['));
    let values = match list.filter(|_| !is_link) {
        Some(inside) => inside.split(',').map(unquoted).collect(),
        None => vec![unquoted(value)],
    };
    let mut rules = Vec::new();
    for value in values {
        let folded = folded_name(value);
        if TAGS.contains(&name.as_str()) && !folded.is_empty() {
            rules.extend(tagged(value.trim_start_matches(['#', '＃'])));
        }
        if PLACES.contains(&name.as_str()) {
            rules.extend(place(value));
        }
        let value = (!folded.is_empty()).then_some(folded);
        rules.push(Rule::Property { name: name.clone(), value });
    }
    Some(rules)
}

fn place(text: &str) -> Option<Rule> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let folder = ALL_BELOW.iter().find_map(|below| text.strip_suffix(below)).unwrap_or(text);
    if folder.contains(UNCLEAR) || folder.starts_with('~') {
        return None;
    }
    // Folded once more: folding and parsing must not undo each other.
    let path = NotePath::parse(&folded(folder)).ok()?;
    Some(Rule::Place(folded(path.as_str())))
}

/// The text without the quotation marks around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“'), ('‘', '’')]
        .into_iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inside.map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use crate::NotePath;
    use crate::private::{Metadata, Privacy, PrivateRules};
    use crate::settings::PrivateSettings;

    fn rules(rule: &str) -> Option<PrivateRules> {
        let settings = PrivateSettings { never: vec![rule.to_owned()], ..Default::default() };
        PrivateRules::parse(&settings).ok()
    }

    fn covers(rule: &str, path: &str) -> bool {
        let path = NotePath::parse(path).expect("a path");
        rules(rule).is_some_and(|rules| rules.by_path(&path) == Privacy::Never)
    }

    #[test]
    fn a_folder_is_covered_however_it_is_written() {
        for rule in [
            "Diary",
            "Diary/",
            "./Diary",
            "Diary/*",
            "Diary/**",
            "Diary/**/*.md",
            "Diary/*.md",
            "\"Diary\"",
            "'Diary'",
            "`Diary/`",
            "“Diary”",
            "path:Diary",
            "folder: Diary",
            "Diary, Work",
            "Work,Diary",
            "Di\u{200b}ary",
            "\u{feff}Diary",
            "Di\u{ad}ary",
            "\u{ff24}iary",
        ] {
            assert!(covers(rule, "Diary/a.md") && !covers(rule, "Other/a.md"), "{rule}");
        }
        assert!(covers("Diary, Work", "Diary, Work/a.md"), "a folder may be called so");
        assert!(covers("Di\u{200b}ary", "Di\u{200b}ary/a.md"), "and so");
    }

    #[test]
    fn a_tag_and_a_property_are_covered_however_they_are_written() {
        let tagged = Metadata { tags: vec!["private".into()], ..Metadata::default() };
        let secret = Metadata {
            properties: vec![("status".into(), vec!["secret".into()])],
            ..Metadata::default()
        };
        for (rule, said, other) in [
            ("＃private", &tagged, &secret),
            ("tag:private", &tagged, &secret),
            ("tag: #private", &tagged, &secret),
            ("tags: [private, x]", &tagged, &secret),
            ("status:\"secret\"", &secret, &tagged),
            ("status: [secret]", &secret, &tagged),
            ("status=secret", &secret, &tagged),
            ("status：secret", &secret, &tagged),
        ] {
            let rules = rules(rule).unwrap_or_else(|| panic!("{rule}"));
            assert_eq!(rules.by_metadata(said), Privacy::Never, "{rule}");
            assert_eq!(rules.by_metadata(other), Privacy::Open, "{rule}");
        }
    }

    #[test]
    fn a_rule_that_would_cover_nothing_is_refused() {
        for rule in [
            "*.md",
            "**/Secret.md",
            "[[Secret]]",
            "~/Diary",
            "C:/Diary",
            "Dia?y",
            "Diary/a*.md",
            "{Diary,Work}",
            "<Diary>",
        ] {
            assert_eq!(rules(rule), None, "{rule}");
        }
    }
}
