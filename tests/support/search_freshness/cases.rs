//! From the end of a save to the answer that holds it, for each way of saving.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bare_watch::BareWatch;
use super::query_client::QueryProcess;
use super::timings::{Timings, format_ms};
use super::writers::{
    BusyWriters, CHECKOUT_FILES, Checkout, CompletedSave, NoteSaver, SAVE_FOLDER, SaveMethod,
};

/// A save shall be found so soon, in 99 of 100 cases.
pub const MAX_DELAY: Duration = Duration::from_millis(25);

/// All five thousand files, from the first write on.
pub const WHOLE_CHECKOUT: &str = "checkout_whole";

/// The times of one case and kind of query.
#[derive(Debug, Clone)]
pub struct FreshnessFigure {
    /// How a note was saved, and beside which other writes.
    pub case: &'static str,
    /// How it was asked for.
    pub query_kind: &'static str,
    /// Until the answer was there.
    pub found: Timings,
    /// Until the question was asked that was answered so.
    pub until_asked: Timings,
    /// From there to its answer.
    pub question: Timings,
    /// Until a bare watch had read the file.
    pub bare: Timings,
}

impl FreshnessFigure {
    fn new(case: &'static str, query_kind: &'static str) -> Self {
        let none = Timings::default;
        Self {
            case,
            query_kind,
            found: none(),
            until_asked: none(),
            question: none(),
            bare: none(),
        }
    }

    /// A save whose end is known, and when the question was asked that found it.
    fn add(&mut self, ended: Instant, began: Instant) {
        self.found.add(ended.elapsed());
        self.until_asked.add(began.saturating_duration_since(ended));
        self.question.add(began.elapsed());
    }

    /// Whether 99 of 100 were found in time; `None` for a whole checkout, which has no bar.
    #[must_use]
    pub fn is_met(&self) -> Option<bool> {
        (self.case != WHOLE_CHECKOUT).then(|| self.found.quantile(0.99) <= MAX_DELAY)
    }
}

impl fmt::Display for FreshnessFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fresh case={} kind={} {}", self.case, self.query_kind, self.found)?;
        write!(f, " asked_p99={}", format_ms(self.until_asked.quantile(0.99)))?;
        write!(f, " question_p50={}", format_ms(self.question.median()))?;
        write!(
            f,
            " bare_p50={} bare_p99={}",
            format_ms(self.bare.median()),
            format_ms(self.bare.quantile(0.99))
        )
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct FreshnessExtent {
    /// Saves of each case.
    pub saves: usize,
    /// Checkouts of each case.
    pub checkouts: usize,
}

/// Literal search, and the passages of `find_notes`.
const QUERY_KINDS: [&str; 2] = ["literal", "find"];

/// Saves into `notes`, which the application has open, and asks until each is found.
pub fn measure_cases(
    process: &mut QueryProcess,
    notes: &Path,
    extent: FreshnessExtent,
) -> Vec<FreshnessFigure> {
    let mut saver = NoteSaver::new(notes);
    let bare = BareWatch::start(&notes.join(SAVE_FOLDER));
    let mut poll = FreshnessPoll { app: process, bare: &bare, saver: &mut saver };
    let mut all = poll.measure_saves("plain", SaveMethod::Plain, extent.saves);
    all.extend(poll.measure_saves("rename", SaveMethod::Rename, extent.saves));
    {
        let _busy = BusyWriters::start(notes);
        all.extend(poll.measure_saves("beside_writers", SaveMethod::Plain, extent.saves));
    }
    all.extend(poll.measure_checkouts(notes, extent.checkouts));
    all.extend(poll.measure_saves("after_checkout", SaveMethod::Plain, extent.saves));
    all
}

struct FreshnessPoll<'a> {
    app: &'a mut QueryProcess,
    bare: &'a BareWatch,
    saver: &'a mut NoteSaver,
}

impl FreshnessPoll<'_> {
    fn measure_saves(
        &mut self,
        case: &'static str,
        style: SaveMethod,
        saves: usize,
    ) -> Vec<FreshnessFigure> {
        let mut figures = QUERY_KINDS.map(|kind| FreshnessFigure::new(case, kind));
        for number in 0..saves {
            self.measure_save(&mut figures[number % QUERY_KINDS.len()], style);
            // Not in step with whatever beats over there.
            std::thread::park_timeout(Duration::from_micros(fastrand::u64(..20_000)));
        }
        figures.into()
    }

    /// Saves that were made while five thousand files were written, the last of these, and from the
    /// first write until all of them are found.
    fn measure_checkouts(&mut self, notes: &Path, checkouts: usize) -> Vec<FreshnessFigure> {
        let mut beside = QUERY_KINDS.map(|kind| FreshnessFigure::new("beside_checkout", kind));
        let mut last = QUERY_KINDS.map(|kind| FreshnessFigure::new("checkout_last", kind));
        let mut whole = FreshnessFigure::new(WHOLE_CHECKOUT, "literal");
        for round in 0..checkouts {
            let (began, checkout) = (Instant::now(), Checkout::start(notes));
            let mut number = round;
            while checkout.is_running() {
                self.measure_save(&mut beside[number % QUERY_KINDS.len()], SaveMethod::Plain);
                number += 1;
                std::thread::park_timeout(Duration::from_micros(fastrand::u64(..10_000)));
            }
            let (mark, word) = (checkout.mark.clone(), checkout.last.clone());
            let ended = checkout.wait_for_end();
            let figure = &mut last[round % QUERY_KINDS.len()];
            let answered = self.poll_until_found(figure.query_kind, &word, None);
            figure.add(ended, answered);
            let all = CHECKOUT_FILES.to_string();
            self.app.poll_until("all of a checkout", |asked| {
                let numbers = asked.ask("count", &mark);
                (numbers.get(1) == Some(&all)).then_some(())
            });
            whole.found.add(began.elapsed());
        }
        beside.into_iter().chain(last).chain([whole]).collect()
    }

    fn measure_save(&mut self, figure: &mut FreshnessFigure, style: SaveMethod) {
        let CompletedSave { word, path, ended } = self.saver.save(style);
        let began = self.poll_until_found(figure.query_kind, &word, Some(&path));
        figure.add(ended, began);
        if let Some(seen) = self.bare.seen_at(&word) {
            figure.bare.add(seen.saturating_duration_since(ended));
        }
    }

    /// Asks until the word is found, in the note at `path` if that is known; when the last question
    /// was asked.
    fn poll_until_found(&mut self, kind: &str, word: &str, path: Option<&str>) -> Instant {
        self.app.poll_until(word, |asked| {
            let began = Instant::now();
            let found = asked.ask(kind, word);
            let is_found = match path {
                Some(path) => found.iter().any(|found| found == path),
                None => !found.is_empty(),
            };
            is_found.then_some(began)
        })
    }
}
