//! Queries of the window: names, lines, links, tags, properties and tasks, as the user sees them.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use index::{CutReason, GrepHit, GrepQuery, GrepResult, SearchError, UserIndex, escape_literal};
use markdown::Properties;
use protocol::error::sentence;
use protocol::notes::query::{
    CountedValue, CountedValues, LineMatch, LineMatches, NameMatch, NameMatches, NoteBacklink,
    NoteCriterion, NoteLineMatches, NoteLinks, NoteList, NoteOutgoingLink, PatternKind,
    PrivateNote, TextSearch, TruncationReason,
};
use protocol::{ErrorCode, NotePath, UserError};
use unicode_normalization::UnicodeNormalization as _;
use vault::{Vault, VaultError};

use crate::App;
use crate::notes::Notes;
use crate::support::blocking::run_blocking;
use crate::user_texts;

/// How many names a switcher shows.
const MAX_NAMES: usize = 50;
/// How many lines a search shows.
const MAX_LINES: u16 = 200;
/// More matches of one note are left out, so that those of other notes have room.
const MAX_LINES_PER_NOTE: u16 = 5;
/// How many words, notes or tasks a list shows.
const MAX_LIST_ENTRIES: usize = 500;
/// How many links a note shows, each way.
const MAX_LINKS: usize = 100;
/// The window goes on asking while the user types: nobody waits longer for an answer.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3);

impl App {
    /// The notes whose names fit `query` best; without one those that were shown last come first.
    pub async fn find_names(&self, query: &str) -> Result<NameMatches, UserError> {
        let query = query.to_owned();
        let found = self.run_query(move |open| {
            let recent = open.viewer.recent.all();
            let index = &open.indexer.user;
            // One more than is returned tells that there are more.
            let notes = index.find_files(&query, &recent, MAX_NAMES + 1, NotePath::is_markdown)?;
            let more = notes.len() > MAX_NAMES;
            let linked = |named: index::FoundFile| (index.link_to(&named.path), named);
            let names: Vec<_> = notes.into_iter().take(MAX_NAMES).map(linked).collect();
            Ok::<_, VaultError>((names, more))
        });
        let (names, more) = found.await??;
        Ok(NameMatches { names: self.name_matches(names).await?, more })
    }

    /// All notes whose file has this name, in whichever Unicode form.
    pub async fn notes_named(&self, file_name: &str) -> Result<Vec<NameMatch>, UserError> {
        let file_name: String = file_name.nfc().collect();
        let found = self.run_query(move |open| {
            let index = &open.indexer.user;
            let is_named =
                |path: &NotePath| path.is_markdown() && path.name().nfc().eq(file_name.chars());
            // Without a query all of them are returned.
            let notes = index.find_files("", &[], usize::MAX, is_named)?;
            let linked = |named: index::FoundFile| (index.link_to(&named.path), named);
            Ok::<_, VaultError>(notes.into_iter().map(linked).collect::<Vec<_>>())
        });
        let names = found.await??;
        self.name_matches(names).await
    }

    /// Found notes, each with its link, as the window is told of them.
    async fn name_matches(
        &self,
        found: Vec<(String, index::FoundFile)>,
    ) -> Result<Vec<NameMatch>, UserError> {
        let paths = found.iter().map(|(_, named)| named.path.clone()).collect();
        let private = self.session().await?.model_privacy.kept_from_model(paths).await?;
        let found = found.into_iter().zip(private);
        Ok(found.map(|((link, named), private)| to_name_match(named, link, private)).collect())
    }

    /// The lines that match. Refused with [`ErrorCode::Pattern`] when the pattern is no regular
    /// expression.
    pub async fn search_text(&self, request: TextSearch) -> Result<LineMatches, UserError> {
        let pattern = match request.meaning {
            PatternKind::Literal => escape_literal(&request.pattern),
            PatternKind::Regex => request.pattern,
        };
        let query = GrepQuery {
            pattern,
            file_pattern: None,
            context_lines: 0,
            max_results: MAX_LINES,
            max_per_note: MAX_LINES_PER_NOTE,
            case_sensitive: request.case_sensitive,
        };
        let found = self.run_query(move |open| open.indexer.user.search(&query, SEARCH_TIMEOUT));
        found.await?.map(to_line_matches).map_err(search_error)
    }

    /// The links of a note, both ways; `None` until the index stands.
    pub async fn note_links(&self, note: NotePath) -> Result<Option<NoteLinks>, UserError> {
        self.run_query(move |open| links_of_note(open, &note)).await
    }

