//! The hub's bad weather: `soak [--cuts N] [--day PART] [--minutes N] [--only WORD] [--seed N]`. A line
//! for each; 0 says that all holds.
//!
//! `soak app ORDERS DATA NOTES` is the application, `soak half-open TIMES` one whose network goes.

#![allow(clippy::expect_used, reason = "a test's tool fails the test by panicking")]

use std::path::Path;
use std::process::ExitCode;

use testkit::hub_soak::{SoakExtent, run, run_half_open_child, serve};

const USAGE: &str = "usage: soak [--cuts N] [--day PART] [--minutes N] [--only cuts|flips|half-open|load|day|minutes] [--seed N]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = || tokio::runtime::Runtime::new().expect("a runtime");
    match words.as_slice() {
        [_, "app", orders, data, notes] => {
            serve(orders, Path::new(data), Path::new(notes));
            ExitCode::SUCCESS
        }
        [_, "half-open", times] => {
            runtime().block_on(run_half_open_child(times.parse().expect("a number")));
            ExitCode::SUCCESS
        }
        [program, options @ ..] => match parse_extent(options) {
            Some(extent) => {
                let holds = runtime().block_on(run(Path::new(program), &extent));
                ExitCode::from(u8::from(!holds))
            }
            None => {
                eprintln!("{USAGE}");
                ExitCode::from(2)
            }
        },
        [] => ExitCode::from(2),
    }
}

fn parse_extent(options: &[&str]) -> Option<SoakExtent> {
    let seed = fastrand::u64(..);
    let mut extent = SoakExtent { cuts: 1_000, day: 1.0, minutes: 10.0, only: None, seed };
    for pair in options.chunks(2) {
        match *pair {
            ["--cuts", number] => extent.cuts = number.parse().ok()?,
            ["--day", part] => extent.day = part.parse().ok()?,
            ["--minutes", number] => extent.minutes = number.parse().ok()?,
            ["--only", word] => extent.only = Some(word.to_owned()),
            ["--seed", number] => extent.seed = number.parse().ok()?,
            _ => return None,
        }
    }
    Some(extent)
}
