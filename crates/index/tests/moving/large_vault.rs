//! Moves over large and over real vaults: every link and every byte is looked at.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use index::links::LinkGraph;
use protocol::{ChangeSet, NotePath};
use vault::{EntryKind, Vault};

use crate::path;

/// 10,000 notes of about 2 kB with five links each; 200 of the links lead to `Hub note`.
fn large() -> BTreeMap<String, String> {
    let name = |n: usize| format!("Folder {}/Note {n}.md", n % 100);
    let mut notes = BTreeMap::new();
    for n in 0..10_000_usize {
        let mut text = format!("---\ntags: [t{}]\n---\n# Note {n}\n\n", n % 7);
        for link in 0..5_usize {
            let other = (n * 31 + link * 977 + 1) % 10_000;
            match (link, n % 50) {
                (0, 0) => text.push_str("A line with [[Hub note|the hub]] in it.\n\n"),
                (1 | 2, _) => {
                    text.push_str(&format!("See [x](../{}).\n\n", name(other).replace(' ', "%20")))
                }
                (3, _) => {
                    text.push_str(&format!("![[{}]]\n\n", name(other).trim_end_matches(".md")))
                }
                _ => text.push_str(&format!("- [[Note {other}#Head|shown]] and words\n\n")),
            }
            text.push_str(&"Plain words that say nothing, with *emphasis* and `code`. ".repeat(6));
            text.push_str("\n\n");
        }
        notes.insert(name(n), text);
    }
    notes.insert("Hub note.md".to_owned(), "# Hub\n\n[[Note 1]]\n".to_owned());
    notes
}

/// The time limit of the plan; without optimizations or with other work running it only must end.
const LONGEST: Duration =
    if cfg!(debug_assertions) { Duration::from_secs(300) } else { Duration::from_millis(500) };

