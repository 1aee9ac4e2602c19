//! A week with the window: sixty notes are changed by three decisions while other programs write into
//! the folder, the program is killed in the middle of a turn and of a change, the hub brings captures
//! day by day, an update comes, the user goes on writing, and all of it is taken back in the end.

mod clock;
mod days;
mod outsiders;
mod sixty;
mod verdict;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{DesktopHome, ScriptedModel, TempVault, TestHub, many_notes};

use clock::Clock;
use days::Life;
use outsiders::Outsiders;

/// How much of a week.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Notes in the folder beside the sixty.
    pub notes: usize,
    /// How many days after the first one the program is started again; on the last one all is taken
    /// back.
    pub days: Vec<u32>,
    /// Captures of the hub on each of them.
    pub captures: usize,
}

impl Extent {
    /// All of it.
    #[must_use]
    pub fn whole() -> Self {
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
pub struct Week {
    /// Verdicts that the review of the sixty asked for.
    pub decisions: usize,
    /// Times that the program came to the user by itself: a review, a cut turn, a place to decide.
    pub prompts: usize,
    /// Questions in words.
    pub questions: usize,
    /// Notes of the sixty that stood changed when the program was killed in the middle.
    pub cut_at: usize,
    /// Places where taking back would have had to guess.
    pub conflicts: usize,
    /// Captures that were kept.
    pub captures: usize,
    /// Starts of the program after the first one.
    pub restarts: usize,
    /// Saves of the outside editor.
    pub saves: usize,
    /// Bytes of somebody that are gone, each in words.
    pub lost: Vec<String>,
    /// What stands there twice, each in words.
    pub doubled: Vec<String>,
    /// What the models cost, as the settings say it.
    pub cost: String,
}

impl Week {
    /// Whether all was as it must be.
    #[must_use]
    pub fn holds(&self, extent: &Extent) -> bool {
        self.decisions <= 3
            && self.questions == 0
            && self.conflicts == 1
            && (1..60).contains(&self.cut_at)
            && self.captures == extent.captures * extent.days.len()
            && self.lost.is_empty()
            && self.doubled.is_empty()
    }
}

impl fmt::Display for Week {
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

/// Lives through it, in the real window. Panics where the program does not do what a user waits for.
pub async fn live(extent: &Extent) -> Week {
    let vault = TempVault::new(&[(sixty::INBOX, "# Inbox\n\n")]);
    many_notes::write(vault.root(), extent.notes);
    sixty::write(&vault);
    for path in days::PANES {
        vault.write(path, format!("# Open\n\n{}", days::pane_lines()));
    }
    let before = vault.snapshot();
    let silent = Arc::new(AtomicBool::new(true));
    let (model, hub): (ScriptedModel, _) = (sixty::model(&silent).await, TestHub::start().await);
    let home = DesktopHome::fresh().with_vault(&vault).with_model(&model).with_hub(&hub.url());
    let outsiders = Outsiders::over(vault.root(), &days::PANES);
    let mut life =
        Life { vault, hub, home, clock: Clock::make(), outsiders, week: Week::default() };

    life.is_cut_in_the_turn(&model).await;
    silent.store(false, Ordering::SeqCst);
    life.goes_on_and_is_cut_in_the_change().await;
    life.finds_it_finished().await;
    let last = extent.days.len() - 1;
    for (number, day) in extent.days.iter().enumerate() {
        if number == last {
            life.is_updated().await;
        }
        life.lives_a_day(*day, extent.captures, number).await;
    }
    life.takes_all_back(*extent.days.last().expect("a day")).await;
    verdict::judge(life, &before)
}
