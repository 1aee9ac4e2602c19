//! A doc comment says more than the declaration below it: a comment that only repeats the name, or asks a
//! bare question (“Which.”), is refused.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use super::retired_terms::line_words;
use super::sources::source_files;
use super::{assert_none, root};

/// Words that say nothing without another one.
const EMPTY_WORDS: [&str; 50] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "each", "for", "from", "had",
    "has", "have", "how", "if", "in", "is", "it", "its", "many", "much", "of", "on", "one", "or",
    "so", "such", "that", "the", "their", "them", "these", "they", "this", "those", "to", "was",
    "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "with",
];

/// Words that may come before the name of an item, a field or a method.
const MODIFIERS: [&str; 13] = [
    "abstract",
    "async",
    "declare",
    "default",
    "export",
    "mut",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "unsafe",
];

/// Words after which the name of an item comes, with a modifier between at most.
const ITEMS: [&str; 16] = [
    "class",
    "const",
    "enum",
    "fn",
    "function",
    "get",
    "interface",
    "let",
    "macro_rules!",
    "mod",
    "set",
    "static",
    "struct",
    "trait",
    "type",
    "union",
];

/// A doc comment with the first line of the declaration below it.
struct DocComment<'a> {
    /// Counted from 1.
    line: usize,
    /// Its lines without their marks, one after the other.
    text: String,
    declaration: &'a str,
}

/// The doc comments of a Rust, TypeScript or Svelte file that stand above a declaration.
fn doc_comments(text: &str) -> Vec<DocComment<'_>> {
    let mut found = Vec::new();
    let mut open: Option<DocComment<'_>> = None;
    let (mut in_block, mut in_attribute) = (false, false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        in_block |= line.starts_with("/**");
        if in_block || line.starts_with("///") {
            let comment = open.get_or_insert_with(|| DocComment {
                line: at + 1,
                text: String::new(),
                declaration: "",
            });
            comment.text.push_str(line.trim_matches(|c: char| "/* ".contains(c)));
            comment.text.push(' ');
            in_block &= !line.contains("*/");
            continue;
        }
        in_attribute = open.is_some() && (in_attribute || line.starts_with("#["));
        if in_attribute {
            in_attribute = !line.ends_with(']');
        } else if !line.starts_with("//") {
            found.extend(open.take().map(|comment| DocComment { declaration: line, ..comment }));
        }
    }
    found.retain(|comment| !comment.declaration.is_empty());
    found
}

/// The part of a declaration that its comment may not only repeat: the name of an item or a method, and
/// of a field or a variant also the type.
fn declared(declaration: &str) -> &str {
    let is_of_word = |c: char| c.is_alphanumeric() || "_!$".contains(c);
    let word_end = |text: &str| text.find(|c: char| !is_of_word(c)).unwrap_or(text.len());
    let mut rest = declaration.split("//").next().unwrap_or_default();
    let mut is_item = false;
    loop {
        let (word, after) = rest.split_at(word_end(rest));
        let after = match after.strip_prefix('(').and_then(|after| after.split_once(')')) {
            Some((_, after)) if word == "pub" => after,
            _ => after,
        };
        let is_keyword = ITEMS.contains(&word);
        let goes_on = is_keyword || MODIFIERS.contains(&word);
        if !goes_on || !after.starts_with(' ') {
            break;
        }
        is_item |= is_keyword;
        rest = after.trim_start();
    }
    let rest = rest.trim_start_matches('#');
    let (name, after) = rest.split_at(word_end(rest));
    let is_method = name.starts_with(char::is_lowercase) && after.starts_with(['(', '<']);
    if is_item || is_method { name } else { rest }
}

/// A word without the ending of its plural.
fn singular(word: &str) -> &str {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    stem.unwrap_or(word)
}

/// Whether a comment has no word of its own. Code in it is one.
fn repeats_name(comment: &DocComment<'_>) -> bool {
    let of_declaration = line_words(declared(comment.declaration));
    let known: BTreeSet<&str> = of_declaration.iter().map(|word| singular(word)).collect();
    let words = line_words(&comment.text);
    let is_empty = |word: &str| word.is_empty() || EMPTY_WORDS.contains(&word);
    !comment.text.contains('`')
        && words.iter().all(|word| is_empty(word) || known.contains(singular(word)))
}

fn complaints(path: &Path, comments: &[DocComment<'_>]) -> Vec<String> {
    let repeating = comments.iter().filter(|comment| repeats_name(comment));
    let complaint = |comment: &DocComment<'_>| {
        let DocComment { line, text, declaration } = comment;
        let text = text.trim();
        format!("{}:{line} “{text}” only repeats `{declaration}`", path.display())
    };
    repeating.map(complaint).collect()
}

#[test]
fn doc_comments_say_more_than_the_name() {
    let files = source_files(&root());
    let is_code = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|it| ["rs", "ts", "svelte"].contains(&it))
    };
    let mut count = 0;
    let mut all = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_code(path)) {
        let comments = doc_comments(text);
        count += comments.len();
        all.extend(complaints(path, &comments));
    }
    assert!(count > 5_000, "only {count} doc comments were found");
    assert_none(&all);
}

#[test]
fn a_comment_that_repeats_the_name_is_complained_about() {
    let complaints = |text: &str| complaints(Path::new("a.rs"), &doc_comments(text)).len();
    for text in [
        "/// The path.\npub path: NotePath,",
        "    /// Which.\n    conversation: ConversationId,",
        "/// By whom.\n#[serde(default)]\npub(crate) role: Role,",
        "/// The note.\n#[error(\n    \"It is gone.\"\n)]\npath: NotePath,",
        "/// How many notes have it.\n// Not stored.\npub notes: u32,",
        "/// The kind of\n/// a block.\npub enum BlockKind {",
        "/// Its aliases.\npub(super) const fn aliases(&self) -> &[String] {",
        "/// The sizes.\nstatic SIZE: usize = 1;",
        "/// All of it.\nWhole,",
        "/// The chosen provider.\nreadonly chosen: ProviderKind;",
        "/** The last message, if any. */\nget lastMessage(): Message | null {",
        "/**\n * The names.\n */\nexport function names(of: string): string[] {",
        "/** Its text. */\n#text = '';",
        "/** The row. */\nrow(at: number): Row {",
    ] {
        assert_eq!(complaints(text), 1, "{text}");
    }
    for text in [
        "/// The path, as spelled on disk.\npub path: NotePath,",
        "/// The size in bytes.\npub size: u64,",
        "/// As in `Draft`.\ndraft: Draft,",
        "/// The number of notes.\nfn notes(text: &str, number: usize) {",
        "/// The aliases of a maker.\nfn aliases_of(maker: Maker) {",
        "/// Its own type.\nreadonly type: 'note';",
        "// The path.\npub path: NotePath,",
        "//! The module.\n\nmod module;",
        "/** The file. */\n\nexport const file = 1;",
    ] {
        assert_eq!(complaints(text), 0, "{text}");
    }
}
