//! The fields of a note in the index: its key, and the words of its names, headings and text.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, TantivyDocument, TantivyError};

use crate::fulltext::blocks::{PassageBlockKind, blocks};
use crate::fulltext::note_matches::SearchableNote;
use crate::fulltext::tokenizer::{WordToken, WordTokens, fold_into, is_sign};

/// The name of our tokenizer in the index.
const TOKENIZER_NAME: &str = "units";

/// The fields of a note.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexFields {
    pub(super) key: Field,
    pub(super) title: Field,
    pub(super) aliases: Field,
    pub(super) headings: Field,
    pub(super) text: Field,
}

/// The schema of a new index. Headings are in the text too, so only the text tells phrases.
pub(super) fn schema() -> (Schema, IndexFields) {
    let words = |kept| {
        let indexing =
            TextFieldIndexing::default().set_tokenizer(TOKENIZER_NAME).set_index_option(kept);
        TextOptions::default().set_indexing_options(indexing)
    };
    let phrases = words(IndexRecordOption::WithFreqsAndPositions);
    let mut schema = Schema::builder();
    let fields = IndexFields {
        key: schema.add_u64_field("key", FAST | INDEXED),
        title: schema.add_text_field("title", phrases.clone()),
        aliases: schema.add_text_field("aliases", phrases.clone()),
        headings: schema.add_text_field("headings", words(IndexRecordOption::Basic)),
        text: schema.add_text_field("text", phrases),
    };
    (schema.build(), fields)
}

/// The fields of an index that exists.
pub(super) fn from_schema(schema: &Schema) -> Result<IndexFields, TantivyError> {
    let field = |name| schema.get_field(name);
    Ok(IndexFields {
        key: field("key")?,
        title: field("title")?,
        aliases: field("aliases")?,
        headings: field("headings")?,
        text: field("text")?,
    })
}

/// Tells an index how text is taken apart.
pub(super) fn register_tokenizer(index: &Index) {
    index.tokenizers().register(TOKENIZER_NAME, TextAnalyzer::from(WordTokenizer));
}

/// A note as the index takes it.
pub(super) fn document(fields: &IndexFields, note: &SearchableNote<'_>) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(fields.key, note.key);
    document.add_text(fields.title, note.path.title());
    for alias in note.aliases.iter() {
        document.add_text(fields.aliases, alias);
    }
    for heading in blocks(&note.text).iter().filter(|block| block.kind == PassageBlockKind::Heading)
    {
        let words = heading.heading.clone().and_then(|words| note.text.get(words));
        document.add_text(fields.headings, words.unwrap_or_default());
    }
    document.add_text(fields.text, &note.text);
    document
}

/// The index entries of a sequence of units, each with its place in the sequence: two signs that
/// follow each other are one entry.
pub(super) fn phrase_entries(units: &[String]) -> Vec<(usize, String)> {
    let mut entries = Vec::new();
    let (mut after_sign, mut units) = (false, units.iter().enumerate().peekable());
    while let Some((place, unit)) = units.next() {
        let next_sign = units.peek().filter(|(_, next)| is_sign(unit) && is_sign(next));
        match next_sign {
            Some((_, next)) => entries.push((place, format!("{unit}{next}"))),
            None if after_sign => {}
            None => entries.push((place, unit.clone())),
        }
        after_sign = next_sign.is_some();
    }
    entries
}

#[derive(Clone)]
struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordTokenStream<'a> {
        let units = WordTokens::new(text);
        WordTokenStream {
            text,
            units,
            token: Token::default(),
            pair: String::new(),
            has_pair: false,
        }
    }
}

/// The units of a text; a sign before another one also as the two together.
struct WordTokenStream<'a> {
    text: &'a str,
    units: WordTokens<'a>,
    token: Token,
    pair: String,
    has_pair: bool,
}

impl WordTokenStream<'_> {
    fn set_token(&mut self, token: WordToken) {
        fold_into(self.text.get(token.start..token.end).unwrap_or_default(), &mut self.token.text);
        self.token.position = token.position;
        let follows = |next: &WordToken| next.is_sign && next.position == token.position + 1;
        let next = token.is_sign.then(|| self.units.clone().next()).flatten().filter(follows);
        self.has_pair = next.is_some();
        if let Some(next) = next {
            fold_into(self.text.get(next.start..next.end).unwrap_or_default(), &mut self.pair);
            self.pair.insert_str(0, &self.token.text);
        }
    }
}

impl TokenStream for WordTokenStream<'_> {
    fn advance(&mut self) -> bool {
        if std::mem::take(&mut self.has_pair) {
            std::mem::swap(&mut self.token.text, &mut self.pair);
            return true;
        }
        let unit = self.units.next();
        if let Some(unit) = unit {
            self.set_token(unit);
        }
        unit.is_some()
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
