//! A large vault, the same on every machine: folders of folders, properties, links, tags and tasks,
//! a few notes with other line ends, a few without a letter in them.

use std::fs;
use std::path::Path;

use fastrand::Rng;

const WORDS: [&str; 40] = [
    "market", "garden", "letter", "winter", "kettle", "bridge", "orchard", "paper", "window",
    "river", "lantern", "copper", "harbour", "meadow", "violin", "basket", "candle", "thunder",
    "pepper", "ladder", "mirror", "button", "feather", "marble", "needle", "ribbon", "saddle",
    "timber", "velvet", "walnut", "anchor", "barrel", "cellar", "dinner", "engine", "fabric",
    "hammer", "island", "jacket", "Gemüse",
];
/// Notes to a folder, about.
const NOTES_PER_FOLDER: usize = 100;
/// Every so many notes one is empty, and one has the line ends of Windows.
const UNUSUAL_NOTE_INTERVAL: usize = 500;

/// Writes so many notes below `root`, which is made when it is not there. The note with number `n` is
/// called `… n` and nothing else is; its text has the word `number-n` once.
pub fn write_vault(root: &Path, count: usize) {
    let mut rng = Rng::with_seed(20_261_122);
    let folders: Vec<String> =
        (0..count.div_ceil(NOTES_PER_FOLDER)).map(|n| folder_path(n, &mut rng)).collect();
    for folder in &folders {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let names: Vec<String> = (0..count)
        .map(|n| format!("{} {} {n}", random_word(&mut rng), random_word(&mut rng)))
        .collect();
    for (n, name) in names.iter().enumerate() {
        let text = match n % UNUSUAL_NOTE_INTERVAL {
            3 => String::new(),
            7 => note_text(n, &names, &mut rng).replace('\n', "\r\n"),
            _ => note_text(n, &names, &mut rng),
        };
        let file = root.join(&folders[n / NOTES_PER_FOLDER]).join(format!("{name}.md"));
        fs::write(file, text).expect("a note");
    }
}

fn folder_path(n: usize, rng: &mut Rng) -> String {
    let name = format!("{} {n}", random_word(rng));
    match n % 3 {
        0 => name,
        1 => format!("Areas/{name}"),
        _ => format!("Projects/{}/{name}", random_word(rng)),
    }
}

fn note_text(n: usize, names: &[String], rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.u8(..100) < 60 {
        text.push_str(&format!("---\ntags: [{}, {}]\n---\n", random_word(rng), random_word(rng)));
    }
    text.push_str(&format!("# {}\n\nThis is number-{n}.\n", names[n]));
    for _ in 0..rng.usize(1..12) {
        text.push_str(&format!("\n{}.\n", random_sentence(rng)));
        match rng.u8(..6) {
            0 => text.push_str(&format!("\nSee [[{}]].\n", names[rng.usize(..names.len())])),
            1 => text.push_str(&format!("\n## {}\n", random_word(rng))),
            2 => text.push_str(&format!(
                "\n- [ ] {}\n- [x] {}\n",
                random_sentence(rng),
                random_word(rng)
            )),
            _ => {}
        }
    }
    text
}

fn random_sentence(rng: &mut Rng) -> String {
    let words: Vec<&str> = (0..rng.usize(6..30)).map(|_| random_word(rng)).collect();
    words.join(" ")
}

fn random_word(rng: &mut Rng) -> &'static str {
    WORDS[rng.usize(..WORDS.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vaults::temp_vault::read_files;

    #[test]
    fn the_same_notes_are_made_each_time_and_each_has_its_number() {
        let folders =
            [tempfile::tempdir(), tempfile::tempdir()].map(|made| made.expect("a folder"));
        for folder in &folders {
            write_vault(folder.path(), 250);
        }
        let [one, other] = folders.each_ref().map(|folder| read_files(folder.path()));
        assert_eq!((one.len(), &one), (250, &other));
        let holds = |bytes: &[u8], word: &str| String::from_utf8_lossy(bytes).contains(word);
        let with = one.values().filter(|bytes| holds(bytes, "This is number-42.")).count();
        assert_eq!(with, 1);
    }
}
