//! A vault that Syncthing keeps equal with a folder of another computer. A user writes lines on both while the
//! assistant plans, applies and undoes changes on one of them. No line of the user's is lost: it stands in a
//! note or in a conflict copy, and both folders are equal in the end.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use protocol::changes::history::{ListApplied, UndoScope};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::vaults::temp_vault::Files;
use testkit::{Reply, ScriptedModel, TempVault};

use crate::harness::test_app::{
    RunningApp, TEST_TIMEOUT, home_with_key, note_paths, settings_with_model,
};

const FILES: [&str; 2] = ["Plan.md", "Log.md"];

const NOTES: [(&str, &str); 2] =
    [("Plan.md", "# Plan\n\nbegin\n\nend\n"), ("Log.md", "# Log\n\nbegin\n\nend\n")];

/// So long everybody writes.
const WRITING_TIME: Duration = Duration::from_secs(15);

/// A file that Syncthing archives so soon after a line was written to it changed while Syncthing replaced it.
const REPLACEMENT_TIME: Duration = Duration::from_millis(500);

/// One computer: the folder with the notes, and Syncthing with a home of its own.
struct SyncedComputer {
    home: TempDir,
    notes: PathBuf,
    port: u16,
    id: String,
    process: Option<Child>,
}

impl SyncedComputer {
    fn new(notes: &Path, port: u16) -> Self {
        // Without its marker Syncthing takes the folder for one that went missing.
        fs::create_dir(notes.join(".stfolder")).expect("a folder");
        let home = tempfile::tempdir().expect("a folder");
        let generated = syncthing("generate", home.path()).status().expect("syncthing runs");
        assert!(generated.success(), "syncthing generates a key");
        let config = fs::read_to_string(home.path().join("config.xml")).expect("a configuration");
        let id = config.split("device id=\"").nth(1).and_then(|rest| rest.split('"').next());
        let id = id.expect("the computer has an id").to_owned();
        Self { home, notes: notes.to_owned(), port, id, process: None }
    }

    /// Starts Syncthing, which knows these computers; returns when others can connect.
    fn start(&mut self, config: &str) {
        fs::write(self.home.path().join("config.xml"), config).expect("written");
        let mut command = syncthing("serve", self.home.path());
        self.process = Some(command.arg("--no-browser").spawn().expect("syncthing starts"));
        let listens = || TcpStream::connect(("127.0.0.1", self.port)).is_ok();
        assert!(wait_until(TEST_TIMEOUT, listens), "Syncthing does not listen");
    }

    /// Asks Syncthing to end, which ends the process that it watches too, and waits for it.
    fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let _ = kill_process(Pid::from_child(&process), Signal::TERM);
        if !wait_until(TEST_TIMEOUT, || process.try_wait().is_ok_and(|ended| ended.is_some())) {
            process.kill().expect("it ends");
            process.wait().expect("it ended");
        }
    }

    /// The notes and conflict copies; nothing when one goes while they are read.
    fn visible_files(&self) -> Option<Files> {
        let mut files = Files::new();
        for entry in fs::read_dir(&self.notes).expect("a folder") {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                files.insert(name, fs::read(entry.path()).ok()?);
            }
        }
        Some(files)
    }

    /// The files that Syncthing replaced or deleted here.
    fn archived_files(&self) -> impl Iterator<Item = PathBuf> {
        let archive = fs::read_dir(self.notes.join(".stversions"));
        archive.into_iter().flatten().flatten().map(|entry| entry.path())
    }

    /// Whether a conflict copy with this line was replaced by another one: two computers name their copies of a
    /// note alike when they make them in the same second, and Syncthing keeps one of them. The assistant changes
    /// no conflict copy.
    fn is_in_a_replaced_copy(&self, line: &UserLine) -> bool {
        self.archived_files()
            .filter(|file| file.to_string_lossy().contains(".sync-conflict-"))
            .any(|file| fs::read_to_string(file).unwrap_or_default().contains(&line.text))
    }

    /// Whether Syncthing archived a file with this line while the line was written: it looks whether a file
    /// changed before it replaces it, and a line that comes between the two steps is in the old file alone.
    fn is_archived_in_writing(&self, line: &UserLine) -> bool {
        self.archived_files().any(|file| {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let Ok(status) = fs::metadata(&file) else { return false };
            let changed = Duration::new(
                status.ctime().unsigned_abs(),
                u32::try_from(status.ctime_nsec()).unwrap_or_default(),
            );
            let written = line.written.duration_since(SystemTime::UNIX_EPOCH).expect("a time");
            text.contains(&line.text) && changed.abs_diff(written) < REPLACEMENT_TIME
        })
    }
}

