//! Rules for private notes as people write them.

use unicode_normalization::UnicodeNormalization as _;

use super::{PrivateRule, fold_text};
use crate::NotePath;
use crate::notes::invisible::is_invisible;
use crate::notes::privacy::folding::{fold_name, is_tag_char};

/// Behind a folder, each of these means all that is in it.
const ALL_BELOW: [&str; 6] = ["/**/*.md", "/**/*", "/**", "/*.md", "/*", "/"];

/// Names of properties that may be meant as what they say.
const TAGS: [&str; 2] = ["tag", "tags"];
const PLACES: [&str; 4] = ["path", "folder", "file", "place"];

/// The signs between the parts of a list.
const SEPARATORS: [char; 2] = [',', ';'];

/// The rules that `text` may mean, all of which count; `None` where nobody can tell.
pub(super) fn parse_rule(text: &str) -> Option<Vec<PrivateRule>> {
    let is_seen = |sign: &char| sign.is_whitespace() || !is_invisible(*sign);
    let seen: String = text.chars().filter(is_seen).collect();
    let mut rules = parse_visible_rule(&seen)?;
    // A folder may be called so indeed, with signs that nobody sees, or have the usual letters for those of
    // another width.
    for other in [text.to_owned(), seen.nfkc().collect()] {
        let others = parse_visible_rule(&other).unwrap_or_default();
        for rule in others.into_iter().filter(|rule| matches!(rule, PrivateRule::Place(_))) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    Some(rules)
}

fn parse_visible_rule(text: &str) -> Option<Vec<PrivateRule>> {
    let text = unquoted(text);
    if let Some(tag) = text.strip_prefix(['#', '＃']) {
        return Some(vec![tag_rule(tag)?]);
    }
    if let Some((name, value)) = text.split_once(':') {
        let rules = property_rules(name, value)?;
        // A list of rules, the first of which may be a folder.
        let is_rule = |part: &str| part.contains(':') || part.trim_start().starts_with(['#', '＃']);
        let is_list = name.contains(SEPARATORS) || value.split(SEPARATORS).skip(1).any(is_rule);
        let parts = if is_list { rules_of_parts(text) } else { Vec::new() };
        return Some(rules.into_iter().chain(parts).collect());
    }
    if let Some((name, value)) = text.split_once(['：', '=', '＝']) {
        // A folder may be called so.
        let rules: Vec<PrivateRule> =
            property_rules(name, value).into_iter().flatten().chain(place_rule(text)).collect();
        return (!rules.is_empty()).then_some(rules);
    }
    let mut rules = vec![place_rule(text)?];
    if text.contains(SEPARATORS) {
        // One folder of that name, or a list.
        rules.extend(rules_of_parts(text));
    }
    Some(rules)
}

fn rules_of_parts(list: &str) -> Vec<PrivateRule> {
    let parts = list.split(SEPARATORS).filter(|part| !part.trim().is_empty());
    parts.filter_map(parse_visible_rule).flatten().collect()
}

fn tag_rule(tag: &str) -> Option<PrivateRule> {
    let is_tag = tag.chars().all(|sign| is_tag_char(sign) || is_invisible(sign));
    let tag = fold_name(tag).trim_matches('/').to_owned();
    (is_tag && !tag.is_empty()).then_some(PrivateRule::Tag(tag))
}

fn property_rules(name: &str, value: &str) -> Option<Vec<PrivateRule>> {
    let is_drive = name.chars().count() == 1 && value.starts_with(['/', '\\']);
    let (name, value) = (fold_name(name), value.trim());
    if name.is_empty() || is_drive || name.contains(['/', '\\', '"', '\'']) {
        return None;
    }
    let list = value.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    let is_link = list.is_some_and(|inside| inside.starts_with('['));
    let values = match list.filter(|_| !is_link) {
        Some(inside) if !inside.trim().is_empty() => {
            inside.split(',').map(unquoted).filter(|value| !value.is_empty()).collect()
        }
        Some(_) => vec![""],
        None => {
            // One value of that text, or a list.
            let whole = unquoted(value);
            let items = value.split(SEPARATORS).map(unquoted).filter(|item| !item.is_empty());
            let is_list = whole == value && value.contains(SEPARATORS);
            [whole].into_iter().chain(items.filter(|_| is_list)).collect()
        }
    };
    let mut rules = Vec::new();
    for value in values {
        let folded = fold_name(value);
        if TAGS.contains(&name.as_str()) && !folded.is_empty() {
            rules.extend(tag_rule(value.trim_start_matches(['#', '＃'])));
        }
        if PLACES.contains(&name.as_str()) {
            rules.extend(place_rule(value));
        }
        let value = (!folded.is_empty()).then_some(folded);
        rules.push(PrivateRule::Property { name: name.clone(), value });
    }
    Some(rules)
}

fn place_rule(text: &str) -> Option<PrivateRule> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let folder = ALL_BELOW.iter().find_map(|below| text.strip_suffix(below)).unwrap_or(text);
    // A pattern, a link and a home folder would cover nothing, which is worse than no rule.
    let is_link = folder.starts_with("[[") && folder.ends_with("]]");
    if folder.contains('*') || is_link || folder == "~" || folder.starts_with("~/") {
        return None;
    }
    // Folded once more: folding and parsing must not undo each other.
    let path = NotePath::parse(&fold_text(folder)).ok()?;
    Some(PrivateRule::Place(fold_text(path.as_str())))
}

