//! What the window looks up: names, lines, links, tags, properties and tasks, as the user sees them.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use index::{Cut, Found, Hit, Query, SearchError, literal};
use markdown::Properties;
use protocol::looking::{
    CountedWord, CountedWords, CutShort, FoundLine, FoundLines, FoundNames, FoundNote, Having,
    LinkIn, LinkOut, Meaning, NamedNote, NoteLinks, NoteList, PrivateNote, SearchText,
};
use protocol::{ErrorCode, NotePath, UserError};
use vault::VaultError;

use crate::App;
use crate::aside::aside;
use crate::open_vault::OpenVault;
use crate::trouble::{of_note, sentence};

/// How many names a switcher shows.
const NAMES: usize = 50;
/// Files that cannot be shown are among those that are found by name.
const NAMES_LOOKED_AT: usize = 10 * NAMES;
/// How many lines a search shows.
const LINES: u16 = 200;
/// How many words, notes or tasks a list shows.
const LISTED: usize = 500;
/// How many links a note shows, each way.
const LINKS: usize = 100;
/// The window goes on asking while the user types: nobody waits longer for an answer.
const DEADLINE: Duration = Duration::from_secs(3);

impl App {
    /// The notes whose names fit `query` best; without one those that were shown last come first.
    pub async fn find_names(&self, query: &str) -> Result<FoundNames, UserError> {
        let query = query.to_owned();
        let found = self.look_up(move |open| {
            let recent = open.recent.all();
            let named = open.indexing.user.names(&query, &recent, NAMES_LOOKED_AT)?;
            let mut notes = named.into_iter().filter(|named| named.path.is_markdown());
            let linked = |named: index::Named| (open.indexing.user.link_to(&named.path), named);
            let names: Vec<_> = notes.by_ref().take(NAMES).map(linked).collect();
            Ok((names, notes.next().is_some()))
        });
        let (names, more) = found.await?.map_err(|error: VaultError| of_note(&error))?;
        let paths = names.iter().map(|(_, named)| named.path.clone()).collect();
        let private = self.open().await?.kept_from_model(paths).await?;
        let names = names.into_iter().zip(private);
        let names =
            names.map(|((link, named), private)| named_note(named, link, private)).collect();
        Ok(FoundNames { names, more })
    }

    /// The lines that match. Refused with [`ErrorCode::Pattern`] when the pattern is no regular
    /// expression.
    pub async fn search_text(&self, request: SearchText) -> Result<FoundLines, UserError> {
        let pattern = match request.meaning {
            Meaning::Literal => literal(&request.pattern),
            Meaning::Regex => request.pattern,
        };
        let query = Query {
            pattern,
            file_pattern: None,
            context_lines: 0,
            max_results: LINES,
            case_sensitive: request.case_sensitive,
        };
        let found = self.look_up(move |open| open.indexing.user.search(&query, DEADLINE));
        found.await?.map(found_lines).map_err(not_searched)
    }

    /// The links of a note, both ways; `None` until the index stands.
    pub async fn note_links(&self, note: NotePath) -> Result<Option<NoteLinks>, UserError> {
        self.look_up(move |open| links(open, &note)).await
    }

    /// What links name that is not there, where `query` is part of it; `None` until the index
    /// stands.
    pub async fn unresolved_links(&self, query: &str) -> Result<Option<CountedWords>, UserError> {
        let all = self.look_up(|open| {
            let dead = open.indexing.user.unresolved()?.into_iter();
            Some(dead.map(|dead| counted(dead.link, dead.sources.len())).collect())
        });
        Ok(all.await?.map(|all| words(all, query)))
    }

    /// Those of `links`, paths as an answer names them, that lead to nothing in the vault; `None`
    /// until the index stands.
    pub async fn dead_links(&self, links: Vec<String>) -> Result<Option<Vec<String>>, UserError> {
        self.look_up(move |open| open.indexing.user.dead_among(links)).await
    }

    /// The tags that `query` is part of; `None` until the index stands.
    pub async fn list_tags(&self, query: &str) -> Result<Option<CountedWords>, UserError> {
        let all = self.look_up(|open| {
            let tags = open.indexing.user.tags()?.into_iter();
            Some(tags.map(|tag| counted(tag.tag, tag.notes)).collect())
        });
        let query = query.trim_start_matches('#');
        Ok(all.await?.map(|all| words(all, query)))
    }

