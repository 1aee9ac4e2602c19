//! One figure and its bar, as they are printed.

use std::error::Error;

use crate::ranking::process_usage::load_average;

/// A figure that was taken, or was not.
#[derive(Debug)]
pub(super) struct FigureLine {
    name: String,
    /// The figure, in the unit of the bar.
    ratio: Option<f64>,
    bar: f64,
    /// The values that it was made of.
    details: String,
}

impl FigureLine {
    /// `ratio` must not be above `bar`.
    pub(super) fn new(name: impl Into<String>, ratio: f64, bar: f64, details: String) -> Self {
        Self { name: name.into(), ratio: Some(ratio), bar, details }
    }

    /// It could not be taken, which counts as missed.
    pub(super) fn not_measured(name: &str, why: &dyn Error) -> Self {
        let details = format!("not measured: {why}");
        Self { name: name.to_owned(), ratio: None, bar: 0.0, details }
    }

    /// Prints it, with the load of the machine; whether the bar is met.
    pub(super) fn print(&self, notes: usize) -> bool {
        let Self { name, ratio, bar, details } = self;
        let met = ratio.is_some_and(|ratio| ratio <= *bar);
        let ratio = ratio.map_or_else(|| "none".to_owned(), |ratio| format!("{ratio:.4}"));
        let result = if met { "ok" } else { "MISSED" };
        println!(
            "{name} ratio={ratio} bar={bar} {result} {details} notes={notes} load={}",
            load_average()
        );
        met
    }
}
