//! Where one part of the index has one term of a query.

use tantivy::index::SegmentReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, TERMINATED, TantivyError, Term};

use super::schema::{IndexFields, phrase_entries};
use crate::query::{TermPattern, matched_share};

/// The occurrences of one term in one note.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NoteTermHits {
    /// How many words of the names it is, longer ones by the share that was asked for.
    pub(super) in_names: f32,
    /// How often it is in the text.
    pub(super) in_text: f32,
    pub(super) in_heading: bool,
    /// Whether the note is among the notes found.
    is_listed: bool,
}

/// A buffer for the values of every note of a part; used for one term after the other.
#[derive(Default)]
pub(super) struct PostingsReader {
    notes: Vec<NoteTermHits>,
    listed: Vec<DocId>,
}

/// Where a word was found.
#[derive(Clone, Copy)]
enum HitField {
    Name,
    Heading,
    Text,
}

impl PostingsReader {
    /// The notes of a part that have the term, each with its occurrences, deleted notes included.
    pub(super) fn find_postings(
        &mut self,
        searcher: &Searcher,
        part: &SegmentReader,
        fields: &IndexFields,
        spelled: &TermPattern,
    ) -> Result<Vec<(DocId, NoteTermHits)>, TantivyError> {
        self.notes.resize(part.max_doc() as usize, NoteTermHits::default());
        let places = [
            (fields.title, HitField::Name),
            (fields.aliases, HitField::Name),
            (fields.headings, HitField::Heading),
            (fields.text, HitField::Text),
        ];
        for (field, place) in places {
            match spelled {
                TermPattern::Beginning(word) => self.add_prefix(part, field, place, word)?,
                TermPattern::Sequence(units) => match &*phrase_entries(units) {
                    [(_, entry)] => self.add_term(part, field, place, entry)?,
                    _ if matches!(place, HitField::Heading) => {}
                    entries => self.add_phrase(searcher, part, field, place, entries)?,
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
    fn add_prefix(
        &mut self,
        part: &SegmentReader,
        field: Field,
        place: HitField,
        word: &str,
    ) -> Result<(), TantivyError> {
        let inverted = part.inverted_index(field)?;
        let mut words = inverted.terms().range().ge(word).into_stream()?;
        while words.advance() && words.key().starts_with(word.as_bytes()) {
            let found = std::str::from_utf8(words.key()).unwrap_or(word);
            let option = IndexRecordOption::WithFreqs;
            let notes = inverted.read_block_postings_from_terminfo(words.value(), option)?;
            self.add_postings(notes, place, matched_share(word, found) as f32);
        }
        Ok(())
    }

    fn add_term(
        &mut self,
        part: &SegmentReader,
        field: Field,
        place: HitField,
        entry: &str,
    ) -> Result<(), TantivyError> {
        let inverted = part.inverted_index(field)?;
        let term = Term::from_field_text(field, entry);
        if let Some(notes) = inverted.read_block_postings(&term, IndexRecordOption::WithFreqs)? {
            self.add_postings(notes, place, 1.0);
        }
        Ok(())
    }

    fn add_phrase(
        &mut self,
        searcher: &Searcher,
        part: &SegmentReader,
        field: Field,
        place: HitField,
        entries: &[(usize, String)],
    ) -> Result<(), TantivyError> {
        let term = |(at, entry): &(usize, String)| (*at, Term::from_field_text(field, entry));
        let query = PhraseQuery::new_with_offset(entries.iter().map(term).collect());
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let mut notes = weight.scorer(part, 1.0)?;
        while notes.doc() != TERMINATED {
            self.add_hit(notes.doc(), place, entries.len() as f32, 1.0);
            notes.advance();
        }
        Ok(())
    }

    fn add_postings(&mut self, mut notes: BlockSegmentPostings, place: HitField, share: f32) {
        while !notes.docs().is_empty() {
            for (note, often) in notes.docs().iter().zip(notes.freqs()) {
                self.add_hit(*note, place, share, *often as f32);
            }
            notes.advance();
        }
    }

    fn add_hit(&mut self, note: DocId, place: HitField, share: f32, often: f32) {
        let Some(found) = self.notes.get_mut(note as usize) else { return };
        match place {
            HitField::Name => found.in_names += share * often,
            HitField::Heading => found.in_heading = true,
            HitField::Text => found.in_text += share * often,
        }
        if !std::mem::replace(&mut found.is_listed, true) {
            self.listed.push(note);
        }
    }
}
