//! The names of hidden notes, to be found in any text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use protocol::NotePath;
use protocol::notes::privacy::fold_name;
use unicode_casefold::{Locale, UnicodeCaseFold as _, Variant};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Replaces a hidden name.
pub(super) const REDACTED: &str = "(a private note)";

/// Paths of hidden files, and the places under which everything is hidden. A hundred thousand of them
/// take little more room than their letters, and are looked for all at once.
pub(super) struct HiddenNames {
    files: SortedNames,
    places: SortedNames,
    /// The folders that the files are in, folded.
    folders: BTreeSet<String>,
}

impl HiddenNames {
    pub(super) fn new(files: &[NotePath], places: &[String]) -> Self {
        let folders: BTreeSet<&str> = files.iter().filter_map(NotePath::folder).collect();
        let files = files.iter().map(NotePath::as_str);
        Self {
            files: SortedNames::from_names(files),
            places: SortedNames::from_names(places.iter().map(String::as_str)),
            folders: folders.into_iter().map(fold_name).collect(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.files.0.is_empty() && self.places.0.is_empty()
    }

    /// Whether the text names a hidden note. In doubt it does, but the bare name of a place is an everyday word.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        !self.is_empty() && self.next_match(text, 0, false).is_some()
    }

    /// The same for a text about folders: the bare name of a place counts where it stands alone.
    pub(super) fn occur_in_folders(&self, text: &str) -> bool {
        !self.is_empty() && self.next_match(text, 0, true).is_some()
    }

    /// Whether a hidden file lies in the folder itself, in none below it. A model may spell the folder in another
    /// case or Unicode form than the disk; in doubt both are the same folder.
    pub(super) fn lie_in(&self, folder: &NotePath) -> bool {
        self.folders.contains(&fold_name(folder.as_str()))
    }

    /// The text without those names.
    pub(super) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        let mut kept = 0;
        while let Some(found) = self.next_match(text, kept, true) {
            out.push_str(text.get(kept..found.start).unwrap_or_default());
            out.push_str(REDACTED);
            kept = found.end;
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(kept..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The first name from `from` on: a whole path that is not the end of a longer one. `bare` takes the names of
    /// places too that stand alone.
    fn next_match(&self, text: &str, from: usize, bare: bool) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        let mut before = text.get(..from)?.chars().next_back();
        for (at, sign) in rest.char_indices() {
            let begins = before.is_none_or(|before| before != '/' && !is_word(before));
            let stands_alone = bare && before.is_none_or(|before| ALONE_BETWEEN.contains(&before));
            before = Some(sign);
            let name = rest.get(at..).filter(|_| begins);
            if let Some(length) = name.and_then(|name| self.match_length(name, stands_alone)) {
                return Some(from + at..from + at + length);
            }
        }
        None
    }

    /// How long the name is that `text` begins with. A place is named without what is in it only where
    /// nothing else stands before or behind it: many are called by an everyday word.
    fn match_length(&self, text: &str, stands_alone: bool) -> Option<usize> {
        let is_over = |length: usize| {
            text.get(length..).is_some_and(|rest| !rest.chars().next().is_some_and(is_word))
        };
        let file = self.files.longest_match(text, is_over);
        let is_end = |rest: &str| rest.is_empty() || rest.starts_with(ALONE_BETWEEN);
        let whole = |length: usize| {
            (stands_alone && text.get(length..).is_some_and(is_end)).then_some(length)
        };
        let end = |length: usize| end_of_place(text, length).or_else(|| whole(length));
        let place = self.places.longest_match(text, |length| end(length).is_some()).and_then(end);
        file.max(place)
    }
}

/// The signs between which the bare name of a place is one, beside the ends of the text.
const ALONE_BETWEEN: [char; 2] = ['`', '\n'];

/// The number of characters that may stand between a name and the end of the name of a copy of it.
const MAX_COPY_SUFFIX: usize = 400;

/// Behind what stands in a place whose name `text` begins with, or is its note; `None` when the name
/// goes on. What a sync program put behind a name belongs to it: a copy may be gone by now.
fn end_of_place(text: &str, length: usize) -> Option<usize> {
    let rest = text.get(length..)?;
    let until = rest.char_indices().nth(MAX_COPY_SUFFIX).map_or(rest.len(), |(at, _)| at);
    let near = rest.get(..until)?;
    let part = near.find(|sign| sign == '/' || NAME_ENDS.contains(&sign)).unwrap_or(near.len());
    let (name, behind) = rest.split_at_checked(part)?;
    let lowered = name.to_ascii_lowercase();
    let is_copy = |mark: &str| mark.is_empty() || mark.contains("conflict");
    if behind.starts_with('/') && is_copy(&lowered) {
        return Some(length + part + end_of_path(behind));
    }
    lowered.match_indices(".md").find_map(|(at, end)| {
        let after = rest.get(at + end.len()..)?;
        let is_note = is_copy(lowered.get(..at)?) && !after.chars().next().is_some_and(is_word);
        is_note.then_some(length + at + end.len())
    })
}

/// The signs behind which no name in a text goes on, but for the comma.
const NAME_ENDS: [char; 5] = ['`', '”', '"', '\n', ','];

/// Where the path ends that `text` begins with. A comma may stand in a name: one before the `.md` of a note is
/// a part of it, unless a file's name ends there.
fn end_of_path(text: &str) -> usize {
    let end = text.find(NAME_ENDS).unwrap_or(text.len());
    let (before, behind) = text.split_at_checked(end).unwrap_or((text, ""));
    let name = before.rsplit('/').next().unwrap_or(before);
    if !behind.starts_with(',') || has_extension(name) {
        return end;
    }
    let until = behind.char_indices().nth(MAX_COPY_SUFFIX).map_or(behind.len(), |(at, _)| at);
    let near = behind.get(..until).unwrap_or_default();
    let near = near.split(['`', '”', '"', '\n']).next().unwrap_or_default().to_ascii_lowercase();
    let is_over = |at: &usize| !near.get(*at..).is_some_and(|rest| rest.starts_with(is_word));
    near.match_indices(".md")
        .map(|(at, found)| at + found.len())
        .find(is_over)
        .map_or(end, |at| end + at)
}

fn has_extension(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension
        .is_some_and(|it| !it.is_empty() && it.chars().all(|sign| sign.is_ascii_alphanumeric()))
}

/// Names in an order that tells, letter by letter, which a text may go on to be.
struct SortedNames(Vec<Box<[u8]>>);

impl SortedNames {
    fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let whole = |name: &str| name.nfd().map(fold_case).collect::<String>().into_bytes();
        let mut names: Vec<Box<[u8]>> = names.map(|name| whole(name).into_boxed_slice()).collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// The length in bytes of the longest name that `text` begins with, whatever its case and Unicode form, and
    /// that may end there.
    fn longest_match(&self, text: &str, may_end: impl Fn(usize) -> bool) -> Option<usize> {
        let mut left = self.0.as_slice();
        let (mut longest, mut known, mut end) = (None, 0, 0);
        while let Some(sign) = text.get(end..).and_then(first_with_marks) {
            let mut narrow = |letter: char| {
                let mut buffer = [0; 4];
                for byte in fold_case(letter).encode_utf8(&mut buffer).bytes() {
                    let from = left.partition_point(|name| name.get(known) < Some(&byte));
                    let to = left.partition_point(|name| name.get(known) <= Some(&byte));
                    left = left.get(from..to).unwrap_or_default();
                    known += 1;
                }
            };
            match sign.as_bytes() {
                [ascii] => narrow(char::from(*ascii)),
                _ => sign.nfd().for_each(narrow),
            }
            let Some(first) = left.first() else { break };
            end += sign.len();
            // A name that is whole comes before those that go on.
            if first.len() == known && may_end(end) {
                longest = Some(end);
            }
        }
        longest
    }
}

/// The first letter of a text with the marks on it: these are in no certain order.
fn first_with_marks(text: &str) -> Option<&str> {
    let mut letters = text.char_indices();
    letters.next()?;
    let is_next = |letter: char| letter.is_ascii() || canonical_combining_class(letter) == 0;
    let next = letters.find(|(_, letter)| is_next(*letter));
    text.get(..next.map_or(text.len(), |(at, _)| at))
}

/// The same letter for those that differ in case alone.
fn fold_case(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let mut simple = letter.case_fold_with(Variant::Simple, Locale::NonTurkic);
    simple.next().unwrap_or(letter)
}

/// Whether a name that ends, or begins, beside this sign would be part of a longer word.
fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || is_combining_mark(sign)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the system tells in files what a process took")]
mod tests {
    use super::*;

    fn needles(files: &[&str], places: &[&str]) -> HiddenNames {
        let files: Vec<_> = files.iter().map(|f| NotePath::parse(f).expect("a path")).collect();
        let places: Vec<_> = places.iter().map(|place| (*place).to_owned()).collect();
        HiddenNames::new(&files, &places)
    }

    #[test]
    fn names_are_found_as_whole_paths_in_any_case() {
        let needles = needles(&["a.md", "People/Ann (x).md"], &["diary"]);
        for text in [
            "`a.md`",
            "see A.md.",
            "people/ann (X).md",
            "Diary/2026/gone.md",
            "diary.md",
            "diary (conflicted copy 1).md",
        ] {
            assert!(needles.occur_in(text), "{text}");
        }
        for text in ["data.md", "sub/a.md", "a.mdx", "my diary", "old/diary/x", "diary-2/x"] {
            assert!(!needles.occur_in(text), "{text}");
        }
        let told = needles.redact("Open note: Diary/x y.md\nwaiting: a.md, b.md");
        assert_eq!(told, "Open note: (a private note)\nwaiting: (a private note), b.md");
        assert!(!HiddenNames::new(&[], &[]).occur_in("a.md"));
    }

    #[test]
    fn names_are_found_in_whatever_unicode_form_they_are_spelled() {
        // As the rules give a place: composed, in small letters.
        let needles = needles(
            &["Caf\u{e9}/Ann.md", "Zoe\u{308}.md", "a\u{323}\u{302}.md"],
            &["m\u{e4}rz", "i\u{307}\u{15f}", "\u{ac01}"],
        );
        for text in [
            "Cafe\u{301}/Ann.md",
            "ZO\u{cb}.md",
            "A\u{302}\u{323}.md",
            "\u{1ead}.md",
            "Ma\u{308}rz/Gone.md",
            "M\u{c4}RZ/Gone.md",
            "\u{130}\u{15f}/Gone.md",
            "I\u{307}s\u{327}/Gone.md",
            "\u{1100}\u{1161}\u{11a8}/Gone.md",
        ] {
            assert_eq!(needles.redact(text), REDACTED, "{text}");
        }
        for text in
            ["Cafe/Ann.md", "Zoe.md", "marz/Gone.md", "is\u{327}/Gone.md", "\u{ac00}/Gone.md"]
        {
            assert!(!needles.occur_in(text), "{text}");
        }
    }

    #[test]
    fn a_place_is_found_by_its_bare_name_where_that_stands_alone() {
        let needles = needles(&[], &["diary", "people/ann"]);
        for text in ["Diary", "made:\nDiary\n", "the folder `diary` waits", "`People/Ann`"] {
            assert!(needles.occur_in_folders(text), "{text}");
            // Elsewhere it is a word like others.
            assert!(!needles.occur_in(text), "{text}");
        }
        for text in ["my diary", "diary, plans", "Diary is a word", "`diaries`", "`my diary`"] {
            assert!(!needles.occur_in_folders(text), "{text}");
        }
    }

    #[test]
    fn a_comma_ends_the_path_of_a_file_and_not_a_name_that_goes_on() {
        let needles = needles(&[], &["diary"]);
        for (text, expected) in [
            ("Diary/Ann, due in May.md, b.md", "(a private note), b.md"),
            ("Diary/a.md, b.md", "(a private note), b.md"),
            ("Diary/Ann, then go on", "(a private note), then go on"),
            ("`Diary/Ann`, then `b.md`", "`(a private note)`, then `b.md`"),
        ] {
            assert_eq!(needles.redact(text), expected, "{text}");
        }
        // However long the text is.
        let long = "diary/x, ".repeat(50_000);
        assert!(!needles.redact(&long).contains("diary"));
    }

    #[test]
    fn a_hidden_file_lies_in_its_own_folder_alone() {
        let needles = needles(&["Inbox/Plan.md", "Work/Old/a.md", "inboxes/b.md"], &["diary"]);
        for (folder, has_some) in [
            ("inbox", true),
            ("Work/Old", true),
            ("Work", false),
            ("in", false),
            ("inbox/Plan.md", false),
            ("Zoo", false),
        ] {
            let folder = NotePath::parse(folder).expect("a path");
            assert_eq!(needles.lie_in(&folder), has_some, "{folder:?}");
        }
    }

    #[test]
    fn a_hidden_file_lies_in_its_folder_in_whatever_unicode_form_that_is_spelled() {
        let needles = needles(
            &["Cafe\u{301}/Ann.md", "Ödön/Σίσυφος/a.md", "O\u{fb03}ce/b.md", "Q\u{ff0f}A/c.md"],
            &[],
        );
        for (folder, has_some) in [
            ("Caf\u{e9}", true),
            ("CAFE\u{301}", true),
            ("Cafe", false),
            ("O\u{308}do\u{308}n/ΣΊΣΥΦΟΣ", true),
            ("Ödön", false),
            ("Office", true),
            ("Q\u{ff0f}A", true),
            ("Q", false),
        ] {
            let folder = NotePath::parse(folder).expect("a path");
            assert_eq!(needles.lie_in(&folder), has_some, "{folder:?}");
        }
    }

    #[test]
    fn of_names_that_begin_alike_the_longest_is_taken_out_whole() {
        let needles =
            needles(&["a.md", "a.md copy.md", "Öl und ΣΊΣΥΦΟΣ.md"], &["diary", "diary/old"]);
        assert_eq!(needles.redact("a.md copy.md, a.md"), "(a private note), (a private note)");
        assert_eq!(needles.redact("öl und σίσυφος.md"), "(a private note)");
        assert_eq!(
            needles.redact("“diary/old/x.md” and diary.MD"),
            "“(a private note)” and (a private note)"
        );
        assert_eq!(needles.redact("x/a.md b/diary/y"), "x/a.md b/diary/y");
    }

    /// How many notes are measured against twice as many.
    const SOME_NOTES: usize = 50_000;

    /// The factor by which time and memory may grow when the notes are doubled.
    const MAX_RATIO: f64 = 2.5;

    /// In the process that measures: what, and for how many notes.
    const MEASURED: &str = "HIDDEN_NAMES_MEASURED";

    fn paths(count: usize) -> Vec<NotePath> {
        let path = |n: usize| NotePath::parse(&format!("Notes/Folder {}/Note {n}.md", n % 100));
        (0..count).filter_map(|n| path(n).ok()).collect()
    }

    fn make_ready_and_look(count: usize, files: &[NotePath]) {
        let needles = HiddenNames::new(files, &[]);
        let text = "Notes/Folder 1/Note 1 of many, Notes/Folder 7/Note 7.mdx ".repeat(2_000);
        assert!(!needles.occur_in(&text));
        let last = count - 1;
        assert!(needles.occur_in(&format!("{text}notes/folder {}/note {last}.md", last % 100)));
    }

    /// The control: looks at every pair of names, and remembers it.
    fn look_at_pairs(_count: usize, files: &[NotePath]) {
        let pairs: Vec<_> =
            (0..files.len()).flat_map(|at| (0..at).map(move |of| (at, of))).collect();
        assert!(std::hint::black_box(pairs).len() > files.len());
    }

    /// A figure of this process, in bytes.
    fn status(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// The time that this thread ran, in nanoseconds.
    fn cpu_time() -> u64 {
        let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("readable");
        all.split(' ').next().and_then(|time| time.parse().ok()).expect("a number")
    }

    /// Measures in this process; nothing else runs in it.
    fn measure(what: &str, count: usize) {
        let files = paths(count);
        let work = if what == "pairs" { look_at_pairs } else { make_ready_and_look };
        // Sets the high water mark back.
        std::fs::write("/proc/self/clear_refs", "5").expect("allowed");
        let (memory, began) = (status("VmRSS:"), cpu_time());
        work(count, &files);
        let time = cpu_time() - began;
        println!("measured {time} {}", status("VmHWM:").saturating_sub(memory));
    }

    /// The least time in nanoseconds, and the least memory in bytes, of three processes.
    fn measured(what: &str, count: usize) -> [u64; 2] {
        let run = || {
            let output = std::process::Command::new(std::env::current_exe().expect("this program"))
                .args(["--exact", "--nocapture"])
                .arg("privacy::hidden_names::tests::twice_as_many_names_cost_twice_the_time_and_memory")
                .env(MEASURED, format!("{what} {count}"))
                .output()
                .expect("it runs");
            let told = String::from_utf8_lossy(&output.stdout);
            let (_, figures) = told.split_once("measured ").unwrap_or_else(|| panic!("{output:?}"));
            let mut figures = figures.split_whitespace().map(|it| it.parse().expect("a number"));
            [(); 2].map(|()| figures.next().expect("two numbers"))
        };
        let runs: [[u64; 2]; 3] = std::array::from_fn(|_| run());
        std::array::from_fn(|which| runs.iter().map(|run| run[which]).min().expect("three"))
    }

    #[test]
    fn twice_as_many_names_cost_twice_the_time_and_memory() {
        if let Ok(wanted) = std::env::var(MEASURED) {
            let (what, count) = wanted.split_once(' ').expect("what, and how many");
            return measure(what, count.parse().expect("a number"));
        }
        let ratios = |what, count| {
            let (some, twice) = (measured(what, count), measured(what, 2 * count));
            let ratio = |which: usize| twice[which] as f64 / some[which].max(1) as f64;
            println!("{what} {count}: {some:?}, {}: {twice:?}", 2 * count);
            [ratio(0), ratio(1)]
        };
        let [time, memory] = ratios("names", SOME_NOTES);
        assert!(time <= MAX_RATIO && memory <= MAX_RATIO, "time {time:.2}, memory {memory:.2}");
        let [time, memory] = ratios("pairs", 2_000);
        assert!(time > MAX_RATIO && memory > MAX_RATIO, "the control: {time:.2}, {memory:.2}");
    }
}
