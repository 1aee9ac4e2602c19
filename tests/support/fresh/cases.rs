//! From the end of a save to the answer that holds it, for each way of saving.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::asked::Asked;
use super::bare::BareWatch;
use super::figure::{Times, ms};
use super::saving::{Busy, CHECKOUT, Checkout, DESK, Saved, Saver, Style};

/// A save shall be found so soon, in 99 of 100 cases.
pub const BAR: Duration = Duration::from_millis(25);

/// All five thousand files, from the first write on.
pub const WHOLE: &str = "checkout_whole";

/// The times of one case at one door.
#[derive(Debug, Clone)]
pub struct Figure {
    /// What was saved, and beside what.
    pub case: &'static str,
    /// How it was asked for.
    pub door: &'static str,
    /// Until the answer was there.
    pub found: Times,
    /// Until the question was asked that was answered so.
    pub asked: Times,
    /// From there to its answer.
    pub question: Times,
    /// Until a bare watch had read the file.
    pub bare: Times,
}

impl Figure {
    fn new(case: &'static str, door: &'static str) -> Self {
        let none = Times::default;
        Self { case, door, found: none(), asked: none(), question: none(), bare: none() }
    }

    /// A save whose end is known, and when the question was asked that found it.
    fn add(&mut self, ended: Instant, began: Instant) {
        self.found.add(ended.elapsed());
        self.asked.add(began.saturating_duration_since(ended));
        self.question.add(began.elapsed());
    }

    /// Whether 99 of 100 were found in time; `None` for a whole checkout, which has no bar.
    #[must_use]
    pub fn is_met(&self) -> Option<bool> {
        (self.case != WHOLE).then(|| self.found.share(0.99) <= BAR)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fresh case={} door={} {}", self.case, self.door, self.found)?;
        write!(f, " asked_p99={}", ms(self.asked.share(0.99)))?;
        write!(f, " question_p50={}", ms(self.question.middle()))?;
        write!(f, " bare_p50={} bare_p99={}", ms(self.bare.middle()), ms(self.bare.share(0.99)))
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Saves of each case.
    pub saves: usize,
    /// Checkouts.
    pub checkouts: usize,
}

/// Literal search, and the passages of `find_notes`.
const DOORS: [&str; 2] = ["literal", "find"];

/// Saves into `notes`, which the application has open, and asks until each is found.
pub fn cases(asked: &mut Asked, notes: &Path, extent: Extent) -> Vec<Figure> {
    let mut saver = Saver::over(notes);
    let bare = BareWatch::over(&notes.join(DESK));
    let mut desk = Poll { asked, bare: &bare, saver: &mut saver };
    let mut all = desk.saves("plain", Style::Plain, extent.saves);
    all.extend(desk.saves("rename", Style::Rename, extent.saves));
    {
        let _busy = Busy::over(notes);
        all.extend(desk.saves("beside_writers", Style::Plain, extent.saves));
    }
    all.extend(desk.checkouts(notes, extent.checkouts));
    all.extend(desk.saves("after_checkout", Style::Plain, extent.saves));
    all
}

struct Poll<'a> {
    asked: &'a mut Asked,
    bare: &'a BareWatch,
    saver: &'a mut Saver,
}

impl Poll<'_> {
    fn saves(&mut self, case: &'static str, style: Style, saves: usize) -> Vec<Figure> {
        let mut figures = DOORS.map(|door| Figure::new(case, door));
        for number in 0..saves {
            self.save(&mut figures[number % DOORS.len()], style);
            // Not in step with whatever beats over there.
            std::thread::park_timeout(Duration::from_micros(fastrand::u64(..20_000)));
        }
        figures.into()
    }

    /// Saves that were made while five thousand files were written, the last of these, and from the
    /// first write until all of them are found.
    fn checkouts(&mut self, notes: &Path, checkouts: usize) -> Vec<Figure> {
        let mut beside = DOORS.map(|door| Figure::new("beside_checkout", door));
        let mut last = DOORS.map(|door| Figure::new("checkout_last", door));
        let mut whole = Figure::new(WHOLE, "literal");
        for round in 0..checkouts {
            let (began, checkout) = (Instant::now(), Checkout::begin(notes));
            let mut number = round;
            while checkout.is_under_way() {
                self.save(&mut beside[number % DOORS.len()], Style::Plain);
                number += 1;
                std::thread::park_timeout(Duration::from_micros(fastrand::u64(..10_000)));
            }
            let (mark, word) = (checkout.mark.clone(), checkout.last.clone());
            let ended = checkout.ended();
            let figure = &mut last[round % DOORS.len()];
            let answered = self.until_found(figure.door, &word, None);
            figure.add(ended, answered);
            let all = CHECKOUT.to_string();
            self.asked.until("all of a checkout", |asked| {
                let numbers = asked.ask("count", &mark);
                (numbers.get(1) == Some(&all)).then_some(())
            });
            whole.found.add(began.elapsed());
        }
        beside.into_iter().chain(last).chain([whole]).collect()
    }

    fn save(&mut self, figure: &mut Figure, style: Style) {
        let Saved { word, path, ended } = self.saver.save(style);
        let began = self.until_found(figure.door, &word, Some(&path));
        figure.add(ended, began);
        if let Some(seen) = self.bare.seen(&word) {
            figure.bare.add(seen.saturating_duration_since(ended));
        }
    }

    /// Asks until the word is found, in the note at `path` if that is known; when the last question
    /// was asked.
    fn until_found(&mut self, door: &str, word: &str, path: Option<&str>) -> Instant {
        self.asked.until(word, |asked| {
            let began = Instant::now();
            let found = asked.ask(door, word);
            let is_found = match path {
                Some(path) => found.iter().any(|found| found == path),
                None => !found.is_empty(),
            };
            is_found.then_some(began)
        })
    }
}
