//! Notes of hostile shapes cost as much as they are long; `./dev corpus notes` tries larger ones.

use std::path::Path;
use std::time::Duration;

use testkit::corpus::note_scaling;
use testkit::corpus::note_scaling::ScalingLimits;

/// Small enough for a build without optimization, large enough to tell a square.
const SIZES: ScalingLimits =
    ScalingLimits { bytes: 16 << 10, time: Duration::from_secs(20), memory: 256 << 20 };

#[test]
fn whatever_is_done_with_a_note_costs_as_much_as_it_is_long() {
    let report = note_scaling::run(Path::new(env!("CARGO_BIN_EXE_corpus")), SIZES, None);
    assert!(report.holds, "{}\n{}", report.lines.join("\n"), report.summary);
}

#[test]
fn a_work_that_grows_as_the_square_of_a_note_is_found_out() {
    let why = note_scaling::check_control(ScalingLimits { bytes: 128 << 10, ..SIZES });
    assert!(why.is_some_and(|why| why.contains("for twice the note")));
}
