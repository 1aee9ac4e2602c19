//! The notes as a test sees them: which lines are where, and which note is in which file, whoever moved it.

use std::collections::{BTreeMap, BTreeSet};

use testkit::vaults::temp_vault::Files;

/// How often each word that marks a line occurs.
pub(super) type WordCounts = BTreeMap<String, usize>;

/// Names a note for as long as it lives, wherever it is moved.
pub(super) type NoteNumber = usize;

/// The words that mark lines, in order: `u-1` of the user, `m-1` of the model.
pub(super) fn marking_words(text: &str) -> Vec<String> {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let words = text.split(|letter| !is_inside(letter));
    words.filter(|word| is_marking(word)).map(str::to_owned).collect()
}

fn is_marking(word: &str) -> bool {
    let number = word.strip_prefix("u-").or_else(|| word.strip_prefix("m-"));
    number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The files outside the trash.
pub(super) fn outside_trash(files: &Files) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    files.iter().filter(|(path, _)| !is_in_trash(path))
}

pub(super) fn is_in_trash(path: &str) -> bool {
    path.starts_with(".trash/")
}

pub(super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How often each marking word is in these files.
pub(super) fn count_words<'a>(
    files: impl Iterator<Item = (&'a String, &'a Vec<u8>)>,
) -> WordCounts {
    let mut counts = WordCounts::new();
    for word in files.flat_map(|(_, bytes)| marking_words(&text_of(bytes))) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Lines that nobody wrote so: two lines joined, or a part of one.
pub(super) fn torn_lines(files: &Files) -> Vec<String> {
    let mut torn = Vec::new();
    for (path, bytes) in outside_trash(files) {
        let text = text_of(bytes);
        torn.extend(
            text.lines()
                .filter(|line| !is_whole_line(line))
                .map(|line| format!("{path}: {line:?}")),
        );
    }
    torn
}

fn is_whole_line(line: &str) -> bool {
    let is_list = line.starts_with("tags:") || line.starts_with("  - ");
    let is_frame = line.is_empty() || line == "---" || line.starts_with('#');
    let is_property = line.starts_with("status: ") || line.starts_with("owner: ");
    match marking_words(line).as_slice() {
        [] => is_frame || is_list,
        [word] => is_list || is_property || line.starts_with(word.as_str()),
        _ => is_list,
    }
}

/// The place of each note.
#[derive(Debug, Clone, Default)]
pub(super) struct NoteIdentities {
    places: BTreeMap<String, NoteNumber>,
    trashed: Vec<(NoteNumber, Vec<u8>)>,
    count: NoteNumber,
}

impl NoteIdentities {
    /// A new note is at a path.
    pub(super) fn create(&mut self, path: &str) {
        self.count += 1;
        self.places.insert(path.to_owned(), self.count);
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.places.remove(path);
    }

    pub(super) fn at(&self, path: &str) -> Option<NoteNumber> {
        self.places.get(path).copied()
    }

    pub(super) fn is_alive(&self, note: NoteNumber) -> bool {
        self.places.values().any(|one| *one == note)
    }

    pub(super) fn paths(&self) -> BTreeSet<&String> {
        self.places.keys().collect()
    }

    /// A note or a folder with its notes gets another path.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let places = std::mem::take(&mut self.places);
        let renamed = places.into_iter().map(|(path, note)| match path.strip_prefix(from) {
            Some("") => (to.to_owned(), note),
            Some(rest) if rest.starts_with('/') => (format!("{to}{rest}"), note),
            _ => (path, note),
        });
        self.places = renamed.collect();
    }

    /// A note, or all notes of a folder, go to the trash with these texts.
    pub(super) fn trash(&mut self, path: &str, files: &Files) {
        let is_it = |place: &String| place == path || is_below(place, path);
        let gone: Vec<String> = self.places.keys().filter(|place| is_it(place)).cloned().collect();
        for place in gone {
            let note = self.places.remove(&place).unwrap_or_default();
            self.trashed.push((note, files.get(&place).cloned().unwrap_or_default()));
        }
    }

    /// A note with this text comes back from the trash, or is a new one.
    pub(super) fn restore(&mut self, path: &str, bytes: &[u8]) {
        let place = self.trashed.iter().rposition(|(_, text)| text == bytes);
        match place {
            Some(place) => {
                let (note, _) = self.trashed.remove(place);
                self.places.insert(path.to_owned(), note);
            }
            None => self.create(path),
        }
    }
}

