//! Whether every byte is where it belongs, once.

use std::cmp::Ordering;

use super::days::{EDITOR_NOTES, WeekFixture, editor_text};
use super::external_writers::ExternalWriteReport;
use super::{WeekReport, sixty_notes};
use crate::vaults::temp_vault::Files;

/// Ends the other programs, and holds the folder against what it was and what everybody did.
pub(super) fn check_week(life: WeekFixture, before: &Files) -> WeekReport {
    let deeds = life.external_writers.stop_and_report();
    with_differences(life.report, deeds, before, &life.vault.snapshot())
}

/// The week with what is missing in the folder as it is `now`, and what is there too often.
fn with_differences(
    mut week: WeekReport,
    deeds: ExternalWriteReport,
    before: &Files,
    now: &Files,
) -> WeekReport {
    week.saves = deeds.saved.saves;
    if deeds.saved.lost > 0 {
        week.lost.push(format!("{} lines of the editor", deeds.saved.lost));
    }
    let mut wanted = sixty_notes::expected_files(before);
    wanted.extend(deeds.synced.into_iter().map(|(path, text)| (path, text.into_bytes())));
    check_captures(&mut week, now.get(sixty_notes::INBOX), &wanted[sixty_notes::INBOX]);
    let opened = [EDITOR_NOTES[0], EDITOR_NOTES[1], sixty_notes::EDITED_OUTSIDE];
    for path in opened {
        let (is, must) = (now.get(path), &wanted[path]);
        let lines = count_editor_lines(is.map(Vec::as_slice).unwrap_or_default());
        match lines.cmp(&editor_text().lines().count()) {
            Ordering::Less => week.lost.push(format!("editor's lines in {path}")),
            Ordering::Equal => {}
            Ordering::Greater => week.doubled.push(format!("editor's lines in {path}")),
        }
        compare(
            &mut week,
            path,
            is.map(|is| without_editor_lines(is)),
            &without_editor_lines(must),
        );
    }
    let known = |path: &str| path == sixty_notes::INBOX || opened.contains(&path);
    for (path, text) in wanted.iter().filter(|(path, _)| !known(path)) {
        compare(&mut week, path, now.get(path).cloned(), text);
    }
    let nobodys = now.keys().filter(|path| !known(path) && !wanted.contains_key(*path));
    week.doubled.extend(nobodys.cloned());
    week
}

/// A note that is not as it must be has lost something, or holds all of it and something besides.
fn compare(week: &mut WeekReport, path: &str, is: Option<Vec<u8>>, must: &[u8]) {
    let Some(is) = is else {
        week.lost.push(format!("{path} is gone"));
        return;
    };
    if is != must {
        let all = if holds_in_order(&is, must) { &mut week.doubled } else { &mut week.lost };
        all.push(format!("{path}: {}", String::from_utf8_lossy(&is)));
    }
}

fn holds_in_order(all: &[u8], some: &[u8]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|byte| rest.any(|other| other == byte))
}

/// How the line of each capture begins.
const CAPTURE_LINE_PREFIX: &str = "- thing ";

/// Each capture stands in the inbox once, below what was there.
fn check_captures(week: &mut WeekReport, now: Option<&Vec<u8>>, before: &[u8]) {
    let now = now.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    let Some(added) = now.strip_prefix(&*String::from_utf8_lossy(before)) else {
        week.lost.push(format!("what stood in the inbox: {now}"));
        return;
    };
    let mut lines: Vec<&str> =
        added.lines().filter(|line| line.starts_with(CAPTURE_LINE_PREFIX)).collect();
    lines.sort_unstable();
    lines.dedup();
    week.captures = lines.len();
    if lines.len() < added.lines().count() {
        week.doubled.push(format!("captures: {added}"));
    }
}

fn count_editor_lines(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"editor")).count()
}

