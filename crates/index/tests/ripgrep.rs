//! Searches find the same lines as ripgrep, in odd notes and in real and generated vaults.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::{GrepQuery, Index};
use protocol::{ChangeSet, PrivateRules};
use tempfile::TempDir;
use vault::{EntryKind, NOTE_LIMIT, Vault};

/// Rare, common, absent, classes, anchors, several bytes a sign, alternatives, empty, ends.
const PATTERNS: [&str; 17] = [
    "zanzibar",
    "the",
    "no such words anywhere",
    r"\p{Cyrillic}{3,}",
    "^# ",
    r"\.$",
    "Größe|日記|идея",
    r"\d{4}-\d{2}-\d{2}",
    r"(one|two|three)\b",
    r"^\s*$",
    "x*",
    r"\[\[[^\]]+\]\]",
    r"[^\x00-\x7F]",
    r"\Aa",
    r"b\z",
    "🧠",
    r"(?-u:\xFF)",
];

/// Paths and lines.
type RipgrepLines = BTreeSet<(String, u32)>;

/// All places in `folder`, as ripgrep finds them; `None` for a pattern that it refuses.
fn rg(folder: &Path, pattern: &str, more: &[&str]) -> Option<RipgrepLines> {
    let output = Command::new("rg")
        .args(["-n", "--no-heading", "--no-config", "-u", "-g", "*.md"])
        .args(more)
        .args(["--null", "-e", pattern, "."])
        .current_dir(folder)
        .output()
        .expect("ripgrep is installed by ./dev");
    if output.status.code() == Some(2) {
        return None;
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| line.contains(&0));
    let place = |line: &[u8]| {
        let (path, rest) = line.split_at(line.iter().position(|byte| *byte == 0).unwrap());
        let number: Vec<u8> = rest[1..].iter().copied().take_while(u8::is_ascii_digit).collect();
        let path = String::from_utf8(path.to_vec()).unwrap();
        let number = String::from_utf8(number).unwrap().parse().ok()?;
        Some((path.trim_start_matches("./").to_owned(), number))
    };
    Some(lines.filter_map(place).collect())
}

/// How many lines match and in how many notes, and those that are shown; `None` for a pattern that
/// is refused.
fn ours(index: &Index, vault: &Vault, pattern: &str) -> Option<(u32, u32, RipgrepLines)> {
    let query = GrepQuery {
        pattern: pattern.to_owned(),
        file_pattern: None,
        context_lines: 0,
        max_results: u16::MAX,
        max_per_note: 5,
        case_sensitive: true,
    };
    let found =
        index.search(vault, &ChangeSet::default(), &query, Duration::from_secs(600)).ok()?;
    let hits = found.hits.iter().map(|hit| (hit.path.to_string(), hit.line)).collect();
    Some((found.total, found.files, hits))
}

/// Compares every pattern over all notes of `folder`, without an index and with one.
fn compare(folder: &Path, patterns: &[&str]) {
    let vault = Vault::open(folder).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let index = Index::new(&vault, PrivateRules::default(), dir.path());
    let listed = vault.list().unwrap().entries.into_iter();
    let is_note =
        |entry: &vault::VaultEntry| entry.kind == EntryKind::Note && entry.size <= NOTE_LIMIT;
    let notes: BTreeSet<String> = listed.filter(is_note).map(|entry| entry.path.into()).collect();
    for stands in [false, true] {
        if stands {
            index.catch_up(&AtomicBool::new(false)).unwrap();
        }
        for pattern in patterns {
            let (Some(theirs), Some(ours)) =
                (rg(folder, pattern, &[]), ours(&index, &vault, pattern))
            else {
                assert!(ours(&index, &vault, pattern).is_none(), "only ripgrep refuses {pattern}");
                continue;
            };
            // Notes that the vault does not hand out are not searched.
            let covered = |(path, _): &(String, u32)| notes.contains(path);
            let theirs: BTreeSet<_> = theirs.into_iter().filter(covered).collect();
            let files: BTreeSet<&String> = theirs.iter().map(|(path, _)| path).collect();
            let count = (theirs.len(), files.len());
            assert_eq!((ours.0 as usize, ours.1 as usize), count, "{pattern}, index: {stands}");
            assert!(ours.2.is_subset(&theirs), "{pattern}, index: {stands}");
            println!("{pattern}: {} lines in {} notes, index: {stands}", count.0, count.1);
        }
    }
}

fn odd_notes() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let large = "filler\n".repeat(20_000);
    let notes: Vec<(&str, Vec<u8>)> = vec![
        ("empty.md", vec![]),
        ("one break.md", b"\n".to_vec()),
        ("open end.md", b"one\ntwo the end.".to_vec()),
        ("next.md", b"a the line\r\nthe\r\n\r\nb".to_vec()),
        ("marked.md", b"\xEF\xBB\xBF# the heading\n".to_vec()),
        ("utf16.md", [b"\xFF\xFE".as_slice(), &utf16("# the wide\nb")].concat()),
        ("zero.md", b"the start\n\0\nthe end\n".to_vec()),
        ("late zero.md", format!("the start\n{large}the middle\n\0\nthe end\n").into_bytes()),
        ("bytes.md", b"the \xFF byte\nand \xC3\x28\n".to_vec()),
        // Shorter than ripgrep's buffer: where it has grown for a longer one, ripgrep finds a late zero
        // byte earlier, and other lines before it.
        ("long.md", "the ".repeat(10_000).into_bytes()),
        ("deep/a/b/c.md", "🧠 brain the 日記\n".into()),
    ];
    for (path, bytes) in notes {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    folder
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn odd_notes_have_the_same_lines() {
    compare(odd_notes().path(), &PATTERNS);
}

#[test]
fn the_comparison_notices_a_line_that_is_missing() {
    let folder = odd_notes();
    let vault = Vault::open(folder.path()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let index = Index::new(&vault, PrivateRules::default(), dir.path());
    index.catch_up(&AtomicBool::new(false)).unwrap();
    fs::write(folder.path().join("later.md"), "the late note").unwrap();
    let theirs = rg(folder.path(), "the", &[]).unwrap();
    assert_ne!(ours(&index, &vault, "the").unwrap().0 as usize, theirs.len());
}

#[test]
fn a_generated_and_the_real_vaults_have_the_same_lines() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !shared.is_dir() {
        println!("SKIPPED: there are no vaults at {shared:?}");
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let status = Command::new("python3")
        .arg(shared.join("gen_vault.py"))
        .args([made.path().as_os_str(), "1500".as_ref(), "3".as_ref()])
        .status();
    assert!(status.unwrap().success());
    compare(made.path(), &PATTERNS);
    for archive in fs::read_dir(shared.join("vaults")).unwrap().flatten() {
        let held = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar");
        let status = tar.arg("xzf").arg(archive.path()).arg("-C").arg(held.path()).status();
        assert!(status.unwrap().success(), "{archive:?} cannot be unpacked");
        compare(held.path(), &PATTERNS);
    }
}