    /// The targets of broken links that contain `query`; `None` until the index is ready.
    pub async fn unresolved_links(&self, query: &str) -> Result<Option<CountedValues>, UserError> {
        let all = self.run_query(|open| {
            let broken = open.indexer.user.broken_links()?.into_iter();
            Some(broken.map(|broken| value_count(broken.link, broken.sources.len())).collect())
        });
        Ok(all.await?.map(|all| matching_values(all, query)))
    }

    /// Those of `links`, paths as an answer names them, that lead to nothing in the vault; `None`
    /// until the index stands.
    pub async fn broken_links(&self, links: Vec<String>) -> Result<Option<Vec<String>>, UserError> {
        self.run_query(move |open| open.indexer.user.broken_among(links)).await
    }

    /// The tags that `query` is part of; `None` until the index stands.
    pub async fn list_tags(&self, query: &str) -> Result<Option<CountedValues>, UserError> {
        let all = self.run_query(|open| {
            let tags = open.indexer.user.tags()?.into_iter();
            Some(tags.map(|tag| value_count(tag.tag, tag.notes)).collect())
        });
        let query = query.trim_start_matches('#');
        Ok(all.await?.map(|all| matching_values(all, query)))
    }

    /// The properties that `query` is part of; `None` until the index stands.
    pub async fn list_properties(&self, query: &str) -> Result<Option<CountedValues>, UserError> {
        let all = self.run_query(|open| {
            let properties = open.indexer.user.properties()?.into_iter();
            Some(properties.map(|property| value_count(property.name, property.notes)).collect())
        });
        Ok(all.await?.map(|all| matching_values(all, query)))
    }

    /// The values of a property that `query` is part of; `None` until the index stands.
    pub async fn property_values(
        &self,
        property: &str,
        query: &str,
    ) -> Result<Option<CountedValues>, UserError> {
        let property = property.to_owned();
        let all = self.run_query(move |open| {
            let values = open.indexer.user.property_values(&property)?.into_iter();
            Some(values.map(|value| value_count(value.value, value.notes)).collect())
        });
        Ok(all.await?.map(|all| matching_values(all, query)))
    }

    /// The notes that have something in common; `None` until the index stands.
    pub async fn notes_matching(
        &self,
        having: NoteCriterion,
    ) -> Result<Option<NoteList>, UserError> {
        let all = self.run_query(move |open| {
            let index = &open.indexer.user;
            match &having {
                NoteCriterion::Tag { tag } => index.notes_with_tag(tag),
                NoteCriterion::Value { property, value } => index.notes_with_value(property, value),
                NoteCriterion::BrokenLink { link } => {
                    let mut broken = index.broken_links()?.into_iter();
                    Some(
                        broken
                            .find(|broken| broken.link == *link)
                            .map_or(Vec::new(), |broken| broken.sources),
                    )
                }
            }
        });
        Ok(all.await?.map(|mut notes| {
            let total = count(notes.len());
            notes.truncate(MAX_LIST_ENTRIES);
            NoteList { notes, total }
        }))
    }

    /// The open tasks that `query` is part of; `None` until the index stands.
    pub async fn list_tasks(&self, query: &str) -> Result<Option<LineMatches>, UserError> {
        let query = query.trim().to_lowercase();
        self.run_query(move |open| matching_tasks(&open.indexer.user, &query)).await
    }

    /// Works on the notes where it holds up nobody.
    pub(crate) async fn run_query<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Notes) -> T + Send + 'static,
    ) -> Result<T, UserError> {
        let open = self.session().await?;
        run_blocking(move || work(&open.notes)).await
    }
}

fn to_name_match(named: index::FoundFile, link: String, private: Option<PrivateNote>) -> NameMatch {
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
    let index::FoundFile { path, name, is_alias: alias, .. } = named;
    NameMatch { path, name, alias, marks, link, private }
}

fn to_line_matches(found: GrepResult) -> LineMatches {
    let cut = found.cut.map(|cut| match cut {
        CutReason::Results => TruncationReason::Length,
        CutReason::Time => TruncationReason::Time,
    });
    let (lines, files) = (found.total, found.files);
    let placed = found.hits.into_iter().map(|hit| (hit.path.clone(), to_line_match(hit)));
    LineMatches { notes: group_by_note(placed), lines, files, cut }
}

fn to_line_match(GrepHit { line, text, marks, .. }: GrepHit) -> LineMatch {
    let wide = |end: usize| count(text.get(..end).unwrap_or_default().encode_utf16().count());
    let marks = marks.iter().map(|mark| (wide(mark.start), wide(mark.end))).collect();
    LineMatch { line, marks, text }
}

