//! More reports than the system keeps for a reader that is held up: what it loses is found after
//! all.

use std::fs;
use std::path::{Path, PathBuf};

use super::query_client::QueryProcess;

/// Notes that are there before.
const INITIAL_NOTES: [(&str, &str); 4] = [
    ("Changed.md", "the word before #old\n"),
    ("Removed.md", "removedword\n"),
    ("Moved.md", "movedword\n"),
    ("Noise/0.md", "noise\n"),
];

/// A vault whose reader was held up until the system lost count, and then let go.
pub struct OverflowedWatch {
    notes: PathBuf,
    /// The application that was paused.
    pub app: QueryProcess,
}

impl OverflowedWatch {
    /// `role` is `answer`, or `careless` for the control.
    #[must_use]
    pub fn start(program: &Path, role: &str, data: &Path, notes: &Path) -> Self {
        for (path, text) in INITIAL_NOTES {
            write(notes, path, text);
        }
        let mut asked = QueryProcess::spawn(program, &[role], data, notes);
        asked.read_answer();
        asked.wait_for_index();
        asked.poll_until("what was there before", |asked| {
            (asked.ask("literal", "removedword") == ["Removed.md"]).then_some(())
        });
        // Once it answers, a save was seen, so its watch is set up.
        write(notes, "Noise/0.md", "standing\n");
        asked.poll_until("the watch", |asked| {
            (asked.ask("literal", "standing") == ["Noise/0.md"]).then_some(())
        });
        asked.pause();
        overflow_queue(notes);
        write(notes, "Changed.md", "the word afterwards #new\n");
        fs::remove_file(notes.join("Removed.md")).expect("removed");
        fs::rename(notes.join("Moved.md"), notes.join("There.md")).expect("renamed");
        write(notes, "Made/In/It.md", "madeword\n");
        asked.resume();
        Self { notes: notes.to_owned(), app: asked }
    }

    /// Saves in a folder that was watched before, and waits until that is found.
    pub fn wait_for_new_save(&mut self) {
        write(&self.notes, "Noise/0.md", "heardagain\n");
        self.app.poll_until("a save after the flood", |asked| {
            (asked.ask("literal", "heardagain") == ["Noise/0.md"]).then_some(())
        });
    }

    /// Saves in a folder that was made while nobody listened.
    pub fn save_in_new_folder(&self) {
        write(&self.notes, "Made/In/It.md", "savedlater\n");
    }
}

/// Two files again and again: many reports and few files.
fn overflow_queue(notes: &Path) {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let limit: usize = limit.trim().parse().expect("a number");
    for number in 0..=limit {
        write(notes, &format!("Noise/{}.md", number % 2), "noise\n");
    }
}

fn write(notes: &Path, path: &str, text: &str) {
    let file = notes.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, text).expect("written");
}