impl Drop for SyncedComputer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Syncthing with this home, which neither restarts nor replaces itself.
fn syncthing(verb: &str, home: &Path) -> Command {
    let mut command = Command::new("syncthing");
    command.arg(verb).arg(format!("--home={}", home.display())).env("HOME", home);
    command.env("STNORESTART", "1").env("STNOUPGRADE", "1").env("STNODEFAULTFOLDER", "1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn has_syncthing() -> bool {
    let is_there = Command::new("syncthing").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: Syncthing is not installed");
    }
    is_there
}

/// Two computers that share the notes, over loopback alone.
struct SyncedPair([SyncedComputer; 2]);

impl SyncedPair {
    /// Starts with the notes of the first folder; returns when the second has them.
    fn start(folders: [&Path; 2]) -> Self {
        let ports = free_ports();
        let [first, second] = folders;
        let mut pair =
            Self([SyncedComputer::new(first, ports[0]), SyncedComputer::new(second, ports[1])]);
        pair.start_both();
        assert!(
            wait_until(2 * TEST_TIMEOUT, || pair.equal_files().is_some()),
            "the notes are not copied"
        );
        pair
    }

    /// One after the other: two that connect to each other at the same moment both hang up.
    fn start_both(&mut self) {
        let configs = [0, 1].map(|which| self.config(which));
        for (computer, config) in self.0.iter_mut().zip(&configs) {
            computer.start(config);
        }
    }

    /// No server, no relay and no router is asked for anything, and nothing is reported to anybody.
    fn config(&self, which: usize) -> String {
        let [first, second] = &self.0;
        let device = |computer: &SyncedComputer| {
            let SyncedComputer { id, port, .. } = computer;
            format!("<device id=\"{id}\"><address>tcp://127.0.0.1:{port}</address></device>")
        };
        let of_folder = |computer: &SyncedComputer| format!("<device id=\"{}\"/>", computer.id);
        let off = ["globalAnnounce", "localAnnounce", "relays", "nat", "crashReporting"]
            .map(|name| format!("<{name}Enabled>false</{name}Enabled>"));
        let (notes, port) = (self.0[which].notes.display(), self.0[which].port);
        format!(
            "<configuration version=\"35\">\
             <folder id=\"notes\" label=\"notes\" path=\"{notes}\" type=\"sendreceive\" \
             rescanIntervalS=\"3600\" fsWatcherEnabled=\"true\" fsWatcherDelayS=\"1\">\
             {}{}<minDiskFree unit=\"%\">0</minDiskFree><maxConflicts>-1</maxConflicts>\
             <versioning type=\"simple\"><param key=\"keep\" val=\"1000\"/></versioning></folder>\
             {}{}<gui enabled=\"false\"></gui><options>\
             <listenAddress>tcp://127.0.0.1:{port}</listenAddress>{}\
             <reconnectionIntervalS>5</reconnectionIntervalS><startBrowser>false</startBrowser>\
             <urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>\
             <stunKeepaliveStartS>0</stunKeepaliveStartS><setLowPriority>false</setLowPriority>\
             </options></configuration>",
            of_folder(first),
            of_folder(second),
            device(first),
            device(second),
            off.concat(),
        )
    }

    /// The files of both, if they are the same.
    fn equal_files(&self) -> Option<Files> {
        let [first, second] = &self.0;
        let files = first.visible_files().filter(|files| files.len() >= FILES.len())?;
        (second.visible_files().as_ref() == Some(&files)).then_some(files)
    }

    /// Whether both folders become equal and stay so.
    fn becomes_equal(&self) -> bool {
        let mut since = None;
        wait_until(TEST_TIMEOUT / 2, || {
            since = match (self.equal_files(), since) {
                (None, _) => None,
                (Some(_), since) => since.or_else(|| Some(Instant::now())),
            };
            since.is_some_and(|since: Instant| since.elapsed() > Duration::from_secs(2))
        })
    }

