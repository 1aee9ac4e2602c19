//! Bad weather between a model and the turn: own answers of every expectation hold, and a runner
//! that expects something else says so.

use testkit::corpus::CorpusReport;
use testkit::corpus::hostile_paths::ProcessSharing;
use testkit::corpus::sse;
use testkit::corpus::sse::SseCorpus;

const CASES: &str = include_str!("../corpus/sse.json");

async fn run_cases(text: &str, only: Option<&str>) -> CorpusReport {
    sse::run(&SseCorpus::parse(text).expect("a corpus"), only, ProcessSharing::Shared).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_provider_answers_the_turn_ends_and_the_conversation_goes_on() {
    let report = run_cases(CASES, None).await;
    assert!(report.holds, "{:#?}\n{}", report.lines, report.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_something_else_than_is_expected_is_counted_as_wrong() {
    for (id, expected, other) in [
        ("T-truncated-05", "no_run", "tools_run"),
        ("T-truncated-14", "marked_cut", "answer"),
        ("A-args-27", "cap_16", "first_runs_once"),
        ("A-args-28", "repeat_guard", "pause_resumed"),
        ("E-http-20", "retried", "not_retried"),
        ("E-http-25", "not_retried", "retried"),
        ("timed-out", "retried", "not_retried"),
        ("conflict", "retried", "not_retried"),
        ("long-wait", "not_retried", "retry_after"),
        ("R-stop-06", "pause_resumed", "not_retried"),
        ("two-reads", "tools_run", "no_run"),
        ("same-id", "first_runs_once", "cap_16"),
    ] {
        assert!(CASES.contains(id) && CASES.contains(expected), "{id}");
        let text = CASES.replace(&format!("\"{expected}\""), &format!("\"{other}\""));
        let report = run_cases(&text, Some(id)).await;
        assert!(!report.holds && report.summary.contains(" wrong=1"), "{id} as {other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_says_something_else_than_is_expected_is_counted_as_wrong() {
    let text = CASES.replace("Try again in 2 min.", "Try again in 3 min.");
    assert_ne!(text, CASES, "the corpus has the time");
    let report = run_cases(&text, Some("long-wait")).await;
    assert!(report.lines.concat().contains("Too many requests for this API key"), "{report:#?}");
    assert!(!report.holds && report.summary.contains(" wrong=1"), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_nobody_knows_is_wrong() {
    for (id, known, strange) in [
        ("V-valid-04", r#""answer""#, r#""applause""#),
        ("V-valid-04", r#""anthropic""#, r#""telegraph""#),
        ("V-valid-17", r#""inside_utf8""#, r#""inside_out""#),
        ("T-truncated-08", r#""RST""#, r#""SNAP""#),
        ("T-truncated-09", r#""stall_61s""#, r#""stall_long""#),
    ] {
        let text = CASES.replace(known, strange);
        assert_ne!(text, CASES, "{known} is not in the corpus");
        let report = run_cases(&text, Some(id)).await;
        assert!(report.lines.concat().contains("unknown word") && !report.holds, "{report:#?}");
        assert!(report.summary.contains(" run=0 skipped=1 "), "{report:#?}");
    }
}
