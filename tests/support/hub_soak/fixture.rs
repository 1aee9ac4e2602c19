//! Notes and data that outlive the application, the application in its process, and what became of
//! the messages in the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use store::Store;

use super::app_process::SoakAppOptions;
use super::redelivering_hub::RedeliveringHub;
use crate::TempVault;
use crate::search_freshness::QueryProcess;

const INBOX: &str = "inbox/Inbox.md";

/// The vault that keeps the messages, and the process that writes them.
pub struct SoakFixture {
    program: PathBuf,
    notes: TempVault,
    data: TempVault,
    /// Lines that were taken out of the inbox, as its user would.
    cleared: Vec<String>,
}

/// The fate of the messages that were acknowledged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryTally {
    /// How many there were.
    pub messages: usize,
    /// Acknowledged, and not in the notes, or not in a conversation, or nothing was shown.
    pub lost: usize,
    /// More than once in the notes or in a conversation.
    pub doubled: usize,
    /// Notifications that came again, because the link was lost before it was known that the hub
    /// had read them.
    pub redelivered: usize,
    /// Of these, with another text.
    pub repeated_differently: usize,
}

impl DeliveryTally {
    /// Whether each message was worked on and answered exactly once.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.messages > 0 && self.lost == 0 && self.doubled == 0 && self.repeated_differently == 0
    }

    /// Counts how often each taken text stands in the places where it should stand once.
    #[must_use]
    pub fn count(taken: &[&str], places: &[&[String]]) -> Self {
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

impl fmt::Display for DeliveryTally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, lost, doubled, redelivered: again, repeated_differently: otherwise } =
            self;
        write!(
            to,
            "messages={messages} lost={lost} doubled={doubled} notified_again={again} \
             otherwise={otherwise}"
        )
    }
}

impl SoakFixture {
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
    pub fn start(&self, orders: &SoakAppOptions) -> QueryProcess {
        let role = ["app".to_owned(), orders.to_line()];
        let mut asked =
            QueryProcess::spawn(&self.program, &role, self.data.root(), self.notes.root());
        asked.read_answer();
        asked
    }

    /// The lines of the inbox, those that were cleared first.
    #[must_use]
    pub fn inbox_lines(&self) -> Vec<String> {
        let text = self.notes.try_read(INBOX).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
        self.cleared.iter().cloned().chain(lines.map(str::to_owned)).collect()
    }

    /// Takes the lines out of the inbox, as its user would now and then. Nothing may be at work.
    pub fn clear_inbox(&mut self) {
        self.cleared = self.inbox_lines();
        let _ = fs::remove_file(self.notes.root().join(INBOX));
    }

    /// Waits until every message is done, ends the application and counts.
    pub async fn finish_and_count(
        &self,
        hub: &RedeliveringHub,
        mut app: QueryProcess,
    ) -> DeliveryTally {
        app.ask("idle", "");
        hub.wait_until("an answer to everything", super::redelivering_hub::HubLog::is_notified)
            .await;
        app.ask("idle", "");
        let said = app.ask("said", "");
        app.close();
        let lines = self.inbox_lines();
        let mut tally = hub.read_log(|book| {
            let (again, otherwise) = book.repeated_notifications();
            let places: [&[String]; 2] = [&lines, &said];
            let tally = DeliveryTally {
                redelivered: again,
                repeated_differently: otherwise,
                ..DeliveryTally::count(&book.acknowledged_texts(), &places)
            };
            self.print_differences(&tally, &book.notification_per_acknowledged(), &places);
            tally
        });
        // Unfinished work in the database counts, too.
        let store = Store::open(&self.database()).await.expect("the database opens");
        tally.lost += store.inbox_unfinished().await.expect("read").len();
        let unsent = store.outbox_expire(protocol::Timestamp(i64::MAX)).await.expect("dropped");
        tally.lost += usize::from(!unsent.is_empty());
        store.close().await;
        tally
    }

    /// Prints which of these texts is missing in a place and what was shown for it, and the inbox as it
    /// is: without that a count says that something went wrong and not what.
    pub(super) fn print_differences(
        &self,
        tally: &DeliveryTally,
        taken: &[(&str, String)],
        places: &[&[String]],
    ) {
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