    /// The files of both once they are equal.
    fn wait_until_equal(&mut self) -> Files {
        if !self.becomes_equal() {
            // After several failures it waits a minute before it tries again, unless it is restarted.
            self.0.iter_mut().for_each(SyncedComputer::stop);
            self.start_both();
            assert!(self.becomes_equal(), "the folders differ");
        }
        self.equal_files().expect("they are equal")
    }

    /// The lines that are in no note and no conflict copy; not those that Syncthing itself lost.
    fn lost_lines<'a>(&self, files: &Files, lines: &'a [UserLine]) -> Vec<&'a str> {
        let kept = files.values().map(|bytes| String::from_utf8_lossy(bytes)).collect::<String>();
        let lost = lines.iter().filter(|line| !kept.contains(&line.text));
        lost.filter(|line| !self.0[line.computer].is_archived_in_writing(line))
            .filter(|line| !self.0.iter().any(|computer| computer.is_in_a_replaced_copy(line)))
            .map(|line| line.text.as_str())
            .collect()
    }
}

fn free_ports() -> [u16; 2] {
    let listeners = [0, 1].map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("its address").port())
}

/// Asks until it is true; false when the time is up.
fn wait_until(limit: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    loop {
        if is_true() {
            return true;
        }
        if began.elapsed() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// A line that a user added to a note.
struct UserLine {
    text: String,
    computer: usize,
    written: SystemTime,
}

/// Adds lines to the notes of a computer, one each `gap` on average, until it is over.
fn write_lines(
    folder: &Path,
    computer: usize,
    gap: Duration,
    is_over: &AtomicBool,
) -> Vec<UserLine> {
    let mut lines = Vec::new();
    while !is_over.load(Ordering::Acquire) {
        let file = FILES[fastrand::usize(0..FILES.len())];
        // Syncthing takes a note away for a moment before it puts the new one there.
        let Ok(mut note) = OpenOptions::new().append(true).open(folder.join(file)) else {
            continue;
        };
        let text = format!("user {computer}-{:05}.", lines.len());
        note.write_all(format!("\n{text}\n").as_bytes()).expect("written");
        drop(note);
        lines.push(UserLine { text, computer, written: SystemTime::now() });
        thread::sleep(gap.mul_f64(fastrand::f64() * 2.0));
    }
    lines
}

fn is_of_assistant(line: &str) -> bool {
    let number = line.strip_prefix("assistant ").and_then(|rest| rest.strip_suffix('.'));
    number.is_some_and(|number| number.len() == 5 && number.parse::<usize>().is_ok())
}

/// Lines that nobody wrote: a note that was read or written by half has some.
fn foreign_lines(files: &Files, lines: &[UserLine]) -> Vec<String> {
    let mut known: BTreeSet<&str> = NOTES.iter().flat_map(|(_, text)| text.lines()).collect();
    known.extend(lines.iter().map(|line| line.text.as_str()));
    let mut foreign = Vec::new();
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(bytes);
        let strange = text.lines().filter(|line| !known.contains(line) && !is_of_assistant(line));
        foreign.extend(strange.map(|line| format!("{path}: {line}")));
    }
    foreign
}

/// The model changes the note that the message names: `play edit Plan.md 00007`.
fn reply(request: &Value) -> Reply {
    let words = last_message_text(request);
    let play: Vec<&str> =
        words.rsplit("play ").next().unwrap_or_default().split_whitespace().collect();
    match play.as_slice() {
        [kind, note, number, ..] if tool_results(request).is_empty() => {
            let line = format!("assistant {number}.");
            Reply::calls(vec![match *kind {
                "edit" => (
                    "edit_file",
                    json!({ "path": note, "old_text": "begin", "new_text": format!("begin\n{line}") }),
                ),
                _ => ("append_file", json!({ "path": note, "content": line })),
            }])
        }
        _ => Reply::text("Done."),
    }
}

/// How often the assistant did each.
#[derive(Debug, Default)]
struct AssistantTally {
    appended: usize,
    accepted: usize,
    undone: usize,
}

/// Appends, plans edits that are accepted, and undoes some of both, for so long.
async fn change_notes(running: &RunningApp, length: Duration) -> AssistantTally {
    let (mut tally, began) = (AssistantTally::default(), Instant::now());
    for number in 0_usize.. {
        if began.elapsed() > length {
            break;
        }
        let (note, kind) = (FILES[number / 2 % 2], if number % 2 == 0 { "append" } else { "edit" });
        let asked = format!("play {kind} {note} {number:05}");
        let conversation = running.send_and_wait(None, &asked).await;
        // Between a plan and its decision the other computer's text arrives.
        tokio::time::sleep(Duration::from_millis(200)).await;
        if let Some(review) = running.view(&conversation).await.review {
            let accepted = review.decide_request(&note_paths(&[note]), &[]);
            tally.accepted += usize::from(running.app.decide_review(&accepted).await.is_ok());
        } else {
            tally.appended += usize::from(kind == "append");
        }
        if number % 3 == 2 {
            let all = ListApplied { conversation: None, before: None };
            let sets = running.app.list_applied(&all).await.expect("a list").sets;
            let scope = sets.first().map(|set| UndoScope::ChangeSet { change_set: set.id.clone() });
            if let Some(scope) = scope
                && let Ok(result) = running.app.undo(&scope).await
            {
                tally.undone += result.changed.len();
            }
        }
    }
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn no_line_is_lost_while_syncthing_and_the_assistant_change_the_same_notes() {
    if !has_syncthing() {
        return;
    }
    let (home, other) = (home_with_key(&NOTES), TempVault::new(&[]));
    let model = ScriptedModel::responder(reply).await;
    let mut pair = SyncedPair::start([home.notes.root(), other.root()]);
    let running = home.open(settings_with_model(&model)).await;
    let is_over: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let folders = [home.notes.root().to_owned(), other.root().to_owned()];
    let users = [0, 1].map(|computer| {
        let folder = folders[computer].clone();
        let gap = Duration::from_millis(500);
        thread::spawn(move || write_lines(&folder, computer, gap, is_over))
    });
    let tally = change_notes(&running, WRITING_TIME).await;
    is_over.store(true, Ordering::Release);
    let lines: Vec<UserLine> =
        users.into_iter().flat_map(|user| user.join().expect("a user wrote")).collect();
    running.quit().await;
    let files = pair.wait_until_equal();
    let copies = files.keys().filter(|path| path.contains(".sync-conflict-")).count();
    println!("lines={} copies={copies} {tally:?}", lines.len());
    assert_eq!(pair.lost_lines(&files, &lines), Vec::<&str>::new());
    assert_eq!(foreign_lines(&files, &lines), Vec::<String>::new());
    assert!(copies > 0, "nobody changed what the other changed");
    assert!(tally.appended > 0 && tally.accepted > 0 && tally.undone > 0, "{tally:?}");
    let all = files.values().map(|bytes| String::from_utf8_lossy(bytes)).collect::<String>();
    assert!(all.contains("assistant "), "the other computer has what the assistant wrote");
}

/// The control: a program that reads a note, and later empties it and writes the whole text.
#[test]
fn a_program_that_rewrites_notes_loses_lines_beside_syncthing() {
    if !has_syncthing() {
        return;
    }
    let (folder, other) = (TempVault::new(&NOTES), TempVault::new(&[]));
    let mut pair = SyncedPair::start([folder.root(), other.root()]);
    let (is_over, gap) = (AtomicBool::new(false), Duration::from_millis(50));
    let lines = thread::scope(|scope| {
        let user = scope.spawn(|| write_lines(folder.root(), 0, gap, &is_over));
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            for note in FILES.map(|file| folder.root().join(file)) {
                let Ok(text) = fs::read_to_string(&note) else { continue };
                thread::sleep(Duration::from_millis(50));
                fs::write(&note, text + "assistant 00000.\n").expect("written");
            }
        }
        is_over.store(true, Ordering::Release);
        user.join().expect("a user wrote")
    });
    let files = pair.wait_until_equal();
    let lost = pair.lost_lines(&files, &lines).len();
    println!("control: lost={lost} of {}", lines.len());
    assert!(lost > 0, "nothing was at stake");
    let cut = Files::from([("Plan.md".to_owned(), b"# Plan\n\nbegin\n\nassistant 0".to_vec())]);
    assert_eq!(foreign_lines(&cut, &lines), ["Plan.md: assistant 0"]);
}
