//! A large folder of notes, the same on every machine: folders of folders, properties, links, tags and
//! tasks, a few notes with other line ends, a few without a letter in them.

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
const FOLDER: usize = 100;
/// Every so many notes one is empty, and one has the line ends of Windows.
const ODD: usize = 500;

/// Writes so many notes below `root`, which is made when it is not there. The note with number `n` is
/// called `… n` and nothing else is; its text has the word `number-n` once.
pub fn write(root: &Path, count: usize) {
    let mut rng = Rng::with_seed(20_261_122);
    let folders: Vec<String> = (0..count.div_ceil(FOLDER)).map(|n| folder(n, &mut rng)).collect();
    for folder in &folders {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let names: Vec<String> =
        (0..count).map(|n| format!("{} {} {n}", word(&mut rng), word(&mut rng))).collect();
    for (n, name) in names.iter().enumerate() {
        let text = match n % ODD {
            3 => String::new(),
            7 => text(n, &names, &mut rng).replace('\n', "\r\n"),
            _ => text(n, &names, &mut rng),
        };
        let file = root.join(&folders[n / FOLDER]).join(format!("{name}.md"));
        fs::write(file, text).expect("a note");
    }
}

fn folder(n: usize, rng: &mut Rng) -> String {
    let name = format!("{} {n}", word(rng));
    match n % 3 {
        0 => name,
        1 => format!("Areas/{name}"),
        _ => format!("Projects/{}/{name}", word(rng)),
    }
}

fn text(n: usize, names: &[String], rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.u8(..100) < 60 {
        text.push_str(&format!("---\ntags: [{}, {}]\n---\n", word(rng), word(rng)));
    }
    text.push_str(&format!("# {}\n\nThis is number-{n}.\n", names[n]));
    for _ in 0..rng.usize(1..12) {
        text.push_str(&format!("\n{}.\n", sentence(rng)));
        match rng.u8(..6) {
            0 => text.push_str(&format!("\nSee [[{}]].\n", names[rng.usize(..names.len())])),
            1 => text.push_str(&format!("\n## {}\n", word(rng))),
            2 => text.push_str(&format!("\n- [ ] {}\n- [x] {}\n", sentence(rng), word(rng))),
            _ => {}
        }
    }
    text
}

fn sentence(rng: &mut Rng) -> String {
    let words: Vec<&str> = (0..rng.usize(6..30)).map(|_| word(rng)).collect();
    words.join(" ")
}

fn word(rng: &mut Rng) -> &'static str {
    WORDS[rng.usize(..WORDS.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_vault::files;

    #[test]
    fn the_same_notes_are_made_each_time_and_each_has_its_number() {
        let folders =
            [tempfile::tempdir(), tempfile::tempdir()].map(|made| made.expect("a folder"));
        for folder in &folders {
            write(folder.path(), 250);
        }
        let [one, other] = folders.each_ref().map(|folder| files(folder.path()));
        assert_eq!((one.len(), &one), (250, &other));
        let holds = |bytes: &[u8], word: &str| String::from_utf8_lossy(bytes).contains(word);
        let with = one.values().filter(|bytes| holds(bytes, "This is number-42.")).count();
        assert_eq!(with, 1);
    }
}
