//! The window compared with its rivals, on a screen of its own: how soon one can write, its memory,
//! and the cost of an answer, a long conversation and a key.

mod answer_streaming;
mod chat_fixture;
mod long_conversation;
mod memory;
mod page_probe;
mod process_tree;
mod startup;
mod typing;

use std::error::Error;
use std::process::ExitCode;

/// A number that was measured, what it is held against, and how many times that it may be.
pub(crate) struct WindowFigure {
    name: &'static str,
    bar: f64,
    ours: f64,
    rival: f64,
    /// The unit of both.
    unit: &'static str,
}

/// Figures that are taken together, by their names.
type WindowMeasurement = Result<Vec<WindowFigure>, Box<dyn Error>>;

impl WindowFigure {
    /// Prints its line; whether it keeps below its bar.
    fn print(&self) -> bool {
        let Self { name, bar, ours, rival, unit } = self;
        let ratio = ours / rival.max(f64::MIN_POSITIVE);
        let met = ratio <= *bar;
        let result = if met { "ok" } else { "MISSED" };
        println!(
            "{name} ratio={ratio:.3} bar={bar} {result} ours={ours:.1}{unit} rival={rival:.1}{unit}"
        );
        met
    }
}

/// Measures the figures whose names begin with `wanted`.
pub(crate) async fn print(wanted: &str) -> ExitCode {
    let mut met = true;
    for (name, bar) in startup::FIGURES {
        if name.starts_with(wanted) {
            met &= print_wanted(wanted, name, startup::measure_figures(name, bar).await);
        }
    }
    if is_wanted(wanted, &memory::FIGURES) {
        met &= print_wanted(wanted, "memory", memory::measure_figures().await);
    }
    if is_wanted(wanted, &answer_streaming::FIGURES) {
        met &= print_wanted(wanted, "stream", answer_streaming::measure_figures(wanted).await);
    }
    if is_wanted(wanted, &long_conversation::FIGURES) {
        met &= print_wanted(wanted, "long", long_conversation::measure_figures().await);
    }
    if is_wanted(wanted, &typing::FIGURES) {
        met &= print_wanted(wanted, "typing", typing::measure_figures().await);
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_wanted(wanted: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.starts_with(wanted))
}

/// Prints the figures whose names begin with `wanted`; whether all of them are good enough.
fn print_wanted(wanted: &str, group: &str, taken: WindowMeasurement) -> bool {
    match taken {
        Ok(figures) => {
            let mut met = true;
            for figure in figures.iter().filter(|figure| figure.name.starts_with(wanted)) {
                met &= figure.print();
            }
            met
        }
        Err(why) => {
            println!("{group} ratio=none MISSED not measured: {why}");
            false
        }
    }
}