#[test]
fn a_move_in_a_vault_of_ten_thousand_notes_is_planned_quickly_and_loses_no_link() {
    let notes = large();
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in &notes {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    let nothing = ChangeSet::default();
    let plan = |from: &str, to: &str| {
        let begun = Instant::now();
        let rewriting = LinkGraph::from_vault(&vault, &nothing)
            .unwrap()
            .after_moving(&[(path(from), path(to))]);
        (rewriting, begun.elapsed())
    };
    let (rewriting, took) = plan("Hub note.md", "Hubs/Centre.md");
    println!("200 backlinks among 10,000 notes planned in {took:?}");
    assert_eq!(rewriting.problems, []);
    assert_eq!(rewriting.files.len(), 200);
    for file in &rewriting.files {
        let expected = notes[file.path.as_str()].replace("[[Hub note|", "[[Centre|");
        assert!(file.after == expected.as_bytes(), "{}", file.path);
    }
    assert!(took < LONGEST, "it took {took:?}");
    let (rewriting, took) = plan("Folder 7/Note 107.md", "Folder 8/Other.md");
    println!("a name that every note holds: {took:?}");
    assert!(rewriting.files.len() >= 4 && rewriting.problems.is_empty());
    assert!(took < LONGEST, "it took {took:?}");
}

/// Moves `from`, a file or folder, to `to` and compares every link and byte of all notes with the
/// state before: how many links there are, and how many files were rewritten.
fn moved_whole(
    notes: &BTreeMap<NotePath, Vec<u8>>,
    from: &NotePath,
    to: &NotePath,
) -> (usize, usize) {
    let then = |file: &NotePath| file.after_move(from, to).unwrap_or_else(|| file.clone());
    let read = |at: &NotePath| notes.get(at).map(|bytes| Cow::Borrowed(bytes.as_slice()));
    let graph = LinkGraph::new(notes.keys().cloned().collect(), read, None);
    let inside = notes.keys().filter(|file| file.is_in(from));
    let moves: Vec<_> = inside.map(|file| (file.clone(), then(file))).collect();
    let rewriting = graph.after_moving(&moves);
    assert_eq!(rewriting.problems, []);
    let rewritten: BTreeMap<&NotePath, &[u8]> =
        rewriting.files.iter().map(|file| (&file.path, file.after.as_slice())).collect();
    let new_bytes =
        |file: &NotePath| rewritten.get(file).copied().unwrap_or(notes[file].as_slice());
    let after: BTreeMap<NotePath, &[u8]> =
        notes.keys().map(|file| (then(file), new_bytes(file))).collect();
    let read = |at: &NotePath| after.get(at).map(|bytes| Cow::Borrowed(*bytes));
    let graph_after = LinkGraph::new(after.keys().cloned().collect(), read, None);
    let mut links = 0;
    for (file, bytes) in notes {
        let (old, new) = (graph.outgoing_links(file), graph_after.outgoing_links(&then(file)));
        let bytes_after = after[&then(file)];
        assert_eq!(old.len(), new.len(), "{file}");
        let (mut at, mut at_new) = (0, 0);
        for (old, new) in old.iter().zip(&new) {
            let leads = old.targets.first().map(then);
            assert!(leads.is_none() || leads == new.targets.first().cloned(), "{file}: {old:?}");
            assert!(
                bytes[at..old.link.at.start] == bytes_after[at_new..new.link.at.start],
                "{file}"
            );
            (at, at_new) = (old.link.at.end, new.link.at.end);
            links += 1;
        }
        assert!(bytes[at..] == bytes_after[at_new..], "{file}");
    }
    (links, rewriting.files.len())
}

#[test]
fn all_fifty_thousand_links_lead_where_they_led_after_a_folder_moved() {
    let notes = large().into_iter().map(|(file, text)| (path(&file), text.into_bytes())).collect();
    let (links, files) = moved_whole(&notes, &path("Folder 7"), &path("Deep/Seventh folder"));
    println!("{links} links, {files} files rewritten");
    assert!(links >= 50_000 && files >= 300, "{links} {files}");
}

#[test]
fn moves_in_the_real_vaults_lose_no_link() {
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vaults");
    let archives: Vec<_> = fs::read_dir(&real).into_iter().flatten().flatten().collect();
    if archives.is_empty() {
        println!("SKIPPED: there are no real vaults at {real:?}");
    }
    for archive in archives {
        let held = tempfile::tempdir().unwrap();
        let (mut tar, held_at) = (Command::new("tar"), held.path());
        let status = tar.arg("xzf").arg(archive.path()).arg("-C").arg(held_at).status();
        assert!(status.unwrap().success(), "{archive:?} cannot be unpacked");
        let vault = Vault::open(held.path()).unwrap();
        let entries = vault.list().unwrap().entries.into_iter();
        let files = entries.filter(|entry| entry.kind == EntryKind::Note).map(|entry| entry.path);
        let notes: BTreeMap<NotePath, Vec<u8>> =
            files.filter_map(|file| Some((file.clone(), vault.read_bytes(&file).ok()?))).collect();
        let read = |at: &NotePath| notes.get(at).map(|bytes| Cow::Borrowed(bytes.as_slice()));
        let graph = LinkGraph::new(notes.keys().cloned().collect(), read, None);
        let mut led_to: BTreeMap<NotePath, usize> = BTreeMap::new();
        for target in notes.keys().flat_map(|file| graph.outgoing_links(file)) {
            *led_to.entry(target.targets.first().cloned().unwrap_or(path("none"))).or_default() +=
                1;
        }
        led_to.remove(&path("none"));
        let most =
            led_to.iter().max_by_key(|(_, links)| **links).map(|(file, _)| file.clone()).unwrap();
        let folder = path(most.folder().unwrap());
        for (from, to) in
            [(most, path("Elsewhere/A new name.md")), (folder, path("Elsewhere/Whole"))]
        {
            let (links, files) = moved_whole(&notes, &from, &to);
            println!("{} notes, {links} links: {from} moved, {files} files rewritten", notes.len());
        }
    }
}
