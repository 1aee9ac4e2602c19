//! Programs that have a note open for writing while it is changed: whatever they write stays.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/blocked.rs"]
mod blocked;
#[path = "../support/mod.rs"]
mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use protocol::{Change, IntentState};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use support::{Folder, MemoryLedger, order, path, replace};
use vault::{Applied, Vault, VaultError};

/// How long programs wait between two writes, in milliseconds, and how often they save at least.
const GAPS: [(u64, usize); 5] = [(0, 400), (5, 60), (50, 12), (250, 4), (1000, 2)];

/// From this gap on a change fits between two saves. Where the gap is shorter, only the change that is tried after the
/// program has ended is sure to be made.
const LONG_GAP: Duration = Duration::from_millis(50);

/// Until then a program whose gap is long goes on to save where no change was made between two saves yet. Its least
/// number of saves takes eight seconds at most.
const MAX_SAVING_TIME: Duration = Duration::from_secs(14);

fn apply(vault: &Vault, changes: impl IntoIterator<Item = Change>) -> Applied {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(vault.apply(order(changes), &MemoryLedger::default())).unwrap()
}

/// Changes a note without regard to other programs: new bytes in the same folder, and the two
/// exchanged.
fn exchange_regardless(folder: &Path, after: &str) {
    let (temp, note) = (folder.join("temp"), folder.join("note.md"));
    fs::write(&temp, after).unwrap();
    renameat_with(CWD, &temp, CWD, &note, RenameFlags::EXCHANGE).unwrap();
    fs::remove_file(&temp).unwrap();
}

fn append_handle(note: &Path) -> File {
    OpenOptions::new().append(true).open(note).unwrap()
}

fn update_handle(note: &Path) -> File {
    let mut file = OpenOptions::new().read(true).write(true).open(note).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file
}

/// The handles that programs hold for as long as they run.
const WAYS: [fn(&Path) -> File; 2] = [append_handle, update_handle];

#[test]
fn what_is_written_through_a_handle_that_stays_open_is_kept() {
    let before = "title\n\none\ntwo\nthree\nend\n";
    for way in WAYS {
        // The control: without a look at who has it open, the line goes with the old file.
        let folder = Folder::with(&[("note.md", before)]);
        let mut held = way(&folder.root.join("note.md"));
        exchange_regardless(&folder.root, "title, edited\n");
        held.write_all(b"mine\n").unwrap();
        drop(held);
        assert_eq!(folder.read("note.md").unwrap(), b"title, edited\n", "nothing is at stake");

        let folder = Folder::with(&[("note.md", before), ("other.md", "other\n")]);
        let vault = folder.vault();
        let mut held = way(&folder.root.join("note.md"));
        let edit = || replace("note.md", before, &before.replace("title", "title, edited"));
        let applied = apply(&vault, [edit(), replace("other.md", "other\n", "other, edited\n")]);
        let [(at, why)] = applied.problems.as_slice() else { panic!("{applied:?}") };
        assert!(matches!(why, VaultError::BeingWritten { .. }), "{why}");
        assert_eq!((at, &applied.done[..]), (&path("note.md"), &[path("other.md")][..]));
        held.write_all(b"mine\n").unwrap();
        drop(held);
        let applied = apply(&vault, [edit()]);
        assert_eq!(applied.problems.len(), 0, "{applied:?}");
        let now = String::from_utf8(folder.read("note.md").unwrap()).unwrap();
        assert_eq!(now, before.replace("title", "title, edited") + "mine\n");
        assert_eq!(folder.names(), ["note.md", "notes", "other.md"]);
    }
}

#[test]
fn a_shell_that_keeps_a_note_open_loses_no_line() {
    let before = "title\n\none\ntwo\nthree\nend\n";
    let folder = Folder::with(&[("note.md", before)]);
    let mut shell = Command::new("sh")
        .args([
            "-c",
            "exec 3>>note.md; echo open; read line; echo \"$line\" >&3; exec 3>&-; echo shut",
        ])
        .current_dir(&folder.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().unwrap()));
    assert_eq!(said.next().unwrap().unwrap(), "open");
    let vault = folder.vault();
    let edit = || replace("note.md", before, &before.replace("title", "title, edited"));
    let applied = thread::scope(|scope| {
        let applied = scope.spawn(|| apply(&vault, [edit()]));
        thread::sleep(Duration::from_millis(300));
        shell.stdin.take().unwrap().write_all(b"mine\n").unwrap();
        applied.join().unwrap()
    });
    assert_eq!(said.next().unwrap().unwrap(), "shut");
    shell.wait().unwrap();
    assert_eq!(applied.done, [path("note.md")], "it waits for the shell: {applied:?}");
    let now = String::from_utf8(folder.read("note.md").unwrap()).unwrap();
    assert_eq!(now, before.replace("title", "title, edited") + "mine\n");
}

