//! Notes to measure with. Nineteen of twenty notes in real vaults are shorter.

/// How many bytes such a note has, about.
const NOTE_BYTES: usize = 1_500;

/// The text of note `number` after `edits` edits of one of its lines.
#[must_use]
pub(crate) fn note_text(number: usize, edits: usize) -> Vec<u8> {
    let mut text = format!("---\ntags: [garden]\n---\n# Note {number}\n\n");
    let mut line = 0;
    while text.len() < NOTE_BYTES {
        line += 1;
        let seed = number * 31 + line * 7;
        text.push_str(&format!("- [[Bed {}]] wants {seed} seeds by week {line}\n", seed % 97));
    }
    text.push_str(&format!("\nWatered {edits} times.\n"));
    text.into_bytes()
}

/// The name of note `number`.
#[must_use]
pub(crate) fn note_name(number: usize) -> String {
    format!("Note {number}.md")
}