/// The note that each link of a line leads to, by the word that marks the line; none for a broken link. Links
/// by a name that several notes have are not among them.
pub(super) fn link_targets(
    files: &Files,
    notes: &NoteIdentities,
) -> BTreeMap<(String, usize), Option<NoteNumber>> {
    let mut targets = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for (path, bytes) in outside_trash(files) {
        for line in text_of(bytes).lines() {
            let Some(word) = marking_words(line).into_iter().next() else { continue };
            for (place, link) in links_in(line).into_iter().enumerate() {
                if is_name_shared(&link, files) {
                    continue;
                }
                let target = resolve_link(path, &link, files).and_then(|at| notes.at(&at));
                let key = (word.clone(), place);
                if targets.insert(key.clone(), target).is_some() {
                    twice.insert(key);
                }
            }
        }
    }
    targets.retain(|key, _| !twice.contains(key));
    targets
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NoteLink {
    ByName(String),
    ByPath(String),
}

fn links_in(line: &str) -> Vec<NoteLink> {
    let mut found = Vec::new();
    for part in line.split("[[").skip(1) {
        let inside = part.split("]]").next().unwrap_or_default();
        let name = inside.split(['#', '|']).next().unwrap_or_default();
        found.push(NoteLink::ByName(name.to_owned()));
    }
    for part in line.split("](").skip(1) {
        found.push(NoteLink::ByPath(part.split(')').next().unwrap_or_default().to_owned()));
    }
    found
}

/// Whether several notes have the name that a link gives.
///
/// Known limit: an undo of moves may lead a link to another note of the same name that it moves too.
fn is_name_shared(link: &NoteLink, files: &Files) -> bool {
    let (NoteLink::ByName(name) | NoteLink::ByPath(name)) = link;
    let name = file_name(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let wanted = format!("/{name}.md");
    outside_trash(files).filter(|(path, _)| format!("/{path}").ends_with(&wanted)).count() > 1
}

/// Whether two notes have one name.
pub(super) fn are_names_shared(files: &Files) -> bool {
    let mut names = BTreeSet::new();
    !outside_trash(files).all(|(path, _)| names.insert(file_name(path)))
}

/// A text in which the links by path name their notes only.
pub(super) fn with_links_by_name(text: &str) -> String {
    let mut parts = text.split("](");
    let mut by_name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once(')').unwrap_or((part, ""));
        by_name.push_str("](");
        by_name.push_str(file_name(path));
        by_name.push(')');
        by_name.push_str(rest);
    }
    by_name
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The note that a link means, if no other has its name.
fn resolve_link(from: &str, link: &NoteLink, files: &Files) -> Option<String> {
    match link {
        NoteLink::ByName(name) => {
            let name = name.strip_suffix(".md").unwrap_or(name);
            let wanted = format!("/{name}.md");
            let mut found =
                outside_trash(files).filter(|(path, _)| format!("/{path}").ends_with(&wanted));
            found.next().map(|(path, _)| path.clone())
        }
        NoteLink::ByPath(path) => {
            let from_top = path.trim_start_matches('/').to_owned();
            let from_here = path_from(from, path);
            from_here.into_iter().chain([from_top]).find(|at| files.contains_key(at))
        }
    }
}

/// `path` as seen from the folder of the note `from`; `None` where it leads out of the vault, to no note.
fn path_from(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_out_of_the_vault_leads_to_no_note() {
        assert_eq!(path_from("Home/Note1.md", "../Note2.md").as_deref(), Some("Note2.md"));
        assert_eq!(path_from("Home/Note1.md", "./Note2.md").as_deref(), Some("Home/Note2.md"));
        assert_eq!(path_from("Note1.md", "../Home/Note2.md"), None);
    }

    #[test]
    fn lines_are_whole_or_torn() {
        assert_eq!(marking_words("u-1 see [[Note2]] and m-22, u-x"), ["u-1", "m-22"]);
        for line in
            ["", "---", "## Tasks", "u-1", "m-2 [[Note3]]", "status: u-4", "tags: [u-1, m-2]"]
        {
            assert!(is_whole_line(line), "{line}");
        }
        for line in ["u-1u-2", "u-1 m-2", "-1", "words", "x u-1"] {
            assert!(!is_whole_line(line), "{line}");
        }
    }

    #[test]
    fn only_the_folders_of_a_link_may_differ() {
        let text = |link: &str, rest: &str| format!("u-1 [x]({link}) u-2\n{rest}\n");
        let same = |a: &str, b: &str| with_links_by_name(a) == with_links_by_name(b);
        assert!(same(&text("../Note4.md", "u-3"), &text("Note4.md", "u-3")));
        assert!(!same(&text("../Note4.md", "u-3"), &text("Note5.md", "u-3")));
        assert!(!same(&text("../Note4.md", "u-3"), &text("Note4.md", "u-4")));
        assert!(!same("Home/u-1 ../u-2\n", "u-1 u-2\n"));
    }

    #[test]
    fn links_lead_to_the_note_wherever_it_is() {
        let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
        let files: Files = [
            file("A/One.md", "u-1 [[Two]]\nu-2 [x](../B/Two.md)\nu-3 [[None]]\n"),
            file("B/Two.md", ""),
        ]
        .into();
        let mut notes = NoteIdentities::default();
        notes.create("A/One.md");
        notes.create("B/Two.md");
        let two = notes.at("B/Two.md");
        let targets: Vec<_> = link_targets(&files, &notes).into_values().collect();
        assert_eq!(targets, [two, two, None]);
    }
}
