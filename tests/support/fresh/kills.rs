//! The application is killed while it writes its index, and started again: then the index is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::asked::Asked;
use super::saving::word;

/// Each of these notes holds a word that no other one holds.
const PROBES: usize = 12;

/// How often the notes that are not probes are the same text.
const SAME: usize = 60;

/// Where a snapshot's text begins, and where its checksum stands before it.
const HEADER: usize = 88;
const CHECKSUM: std::ops::Range<usize> = 56..88;

/// Where it says under which rules it was made.
const RULES: std::ops::Range<usize> = 16..24;

/// The disk is looked at so often.
const LOOK: Duration = Duration::from_millis(5);

/// Notes, the data beside them, and what has to be found.
pub struct Sweep {
    program: PathBuf,
    notes: PathBuf,
    data: PathBuf,
    /// The word of each probe.
    words: Vec<String>,
}

impl Sweep {
    /// Makes the notes; `data` is empty.
    #[must_use]
    pub fn over(program: &Path, data: &Path, notes: &Path) -> Self {
        let mut sweep = Self {
            program: program.to_owned(),
            notes: notes.to_owned(),
            data: data.to_owned(),
            words: Vec::new(),
        };
        for number in 0..PROBES {
            sweep.words.push(word("probe", number));
            sweep.write(number);
        }
        for number in 0..SAME {
            let file = sweep.notes.join(format!("same {number}.md"));
            fs::write(file, "sharedword in each of them\n").expect("written");
        }
        sweep
    }

    /// One of the probes holds another word from now on.
    pub fn change(&mut self, number: usize) {
        let number = number % PROBES;
        self.words[number] = word("probe", number);
        self.write(number);
    }

    fn write(&self, number: usize) {
        let text = format!("# Probe\n\n{} and more\n", self.words[number]);
        fs::write(self.notes.join(path(number)), text).expect("written");
    }

    /// How long it takes from the start until all of the index is written.
    #[must_use]
    pub fn undisturbed(&self) -> Duration {
        let began = Instant::now();
        let mut asked = self.start();
        self.written(&mut asked);
        let took = began.elapsed();
        asked.kill();
        took
    }

    /// Starts it and kills it after so long.
    pub fn kill_after(&self, moment: Duration) {
        let began = Instant::now();
        let asked = Asked::begin(&self.program, &["answer"], &self.data, &self.notes);
        while let Some(left) = moment.checked_sub(began.elapsed()) {
            std::thread::park_timeout(left);
        }
        asked.kill();
    }

    /// Takes away all that is written.
    pub fn forget(&self) {
        let _ = fs::remove_dir_all(&self.data);
        fs::create_dir_all(&self.data).expect("a folder");
    }

    /// Starts it, and says what it does not find as it is: before the ranking is there, and then.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let mut asked = self.start();
        asked.wait();
        let mut wrong = self.unlike(&mut asked);
        self.written(&mut asked);
        wrong.extend(self.unlike(&mut asked));
        asked.close();
        wrong
    }

    /// Writes another word over that of a probe, in the snapshot and nowhere else. Whether its
    /// checksum says so still is for [`Sweep::reseal`].
    pub fn tear(&self) {
        let (file, mut bytes) = self.snapshot();
        let word = self.words[0].as_bytes();
        let at = bytes.windows(word.len()).position(|window| window == word);
        let at = at.expect("the probe is in the snapshot");
        bytes[at..at + 5].copy_from_slice(b"other");
        replace(&file, &bytes);
    }

    /// Gives the snapshot the checksum of what it holds now, as if nobody looked at that.
    pub fn reseal(&self) {
        let (file, mut bytes) = self.snapshot();
        let sum = blake3::hash(&bytes[HEADER..]);
        bytes[CHECKSUM].copy_from_slice(sum.as_bytes());
        replace(&file, &bytes);
    }

    fn start(&self) -> Asked {
        Asked::start(&self.program, &self.data, &self.notes)
    }

    fn unlike(&self, asked: &mut Asked) -> Vec<String> {
        let mut wrong = Vec::new();
        for (number, word) in self.words.iter().enumerate() {
            for door in ["literal", "find"] {
                let found = asked.ask(door, word);
                if found != [path(number)] {
                    wrong.push(format!("{door} {word}: {found:?}"));
                }
            }
        }
        let shared = asked.ask("count", "sharedword");
        if shared != [SAME.to_string(), SAME.to_string()] {
            wrong.push(format!("count sharedword: {shared:?}"));
        }
        wrong
    }

    /// Waits until a ranking is sealed under the rules of the snapshot that is there.
    fn written(&self, asked: &mut Asked) {
        asked.wait();
        asked.until("the ranking", |_| {
            std::thread::park_timeout(LOOK);
            let dir = index(&self.data)?;
            let snapshot = fs::read(dir.join("notes")).ok()?;
            let rules = u64::from_le_bytes(*snapshot.get(RULES)?.first_chunk()?);
            let seal = fs::read(dir.join("ranked/seal.json")).ok()?;
            let seal: serde_json::Value = serde_json::from_slice(&seal).ok()?;
            (seal["rules"] == rules).then_some(())
        });
    }

    fn snapshot(&self) -> (PathBuf, Vec<u8>) {
        let file = index(&self.data).expect("an index").join("notes");
        let bytes = fs::read(&file).expect("a snapshot");
        (file, bytes)
    }
}

/// The directory of the index below `data`, once something is written there.
pub(crate) fn index(data: &Path) -> Option<PathBuf> {
    let mut folders = vec![data.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.join("notes").is_file() {
            return Some(folder);
        }
        let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(inside.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    None
}

fn path(number: usize) -> String {
    format!("probe {number}.md")
}

/// The old file may be mapped: a new one takes its place.
fn replace(file: &Path, bytes: &[u8]) {
    fs::remove_file(file).expect("removed");
    fs::write(file, bytes).expect("written");
}
