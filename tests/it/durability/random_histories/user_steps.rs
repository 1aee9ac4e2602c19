//! The user and other programs at work in the folder, past the application.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use protocol::ChangeKind;

use super::applied_effects::ListedEffect;
use super::history::RandomHistory;
use super::tracked_notes::{is_in_trash, marking_words, outside_trash, text_of};

/// The folders of a vault; the first is the vault itself.
pub(super) const FOLDERS: [&str; 3] = ["", "Work/", "Home/"];

/// A note that a program has open for appending.
#[derive(Debug)]
pub(super) struct AppendHandle {
    file: File,
    inode: u64,
}

impl RandomHistory {
    /// One thing that the user does with the files.
    pub(super) fn user_step(&mut self) {
        let kinds = if self.is_calm { 4 } else { 13 };
        match self.random.usize(0..kinds) {
            0..=2 => self.add_line(),
            3 => self.delete_line(),
            4 => self.user_renames_note(),
            5 => self.user_moves_note(),
            6 => self.user_copies_note(),
            7 => self.user_deletes_note(),
            8 => self.user_creates_note(),
            9 => self.user_renames_folder(),
            10 => self.open_handle(),
            11 => self.append_by_handle(),
            _ => self.save_stale_text(),
        }
    }

    pub(super) fn any_note(&mut self) -> Option<String> {
        let all: Vec<String> =
            outside_trash(&self.known.files).map(|(path, _)| path.clone()).collect();
        self.random.choice(all)
    }

    pub(super) fn text_at(&self, path: &str) -> String {
        self.known.files.get(path).map(|bytes| text_of(bytes)).unwrap_or_default()
    }

    pub(super) fn user_word(&mut self) -> String {
        self.next_word += 1;
        let word = format!("u-{}", self.next_word);
        self.known.user_words.insert(word.clone(), false);
        word
    }

    /// A path that no note has had yet.
    pub(super) fn fresh_path(&mut self) -> String {
        self.next_name += 1;
        format!("{}Note{}.md", FOLDERS[self.random.usize(0..FOLDERS.len())], self.next_name)
    }

    /// Words after the word that marks a line: a link to another note now and then.
    pub(super) fn line_end(&mut self, from: &str) -> String {
        let Some(target) = self.any_note().filter(|_| self.random.u8(0..4) == 0) else {
            return String::new();
        };
        let name = target.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        match self.random.bool() {
            true => format!(" [[{name}]]"),
            false => {
                let up = if from.contains('/') { "../" } else { "" };
                format!(" [text]({up}{target})")
            }
        }
    }

    /// Where the text of a note begins, below its properties.
    fn first_line(lines: &[&str]) -> usize {
        match lines.first() {
            Some(&"---") => {
                lines.iter().skip(1).position(|line| *line == "---").map_or(0, |at| at + 2)
            }
            _ => 0,
        }
    }

    fn add_line(&mut self) {
        let Some(path) = self.any_note() else { return };
        let text = self.text_at(&path);
        let mut lines: Vec<&str> = text.lines().collect();
        let from = Self::first_line(&lines);
        let at = match self.random.u8(0..3) {
            0 => from,
            1 => lines.len(),
            _ => self.random.usize(from..=lines.len()),
        };
        let word = self.user_word();
        let line = format!("{word}{}", self.line_end(&path));
        lines.insert(at, &line);
        let is_open = !text.is_empty() && !text.ends_with('\n');
        self.story.push(format!("user adds {line:?} at {at} of {path}"));
        let text = lines.join("\n") + if is_open { "" } else { "\n" };
        self.save(&path, &text);
    }

