//! The application is killed while it writes its index, and started again: then the index is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::query_client::QueryProcess;
use super::writers::unique_word;

/// Each of these notes holds a word that no other one holds.
const PROBES: usize = 12;

/// How often the notes that are not probes are the same text.
const DUPLICATE_NOTES: usize = 60;

/// Where a snapshot's text begins, and where its checksum stands before it.
const HEADER_BYTES: usize = 88;
const CHECKSUM_RANGE: std::ops::Range<usize> = 56..88;

/// Where it says under which rules it was made.
const RULES_HASH_RANGE: std::ops::Range<usize> = 16..24;

/// The disk is looked at so often.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Notes, the data beside them, and what has to be found.
pub struct IndexKillSweep {
    program: PathBuf,
    notes: PathBuf,
    data: PathBuf,
    /// The word of each probe.
    words: Vec<String>,
}

impl IndexKillSweep {
    /// Makes the notes; `data` is empty.
    #[must_use]
    pub fn new(program: &Path, data: &Path, notes: &Path) -> Self {
        let mut sweep = Self {
            program: program.to_owned(),
            notes: notes.to_owned(),
            data: data.to_owned(),
            words: Vec::new(),
        };
        for number in 0..PROBES {
            sweep.words.push(unique_word("probe", number));
            sweep.write(number);
        }
        for number in 0..DUPLICATE_NOTES {
            let file = sweep.notes.join(format!("same {number}.md"));
            fs::write(file, "sharedword in each of them\n").expect("written");
        }
        sweep
    }

    /// One of the probes holds another word from now on.
    pub fn change_probe(&mut self, number: usize) {
        let number = number % PROBES;
        self.words[number] = unique_word("probe", number);
        self.write(number);
    }

    fn write(&self, number: usize) {
        let text = format!("# Probe\n\n{} and more\n", self.words[number]);
        fs::write(self.notes.join(note_path(number)), text).expect("written");
    }

    /// How long it takes from the start until all of the index is written.
    #[must_use]
    pub fn measure_undisturbed(&self) -> Duration {
        let began = Instant::now();
        let mut asked = self.start();
        self.wait_until_written(&mut asked);
        let took = began.elapsed();
        asked.kill();
        took
    }

    /// Starts it and kills it after so long.
    pub fn kill_after(&self, moment: Duration) {
        let began = Instant::now();
        let asked = QueryProcess::spawn(&self.program, &["answer"], &self.data, &self.notes);
        while let Some(left) = moment.checked_sub(began.elapsed()) {
            std::thread::park_timeout(left);
        }
        asked.kill();
    }

    /// Takes away all that is written.
    pub fn delete_index(&self) {
        let _ = fs::remove_dir_all(&self.data);
        fs::create_dir_all(&self.data).expect("a folder");
    }

    /// Starts it, and says what it does not find as it is: before the ranking is there, and then.
    #[must_use]
    pub fn check_index(&self) -> Vec<String> {
        let mut asked = self.start();
        asked.wait_for_index();
        let mut wrong = self.missing_probes(&mut asked);
        self.wait_until_written(&mut asked);
        wrong.extend(self.missing_probes(&mut asked));
        asked.close();
        wrong
    }

    /// Writes another word over that of a probe, in the snapshot only.
    /// [`IndexKillSweep::rewrite_checksum`] makes its checksum right again.
    pub fn corrupt_snapshot(&self) {
        let (file, mut bytes) = self.read_snapshot();
        let word = self.words[0].as_bytes();
        let at = bytes.windows(word.len()).position(|window| window == word);
        let at = at.expect("the probe is in the snapshot");
        bytes[at..at + 5].copy_from_slice(b"other");
        replace_file(&file, &bytes);
    }

    /// Gives the snapshot the checksum of what it holds now, as if nobody looked at that.
    pub fn rewrite_checksum(&self) {
        let (file, mut bytes) = self.read_snapshot();
        let sum = blake3::hash(&bytes[HEADER_BYTES..]);
        bytes[CHECKSUM_RANGE].copy_from_slice(sum.as_bytes());
        replace_file(&file, &bytes);
    }

    fn start(&self) -> QueryProcess {
        QueryProcess::start(&self.program, &self.data, &self.notes)
    }

    fn missing_probes(&self, process: &mut QueryProcess) -> Vec<String> {
        let mut wrong = Vec::new();
        for (number, word) in self.words.iter().enumerate() {
            for kind in ["literal", "find"] {
                let found = process.ask(kind, word);
                if found != [note_path(number)] {
                    wrong.push(format!("{kind} {word}: {found:?}"));
                }
            }
        }
        let shared = process.ask("count", "sharedword");
        if shared != [DUPLICATE_NOTES.to_string(), DUPLICATE_NOTES.to_string()] {
            wrong.push(format!("count sharedword: {shared:?}"));
        }
        wrong
    }

    /// Waits until a ranking is sealed under the rules of the snapshot that is there.
    fn wait_until_written(&self, process: &mut QueryProcess) {
        process.wait_for_index();
        process.poll_until("the ranking", |_| {
            std::thread::park_timeout(POLL_INTERVAL);
            let dir = index_dir(&self.data)?;
            let snapshot = fs::read(dir.join("notes")).ok()?;
            let rules = u64::from_le_bytes(*snapshot.get(RULES_HASH_RANGE)?.first_chunk()?);
            let seal = fs::read(dir.join("ranked/seal.json")).ok()?;
            let seal: serde_json::Value = serde_json::from_slice(&seal).ok()?;
            (seal["rules"] == rules).then_some(())
        });
    }

    fn read_snapshot(&self) -> (PathBuf, Vec<u8>) {
        let file = index_dir(&self.data).expect("an index").join("notes");
        let bytes = fs::read(&file).expect("a snapshot");
        (file, bytes)
    }
}

/// The directory of the index below `data`, once something is written there.
pub(crate) fn index_dir(data: &Path) -> Option<PathBuf> {
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

fn note_path(number: usize) -> String {
    format!("probe {number}.md")
}

/// The old file may be mapped: a new one takes its place.
fn replace_file(file: &Path, bytes: &[u8]) {
    fs::remove_file(file).expect("removed");
    fs::write(file, bytes).expect("written");
}
