//! Where one part of the index has one term of a query.

use tantivy::index::SegmentReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, TERMINATED, TantivyError, Term};

use super::fields::{Fields, entries};
use crate::asked::{Spelled, share};

/// What one note has of one term.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// How many words of the names it is, longer ones by the share that was asked for.
    pub(super) in_names: f32,
    /// How often it is in the text.
    pub(super) in_text: f32,
    pub(super) in_heading: bool,
    /// Whether the note is among the notes found.
    is_listed: bool,
}

/// Room for what every note of a part has; used for one term after the other.
#[derive(Default)]
pub(super) struct Finder {
    notes: Vec<Found>,
    listed: Vec<DocId>,
}

/// Where a word was found.
#[derive(Clone, Copy)]
enum Place {
    Name,
    Heading,
    Text,
}

impl Finder {
    /// The notes of a part that have the term, each with what it has of it, those that are gone
    /// among them.
    pub(super) fn find(
        &mut self,
        searcher: &Searcher,
        part: &SegmentReader,
        fields: &Fields,
        spelled: &Spelled,
    ) -> Result<Vec<(DocId, Found)>, TantivyError> {
        self.notes.resize(part.max_doc() as usize, Found::default());
        let places = [
            (fields.title, Place::Name),
            (fields.aliases, Place::Name),
            (fields.headings, Place::Heading),
            (fields.text, Place::Text),
        ];
        for (field, place) in places {
            match spelled {
                Spelled::Beginning(word) => self.longer(part, field, place, word)?,
                Spelled::Sequence(units) => match &*entries(units) {
                    [(_, entry)] => self.entry(part, field, place, entry)?,
                    _ if matches!(place, Place::Heading) => {}
                    entries => self.phrase(searcher, part, field, place, entries)?,
                },
            }
        }
        let take = |note: &DocId| {
            let found = self.notes.get_mut(*note as usize)?;
            Some((*note, std::mem::take(found)))
        };
        let found = self.listed.iter().filter_map(take).collect();
        self.listed.clear();
        Ok(found)
    }

    /// A word and all longer ones that begin with it.
    fn longer(
        &mut self,
        part: &SegmentReader,
        field: Field,
        place: Place,
        word: &str,
    ) -> Result<(), TantivyError> {
        let inverted = part.inverted_index(field)?;
        let mut words = inverted.terms().range().ge(word).into_stream()?;
        while words.advance() && words.key().starts_with(word.as_bytes()) {
            let found = std::str::from_utf8(words.key()).unwrap_or(word);
            let option = IndexRecordOption::WithFreqs;
            let notes = inverted.read_block_postings_from_terminfo(words.value(), option)?;
            self.add(notes, place, share(word, found) as f32);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        part: &SegmentReader,
        field: Field,
        place: Place,
        entry: &str,
    ) -> Result<(), TantivyError> {
        let inverted = part.inverted_index(field)?;
        let term = Term::from_field_text(field, entry);
        if let Some(notes) = inverted.read_block_postings(&term, IndexRecordOption::WithFreqs)? {
            self.add(notes, place, 1.0);
        }
        Ok(())
    }

    fn phrase(
        &mut self,
        searcher: &Searcher,
        part: &SegmentReader,
        field: Field,
        place: Place,
        entries: &[(usize, String)],
    ) -> Result<(), TantivyError> {
        let term = |(at, entry): &(usize, String)| (*at, Term::from_field_text(field, entry));
        let query = PhraseQuery::new_with_offset(entries.iter().map(term).collect());
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let mut notes = weight.scorer(part, 1.0)?;
        while notes.doc() != TERMINATED {
            self.note(notes.doc(), place, entries.len() as f32, 1.0);
            notes.advance();
        }
        Ok(())
    }

    fn add(&mut self, mut notes: BlockSegmentPostings, place: Place, share: f32) {
        while !notes.docs().is_empty() {
            for (note, often) in notes.docs().iter().zip(notes.freqs()) {
                self.note(*note, place, share, *often as f32);
            }
            notes.advance();
        }
    }

    fn note(&mut self, note: DocId, place: Place, share: f32, often: f32) {
        let Some(found) = self.notes.get_mut(note as usize) else { return };
        match place {
            Place::Name => found.in_names += share * often,
            Place::Heading => found.in_heading = true,
            Place::Text => found.in_text += share * often,
        }
        if !std::mem::replace(&mut found.is_listed, true) {
            self.listed.push(note);
        }
    }
}
