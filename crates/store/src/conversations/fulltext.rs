//! The table `passage`: the searchable text of messages and changes, and where each word stands.
//!
//! Triggers update it with the messages, calls and names that it is made of, in their commits.

use std::collections::BTreeSet;

use protocol::chat::conversation_list::{
    ArchiveState, ConversationHit, ConversationHits, HitLocation, HitSource,
};
use protocol::{ConversationId, MessageId, QuestionId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::cjk_search::{MAX_SCANNED_PASSAGES, excerpt, has_unspaced_script};
use crate::conversations::match_excerpt::excerpt_of_matches;
use crate::conversations::title_queue::EndedConversation;
use crate::conversations::{branch, conversation};
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{read, read_one};
use crate::{Store, StoreError, chat_view};

/// How much of a conversation's last words stands in the list of ended ones, in characters.
const EXCERPT_CHARS: usize = 300;
/// Words of a query beyond these are not looked for.
const MAX_QUERY_WORDS: usize = 16;
/// Stand around a word that was found until its place is counted.
const HIGHLIGHT_MARKS: [char; 2] = ['\u{2}', '\u{3}'];

impl Store {
    /// Passages in which all words of the query stand, the last one as the beginning of a word;
    /// newest first, at most `limit`. Ignores accents and case. A conversation's name counts if
    /// nothing else in it matched. A word of a script that sets no spaces may stand anywhere in a
    /// run; for such words alone only the newest passages are searched.
    pub async fn search_conversations(
        &self,
        query: &str,
        limit: u32,
    ) -> Result<ConversationHits, StoreError> {
        let (unspaced, rest) = split_query(query);
        let words = fts_terms(&rest);
        if words.is_empty() && unspaced.is_empty() {
            return Ok(ConversationHits { found: Vec::new(), more: false });
        }
        read!(self, "search the conversations", |db| search_passages(db, &words, &unspaced, limit))
    }

    /// Ended conversations, newest first. With a query: those where each of its words stands in the
    /// name, a message or a change. A query without a word finds nothing. Only the branch that is
    /// shown counts, and a model's name only if it is about that branch.
    pub async fn ended_conversations(
        &self,
        limit: u32,
        query: Option<&str>,
    ) -> Result<Vec<EndedConversation>, StoreError> {
        let words = query.map(|query| {
            let (unspaced, rest) = split_query(query);
            (fts_terms(&rest), unspaced)
        });
        read!(self, "search the ended conversations", |db| list_ended(db, limit, words.as_ref()))
    }

    /// The ids of the ended conversations in the order of [`Self::ended_conversations`], at most `limit`.
    pub async fn newest_ended(&self, limit: u32) -> Result<Vec<ConversationId>, StoreError> {
        read_one!(self, "list the ended conversations", |db| newest_ended(db, limit))
    }
}

/// The words of a query that the full-text index cannot find, and the query without them.
fn split_query(query: &str) -> (Vec<String>, String) {
    if !has_unspaced_script(query) {
        return (Vec::new(), query.to_owned());
    }
    let (unspaced, rest): (Vec<&str>, Vec<&str>) =
        query.split_whitespace().partition(|word| has_unspaced_script(word));
    let unspaced = unspaced.into_iter().take(MAX_QUERY_WORDS).map(str::to_owned).collect();
    (unspaced, rest.join(" "))
}

/// The words of a query as SQLite's full-text index is asked for them.
fn fts_terms(query: &str) -> Vec<String> {
    let finished = query.ends_with(char::is_whitespace);
    let words = query.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let words: Vec<String> =
        words.take(MAX_QUERY_WORDS).map(|word| format!("\"{}\"", word.replace('"', ""))).collect();
    let last = words.len().saturating_sub(1);
    let beginning = |(at, word): (usize, String)| {
        // One letter begins too many words.
        let is_open = at == last && !finished && word.chars().count() > 3;
        if is_open { format!("{word}*") } else { word }
    };
    words.into_iter().enumerate().map(beginning).collect()
}

/// Passages in which all of these words stand.
async fn search_passages(
    db: &mut SqliteConnection,
    words: &[String],
    unspaced: &[String],
    limit: u32,
) -> Result<ConversationHits, sqlx::Error> {
    let asked = words.join(" ");
    let mut rows = if unspaced.is_empty() {
        search_index(db, &asked, limit).await?
    } else {
        scan_passages(db, &asked, unspaced, limit).await?
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let number: i64 = row.try_get("number")?;
        // One text at a time: a message may have megabytes.
        let text: String = sqlx::query_scalar("SELECT words FROM passage WHERE number = ?1")
            .bind(number)
            .fetch_one(&mut *db)
            .await?;
        let shown = if unspaced.is_empty() {
            excerpt_of_matches(&text, words, HIGHLIGHT_MARKS)
        } else {
            excerpt(&text, unspaced, HIGHLIGHT_MARKS)
        };
        found.push(hit_from_row(&row, &shown)?);
    }
    remove_needless_names(&mut found);
    Ok(ConversationHits { found, more })
}

/// The columns of a hit, but for its text.
macro_rules! hit_columns {
    () => {
        concat!(
            "SELECT p.number, p.conversation, c.title, c.archived, p.kind, p.message, p.turn,
                 p.call, p.at, q.id AS question, ",
            conversation::inbox_day!(),
            " AS inbox_day "
        )
    };
}

/// The newest passages that the index finds, and one more than `limit`.
async fn search_index(
    db: &mut SqliteConnection,
    asked: &str,
    limit: u32,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    sqlx::query(concat!(
        hit_columns!(),
        "FROM passage_words
             CROSS JOIN passage p ON p.number = passage_words.rowid
             JOIN conversation c ON c.id = p.conversation
             LEFT JOIN question q ON q.turn = p.turn AND q.call = p.call
         WHERE passage_words MATCH ?1 AND c.listed AND c.deleted_at IS NULL
         ORDER BY passage_words.rowid DESC LIMIT ?2"
    ))
    .bind(asked)
    .bind(i64::from(limit) + 1)
    .fetch_all(db)
    .await
}

/// The columns and the rest of a search for words that stand somewhere in a passage.
macro_rules! passages_containing {
    ($from:literal) => {
        concat!(
            hit_columns!(),
            $from,
            " JOIN conversation c ON c.id = p.conversation
                 LEFT JOIN question q ON q.turn = p.turn AND q.call = p.call
             WHERE c.listed AND c.deleted_at IS NULL AND NOT EXISTS (
                 SELECT 1 FROM json_each(?2) w WHERE instr(p.words, w.value) = 0
             )
             ORDER BY p.number DESC LIMIT ?3"
        )
    };
}

/// The newest passages that hold all these words anywhere, and those that the index is asked for; one more than `limit`.
async fn scan_passages(
    db: &mut SqliteConnection,
    asked: &str,
    unspaced: &[String],
    limit: u32,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    let query = if asked.is_empty() {
        sqlx::query(passages_containing!(
            "FROM (SELECT * FROM passage ORDER BY number DESC LIMIT ?1) p"
        ))
        .bind(MAX_SCANNED_PASSAGES)
    } else {
        sqlx::query(passages_containing!(
            "FROM (SELECT rowid AS number FROM passage_words WHERE passage_words MATCH ?1) f
                 CROSS JOIN passage p ON p.number = f.number"
        ))
        .bind(asked)
    };
    query.bind(to_json(unspaced)?).bind(i64::from(limit) + 1).fetch_all(db).await
}

/// Without the names of conversations in which something else was found.
fn remove_needless_names(found: &mut Vec<ConversationHit>) {
    let others: BTreeSet<ConversationId> = found
        .iter()
        .filter(|one| one.by != HitSource::Name)
        .map(|one| one.conversation.clone())
        .collect();
    found.retain(|one| one.by != HitSource::Name || !others.contains(&one.conversation));
}

fn hit_from_row(row: &SqliteRow, words: &str) -> Result<ConversationHit, sqlx::Error> {
    let (text, marks) = strip_marks(words);
    let archived: bool = row.try_get("archived")?;
    Ok(ConversationHit {
        conversation: row.text("conversation")?,
        title: row.try_get("title")?,
        inbox_day: conversation::inbox_day_from_row(row)?,
        archive_state: if archived { ArchiveState::Archived } else { ArchiveState::Open },
        by: row.enum_value("kind")?,
        place: location_from_row(row)?,
        at: row.timestamp("at")?,
        text,
        marks,
    })
}

fn location_from_row(row: &SqliteRow) -> Result<HitLocation, sqlx::Error> {
    let message: Option<MessageId> = row.optional_text("message")?;
    let question: Option<QuestionId> = row.optional_text("question")?;
    let Some(id) = message else { return Ok(HitLocation::Whole) };
    let turn = row.text("turn")?;
    let Some(call) = row.optional_text("call")? else { return Ok(HitLocation::Item { turn, id }) };
    Ok(match (row.enum_value("kind")?, question) {
        (HitSource::Change, _) => HitLocation::Call { turn, call },
        (_, Some(question)) => {
            HitLocation::Item { turn, id: chat_view::question_message_id(&question) }
        }
        (_, None) => HitLocation::Item { id: chat_view::sent_message_id(&turn, &call), turn },
    })
}

/// The words without their marks, and where these stood.
fn strip_marks(words: &str) -> (String, Vec<(u32, u32)>) {
    let (mut text, mut marks) = (String::with_capacity(words.len()), Vec::new());
    let (mut at, mut began) = (0_u32, None);
    for character in words.chars() {
        if character == HIGHLIGHT_MARKS[0] {
            began = Some(at);
        } else if character == HIGHLIGHT_MARKS[1] {
            marks.extend(began.take().map(|began| (began, at)));
        } else {
            text.push(character);
            at += u32::try_from(character.len_utf16()).unwrap_or(1);
        }
    }
    (text, marks)
}

/// The row of the list, and the summary of an ended conversation.
macro_rules! ended_columns {
    () => {
        concat!(
            "SELECT l.*, coalesce(
             (SELECT p.words FROM passage p WHERE p.conversation = l.id AND p.kind = 'assistant' AND ",
            branch::is_shown!("l.id", "p.turn"),
            " ORDER BY p.number DESC LIMIT 1),
             (SELECT p.words FROM passage p WHERE p.conversation = l.id AND p.kind = 'user' AND ",
            branch::is_shown!("l.id", "p.turn"),
            " ORDER BY p.number LIMIT 1),
             ''
         ) AS words, c.named_by, c.named_by = 'model' AS titled_by_model, c.told_until, ",
            conversation::inbox_day!(),
            " AS inbox_day "
        )
    };
}

/// Whether the passage `p` is of the branch that is shown of its conversation `c`. The name that a
/// model gave is of the branch with the last turn that it tells of.
macro_rules! in_shown_branch {
    () => {
        concat!(
            "(p.turn IS NULL AND c.named_by <> 'model' OR ",
            branch::is_shown!("p.conversation", "coalesce(p.turn, c.told_until)"),
            ")"
        )
    };
}

async fn list_ended(
    db: &mut SqliteConnection,
    limit: u32,
    words: Option<&(Vec<String>, Vec<String>)>,
) -> Result<Vec<EndedConversation>, sqlx::Error> {
    let found = match words {
        None => sqlx::query(concat!(
            ended_columns!(),
            "FROM listed l JOIN conversation c ON c.id = l.id WHERE l.state = 'ended'
             ORDER BY l.updated_at DESC, l.id DESC LIMIT ?1"
        ))
        .bind(limit),
        Some((words, unspaced)) => sqlx::query(concat!(
            ended_columns!(),
            "FROM json_each(?2) holding CROSS JOIN listed l ON l.id = holding.value
                 JOIN conversation c ON c.id = l.id
             WHERE l.state = 'ended'
             ORDER BY l.updated_at DESC, l.id DESC LIMIT ?1"
        ))
        .bind(limit)
        .bind(to_json(&conversations_containing(db, words, unspaced).await?)?),
    };
    let row = |row: SqliteRow| {
        let (words, named_by): (String, &str) = (row.try_get("words")?, row.try_get("named_by")?);
        Ok(EndedConversation {
            conversation: conversation::from_row(&row)?,
            excerpt: words.chars().take(EXCERPT_CHARS).collect(),
            named_by_user: named_by == "user",
            titled_until: row.optional_text("told_until")?,
        })
    };
    found.try_map(row).fetch_all(db).await
}

async fn newest_ended(
    db: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<ConversationId>, sqlx::Error> {
    sqlx::query(
        "SELECT l.id FROM listed l WHERE l.state = 'ended'
         ORDER BY l.updated_at DESC, l.id DESC LIMIT ?1",
    )
    .bind(limit)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await
}

/// Conversations in which each of the words stands somewhere in the branch that is shown.
async fn conversations_containing(
    db: &mut SqliteConnection,
    words: &[String],
    unspaced: &[String],
) -> Result<BTreeSet<String>, sqlx::Error> {
    let mut sets: Vec<Vec<String>> = Vec::new();
    for word in words {
        let holding = sqlx::query_scalar(concat!(
            "SELECT DISTINCT p.conversation
             FROM passage_words CROSS JOIN passage p ON p.number = passage_words.rowid
                 JOIN conversation c ON c.id = p.conversation
             WHERE passage_words MATCH ? AND ",
            in_shown_branch!()
        ));
        sets.push(holding.bind(word).fetch_all(&mut *db).await?);
    }
    for word in unspaced {
        let holding = sqlx::query_scalar(concat!(
            "SELECT DISTINCT p.conversation
             FROM (SELECT * FROM passage ORDER BY number DESC LIMIT ?2) p
                 JOIN conversation c ON c.id = p.conversation
             WHERE instr(p.words, ?1) > 0 AND ",
            in_shown_branch!()
        ));
        sets.push(holding.bind(word).bind(MAX_SCANNED_PASSAGES).fetch_all(&mut *db).await?);
    }
    let sets = sets.into_iter().map(|set| set.into_iter().collect::<BTreeSet<String>>());
    Ok(sets.reduce(|all, set| &all & &set).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_its_words_and_the_last_may_go_on() {
        assert_eq!(fts_terms("buy mil"), ["\"buy\"", "\"mil\"*"]);
        assert_eq!(fts_terms("buy mil "), ["\"buy\"", "\"mil\""]);
        assert_eq!(fts_terms("100% - \"a"), ["\"100%\"", "\"a\""]);
        assert_eq!(fts_terms("OR NEAR("), ["\"OR\"", "\"NEAR(\"*"]);
        assert_eq!(fts_terms(" % "), Vec::<String>::new());
    }

    #[test]
    fn marks_are_counted_as_the_window_counts() {
        let (text, marks) = strip_marks("🐈 \u{2}milk\u{3} and \u{2}mint\u{3}\u{2}");
        assert_eq!((text.as_str(), marks), ("🐈 milk and mint", vec![(3, 7), (12, 16)]));
    }
}