    fn delete_line(&mut self) {
        let Some(path) = self.any_note() else { return };
        let text = self.text_at(&path);
        let mut lines: Vec<&str> = text.lines().collect();
        let marked: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].starts_with("u-") || lines[*at].starts_with("m-"))
            .collect();
        let Some(at) = self.random.choice(marked) else { return };
        let line = lines.remove(at);
        self.story.push(format!("user deletes {line:?} of {path}"));
        marking_words(line).iter().for_each(|word| self.give_up(word));
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        self.save(&path, &text);
    }

    /// The user removes a word: one of the user's own is gone, one of the model's may come back.
    fn give_up(&mut self, word: &str) {
        match self.known.user_words.get_mut(word) {
            Some(is_deleted) => *is_deleted = true,
            None => drop(self.known.loose_words.insert(word.to_owned())),
        }
    }

    /// Saves in place, or by a new file that takes the place of the old one.
    fn save(&mut self, path: &str, text: &str) {
        let file = self.home.notes.root().join(path);
        if self.random.bool() {
            self.forget_handles(path);
            let temp = file.with_extension("saving");
            fs::write(&temp, text).expect("written");
            fs::rename(&temp, &file).expect("renamed");
            self.story.push("  (by a new file)".to_owned());
        } else {
            fs::write(&file, text).expect("written");
        }
        self.known.files.insert(path.to_owned(), text.as_bytes().to_vec());
    }

    /// Handles of a file that the user replaced or deleted write nowhere.
    fn forget_handles(&mut self, path: &str) {
        let inode = fs::metadata(self.home.notes.root().join(path)).map(|found| found.ino());
        self.handles.retain(|handle| !inode.as_ref().is_ok_and(|inode| *inode == handle.inode));
    }

    fn rename_on_disk(&mut self, from: &str, to: &str) {
        let root = self.home.notes.root();
        let place = root.join(to);
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        fs::rename(root.join(from), place).expect("renamed");
        self.known.notes.rename(from, to);
        self.refresh();
    }

    /// The files as the user left them.
    fn refresh(&mut self) {
        self.known.files = self.home.notes.snapshot();
    }

    fn user_renames_note(&mut self) {
        let Some(path) = self.any_note() else { return };
        self.next_name += 1;
        let folder =
            path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let to = format!("{folder}Note{}.md", self.next_name);
        self.story.push(format!("user renames {path} to {to}"));
        self.rename_on_disk(&path, &to);
    }

    fn user_moves_note(&mut self) {
        let Some(path) = self.any_note() else { return };
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let to = format!("{}{name}", FOLDERS[self.random.usize(0..FOLDERS.len())]);
        if self.home.notes.root().join(&to).exists() {
            return;
        }
        self.story.push(format!("user moves {path} to {to}"));
        self.rename_on_disk(&path, &to);
    }

    fn user_renames_folder(&mut self) {
        let Some(path) = self.any_note() else { return };
        let Some((folder, _)) = path.rsplit_once('/') else { return };
        self.next_name += 1;
        let to = format!("Folder{}", self.next_name);
        let folder = folder.to_owned();
        self.story.push(format!("user renames the folder {folder} to {to}"));
        self.rename_on_disk(&folder, &to);
    }

    fn user_copies_note(&mut self) {
        let Some(path) = self.any_note() else { return };
        let to = self.fresh_path();
        let place = self.home.notes.root().join(&to);
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        self.story.push(format!("user copies {path} to {to}"));
        fs::copy(self.home.notes.root().join(&path), place).expect("copied");
        self.known.loose_words.extend(marking_words(&self.text_at(&path)));
        self.known.notes.create(&to);
        self.refresh();
    }

    fn user_deletes_note(&mut self) {
        let Some(path) = self.any_note() else { return };
        if self.known.notes.paths().len() < 5 {
            return;
        }
        self.story.push(format!("user deletes {path}"));
        self.forget_handles(&path);
        fs::remove_file(self.home.notes.root().join(&path)).expect("removed");
        for word in marking_words(&self.text_at(&path)) {
            self.give_up(&word);
        }
        self.known.notes.remove(&path);
        self.refresh();
    }

    /// A new note, often where another one was that was moved or deleted.
    fn user_creates_note(&mut self) {
        let left =
            self.known.effects.all.values().map(|effect| effect.note.path.as_str().to_owned());
        let is_free =
            |path: &String| path.ends_with(".md") && !self.home.notes.root().join(path).exists();
        let left: Vec<String> = left.filter(is_free).collect();
        let path = match self.random.choice(left) {
            Some(path) if self.random.bool() => path,
            _ => self.fresh_path(),
        };
        let words: Vec<String> = (0..self.random.usize(1..4)).map(|_| self.user_word()).collect();
        self.story.push(format!("user creates {path} with {words:?}"));
        self.home.notes.write(&path, words.join("\n") + "\n");
        self.known.notes.create(&path);
        self.refresh();
    }

    fn open_handle(&mut self) {
        let Some(path) = self.any_note() else { return };
        let file = OpenOptions::new()
            .append(true)
            .open(self.home.notes.root().join(&path))
            .expect("opened");
        let inode = file.metadata().expect("metadata").ino();
        self.story.push(format!("a program opens {path} for appending"));
        self.handles.push(AppendHandle { file, inode });
    }

    /// Writes a line by a handle that was opened earlier and closes it: it is in the note, wherever that is.
    fn append_by_handle(&mut self) {
        let Some(AppendHandle { mut file, inode }) = self.handles.pop() else { return };
        let has_it = |path: &&String| {
            let found = fs::metadata(self.home.notes.root().join(path.as_str()));
            found.is_ok_and(|found| found.ino() == inode)
        };
        let place = self.known.files.keys().find(has_it).cloned();
        let text = place.as_ref().map(|path| self.text_at(path)).unwrap_or_default();
        let word = self.user_word();
        let start = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.story.push(format!("the program appends {word} to {place:?}"));
        file.write_all(format!("{start}{word}\n").as_bytes()).expect("written");
        drop(file);
        self.refresh();
        if place.is_none_or(|path| is_in_trash(&path)) {
            self.wrong.push(format!(
                "the file that a program had open is not a note any more: {word} is lost"
            ));
        }
    }

    /// A program that has an old text of a note saves it with a line of its own: what came since is overwritten.
    fn save_stale_text(&mut self) {
        let is_edit = |effect: &&ListedEffect| {
            effect.note.kind == ChangeKind::Replace && effect.is_own() && !effect.is_undone()
        };
        let changed = self.known.effects.all.values().filter(is_edit);
        let numbers: Vec<usize> = changed.filter_map(|effect| effect.number).collect();
        let Some(number) = self.random.choice(numbers) else { return };
        let here = self
            .known
            .notes
            .paths()
            .into_iter()
            .find(|path| self.known.notes.at(path) == Some(number));
        let Some(path) = here.cloned() else { return };
        let text = self.text_at(&path);
        let is_of_model =
            |line: &&str| marking_words(line).iter().any(|word| word.starts_with("m-"));
        let (gone, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(is_of_model);
        if gone.is_empty() || kept.iter().filter(|line| **line == "---").count() == 1 {
            return;
        }
        gone.iter().flat_map(|line| marking_words(line)).for_each(|word| {
            self.known.loose_words.insert(word);
        });
        let mut kept: Vec<String> = kept.into_iter().map(str::to_owned).collect();
        kept.push(self.user_word());
        self.story.push(format!("a program saves {path} without {gone:?}"));
        self.save(&path, &(kept.join("\n") + "\n"));
    }
}
