//! The examples of the CommonMark specification keep their block structure, and splicing nothing
//! changes nothing, over the fixtures and over every real vault there is.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test reads what it compares with and fails where it cannot go on"
)]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use markdown::parser::{BlockKind, Document};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Examples whose first lines are frontmatter for Obsidian, and a rule or heading for CommonMark.
const FRONTMATTER: &[&str] = &["---\nFoo\n---\nBar\n---\nBaz\n", "---\n---\n"];

#[test]
fn the_examples_of_the_specification_keep_their_block_structure() {
    let examples = examples();
    assert!(examples.len() > 600, "only {} examples were found", examples.len());
    let mut differing = Vec::new();
    for example in &examples {
        let ours: Vec<_> = Document::parse(example)
            .blocks
            .into_iter()
            .map(|block| (block.kind, block.span, block.depth))
            .collect();
        if ours != bare(example) {
            differing.push(example.as_str());
        }
    }
    assert_eq!(differing, FRONTMATTER, "these differ, of {}", examples.len());
}

#[test]
fn the_comparison_sees_a_block_that_is_missing() {
    let mut blocks = bare("# a\n\n- b\n");
    blocks.pop();
    let ours: Vec<_> = Document::parse("# a\n\n- b\n")
        .blocks
        .into_iter()
        .map(|block| (block.kind, block.span, block.depth))
        .collect();
    assert_ne!(ours, blocks);
}

#[test]
fn splicing_nothing_changes_nothing_over_all_notes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut notes = 0;
    notes += spliced(&root.join("vault-fixtures"));
    let real = root.join("../shared/vaults");
    let held = tempfile::tempdir().unwrap();
    for archive in fs::read_dir(&real).into_iter().flatten().flatten() {
        let status =
            Command::new("tar").arg("xzf").arg(archive.path()).arg("-C").arg(held.path()).status();
        assert!(status.unwrap().success(), "{:?} cannot be unpacked", archive.path());
    }
    let of_real = spliced(held.path());
    if !real.is_dir() {
        println!("SKIPPED: there are no real vaults at {real:?}");
    }
    assert!(!real.is_dir() || of_real > 1000, "only {of_real} notes in {real:?}");
    assert!(notes >= 20, "only {notes} notes in the fixtures");
    println!("{notes} notes of the fixtures, {of_real} of real vaults");
}

/// Parses every note below `folder` and joins its parts again.
fn spliced(folder: &Path) -> usize {
    let mut notes = 0;
    for path in files(folder) {
        let bytes = fs::read(&path).unwrap();
        let Ok(document) = Document::decode(&bytes) else {
            assert!(std::str::from_utf8(&bytes).is_err());
            continue;
        };
        notes += 1;
        for ranges in parts(&document) {
            let mut whole = String::new();
            let mut at = 0;
            for range in ranges {
                assert!(
                    range.start >= at && range.end <= document.text.len(),
                    "{path:?} {range:?}"
                );
                whole.push_str(&document.text[at..range.start]);
                whole.push_str(&document.text[range.clone()]);
                at = range.end;
            }
            whole.push_str(&document.text[at..]);
            assert!(whole.as_bytes() == bytes, "{path:?} differs");
        }
        for link in &document.links {
            let spelled = document.slice(&link.target);
            assert!(!spelled.contains('\n'), "{path:?} {spelled:?}");
            let Some(again) = link.form.encode_target(&link.path(document.text), spelled) else {
                continue;
            };
            assert_eq!(link.form.decode_target(&again), link.path(document.text), "{path:?}");
        }
    }
    notes
}

/// Families of ranges that stand apart and in order.
fn parts(document: &Document<'_>) -> Vec<Vec<Range<usize>>> {
    let mut targets: Vec<_> = document.links.iter().map(|link| link.target.clone()).collect();
    targets.sort_by_key(|range| range.start);
    let outer = document.blocks.iter().filter(|block| block.depth == 0);
    vec![
        targets,
        outer.map(|block| block.span.clone()).collect(),
        document.headings.iter().map(|heading| heading.start..heading.end).collect(),
        document.tags.iter().map(|tag| tag.name.clone()).collect(),
        document.block_ids.iter().map(|id| id.id.clone()).collect(),
        document.comments.clone(),
        document.frontmatter.iter().map(|matter| matter.yaml.clone()).collect(),
    ]
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// The blocks as the parser alone gives them, with no extension at all.
fn bare(text: &str) -> Vec<(BlockKind, Range<usize>, usize)> {
    let mut blocks = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let kind = match tag {
                    Tag::Paragraph => BlockKind::Paragraph,
                    Tag::Heading { level, .. } => BlockKind::Heading(level as usize),
                    Tag::BlockQuote(_) => BlockKind::Quote,
                    Tag::CodeBlock(_) => BlockKind::Code,
                    Tag::HtmlBlock => BlockKind::Html,
                    Tag::List(_) => BlockKind::List,
                    Tag::Item => BlockKind::Item,
                    _ => continue,
                };
                blocks.push((kind, range, depth));
                depth += 1;
            }
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::BlockQuote(_)
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock
                | TagEnd::List(_)
                | TagEnd::Item,
            ) => depth -= 1,
            Event::Rule => blocks.push((BlockKind::Rule, range, depth)),
            _ => {}
        }
    }
    blocks
}

/// The Markdown of every example. The parser's own source holds the specification as tests, and
/// stands wherever the parser was built from; it is read there, since its license (CC-BY-SA) is
/// not this project's.
fn examples() -> Vec<String> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let parser = packages.iter().find(|package| package["name"] == "pulldown-cmark").unwrap();
    let manifest = Path::new(parser["manifest_path"].as_str().unwrap());
    let spec = manifest.with_file_name("tests").join("suite/spec.rs");
    let source = fs::read_to_string(&spec).unwrap_or_else(|error| panic!("{spec:?}: {error}"));
    let texts = source.split("let original = r##\"").skip(1);
    texts.map(|text| text.split_once("\"##;").unwrap().0.to_owned()).collect()
}