/// How a program saves: with the lines it has, into the note, waiting `gap` between two writes, or before
/// the only one.
#[derive(Debug, Clone, Copy)]
enum Save {
    /// Emptied, then written in several writes through one handle.
    InPieces,
    /// Each line by an `open`, a `write` and a `close` of its own.
    ByLine,
    /// Written again in place, through a handle that was opened for update.
    InPlace,
    /// A new file takes the note's name.
    ByRename,
}

impl Save {
    fn save(self, note: &Path, lines: &[String], gap: Duration) {
        let text = lines.concat();
        match self {
            Self::InPieces => {
                let mut file = File::create(note).unwrap();
                for part in lines.chunks(lines.len().div_ceil(3).max(1)) {
                    file.write_all(part.concat().as_bytes()).unwrap();
                    thread::sleep(gap);
                }
            }
            Self::ByLine => {
                let mut file = append_handle(note);
                thread::sleep(gap);
                file.write_all(lines.last().unwrap().as_bytes()).unwrap();
            }
            Self::InPlace => {
                let mut file = OpenOptions::new().read(true).write(true).open(note).unwrap();
                let (first, rest) = text.as_bytes().split_at(text.len() / 2);
                file.write_all(first).unwrap();
                thread::sleep(gap);
                file.write_all(rest).unwrap();
                file.set_len(text.len() as u64).unwrap();
            }
            Self::ByRename => {
                let temp = note.with_file_name("theirs.tmp");
                fs::write(&temp, text).unwrap();
                fs::rename(temp, note).unwrap();
            }
        }
    }
}

/// The result of one attempt to change the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Made,
    Left,
    /// The program saved twice in the moment of the change: the older save is in the temporary file.
    Overtaken,
}

/// The result of a race.
#[derive(Debug, Default)]
struct Race {
    /// Lines that were saved and are neither in the note, nor in a file that is left, nor kept in the trash.
    lost: usize,
    /// Whether the note lacks its beginning or its end.
    is_cut: bool,
    /// How often the note was changed meanwhile.
    made: usize,
    /// Whether one of these changes was made between two saves.
    is_between_saves: bool,
    /// How often the program saved.
    saves: usize,
    /// How often the program saved twice in the moment of a change.
    overtaken: usize,
    /// Temporary files that are left in its folder.
    left: Vec<String>,
}

/// A program that adds a line at the end again and again, and saves, `rounds` times at least; `made` counts the changes
/// of the others. Returns how often it saved, and whether a change was made between two saves.
fn save_again_and_again(
    save: Save,
    note: &Path,
    (gap, rounds): (Duration, usize),
    made: &AtomicUsize,
) -> (usize, bool) {
    let began = Instant::now();
    let (mut round, mut is_between_saves) = (0, false);
    let mut made_by_first_save: Option<usize> = None;
    while round < rounds
        || (gap >= LONG_GAP && !is_between_saves && began.elapsed() < MAX_SAVING_TIME)
    {
        // It looks before it saves, as editors do, so what it saves has all that was there.
        let seen = fs::read_to_string(note).unwrap();
        let mut lines: Vec<String> = seen.split_inclusive('\n').map(str::to_owned).collect();
        lines.push(format!("line {round}\n"));
        is_between_saves |=
            made_by_first_save.is_some_and(|before| made.load(Ordering::Relaxed) > before);
        save.save(note, &lines, gap);
        made_by_first_save.get_or_insert_with(|| made.load(Ordering::Relaxed));
        thread::sleep(gap);
        round += 1;
    }
    (round, is_between_saves)
}

/// A program saves again and again; `change` changes the first line meanwhile, as often as it can, and once more when
/// the program has ended.
fn race(save: Save, gap: Duration, rounds: usize, change: fn(&Folder, &Vault) -> Attempt) -> Race {
    let folder = Folder::with(&[("note.md", "title\n\n\n\nend\n")]);
    let (vault, note) = (folder.vault(), folder.root.join("note.md"));
    let (over, made) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut race = Race::default();
    thread::scope(|scope| {
        let program = scope.spawn(|| {
            let saved = save_again_and_again(save, &note, (gap, rounds), &made);
            over.store(true, Ordering::Relaxed);
            saved
        });
        loop {
            let is_last = over.load(Ordering::Relaxed);
            match change(&folder, &vault) {
                Attempt::Made => {
                    made.fetch_add(1, Ordering::Relaxed);
                }
                Attempt::Overtaken => race.overtaken += 1,
                Attempt::Left => {}
            }
            if is_last {
                break;
            }
        }
        (race.saves, race.is_between_saves) = program.join().unwrap();
    });
    race.made = made.into_inner();
    let now = fs::read_to_string(&note).unwrap();
    race.is_cut = !now.starts_with("title") || !now.contains("\nend\n");
    race.left = folder.names().into_iter().filter(|name| name.ends_with(".tmp")).collect();
    let left = race.left.iter().map(|name| String::from_utf8(folder.read(name).unwrap()).unwrap());
    let trash = fs::read_dir(folder.root.join(".trash/vaultmate-replaced")).into_iter().flatten();
    let in_trash = trash.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let kept: Vec<_> = left.chain([now]).chain(in_trash).collect();
    let is_kept = |round| kept.iter().any(|text| text.contains(&format!("line {round}\n")));
    race.lost = (0..race.saves).filter(|round| !is_kept(*round)).count();
    race
}