/// A note but for the lines that are the editor's.
fn without_editor_lines(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"editor")).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::external_writers::EditorReport;
    use super::*;
    use crate::TempVault;

    /// The folder as it was, and as it is after a week in which nothing went wrong.
    fn unharmed_files() -> (Files, Files) {
        let vault =
            TempVault::new(&[(sixty_notes::INBOX, "# Inbox\n\n"), ("Other.md", "Quiet.\n")]);
        sixty_notes::write_notes(&vault);
        for path in EDITOR_NOTES {
            vault.write(path, editor_text());
        }
        let before = vault.snapshot();
        let mut now = sixty_notes::expected_files(&before);
        add(&mut now, sixty_notes::EDITED_OUTSIDE, &editor_text());
        add(&mut now, sixty_notes::INBOX, "- thing 0\n- thing 1\n");
        now.insert("Synced/Note 1.md".to_owned(), b"Brought.\n".to_vec());
        (before, now)
    }

    fn add(files: &mut Files, path: &str, words: &str) {
        files.get_mut(path).expect("a note").extend(words.bytes());
    }

    fn change(files: &mut Files, path: &str, old: &str, new: &str) {
        let text = String::from_utf8(files[path].clone()).expect("words");
        assert!(text.contains(old), "{text}");
        files.insert(path.to_owned(), text.replacen(old, new, 1).into_bytes());
    }

    /// The lost and the doubled after `harm` was done.
    fn damage_after(harm: impl FnOnce(&mut Files)) -> (usize, usize) {
        let (before, mut now) = unharmed_files();
        harm(&mut now);
        let synced = ("Synced/Note 1.md".to_owned(), "Brought.\n".to_owned());
        let synced = BTreeMap::from([synced]);
        let deeds = ExternalWriteReport { saved: EditorReport::default(), synced };
        let week = with_differences(WeekReport::default(), deeds, &before, &now);
        (week.lost.len(), week.doubled.len())
    }

    #[test]
    fn a_week_in_which_nothing_went_wrong_has_lost_and_doubled_nothing() {
        assert_eq!(damage_after(|_| ()), (0, 0));
    }

    #[test]
    fn a_lost_byte_is_found_wherever_it_stood() {
        assert_eq!(damage_after(|now| change(now, "Other.md", "Q", "")), (1, 0));
        assert_eq!(
            damage_after(|now| change(now, "Plans/Plan 03.md", "By hand", "By and")),
            (1, 0)
        );
        assert_eq!(damage_after(|now| change(now, "Plans/Plan 06.md", ", signed", "")), (1, 0));
        assert_eq!(damage_after(|now| change(now, "Plans/Plan 07.md", "draft", "final")), (1, 0));
        assert_eq!(
            damage_after(|now| change(now, sixty_notes::INBOX, "# Inbox\n", "# Inbox")),
            (1, 0)
        );
        assert_eq!(
            damage_after(|now| change(now, EDITOR_NOTES[0], "editor 3: begun\n", "")),
            (1, 0)
        );
        assert_eq!(damage_after(|now| change(now, "Synced/Note 1.md", ".", "")), (1, 0));
        assert_eq!(damage_after(|now| drop(now.remove("Plans/My plan.md"))), (1, 0));
    }

    #[test]
    fn a_doubled_byte_is_found_wherever_it_stands() {
        assert_eq!(damage_after(|now| change(now, "Other.md", "Q", "QQ")), (0, 1));
        assert_eq!(
            damage_after(|now| add(now, "Plans/Plan 03.md", "\nBy hand: it is done.\n")),
            (0, 1)
        );
        assert_eq!(damage_after(|now| add(now, sixty_notes::INBOX, "- thing 1\n")), (0, 1));
        assert_eq!(damage_after(|now| add(now, EDITOR_NOTES[1], "editor 3: begun\n")), (0, 1));
        let twice = |now: &mut Files| {
            let text = now["Plans/My plan.md"].clone();
            now.insert("Plans/Plan 05.md".to_owned(), text);
        };
        assert_eq!(damage_after(twice), (0, 1));
    }

    #[test]
    fn captures_are_counted_once_each() {
        let (before, now) = unharmed_files();
        let mut week = WeekReport::default();
        check_captures(&mut week, now.get(sixty_notes::INBOX), &before[sixty_notes::INBOX]);
        assert_eq!(week.captures, 2);
    }
}
