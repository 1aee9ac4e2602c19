//! The window beside its rivals, on a screen of its own: how soon one can write, what it takes of
//! memory, and what an answer, a long conversation and a key cost.

mod answer;
mod long;
mod memory;
mod page;
mod processes;
mod start;
mod talk;
mod typing;

use std::error::Error;
use std::process::ExitCode;

/// A number that was measured, what it is held against, and how many times that it may be.
pub(crate) struct Figure {
    name: &'static str,
    bar: f64,
    ours: f64,
    rival: f64,
    /// What both are counted in.
    unit: &'static str,
}

/// Figures that are taken together, by their names.
type Taken = Result<Vec<Figure>, Box<dyn Error>>;

impl Figure {
    /// Prints its line; whether it keeps below its bar.
    fn print(&self) -> bool {
        let Self { name, bar, ours, rival, unit } = self;
        let ratio = ours / rival.max(f64::MIN_POSITIVE);
        let met = ratio <= *bar;
        let verdict = if met { "ok" } else { "MISSED" };
        println!(
            "{name} ratio={ratio:.3} bar={bar} {verdict} ours={ours:.1}{unit} rival={rival:.1}{unit}"
        );
        met
    }
}

/// Measures the figures whose names begin with `wanted`.
pub(crate) async fn print(wanted: &str) -> ExitCode {
    let mut met = true;
    for (name, bar) in start::FIGURES {
        if name.starts_with(wanted) {
            met &= tell(wanted, name, start::take(name, bar).await);
        }
    }
    if is_wanted(wanted, &memory::FIGURES) {
        met &= tell(wanted, "memory", memory::take().await);
    }
    if is_wanted(wanted, &answer::FIGURES) {
        met &= tell(wanted, "stream", answer::take(wanted).await);
    }
    if is_wanted(wanted, &long::FIGURES) {
        met &= tell(wanted, "long", long::take().await);
    }
    if is_wanted(wanted, &typing::FIGURES) {
        met &= tell(wanted, "typing", typing::take().await);
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_wanted(wanted: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.starts_with(wanted))
}

/// Prints those that are wanted.
fn tell(wanted: &str, group: &str, taken: Taken) -> bool {
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