/// The note with another first line, or nothing where it is not whole.
fn retitled(now: &str) -> Option<String> {
    let (title, rest) = now.split_once('\n')?;
    Some(format!("{}\n{rest}", if title == "title" { "title, edited" } else { "title" }))
}

/// Plans on what is there, and has it applied.
fn change(folder: &Folder, vault: &Vault) -> Attempt {
    let now = String::from_utf8(folder.read("note.md").unwrap()).unwrap();
    let Some(after) = retitled(&now) else { return Attempt::Left };
    let applied = apply(vault, [replace("note.md", &now, &after)]);
    match applied.problems.first() {
        None => Attempt::Made,
        Some((_, VaultError::Stale { .. } | VaultError::BeingWritten { .. })) => Attempt::Left,
        Some((_, VaultError::Overtaken { .. })) => Attempt::Overtaken,
        Some((_, why)) => panic!("{why}"),
    }
}

/// The control: exchanges, and looks at what it took out, but not at who has it open.
fn change_carelessly(folder: &Folder, _vault: &Vault) -> Attempt {
    let (temp, note) = (folder.root.join("careless"), folder.root.join("note.md"));
    let now = fs::read_to_string(&note).unwrap();
    let Some(after) = retitled(&now) else { return Attempt::Left };
    fs::write(&temp, &after).unwrap();
    renameat_with(CWD, &temp, CWD, &note, RenameFlags::EXCHANGE).unwrap();
    let is_stale = fs::read_to_string(&temp).unwrap() != now;
    if is_stale {
        renameat_with(CWD, &temp, CWD, &note, RenameFlags::EXCHANGE).unwrap();
    }
    fs::remove_file(&temp).unwrap();
    if is_stale { Attempt::Left } else { Attempt::Made }
}

/// The control: puts a new file into the place of the note, without a look at what is there by then.
fn change_without_comparing(folder: &Folder, _vault: &Vault) -> Attempt {
    let (temp, note) = (folder.root.join("careless"), folder.root.join("note.md"));
    let Some(after) = retitled(&fs::read_to_string(&note).unwrap()) else { return Attempt::Left };
    fs::write(&temp, &after).unwrap();
    fs::rename(&temp, &note).unwrap();
    Attempt::Made
}

fn nothing_is_lost(save: Save) {
    for (gap, rounds) in GAPS {
        let race = race(save, Duration::from_millis(gap), rounds, change);
        eprintln!("open writers: {save:?} gap={gap}ms {race:?}");
        assert_eq!((race.lost, race.is_cut), (0, false), "{gap}: {race:?}");
        assert!(race.left.len() <= race.overtaken, "{gap}: {race:?}");
        assert!(race.made > 0, "{gap}: nothing was changed");
        let is_long = Duration::from_millis(gap) >= LONG_GAP;
        assert!(race.is_between_saves || !is_long, "{gap}: {race:?}");
    }
}

#[test]
fn nothing_is_lost_to_a_program_that_saves_in_pieces() {
    nothing_is_lost(Save::InPieces);
}

#[test]
fn nothing_is_lost_to_a_program_that_appends_lines() {
    nothing_is_lost(Save::ByLine);
}

#[test]
fn nothing_is_lost_to_a_program_that_saves_in_place() {
    nothing_is_lost(Save::InPlace);
}

#[test]
fn nothing_is_lost_to_a_program_that_saves_by_rename() {
    nothing_is_lost(Save::ByRename);
}

#[test]
fn a_race_in_which_nothing_is_changed_is_noticed() {
    let race = race(Save::ByRename, Duration::from_millis(5), 3, |_, _| Attempt::Left);
    assert_eq!((race.saves, race.made, race.is_between_saves), (3, 0, false), "{race:?}");
}

#[test]
fn a_program_that_does_not_check_for_open_writers_loses_the_race() {
    for save in [Save::InPieces, Save::InPlace, Save::ByLine] {
        assert_loses(save, change_carelessly);
    }
}

