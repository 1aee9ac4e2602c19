//! Moves and creations over random small vaults, held against the rule of links said once more.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use index::links::{LinkFormat, LinkGraph, LinkRewrite};
use proptest::prelude::*;
use protocol::NotePath;

use crate::path;

/// A note as it is written: text that must stay, and targets that may change.
#[derive(Debug, Clone)]
pub(crate) enum TextOrLink {
    Text(&'static str),
    /// How a link begins and ends around its target.
    Link(&'static str, String, &'static str),
}

const FORMS: &[(&str, &str)] = &[
    ("[[", "]]"),
    ("[[", "|shown]]"),
    ("![[", "#Head]]"),
    ("[[", "#^b|x]]"),
    ("[x](", ")"),
    ("[y](<", "> \"t\")"),
    ("![z](", "#h)"),
];

const FILLERS: &[&str] = &[
    " and ",
    "\r\n\r\n",
    "\n- ",
    " `[[n]]` ",
    "\n\n```\n[[n]] [x](n.md)\n```\n\n",
    " é日 \\[[n]] ",
    "\n\n> ",
];

pub(crate) const FOLDERS: &[&str] = &["", "p/", "q/", "p/q/", "Ö x/"];
const NAMES: &[&str] =
    &["n", "m", "N 1", "ñ", "v1.2", "日本", "a_b", "it's", "সম\u{9df}", "\u{f914}"];

pub(crate) fn file() -> impl Strategy<Value = String> {
    (prop::sample::select(FOLDERS), prop::sample::select(NAMES))
        .prop_map(|(folder, name)| format!("{folder}{name}.md"))
}

/// A target as a person writes it: whole or in part, with or without `.md`, from here or from the
/// top, some of them to nothing.
fn target() -> impl Strategy<Value = String> {
    let lead = prop::sample::select(&["", "", "", "", "/", "./", "../", "../p/"][..]);
    (lead, file(), 0..3_usize, any::<bool>()).prop_map(|(lead, file, cut, bare)| {
        let parts: Vec<&str> = file.split('/').collect();
        let kept = parts[cut.min(parts.len() - 1)..].join("/");
        let kept = if bare { kept.trim_end_matches(".md").to_owned() } else { kept };
        format!("{lead}{kept}")
    })
}

pub(crate) fn note() -> impl Strategy<Value = Vec<TextOrLink>> {
    let piece = (prop::sample::select(FORMS), target(), prop::sample::select(FILLERS)).prop_map(
        |((open, close), target, filler)| {
            let spelled =
                if open == "[x](" || open == "![z](" { target.replace(' ', "%20") } else { target };
            [TextOrLink::Link(open, spelled, close), TextOrLink::Text(filler)]
        },
    );
    let property = prop::option::of(target()).prop_map(|target| {
        let link = |target| TextOrLink::Link("---\nup: \"[[", target, "|x]]\" # [[n]]\n---\n");
        target.map(link).into_iter().collect::<Vec<_>>()
    });
    (property, prop::collection::vec(piece, 0..6))
        .prop_map(|(property, pieces)| [property, pieces.concat()].concat())
}

/// A canvas with a link in the text of a card.
fn canvas() -> impl Strategy<Value = Vec<TextOrLink>> {
    let before = r#"{"nodes":[{"id":"[[n]]","type":"text","text":"a \"b\"\n[["#;
    target().prop_map(move |target| {
        vec![TextOrLink::Link(before, target, r#"|\u00e9]] c"}],"edges":[]}"#)]
    })
}

pub(crate) fn written(pieces: &[TextOrLink]) -> String {
    let piece = |piece: &TextOrLink| match piece {
        TextOrLink::Text(text) => (*text).to_owned(),
        TextOrLink::Link(open, target, close) => format!("{open}{target}{close}"),
    };
    pieces.iter().map(piece).collect()
}

/// The targets in `after`, which must be `pieces` in all its other bytes.
fn targets_of(pieces: &[TextOrLink], after: &str) -> Result<Vec<String>, String> {
    let mut rest = after;
    let mut targets = Vec::new();
    for piece in pieces {
        match piece {
            TextOrLink::Text(text) => {
                rest = rest.strip_prefix(text).ok_or(format!("{text:?} in {rest:?}"))?
            }
            TextOrLink::Link(open, _, close) => {
                rest = rest.strip_prefix(open).ok_or(format!("{open:?} in {rest:?}"))?;
                let end = rest.find(close).ok_or(format!("{close:?} in {rest:?}"))?;
                targets.push(rest[..end].to_owned());
                rest = &rest[end + close.len()..];
            }
        }
    }
    if rest.is_empty() { Ok(targets) } else { Err(format!("{rest:?} is left")) }
}

/// The rule of links said once more, as plainly as can be: look at every file.
fn oracle(files: &BTreeSet<String>, source: &str, spelled: &str) -> Option<String> {
    let link = spelled.replace("%20", " ").to_lowercase();
    let here = source.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
    let rooted = if let Some(whole) = link.strip_prefix('/') {
        Some(whole.to_owned())
    } else if link.starts_with("./") || link.starts_with("../") {
        let mut parts: Vec<&str> = here.split('/').filter(|part| !part.is_empty()).collect();
        for part in link.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    } else {
        None
    };
    let wanted = rooted.clone().unwrap_or(link);
    for wanted in [wanted.clone(), format!("{wanted}.md")] {
        let fits = |file: &&String| {
            let file = file.to_lowercase();
            file == wanted || (rooted.is_none() && file.ends_with(&format!("/{wanted}")))
        };
        let shared =
            |file: &str| file.split('/').zip(here.split('/')).take_while(|(a, b)| a == b).count();
        let rank = |file: &&String| {
            let file = file.to_lowercase();
            let below = here.is_empty() || file.starts_with(&format!("{here}/"));
            (!below, file.chars().count(), usize::MAX - shared(&file), file)
        };
        if let Some(best) = files.iter().filter(fits).min_by_key(rank) {
            return Some(best.clone());
        }
    }
    None
}

/// Whether another program, which reads a link from its note's folder, finds `target`.
fn leads_from(source: &str, spelled: &str, target: &str) -> bool {
    let only = BTreeSet::from([target.to_owned()]);
    let link = spelled.strip_prefix("./").unwrap_or(spelled);
    !link.starts_with('/') && oracle(&only, source, &format!("./{link}")).is_some()
}

/// The effect on each path of a move of one note, or of a folder.
fn moved(from: &str, to: &str) -> impl Fn(&str) -> String {
    move |path| match path.strip_prefix(from) {
        Some("") => to.to_owned(),
        Some(rest) if from.ends_with('/') => format!("{to}{rest}"),
        _ => path.to_owned(),
    }
}

/// Holds a rewriting against the oracle: the first fault, if any.
fn fault(
    notes: &BTreeMap<String, Vec<TextOrLink>>,
    rewriting: &LinkRewrite,
    then: impl Fn(&str) -> String,
    created: &[String],
    format: Option<LinkFormat>,
) -> Option<String> {
    let before: BTreeSet<String> = notes.keys().cloned().collect();
    let mut after: BTreeSet<String> = before.iter().map(|file| then(file)).collect();
    after.extend(created.iter().cloned());
    for (source, pieces) in notes {
        let text = rewriting.files.iter().find(|file| file.path.as_str() == source);
        let text = text
            .map_or_else(|| written(pieces), |file| String::from_utf8(file.after.clone()).unwrap());
        let targets = match targets_of(pieces, &text) {
            Ok(targets) => targets,
            Err(fault) => return Some(format!("{source}: {fault}")),
        };
        let old = pieces.iter().filter_map(|piece| match piece {
            TextOrLink::Link(open, target, _) => Some((*open, target)),
            TextOrLink::Text(_) => None,
        });
        for ((old_form, old), new) in old.zip(&targets) {
            let was = oracle(&before, source, old);
            let led = was.as_deref().map(&then);
            let leads = oracle(&after, &then(source), new);
            if led.is_some() && led != leads {
                return Some(format!("{source}: {old} led to {led:?}, {new} leads to {leads:?}"));
            }
            let markdown = matches!(old_form, "[x](" | "[y](<" | "![z](");
            if markdown
                && let Some((before, after)) = was.zip(led.as_ref())
                && leads_from(source, old, &before)
                && format.is_none_or(|format| format == LinkFormat::Relative)
                && !leads_from(&then(source), new, after)
            {
                return Some(format!("{source}: other programs do not find {after} by {new}"));
            }
            if led.is_none() && old != new {
                return Some(format!("{source}: {old} was broken and became {new}"));
            }
        }
    }
    None
}

fn format() -> impl Strategy<Value = Option<LinkFormat>> {
    prop::sample::select(
        &[None, Some(LinkFormat::Shortest), Some(LinkFormat::Relative), Some(LinkFormat::Absolute)]
            [..],
    )
}

fn graph_of(
    notes: &BTreeMap<String, Vec<TextOrLink>>,
    format: Option<LinkFormat>,
) -> LinkGraph<'_> {
    let read = |at: &NotePath| Some(Cow::Owned(written(notes.get(at.as_str())?).into_bytes()));
    LinkGraph::new(notes.keys().map(|file| path(file)).collect(), read, format)
}

/// Notes whose names differ on every system.
pub(crate) fn vault() -> impl Strategy<Value = BTreeMap<String, Vec<TextOrLink>>> {
    (prop::collection::btree_map(file(), note(), 1..9), canvas()).prop_map(|(mut notes, canvas)| {
        notes.insert("q/board.canvas".to_owned(), canvas);
        notes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_link_that_led_to_a_note_leads_to_it_after_a_move(
        notes in vault(), at in any::<prop::sample::Index>(), to in file(), format in format(),
    ) {
        let from = notes.keys().nth(at.index(notes.len())).unwrap().clone();
        prop_assume!(!notes.contains_key(&to));
        let rewriting = graph_of(&notes, format).after_moving(&[(path(&from), path(&to))]);
        prop_assert_eq!(&rewriting.problems, &[]);
        prop_assert_eq!(fault(&notes, &rewriting, moved(&from, &to), &[], format), None);
    }

    #[test]
    fn every_link_that_led_to_a_note_leads_to_it_after_a_folder_moved(
        notes in vault(), from in prop::sample::select(&FOLDERS[1..]), format in format(),
        to in prop::sample::select(&["new/", "new/q/", "q/new/"][..]),
    ) {
        let then = moved(from, to);
        let moves: Vec<_> = notes
            .keys()
            .filter(|file| then(file) != **file)
            .map(|file| (path(file), path(&then(file))))
            .collect();
        let rewriting = graph_of(&notes, format).after_moving(&moves);
        prop_assert_eq!(&rewriting.problems, &[]);
        prop_assert_eq!(fault(&notes, &rewriting, then, &[], format), None);
    }

    #[test]
    fn a_new_note_takes_over_no_link(notes in vault(), new in file(), format in format()) {
        prop_assume!(!notes.contains_key(&new));
        let rewriting = graph_of(&notes, format).after_creating(&[path(&new)]);
        prop_assert_eq!(&rewriting.problems, &[]);
        prop_assert_eq!(fault(&notes, &rewriting, str::to_owned, &[new], format), None);
    }
}

#[test]
fn the_oracle_detects_a_link_that_was_not_rewritten() {
    let link = |target: &str| vec![TextOrLink::Link("[[", target.to_owned(), "]]")];
    let notes = BTreeMap::from([("n.md".to_owned(), vec![]), ("a.md".to_owned(), link("n"))]);
    let nothing = LinkRewrite::default();
    assert!(fault(&notes, &nothing, moved("n.md", "m.md"), &[], None).is_some());
    assert!(fault(&notes, &nothing, moved("n.md", "p/n.md"), &[], None).is_none());
    let notes = BTreeMap::from([("p/n.md".to_owned(), vec![]), ("a.md".to_owned(), link("n"))]);
    assert!(fault(&notes, &nothing, str::to_owned, &["n.md".to_owned()], None).is_some());
}