/// Groups lines of one note that follow each other.
fn group_by_note(lines: impl Iterator<Item = (NotePath, LineMatch)>) -> Vec<NoteLineMatches> {
    let mut notes: Vec<NoteLineMatches> = Vec::new();
    for (path, line) in lines {
        match notes.last_mut().filter(|note| note.path == path) {
            Some(note) => note.lines.push(line),
            None => notes.push(NoteLineMatches { path, lines: vec![line] }),
        }
    }
    notes
}

fn search_error(error: SearchError) -> UserError {
    match error {
        SearchError::BadPattern { pattern, why, .. } => {
            UserError::new(ErrorCode::Pattern, user_texts::bad_pattern(pattern, why))
        }
        SearchError::Vault(error) => error.into(),
        error => UserError::other(sentence(&error.to_string())),
    }
}

fn links_of_note(notes: &Notes, note: &NotePath) -> Option<NoteLinks> {
    let index = &notes.indexer.user;
    let mut known = HashSet::new();
    let out = index.outgoing_links(note)?.into_iter();
    let out = out
        .map(|link| NoteOutgoingLink { to: link.targets.into_iter().next(), name: link.link.path });
    let mut out: Vec<NoteOutgoingLink> = out
        .filter(|link| match &link.to {
            Some(to) => to != note && known.insert(to.to_string()),
            None => known.insert(link.name.to_lowercase()),
        })
        .collect();
    let mut sources = BTreeSet::new();
    let back = index.backlinks(note)?.into_iter();
    let mut back: Vec<NoteBacklink> = back
        .filter(|link| sources.insert(link.source.clone()))
        .map(|link| NoteBacklink { from: link.source, line: count(link.link.line) })
        .collect();
    let (out_total, back_total) = (count(out.len()), count(back.len()));
    out.truncate(MAX_LINKS);
    back.truncate(MAX_LINKS);
    Some(NoteLinks {
        out,
        out_total,
        back,
        back_total,
        unclear_line: unreadable_property_line(&notes.vault, note),
    })
}

/// The first line of a note's properties that is not understood.
fn unreadable_property_line(vault: &Vault, note: &NotePath) -> Option<u32> {
    let note = vault.read(note).ok().filter(|note| note.path.is_markdown())?;
    let properties = Properties::parse(&markdown::lossy_text(&note.bytes));
    properties.malformed().map(|wrong| count(wrong.line))
}

fn matching_tasks(index: &UserIndex, query: &str) -> Option<LineMatches> {
    let all = index.tasks()?.into_iter();
    let wanted = |words: &str| query.is_empty() || words.to_lowercase().contains(query);
    let mut tasks: Vec<_> = all.filter(|task| task.mark == ' ' && wanted(&task.words)).collect();
    let files: BTreeSet<&NotePath> = tasks.iter().map(|task| &task.path).collect();
    let (lines, files) = (count(tasks.len()), count(files.len()));
    let cut = (tasks.len() > MAX_LIST_ENTRIES).then_some(TruncationReason::Length);
    tasks.truncate(MAX_LIST_ENTRIES);
    let placed = tasks.into_iter().map(|task| {
        (task.path, LineMatch { line: task.line, text: task.words, marks: Vec::new() })
    });
    Some(LineMatches { notes: group_by_note(placed), lines, files, cut })
}

fn value_count(word: String, notes: usize) -> CountedValue {
    CountedValue { word, notes: count(notes) }
}

/// Those that hold the query, as many as are shown.
fn matching_values(mut all: Vec<CountedValue>, query: &str) -> CountedValues {
    let query = query.trim().to_lowercase();
    all.retain(|word| query.is_empty() || word.word.to_lowercase().contains(&query));
    let total = count(all.len());
    all.truncate(MAX_LIST_ENTRIES);
    CountedValues { words: all, total }
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
            let named = index::FoundFile {
                path: path.clone(),
                name: name.into(),
                is_alias: false,
                marks: marks.into(),
            };
            to_name_match(named, String::new(), None).marks
        };
        assert_eq!(named("🌱 Seeds", &[0, 2, 3]), [(0, 2), (3, 5)]);
        assert_eq!(named("Plan", &[]), []);
        let hit = GrepHit {
            path,
            line: 3,
            text: "é🌱x".into(),
            marks: vec![2..6, 6..7],
            before: Vec::new(),
            after: Vec::new(),
        };
        assert_eq!(to_line_match(hit).marks, [(1, 3), (3, 4)]);
    }

    #[test]
    fn values_are_filtered_by_a_part_of_them_in_any_case() {
        let all = || vec![value_count("Garden".into(), 2), value_count("food/bread".into(), 1)];
        let filtered = matching_values(all(), " DEN ");
        assert_eq!(
            filtered,
            CountedValues { words: vec![value_count("Garden".into(), 2)], total: 1 }
        );
        assert_eq!(matching_values(all(), "").total, 2);
    }
}
