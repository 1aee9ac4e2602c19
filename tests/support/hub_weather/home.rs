//! Notes and data that outlive the application, the application in its process, and what became of
//! the messages in the end.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use store::Store;

use super::hub::Remembering;
use super::program::Orders;
use crate::TempVault;
use crate::fresh::Asked;

const INBOX: &str = "inbox/Inbox.md";

/// Where the words of messages go, and who writes them there.
pub struct Home {
    program: PathBuf,
    notes: TempVault,
    data: TempVault,
    /// Lines that were taken out of the inbox, as its user would.
    cleared: Vec<String>,
}

/// What became of the messages that were acknowledged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// How many there were.
    pub messages: usize,
    /// Acknowledged, and not in the notes, or not in a conversation, or nothing was shown.
    pub lost: usize,
    /// More than once in the notes or in a conversation.
    pub doubled: usize,
    /// Notifications that came again, because the link was lost before it was known that the hub
    /// had read them.
    pub again: usize,
    /// Of these, in other words.
    pub otherwise: usize,
}

impl Tally {
    /// Whether each message was worked on and answered exactly once.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.messages > 0 && self.lost == 0 && self.doubled == 0 && self.otherwise == 0
    }

    /// Counts how often each taken text stands in the places where it should stand once.
    #[must_use]
    pub fn of(taken: &[&str], places: &[&[String]]) -> Self {
        let mut tally = Self { messages: taken.len(), ..Self::default() };
        let counts: Vec<BTreeMap<&str, usize>> = places
            .iter()
            .map(|place| {
                let mut counts = BTreeMap::new();
                place.iter().for_each(|text| *counts.entry(text.as_str()).or_default() += 1);
                counts
            })
            .collect();
        for text in taken {
            let times: Vec<usize> =
                counts.iter().map(|counts| counts.get(text).copied().unwrap_or_default()).collect();
            tally.lost += usize::from(times.contains(&0));
            tally.doubled += usize::from(times.iter().any(|times| *times > 1));
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, lost, doubled, again, otherwise } = self;
        write!(
            to,
            "messages={messages} lost={lost} doubled={doubled} notified_again={again} \
             otherwise={otherwise}"
        )
    }
}

impl Home {
    /// One note, and nothing else; `program` is the soak itself.
    #[must_use]
    pub fn new(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            notes: TempVault::new(&[("Note.md", "# Note\n\nThe harbour is closed.\n")]),
            data: TempVault::new(&[]),
            cleared: Vec::new(),
        }
    }

    /// The same where the user keeps this key in a file.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        self.data.write("key", key);
        self
    }

    /// Starts the application, and returns when it answers.
    #[must_use]
    pub fn start(&self, orders: &Orders) -> Asked {
        let role = ["app".to_owned(), orders.line()];
        let mut asked = Asked::begin(&self.program, &role, self.data.root(), self.notes.root());
        asked.heard();
        asked
    }

    /// The lines of the inbox, those that were cleared first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = self.notes.try_read(INBOX).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
        self.cleared.iter().cloned().chain(lines.map(str::to_owned)).collect()
    }

    /// Takes the lines out of the inbox, as its user would now and then. Nothing may be at work.
    pub fn clear(&mut self) {
        self.cleared = self.lines();
        let _ = fs::remove_file(self.notes.root().join(INBOX));
    }

    /// Waits until everything that was said is done, ends the application and counts.
    pub async fn judged(&self, hub: &Remembering, mut app: Asked) -> Tally {
        app.ask("idle", "");
        hub.until("an answer to everything", super::hub::Book::is_notified).await;
        app.ask("idle", "");
        let said = app.ask("said", "");
        app.close();
        let lines = self.lines();
        let mut tally = hub.read(|book| {
            let (again, otherwise) = book.repeated();
            let places: [&[String]; 2] = [&lines, &said];
            let tally = Tally { again, otherwise, ..Tally::of(&book.taken(), &places) };
            self.explain(&tally, &book.shown_for_taken(), &places);
            tally
        });
        // What is unfinished in the database counts, too.
        let store = Store::open(&self.database()).await.expect("the database opens");
        tally.lost += store.inbox_unfinished().await.expect("read").len();
        tally.lost += usize::from(store.outbox_next(None, 100).await.expect("read").is_some());
        store.close().await;
        tally
    }

    /// Prints which of these texts is missing in a place and what was shown for it, and the inbox as it
    /// is: without that a count says that something went wrong and not what.
    pub(super) fn explain(&self, tally: &Tally, taken: &[(&str, String)], places: &[&[String]]) {
        if tally.lost == 0 {
            return;
        }
        for (text, shown) in taken {
            let stands: Vec<bool> =
                places.iter().map(|place| place.iter().any(|line| line == text)).collect();
            eprintln!("{text}: in inbox and list {stands:?}, shown: {shown}");
        }
        eprintln!("the inbox:\n{}", self.notes.try_read(INBOX).unwrap_or_default());
    }

    fn database(&self) -> PathBuf {
        let folders = fs::read_dir(self.data.root().join("vaults")).expect("a folder of vaults");
        let folder = folders.map(|folder| folder.expect("an entry").path()).next();
        folder.expect("a vault was opened").join("vaultmate.db")
    }
}