    /// The properties that `query` is part of; `None` until the index stands.
    pub async fn list_properties(&self, query: &str) -> Result<Option<CountedWords>, UserError> {
        let all = self.look_up(|open| {
            let properties = open.indexing.user.properties()?.into_iter();
            Some(properties.map(|property| counted(property.name, property.notes)).collect())
        });
        Ok(all.await?.map(|all| words(all, query)))
    }

    /// The values of a property that `query` is part of; `None` until the index stands.
    pub async fn property_values(
        &self,
        property: &str,
        query: &str,
    ) -> Result<Option<CountedWords>, UserError> {
        let property = property.to_owned();
        let all = self.look_up(move |open| {
            let values = open.indexing.user.values(&property)?.into_iter();
            Some(values.map(|value| counted(value.value, value.notes)).collect())
        });
        Ok(all.await?.map(|all| words(all, query)))
    }

    /// The notes that have something in common; `None` until the index stands.
    pub async fn notes_having(&self, having: Having) -> Result<Option<NoteList>, UserError> {
        let all = self.look_up(move |open| {
            let index = &open.indexing.user;
            match &having {
                Having::Tag { tag } => index.tagged(tag),
                Having::Value { property, value } => index.valued(property, value),
                Having::DeadLink { link } => {
                    let mut dead = index.unresolved()?.into_iter();
                    Some(
                        dead.find(|dead| dead.link == *link)
                            .map_or(Vec::new(), |dead| dead.sources),
                    )
                }
            }
        });
        Ok(all.await?.map(|mut notes| {
            let total = count(notes.len());
            notes.truncate(LISTED);
            NoteList { notes, total }
        }))
    }

    /// The open tasks that `query` is part of; `None` until the index stands.
    pub async fn list_tasks(&self, query: &str) -> Result<Option<FoundLines>, UserError> {
        let query = query.trim().to_lowercase();
        self.look_up(move |open| tasks(open, &query)).await
    }

    /// Works on the notes where it holds up nobody.
    pub(crate) async fn look_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&OpenVault) -> T + Send + 'static,
    ) -> Result<T, UserError> {
        let open = self.open().await?;
        aside(move || work(&open)).await
    }
}

fn named_note(named: index::Named, link: String, private: Option<PrivateNote>) -> NamedNote {
    let letters: HashSet<usize> =
        named.marks.iter().filter_map(|mark| usize::try_from(*mark).ok()).collect();
    let mut marks: Vec<(u32, u32)> = Vec::new();
    let mut at = 0;
    for (number, letter) in named.name.chars().enumerate() {
        let end = at + count(letter.len_utf16());
        if letters.contains(&number) {
            match marks.last_mut().filter(|(_, last)| *last == at) {
                Some((_, last)) => *last = end,
                None => marks.push((at, end)),
            }
        }
        at = end;
    }
    let index::Named { path, name, is_alias: alias, .. } = named;
    NamedNote { path, name, alias, marks, link, private }
}

fn found_lines(found: Found) -> FoundLines {
    let cut = found.cut.map(|cut| match cut {
        Cut::Results => CutShort::Length,
        Cut::Time => CutShort::Time,
    });
    let (lines, files) = (found.total, found.files);
    let placed = found.hits.into_iter().map(|hit| (hit.path.clone(), found_line(hit)));
    FoundLines { notes: by_note(placed), lines, files, cut }
}

fn found_line(Hit { line, text, marks, .. }: Hit) -> FoundLine {
    let wide = |end: usize| count(text.get(..end).unwrap_or_default().encode_utf16().count());
    let marks = marks.iter().map(|mark| (wide(mark.start), wide(mark.end))).collect();
    FoundLine { line, marks, text }
}

/// Lines of one note, which follow each other, are put together.
fn by_note(lines: impl Iterator<Item = (NotePath, FoundLine)>) -> Vec<FoundNote> {
    let mut notes: Vec<FoundNote> = Vec::new();
    for (path, line) in lines {
        match notes.last_mut().filter(|note| note.path == path) {
            Some(note) => note.lines.push(line),
            None => notes.push(FoundNote { path, lines: vec![line] }),
        }
    }
    notes
}

