//! Words of scripts that set no spaces between them. The full-text index knows a run of their letters
//! only as a whole and by its beginning, so they are looked for in the passages themselves.

/// Passages before these are not looked through for such a word alone, newest first.
pub(crate) const MAX_SCANNED_PASSAGES: u32 = 50_000;

/// Characters that stand around what was found.
const CONTEXT_CHARS: usize = 60;

/// Whether a letter of such a script is in the word.
pub(crate) fn has_unspaced_script(word: &str) -> bool {
    word.chars().any(|letter| {
        matches!(u32::from(letter),
            0x0E00..=0x0EFF                 // Thai, Lao
            | 0x1000..=0x109F               // Myanmar
            | 0x1780..=0x17FF               // Khmer
            | 0x3040..=0x30FF | 0x31F0..=0x31FF // Hiragana, Katakana
            | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // Han
            | 0x20000..=0x323AF)
    })
}

/// The text around the first of these words in a passage, each of them between two marks.
pub(crate) fn excerpt(passage: &str, words: &[String], marks: [char; 2]) -> String {
    let first = words.iter().filter_map(|word| passage.find(word.as_str())).min().unwrap_or(0);
    let (before, after) = passage.split_at(first);
    let start = before.char_indices().rev().nth(CONTEXT_CHARS - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(CONTEXT_CHARS).map_or(passage.len(), |(at, _)| first + at);
    let mut shown = passage.get(start..end).unwrap_or_default().to_owned();
    for word in words {
        shown = shown.replace(word.as_str(), &format!("{}{word}{}", marks[0], marks[1]));
    }
    let (before, after) =
        (if start > 0 { "…" } else { "" }, if end < passage.len() { "…" } else { "" });
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_told_from_others() {
        for word in ["牛乳", "ぎゅうにゅう", "ミルク", "นม", "tofu豆腐"] {
            assert!(has_unspaced_script(word), "{word}");
        }
        for word in ["milk", "молоко", "γάλα", "우유", "🐈", ""] {
            assert!(!has_unspaced_script(word), "{word}");
        }
    }

    #[test]
    fn an_excerpt_is_cut_on_both_sides_and_marked() {
        let long = format!("{}牛乳{}", "前".repeat(80), "後".repeat(80));
        let shown = excerpt(&long, &["牛乳".to_owned()], ['<', '>']);
        assert_eq!(shown, format!("…{}<牛乳>{}…", "前".repeat(60), "後".repeat(58)));
        assert_eq!(excerpt("牛乳を買う", &["牛乳".to_owned()], ['<', '>']), "<牛乳>を買う");
    }
}
