//! The application in its process, as who asks sees it: can be asked, held, killed and closed.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Nothing that is waited for takes so long, unless it never comes.
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_secs(300);

/// A running application; killed on drop.
#[derive(Debug)]
pub struct QueryProcess {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl QueryProcess {
    /// Opens `notes` with the data in `data`, and returns when the first question may be asked.
    #[must_use]
    pub fn start(program: &Path, data: &Path, notes: &Path) -> Self {
        let mut asked = Self::spawn(program, &["answer"], data, notes);
        asked.read_answer();
        asked
    }

    /// The same, not waiting for anything; `role` is what the program is.
    pub(crate) fn spawn(
        program: &Path,
        role: &[impl AsRef<OsStr>],
        data: &Path,
        notes: &Path,
    ) -> Self {
        let mut command = Command::new(program);
        for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "VAULTMATE_HUB_URL"] {
            command.env_remove(name);
        }
        command.args(role).args([data, notes]).env_remove("DBUS_SESSION_BUS_ADDRESS");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let to = child.stdin.take().expect("it is asked");
        let from = BufReader::new(child.stdout.take().expect("it answers"));
        Self { child, to, from }
    }

    /// Its answer.
    pub fn ask(&mut self, kind: &str, words: &str) -> Vec<String> {
        writeln!(self.to, "{kind} {words}").expect("it listens");
        self.read_answer()
    }

    /// Asks until the index stands.
    pub fn wait_for_index(&mut self) {
        self.poll_until("the index", |asked| asked.ask("state", "").is_empty().then_some(()));
    }

    /// Asks until there is an answer; panics when `what` does not come.
    pub fn poll_until<T>(&mut self, what: &str, ask: impl Fn(&mut Self) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(answer) = ask(self) {
                return answer;
            }
            assert!(
                began.elapsed() < QUERY_TIMEOUT,
                "waited {} s for {what}",
                QUERY_TIMEOUT.as_secs()
            );
        }
    }

    pub(crate) fn read_answer(&mut self) -> Vec<String> {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("no answer: {line:?}: {why}"))
    }

    /// It does nothing until it is let [go on](Self::resume), and takes no reports of the system.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends it at once, in the middle of whatever it does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ended");
    }

    /// Closes the notes as a user would.
    pub fn close(self) {
        let Self { mut child, to, from } = self;
        drop((to, from));
        let ended = child.wait().expect("it ends");
        assert!(ended.success(), "it did not end well: {ended}");
    }

    /// Its number in the system.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }
}
