//! A week with the window: sixty notes are changed by three decisions while other programs write
//! into the folder, the program is killed in the middle of a turn and of a change, the hub brings
//! captures day by day, an update comes, the user goes on writing, and all of it is undone in the
//! end.

mod checks;
mod days;
mod external_writers;
mod fake_clock;
mod sixty_notes;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::vaults::generated_vault;
use crate::{DesktopHome, ScriptedModel, TempVault, TestHub};

use days::WeekFixture;
use external_writers::ExternalWriters;
use fake_clock::FakeClock;

/// The size of the story.
#[derive(Debug, Clone)]
pub struct WeekExtent {
    /// Notes in the folder beside the sixty.
    pub notes: usize,
    /// How many days after the first one the program is started again; on the last one everything
    /// is undone.
    pub days: Vec<u32>,
    /// Captures of the hub on each of them.
    pub captures: usize,
}

impl WeekExtent {
    /// The whole story: 10,000 notes and eight days.
    #[must_use]
    pub fn full() -> Self {
        Self { notes: 10_000, days: (1..=8).collect(), captures: 5 }
    }

    /// The same story with fewer notes and days.
    #[must_use]
    pub fn short() -> Self {
        Self { notes: 200, days: vec![1, 8], captures: 3 }
    }
}

/// How the week went.
#[derive(Debug, Default)]
pub struct WeekReport {
    /// Decisions in the review of the sixty.
    pub decisions: usize,
    /// Times that the program asked the user: a review, an interrupted turn, a conflict.
    pub prompts: usize,
    /// Questions in words.
    pub questions: usize,
    /// Notes of the sixty that stood changed when the program was killed in the middle.
    pub cut_at: usize,
    /// Places where the undo would have had to guess.
    pub conflicts: usize,
    /// Captures that were kept.
    pub captures: usize,
    /// Starts of the program after the first one.
    pub restarts: usize,
    /// Saves of the outside editor.
    pub saves: usize,
    /// Lost bytes of somebody, each described.
    pub lost: Vec<String>,
    /// Doubled text, each described.
    pub doubled: Vec<String>,
    /// The costs of the models, as the settings show them.
    pub cost: String,
}

impl WeekReport {
    /// Whether all was as it must be.
    #[must_use]
    pub fn holds(&self, extent: &WeekExtent) -> bool {
        self.decisions <= 3
            && self.questions == 0
            && self.conflicts == 1
            && (1..60).contains(&self.cut_at)
            && self.captures == extent.captures * extent.days.len()
            && self.lost.is_empty()
            && self.doubled.is_empty()
    }
}

impl fmt::Display for WeekReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, all) in [("LOST", &self.lost), ("DOUBLED", &self.doubled)] {
            for one in all {
                writeln!(to, "{what} {one}")?;
            }
        }
        write!(
            to,
            "decisions={} questions={} prompts={} conflicts={} captures={} restarts={} cut_at={}/60 \
             saves={} lost={} doubled={} cost={}",
            self.decisions,
            self.questions,
            self.prompts,
            self.conflicts,
            self.captures,
            self.restarts,
            self.cut_at,
            self.saves,
            self.lost.len(),
            self.doubled.len(),
            self.cost
        )
    }
}

/// Runs the week in the real window. Panics where the program does not do what a user expects.
pub async fn run_week(extent: &WeekExtent) -> WeekReport {
    let vault = TempVault::new(&[(sixty_notes::INBOX, "# Inbox\n\n")]);
    generated_vault::write_vault(vault.root(), extent.notes);
    sixty_notes::write_notes(&vault);
    for path in days::EDITOR_NOTES {
        vault.write(path, format!("# Open\n\n{}", days::editor_text()));
    }
    let before = vault.snapshot();
    let silent = Arc::new(AtomicBool::new(true));
    let (model, hub): (ScriptedModel, _) =
        (sixty_notes::start_model(&silent).await, TestHub::start().await);
    let home = DesktopHome::new().with_vault(&vault).with_model(&model).with_hub(&hub.url());
    let outsiders = ExternalWriters::start(vault.root(), &days::EDITOR_NOTES);
    let mut life = WeekFixture {
        vault,
        hub,
        home,
        clock: FakeClock::compile(),
        external_writers: outsiders,
        report: WeekReport::default(),
    };

    life.kill_during_turn(&model).await;
    silent.store(false, Ordering::SeqCst);
    life.resume_and_kill_during_change().await;
    life.expect_finished_change().await;
    let last = extent.days.len() - 1;
    for (number, day) in extent.days.iter().enumerate() {
        if number == last {
            life.downgrade_database().await;
        }
        life.run_day(*day, extent.captures, number).await;
    }
    life.undo_all(*extent.days.last().expect("a day")).await;
    checks::check_week(life, &before)
}