#[test]
fn a_program_that_does_not_compare_loses_the_race_against_whole_saves() {
    assert_loses(Save::ByRename, change_without_comparing);
    assert_loses(Save::ByLine, change_without_comparing);
}

fn assert_loses(save: Save, change: fn(&Folder, &Vault) -> Attempt) {
    let races = (0..20).map(|_| race(save, Duration::from_millis(5), 10, change));
    let harmed = races.filter(|race| race.lost > 0 || race.is_cut).count();
    assert!(harmed > 0, "{save:?}: nothing was at stake");
}

#[test]
fn a_program_that_has_the_old_file_open_after_a_kill_gets_it_back() {
    let folder = Folder::with(&[("note.md", "old\n")]);
    let (vault, ledger) = (folder.vault(), MemoryLedger::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let edit = replace("note.md", "old\n", "new\n");
    runtime.block_on(vault.apply(order([edit]), &ledger)).unwrap();
    let intent = ledger.0.lock().unwrap()[0].0.clone();
    // As a kill right after the exchange leaves it.
    let temp = folder.root.join(&intent.temp_name);
    fs::write(&temp, "old\n").unwrap();
    let mut program = append_handle(&temp);
    let ledger = MemoryLedger::holding(vec![intent]);
    let recovery = runtime.block_on(vault.recover(&ledger)).unwrap();
    assert_eq!(recovery.done.len(), 0, "{recovery:?}");
    assert_eq!(ledger.states(), [IntentState::Stale]);
    program.write_all(b"mine\n").unwrap();
    assert_eq!(folder.read("note.md").unwrap(), b"old\nmine\n");
    assert_eq!(folder.names(), ["note.md", "notes"]);
}

#[test]
fn a_note_that_is_being_written_does_not_go_to_the_trash() {
    let folder = Folder::with(&[("note.md", "old\n")]);
    let mut program = append_handle(&folder.root.join("note.md"));
    let applied = apply(&folder.vault(), [Change::trash(path("note.md"), "old\n")]);
    assert!(matches!(applied.problems[0].1, VaultError::BeingWritten { .. }), "{applied:?}");
    program.write_all(b"mine\n").unwrap();
    assert_eq!(folder.read("note.md").unwrap(), b"old\nmine\n");
}

#[test]
fn where_nobody_can_tell_who_writes_the_old_file_is_kept_in_the_trash() {
    if !blocked::is_unleased() {
        let name = "where_nobody_can_tell_who_writes_the_old_file_is_kept_in_the_trash";
        return blocked::passes_without_leases(name);
    }
    let folder = Folder::with(&[("note.md", "old\n")]);
    let mut program = append_handle(&folder.root.join("note.md"));
    let applied = apply(&folder.vault(), [replace("note.md", "old\n", "new\n")]);
    assert_eq!(applied.done, [path("note.md")], "leases are refused: {applied:?}");
    program.write_all(b"mine\n").unwrap();
    let kept = folder.names().into_iter().find(|name| name.ends_with(" note.md")).unwrap();
    assert!(kept.starts_with(".trash/vaultmate-replaced/"), "{kept}");
    assert_eq!(folder.read(&kept).unwrap(), b"old\nmine\n");
    assert_eq!(folder.read("note.md").unwrap(), b"new\n");
}

#[test]
fn what_was_kept_for_an_hour_goes_unless_somebody_wrote_to_it() {
    if !blocked::is_unleased() {
        let name = "what_was_kept_for_an_hour_goes_unless_somebody_wrote_to_it";
        return blocked::passes_without_leases(name);
    }
    let folder = Folder::with(&[("note.md", "old\n")]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let (long_ago, lately) = (now.as_millis() - 2 * 3_600_000, now.as_millis() - 60_000);
    let kept = |put: u128, name: &str| {
        format!(".trash/vaultmate-replaced/{put}-0000-4-{}.000000000 {name}", long_ago / 1000)
    };
    let names = [kept(long_ago, "a.md"), kept(long_ago, "written.md"), kept(lately, "b.md")];
    let written = std::time::UNIX_EPOCH + Duration::from_secs((long_ago / 1000) as u64);
    for name in &names {
        folder.write(name, "old\n");
        let file = File::options().append(true).open(folder.root.join(name)).unwrap();
        file.set_modified(written).unwrap();
    }
    append_handle(&folder.root.join(&names[1])).write_all(b"mine\n").unwrap();
    apply(&folder.vault(), [replace("note.md", "old\n", "new\n")]);
    let left = names.each_ref().map(|name| folder.read(name).is_some());
    assert_eq!(left, [false, true, true]);
}
