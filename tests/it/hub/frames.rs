//! Frames from a hub: one own frame for each expectation holds, and a runner that expects another
//! result complains. Sequences of frames are in `message_order`.

mod message_order;

use testkit::corpus::CorpusReport;
use testkit::corpus::hostile_paths::ProcessSharing;
use testkit::corpus::hub_frames;
use testkit::corpus::hub_frames::FrameCorpus;

const CASES: &str = include_str!("../corpus/frames.json");

async fn run_cases(text: &str, only: Option<&str>) -> CorpusReport {
    hub_frames::run(&FrameCorpus::parse(text).expect("a corpus"), only, ProcessSharing::Shared)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_hub_sends_the_next_good_message_is_taken_and_worked_on() {
    let report = run_cases(CASES, None).await;
    assert!(report.holds, "{:#?}\n{}", report.lines, report.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_does_something_else_than_is_expected_is_counted_as_wrong() {
    for (id, expected, other) in [
        ("plain", "accept_once", "accept_marked"),
        ("reserved-bit", "close_reconnect", "too_big"),
        ("leaves", "close_reconnect", "idle_timeout"),
        ("no-json", "ignore_count", "accept_once"),
    ] {
        let text = CASES.replace(&format!("\"{expected}\""), &format!("\"{other}\""));
        assert_ne!(text, CASES, "{expected} is not in the corpus");
        let report = run_cases(&text, Some(id)).await;
        assert!(!report.holds && report.summary.contains(" wrong=1"), "{id} as {other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_nobody_knows_is_wrong() {
    for (id, known, strange) in [
        ("plain", r#""accept_once""#, r#""applaud""#),
        ("cut-hard", "<RST>", "<SNAP>"),
        ("deep", r#""nest""#, r#""nets""#),
        ("plain", r#""hex""#, r#""hax""#),
    ] {
        let text = CASES.replace(known, strange);
        assert_ne!(text, CASES, "{known} is not in the corpus");
        let report = run_cases(&text, Some(id)).await;
        assert!(report.lines.concat().contains("unknown word") && !report.holds, "{report:#?}");
        assert!(report.summary.contains(" run=0 skipped=1 "), "{report:#?}");
    }
}
