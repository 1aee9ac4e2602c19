//! Corpora in short: own cases of every expectation hold, and a careless resolver does not.

use testkit::corpus::Report;
use testkit::corpus::paths::{self, Corpus, Naive, Process, Tools};

const CASES: &str = include_str!("corpus/paths.json");

fn corpus(text: &str) -> Corpus {
    Corpus::parse(text).expect("a corpus")
}

async fn naive(id: &str) -> Report {
    paths::run::<Naive>(&corpus(CASES), Some(id), Process::Shared).await
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_paths_lead_nowhere_and_odd_ones_work() {
    let report = paths::run::<Tools>(&corpus(CASES), None, Process::Shared).await;
    let failed: Vec<_> = report.lines.iter().filter(|line| line.starts_with("FAIL")).collect();
    assert!(failed.is_empty() && report.holds, "{failed:#?}\n{}", report.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_that_joins_and_opens_is_counted_as_an_escape() {
    for id in ["climb-out", "link-out", "dangling-link", "race-folder"] {
        let report = naive(id).await;
        assert!(!report.holds && !report.summary.contains(" escapes=0 "), "{id}: {report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_that_waits_for_a_pipe_is_counted_as_a_hang() {
    let report = naive("pipe").await;
    assert!(!report.holds && !report.summary.contains(" hangs=0 "), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_only_some_systems_take_is_counted_as_wrong() {
    let report = naive("device-name").await;
    assert!(!report.holds && report.summary.contains(" wrong=1 "), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_nobody_knows_is_wrong() {
    for (id, known, strange) in [
        ("plain", r#""expect": "allow""#, r#""expect": "applaud""#),
        ("plain", r#""ops": ["read", "write", "edit", "move", "delete"]"#, r#""ops": ["sing"]"#),
        ("pipe", r#""do": "mkfifo""#, r#""do": "mkfoo""#),
        ("race-folder", r#""how": "swap dir<->link by RENAME_EXCHANGE""#, r#""how": "by magic""#),
        ("plain", "\"${OUT}\":", "\"${IN}\":"),
    ] {
        let text = CASES.replace(known, strange);
        assert_ne!(text, CASES, "{known} is not in the corpus");
        let report = paths::run::<Tools>(&corpus(&text), Some(id), Process::Shared).await;
        let lines = report.lines.concat();
        assert!(lines.contains("unknown word") && !report.holds, "{strange}: {report:#?}");
    }
}

#[tokio::test]
async fn a_case_for_another_system_is_skipped_and_nothing_run_is_nothing_held() {
    let report = paths::run::<Tools>(&corpus(CASES), Some("junction"), Process::Shared).await;
    assert_eq!(report.lines, ["SKIP junction it is not for this system"]);
    assert!(!report.holds, "{report:#?}");
}