fn not_searched(error: SearchError) -> UserError {
    match error {
        SearchError::BadPattern { pattern, why, .. } => UserError::new(
            ErrorCode::Pattern,
            format!(
                "“{pattern}” is no regular expression: {why}. Put it right, or look for exactly \
                 these words."
            ),
        ),
        SearchError::Vault(error) => of_note(&error),
        error => UserError::other(sentence(&error.to_string())),
    }
}

fn links(open: &OpenVault, note: &NotePath) -> Option<NoteLinks> {
    let index = &open.indexing.user;
    let mut known = HashSet::new();
    let out = index.outgoing(note)?.into_iter();
    let out = out.map(|link| LinkOut { to: link.targets.into_iter().next(), name: link.link.path });
    let mut out: Vec<LinkOut> = out
        .filter(|link| match &link.to {
            Some(to) => to != note && known.insert(to.to_string()),
            None => known.insert(link.name.to_lowercase()),
        })
        .collect();
    let mut sources = BTreeSet::new();
    let back = index.backlinks(note)?.into_iter();
    let mut back: Vec<LinkIn> = back
        .filter(|link| sources.insert(link.source.clone()))
        .map(|link| LinkIn { from: link.source, line: count(link.link.line) })
        .collect();
    let (out_total, back_total) = (count(out.len()), count(back.len()));
    out.truncate(LINKS);
    back.truncate(LINKS);
    Some(NoteLinks { out, out_total, back, back_total, unclear_line: unclear_line(open, note) })
}

/// The first line of a note's properties that is not understood.
fn unclear_line(open: &OpenVault, note: &NotePath) -> Option<u32> {
    let note = open.vault.read(note).ok().filter(|note| note.path.is_markdown())?;
    let properties = Properties::of(&markdown::lossy_text(&note.bytes));
    properties.malformed().map(|wrong| count(wrong.line))
}

fn tasks(open: &OpenVault, query: &str) -> Option<FoundLines> {
    let all = open.indexing.user.tasks()?.into_iter();
    let wanted = |words: &str| query.is_empty() || words.to_lowercase().contains(query);
    let mut tasks: Vec<_> = all.filter(|task| task.mark == ' ' && wanted(&task.words)).collect();
    let files: BTreeSet<&NotePath> = tasks.iter().map(|task| &task.path).collect();
    let (lines, files) = (count(tasks.len()), count(files.len()));
    let cut = (tasks.len() > LISTED).then_some(CutShort::Length);
    tasks.truncate(LISTED);
    let placed = tasks.into_iter().map(|task| {
        (task.path, FoundLine { line: task.line, text: task.words, marks: Vec::new() })
    });
    Some(FoundLines { notes: by_note(placed), lines, files, cut })
}

fn counted(word: String, notes: usize) -> CountedWord {
    CountedWord { word, notes: count(notes) }
}

/// Those that hold the query, as many as are shown.
fn words(mut all: Vec<CountedWord>, query: &str) -> CountedWords {
    let query = query.trim().to_lowercase();
    all.retain(|word| query.is_empty() || word.word.to_lowercase().contains(&query));
    let total = count(all.len());
    all.truncate(LISTED);
    CountedWords { words: all, total }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_as_the_window_counts_letters() {
        let path = NotePath::parse("🌱 Seeds.md").expect("a path");
        let named = |name: &str, marks: &[u32]| {
            let named = index::Named {
                path: path.clone(),
                name: name.into(),
                is_alias: false,
                marks: marks.into(),
            };
            named_note(named, String::new(), None).marks
        };
        assert_eq!(named("🌱 Seeds", &[0, 2, 3]), [(0, 2), (3, 5)]);
        assert_eq!(named("Plan", &[]), []);
        let hit = Hit {
            path,
            line: 3,
            text: "é🌱x".into(),
            marks: vec![2..6, 6..7],
            before: Vec::new(),
            after: Vec::new(),
        };
        assert_eq!(found_line(hit).marks, [(1, 3), (3, 4)]);
    }

    #[test]
    fn words_are_picked_by_a_part_of_them_in_any_case() {
        let all = || vec![counted("Garden".into(), 2), counted("food/bread".into(), 1)];
        let picked = words(all(), " DEN ");
        assert_eq!(picked, CountedWords { words: vec![counted("Garden".into(), 2)], total: 1 });
        assert_eq!(words(all(), "").total, 2);
    }
}
