//! Tantivy as its documentation proposes: its own tokenizer, its own queries, its own ranking.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TEXT};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::notes::{self, BenchNote};
use super::process_usage::{
    CandidateFigures, ProcessTimer, anonymous_memory, best_cpu_time, folder_size,
};
use super::queries::BenchQuery;
use super::{MAX_RESULTS, QUERY_ROUNDS, UPDATE_COUNT};

/// The memory of the writer before it writes a part of the index.
const WRITER_MEMORY_BYTES: usize = 15_000_000;

struct TantivyFields {
    key: Field,
    title: Field,
    headings: Field,
    text: Field,
}

/// Builds, changes and asks.
pub(crate) fn measure(
    vault: &Path,
    asked: &[BenchQuery],
    place: &Path,
) -> Result<CandidateFigures, Box<dyn Error>> {
    let mut schema = Schema::builder();
    let fields = TantivyFields {
        key: schema.add_u64_field("key", FAST | INDEXED),
        title: schema.add_text_field("title", TEXT),
        headings: schema.add_text_field("headings", TEXT),
        text: schema.add_text_field("text", TEXT),
    };
    let watch = ProcessTimer::start();
    let index = Index::create_in_dir(place, schema.build())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
    let paths = notes::note_paths(vault)?;
    for (path, key) in paths.iter().zip(0..) {
        writer.add_document(document(&fields, key, &notes::read_note(path)?))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let build = watch.elapsed();
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let mut queries = Vec::new();
    for asked in asked {
        queries.push(best_cpu_time(QUERY_ROUNDS, || find(&reader, &fields, asked).map(drop))?);
    }
    let (memory, disk) = (anonymous_memory()?, folder_size(place)?);
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
    let mut updates = Vec::new();
    for ((path, key), at) in paths.iter().zip(0..).skip(paths.len() / 2).zip(0..UPDATE_COUNT) {
        let word = format!("newword{at}");
        let mut note = notes::read_note(path)?;
        note.text.push(' ');
        note.text.push_str(&word);
        let began = Instant::now();
        writer.delete_term(Term::from_field_u64(fields.key, key));
        writer.add_document(document(&fields, key, &note))?;
        writer.commit()?;
        reader.reload()?;
        let asked = BenchQuery { kind: String::new(), words: vec![word], is_phrase: false };
        if find(&reader, &fields, &asked)? == 0 {
            return Err("a changed note is not found".into());
        }
        updates.push(began.elapsed());
    }
    Ok(CandidateFigures { build, updates, queries, disk, memory })
}

fn document(fields: &TantivyFields, key: u64, note: &BenchNote) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(fields.key, key);
    document.add_text(fields.title, &note.title);
    document.add_text(fields.headings, &note.headings);
    document.add_text(fields.text, &note.text);
    document
}

fn find(
    reader: &IndexReader,
    fields: &TantivyFields,
    asked: &BenchQuery,
) -> Result<usize, Box<dyn Error>> {
    let query = if asked.is_phrase {
        let terms = asked.words.iter().map(|word| Term::from_field_text(fields.text, word));
        Box::new(PhraseQuery::new(terms.collect()))
    } else {
        all_words_query(fields, asked)?
    };
    let most = TopDocs::with_limit(MAX_RESULTS).order_by_score();
    Ok(reader.searcher().search(&*query, &most)?.len())
}

/// Every word, itself or at the beginning of another one, in one of the fields.
fn all_words_query(
    fields: &TantivyFields,
    query: &BenchQuery,
) -> Result<Box<dyn Query>, Box<dyn Error>> {
    let mut words: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for word in &query.words {
        let mut places: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (field, weight) in [(fields.title, 4.0), (fields.headings, 2.0), (fields.text, 1.0)] {
            let term = Term::from_field_text(field, word);
            let itself = TermQuery::new(term, IndexRecordOption::WithFreqs);
            places.push((Occur::Should, Box::new(BoostQuery::new(Box::new(itself), weight))));
            let longer = RegexQuery::from_pattern(&format!("{word}.*"), field)?;
            places.push((Occur::Should, Box::new(longer)));
        }
        words.push((Occur::Must, Box::new(BooleanQuery::new(places))));
    }
    Ok(Box::new(BooleanQuery::new(words)))
}
