//! Whether every byte is where it belongs, once.

use std::cmp::Ordering;

use super::days::{Life, PANES, pane_lines};
use super::outsiders::Deeds;
use super::{Week, sixty};
use crate::temp_vault::Files;

/// Ends the other programs, and holds the folder against what it was and what everybody did.
pub(super) fn judge(life: Life, before: &Files) -> Week {
    let deeds = life.outsiders.end();
    found(life.week, deeds, before, &life.vault.snapshot())
}

/// The week with what is missing in the folder as it is `now`, and what is there too often.
fn found(mut week: Week, deeds: Deeds, before: &Files, now: &Files) -> Week {
    week.saves = deeds.saved.saves;
    if deeds.saved.lost > 0 {
        week.lost.push(format!("{} lines of the editor", deeds.saved.lost));
    }
    let mut wanted = sixty::in_the_end(before);
    wanted.extend(deeds.synced.into_iter().map(|(path, text)| (path, text.into_bytes())));
    captures(&mut week, now.get(sixty::INBOX), &wanted[sixty::INBOX]);
    let opened = [PANES[0], PANES[1], sixty::EDITED_OUTSIDE];
    for path in opened {
        let (is, must) = (now.get(path), &wanted[path]);
        let lines = editors_lines(is.map(Vec::as_slice).unwrap_or_default());
        match lines.cmp(&pane_lines().lines().count()) {
            Ordering::Less => week.lost.push(format!("editor's lines in {path}")),
            Ordering::Equal => {}
            Ordering::Greater => week.doubled.push(format!("editor's lines in {path}")),
        }
        compare(&mut week, path, is.map(|is| without_editor(is)), &without_editor(must));
    }
    let known = |path: &str| path == sixty::INBOX || opened.contains(&path);
    for (path, text) in wanted.iter().filter(|(path, _)| !known(path)) {
        compare(&mut week, path, now.get(path).cloned(), text);
    }
    let nobodys = now.keys().filter(|path| !known(path) && !wanted.contains_key(*path));
    week.doubled.extend(nobodys.cloned());
    week
}

/// A note that is not as it must be has lost something, or holds all of it and something besides.
fn compare(week: &mut Week, path: &str, is: Option<Vec<u8>>, must: &[u8]) {
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
const CAPTURE: &str = "- thing ";

/// Each capture stands in the inbox once, below what was there.
fn captures(week: &mut Week, now: Option<&Vec<u8>>, before: &[u8]) {
    let now = now.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    let Some(added) = now.strip_prefix(&*String::from_utf8_lossy(before)) else {
        week.lost.push(format!("what stood in the inbox: {now}"));
        return;
    };
    let mut lines: Vec<&str> = added.lines().filter(|line| line.starts_with(CAPTURE)).collect();
    lines.sort_unstable();
    lines.dedup();
    week.captures = lines.len();
    if lines.len() < added.lines().count() {
        week.doubled.push(format!("captures: {added}"));
    }
}

fn editors_lines(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"editor")).count()
}

/// A note but for the lines that are the editor's.
fn without_editor(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"editor")).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::outsiders::Saved;
    use super::*;
    use crate::TempVault;

    /// The folder as it was, and as it is after a week in which nothing went wrong.
    fn good() -> (Files, Files) {
        let vault = TempVault::new(&[(sixty::INBOX, "# Inbox\n\n"), ("Other.md", "Quiet.\n")]);
        sixty::write(&vault);
        for path in PANES {
            vault.write(path, pane_lines());
        }
        let before = vault.snapshot();
        let mut now = sixty::in_the_end(&before);
        add(&mut now, sixty::EDITED_OUTSIDE, &pane_lines());
        add(&mut now, sixty::INBOX, "- thing 0\n- thing 1\n");
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

    /// What is lost and what is doubled after `harm` was done.
    fn after(harm: impl FnOnce(&mut Files)) -> (usize, usize) {
        let (before, mut now) = good();
        harm(&mut now);
        let synced = ("Synced/Note 1.md".to_owned(), "Brought.\n".to_owned());
        let synced = BTreeMap::from([synced]);
        let deeds = Deeds { saved: Saved::default(), synced };
        let week = found(Week::default(), deeds, &before, &now);
        (week.lost.len(), week.doubled.len())
    }

    #[test]
    fn a_week_in_which_nothing_went_wrong_has_lost_and_doubled_nothing() {
        assert_eq!(after(|_| ()), (0, 0));
    }

    #[test]
    fn a_lost_byte_is_found_wherever_it_stood() {
        assert_eq!(after(|now| change(now, "Other.md", "Q", "")), (1, 0));
        assert_eq!(after(|now| change(now, "Plans/Plan 03.md", "By hand", "By and")), (1, 0));
        assert_eq!(after(|now| change(now, "Plans/Plan 06.md", ", signed", "")), (1, 0));
        assert_eq!(after(|now| change(now, "Plans/Plan 07.md", "draft", "final")), (1, 0));
        assert_eq!(after(|now| change(now, sixty::INBOX, "# Inbox\n", "# Inbox")), (1, 0));
        assert_eq!(after(|now| change(now, PANES[0], "editor 3: begun\n", "")), (1, 0));
        assert_eq!(after(|now| change(now, "Synced/Note 1.md", ".", "")), (1, 0));
        assert_eq!(after(|now| drop(now.remove("Plans/My plan.md"))), (1, 0));
    }

    #[test]
    fn a_doubled_byte_is_found_wherever_it_stands() {
        assert_eq!(after(|now| change(now, "Other.md", "Q", "QQ")), (0, 1));
        assert_eq!(after(|now| add(now, "Plans/Plan 03.md", "\nBy hand: it is done.\n")), (0, 1));
        assert_eq!(after(|now| add(now, sixty::INBOX, "- thing 1\n")), (0, 1));
        assert_eq!(after(|now| add(now, PANES[1], "editor 3: begun\n")), (0, 1));
        let twice = |now: &mut Files| {
            let text = now["Plans/My plan.md"].clone();
            now.insert("Plans/Plan 05.md".to_owned(), text);
        };
        assert_eq!(after(twice), (0, 1));
    }

    #[test]
    fn captures_are_counted_once_each() {
        let (before, now) = good();
        let mut week = Week::default();
        captures(&mut week, now.get(sixty::INBOX), &before[sixty::INBOX]);
        assert_eq!(week.captures, 2);
    }
}