/// The text without the quotation marks around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“'), ('‘', '’')]
        .into_iter()
        .find_map(|(open, close)| {
            let inside = text.strip_prefix(open)?.strip_suffix(close)?;
            // Around each item of a list they are not around all of it.
            let is_list = inside.contains(SEPARATORS) && inside.contains([open, close]);
            (!is_list).then_some(inside)
        });
    inside.map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use crate::NotePath;
    use crate::notes::privacy::{Privacy, PrivacyMetadata, PrivateRules};
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
            "Work; Diary",
            "\"Work\", \"Diary\"",
            "Diary; tag: private",
            "path: Work, Diary",
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
        let tagged = PrivacyMetadata { tags: vec!["private".into()], ..PrivacyMetadata::default() };
        let secret = PrivacyMetadata {
            properties: vec![("status".into(), vec!["secret".into()])],
            ..PrivacyMetadata::default()
        };
        for (rule, said, other) in [
            ("＃private", &tagged, &secret),
            ("tag:private", &tagged, &secret),
            ("tag: #private", &tagged, &secret),
            ("tags: [private, x]", &tagged, &secret),
            ("tags: private, x", &tagged, &secret),
            ("Diary; tag: private", &tagged, &secret),
            ("path: Work; #private", &tagged, &secret),
            ("status: \"draft\", \"secret\"", &secret, &tagged),
            ("tag: #x; #private", &tagged, &secret),
            ("status: draft, secret", &secret, &tagged),
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
    fn a_folder_is_covered_by_its_name_whatever_signs_stand_in_it() {
        for folder in [
            "Work=Life",
            "Work/E=mc2",
            "[Archive]",
            "Plans [2024]",
            "{Templates}",
            "Who?",
            "a|b",
            "A <-> B",
            "~Archive",
            "Smith, John",
            "Log：2024",
            "会议/日记：2024",
            "❤\u{fe0f} Health",
            "❤\u{fe0f} Health, Family",
            "❤\u{fe0f} Log：2024",
            "Notes, etc",
        ] {
            assert!(covers(folder, &format!("{folder}/a.md")), "{folder}");
        }
        assert!(covers("path: ❤\u{fe0f} Health", "❤\u{fe0f} Health/a.md"));
        assert!(covers("\"❤\u{fe0f} Health\"", "❤\u{fe0f} Health/a.md"));
        assert!(rules("C#: yes").is_some() && rules("x: /foo").is_some());
    }

    #[test]
    fn a_rule_that_would_cover_nothing_is_refused() {
        for rule in ["*.md", "**/Secret.md", "[[Secret]]", "~/Diary", "C:/Diary", "Diary/a*.md"] {
            assert_eq!(rules(rule), None, "{rule}");
        }
    }
}
