//! The best notes for a query, by what the index alone tells about them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tantivy::columnar::Column;
use tantivy::index::SegmentReader;
use tantivy::{DocId, Searcher, TantivyError};

use super::candidates::RankedCandidates;
use super::postings::{NoteTermHits, PostingsReader};
use super::schema::IndexFields;
use crate::fulltext::score::{NoteScore, TermTally, inverse_document_frequency};
use crate::query::ParsedQuery;

/// The length in words of a note that is neither long nor short.
const MEDIUM_LENGTH: f64 = 300.0;

/// The postings of each term in one part of the index.
struct SegmentTerms<'a> {
    reader: &'a SegmentReader,
    terms: Vec<Vec<(DocId, NoteTermHits)>>,
    excluded: Vec<Vec<(DocId, NoteTermHits)>>,
}

/// One note as the terms are added up.
#[derive(Debug, Clone, Copy, Default)]
struct TermSum {
    in_names: f32,
    value: f32,
    found: u16,
    required: u16,
    is_excluded: bool,
}

/// A note among the best so far; the worst is the greatest.
struct TopKEntry {
    score: NoteScore,
    at: u64,
}

/// The keys of all notes that are not deleted, in no particular order.
pub(super) fn note_keys(searcher: &Searcher) -> Result<Vec<u64>, TantivyError> {
    let mut all = Vec::new();
    for reader in searcher.segment_readers() {
        let keys: Column<u64> = reader.fast_fields().u64("key")?;
        all.extend(reader.doc_ids_alive().filter_map(|note| keys.first(note)));
    }
    Ok(all)
}

/// Finds the best of those that have a place.
pub(super) fn find_top_k(
    searcher: &Searcher,
    fields: &IndexFields,
    query: &ParsedQuery,
    most: usize,
    place: &(dyn Fn(u64) -> Option<u64> + Sync),
) -> Result<RankedCandidates, TantivyError> {
    let mut finder = PostingsReader::default();
    let mut parts = Vec::new();
    for reader in searcher.segment_readers() {
        let mut find = |spelled| finder.find_postings(searcher, reader, fields, spelled);
        let terms = query.terms.iter().map(|term| find(&term.pattern)).collect::<Result<_, _>>()?;
        let excluded = query.excluded.iter().map(&mut find).collect::<Result<_, _>>()?;
        parts.push(SegmentTerms { reader, terms, excluded });
    }
    let having: Vec<usize> = (0..query.len())
        .map(|term| parts.iter().map(|part| part.document_frequency(term)).sum())
        .collect();
    let notes = parts.iter().map(|part| part.reader.num_docs() as usize).sum();
    let weights: Vec<f64> =
        having.iter().map(|having| inverse_document_frequency(notes, *having)).collect();
    let (mut best, mut found) = (BinaryHeap::new(), 0);
    for part in &parts {
        let mut add = |key, score| {
            let Some(at) = place(key) else { return };
            found += 1;
            let place = TopKEntry { score, at };
            if best.len() < most {
                best.push(place);
            } else if best.peek().is_some_and(|worst| place < *worst) {
                best.pop();
                best.push(place);
            }
        };
        part.score(query, &weights, fields, &mut add)?;
    }
    let best = best.into_sorted_vec();
    let with_all = best.iter().take_while(|place| place.score.has_all).count();
    let places = best.into_iter().map(|place| place.at).collect();
    Ok(RankedCandidates { places, with_all, document_frequencies: having, notes, found })
}

impl SegmentTerms<'_> {
    /// The number of notes with the term, without deleted ones.
    fn document_frequency(&self, term: usize) -> usize {
        let found = self.terms.get(term).map_or(&[][..], Vec::as_slice);
        match self.reader.alive_bitset() {
            Some(alive) => found.iter().filter(|(note, _)| alive.is_alive(*note)).count(),
            None => found.len(),
        }
    }

    /// Gives the key and the score of each note that the query finds.
    fn score(
        &self,
        query: &ParsedQuery,
        weights: &[f64],
        fields: &IndexFields,
        add: &mut dyn FnMut(u64, NoteScore),
    ) -> Result<(), TantivyError> {
        let required = query.terms.iter().filter(|term| term.is_required).count();
        let keys: Column<u64> = self.reader.fast_fields().u64("key")?;
        let (sums, listed) = self.sum_terms(query, weights, fields)?;
        for note in listed {
            let Some(sum) = sums.get(note as usize) else { continue };
            let is_found = usize::from(sum.required) == required && !sum.is_excluded;
            if !is_found || self.reader.is_deleted(note) {
                continue;
            }
            let Some(key) = keys.first(note) else { continue };
            add(key, NoteScore::new(usize::from(sum.found), query.len(), f64::from(sum.value)));
        }
        Ok(())
    }

    /// The notes with any of the terms, and the matches in each.
    fn sum_terms(
        &self,
        query: &ParsedQuery,
        weights: &[f64],
        fields: &IndexFields,
    ) -> Result<(Vec<TermSum>, Vec<DocId>), TantivyError> {
        let titles = self.reader.get_fieldnorms_reader(fields.title)?;
        let lengths = self.reader.get_fieldnorms_reader(fields.text)?;
        let mut sums = vec![TermSum::default(); self.reader.max_doc() as usize];
        let mut listed = Vec::new();
        for (note, found) in self.terms.iter().flatten() {
            if let Some(sum) = sums.get_mut(*note as usize) {
                sum.in_names += found.in_names;
            }
        }
        for (note, _) in self.excluded.iter().flatten() {
            if let Some(sum) = sums.get_mut(*note as usize) {
                sum.is_excluded = true;
            }
        }
        for ((found, term), weight) in self.terms.iter().zip(&query.terms).zip(weights) {
            for (note, found) in found {
                let Some(sum) = sums.get_mut(*note as usize) else { continue };
                if sum.found == 0 {
                    listed.push(*note);
                }
                let of_name = if found.in_names > 0.0 {
                    let words = titles.fieldnorm(*note).max(1);
                    (f64::from(sum.in_names) / f64::from(words)).min(1.0)
                } else {
                    0.0
                };
                let tally = TermTally {
                    in_name: of_name,
                    in_heading: found.in_heading,
                    in_text: f64::from(found.in_text),
                };
                let length = f64::from(lengths.fieldnorm(*note)) / MEDIUM_LENGTH;
                sum.value += (weight * tally.value(length)) as f32;
                sum.found += 1;
                sum.required += u16::from(term.is_required);
            }
        }
        Ok((sums, listed))
    }
}

impl Ord for TopKEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equals the lower place is better, so that an answer is always the same.
        self.score.best_first(&other.score).then_with(|| self.at.cmp(&other.at))
    }
}

impl PartialOrd for TopKEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TopKEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for TopKEntry {}
