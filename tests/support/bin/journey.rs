//! A long end-to-end test in the real window: `journey week`. Prints a report, and fails when a
//! byte of anybody is lost or doubled or the user is asked more than they should be.

use std::process::ExitCode;

use testkit::gui::week_journey::{WeekExtent, run_week};

fn main() -> ExitCode {
    let story = std::env::args().nth(1);
    if story.as_deref() != Some("week") {
        eprintln!("usage: journey week");
        return ExitCode::from(2);
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("There is no runtime: {error}.");
            return ExitCode::FAILURE;
        }
    };
    let extent = WeekExtent::full();
    let week = runtime.block_on(run_week(&extent));
    println!("{week}");
    if week.holds(&extent) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
