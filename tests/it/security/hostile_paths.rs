//! Corpora in short: own cases of every expectation hold, and a careless resolver does not.

use testkit::corpus::hostile_paths::{NaiveResolver, PathCorpus, ProcessSharing, ProductTools};
use testkit::corpus::{CorpusReport, hostile_paths};

const CASES: &str = include_str!("../corpus/paths.json");

fn parse_corpus(text: &str) -> PathCorpus {
    PathCorpus::parse(text).expect("a corpus")
}

async fn run_naive(id: &str) -> CorpusReport {
    hostile_paths::run::<NaiveResolver>(&parse_corpus(CASES), Some(id), ProcessSharing::Shared)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_paths_are_refused_and_odd_ones_work() {
    let report =
        hostile_paths::run::<ProductTools>(&parse_corpus(CASES), None, ProcessSharing::Shared)
            .await;
    let failed: Vec<_> = report.lines.iter().filter(|line| line.starts_with("FAIL")).collect();
    assert!(failed.is_empty() && report.holds, "{failed:#?}\n{}", report.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_that_joins_and_opens_is_counted_as_an_escape() {
    for id in ["climb-out", "link-out", "dangling-link", "race-folder"] {
        let report = run_naive(id).await;
        assert!(!report.holds && !report.summary.contains(" escapes=0 "), "{id}: {report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_that_waits_for_a_pipe_is_counted_as_a_hang() {
    let report = run_naive("pipe").await;
    assert!(!report.holds && !report.summary.contains(" hangs=0 "), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_only_some_systems_take_is_counted_as_wrong() {
    let report = run_naive("device-name").await;
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
        let report = hostile_paths::run::<ProductTools>(
            &parse_corpus(&text),
            Some(id),
            ProcessSharing::Shared,
        )
        .await;
        let lines = report.lines.concat();
        assert!(lines.contains("unknown word") && !report.holds, "{strange}: {report:#?}");
    }
}

#[tokio::test]
async fn a_case_for_another_system_is_skipped_and_nothing_run_is_nothing_held() {
    let report = hostile_paths::run::<ProductTools>(
        &parse_corpus(CASES),
        Some("junction"),
        ProcessSharing::Shared,
    )
    .await;
    assert_eq!(report.lines, ["SKIP junction it is not for this system"]);
    assert!(!report.holds, "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_that_is_not_whole_is_wrong_and_says_so_and_the_others_run() {
    let plain = r#"{"id": "plain", "ops": ["read"], "expect": "allow", "path": "notes/x.md"}"#;
    for (broken, why) in [
        (r#"{"id": "b", "ops": ["read"], "expect": "deny"}"#, "without a path"),
        (r#"{"id": "b", "ops": ["read"], "expect": "deny", "path_b64": "*"}"#, "not base64"),
        (r#"{"id": "b", "ops": [], "expect": "deny", "path": "x"}"#, "without an operation"),
    ] {
        let text = format!(r#"{{"cases": [{broken}, {plain}]}}"#);
        let report =
            hostile_paths::run::<ProductTools>(&parse_corpus(&text), None, ProcessSharing::Shared)
                .await;
        assert!(report.lines.concat().contains(why) && !report.holds, "{report:#?}");
        assert!(report.summary.contains("run=2 ") && report.summary.contains("positives=1/1"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_on_which_the_runner_fails_is_wrong_and_the_others_run() {
    let long = "x".repeat(300);
    let setup = r#"[{"do": "race", "how": "swap file<->symlink to outside", "iterations": 1}]"#;
    let text = format!(
        r#"{{"cases": [
            {{"id": "b", "ops": ["read"], "expect": "no_escape", "path": "{long}.md", "setup": {setup}}},
            {{"id": "plain", "ops": ["read"], "expect": "allow", "path": "notes/x.md"}}
        ]}}"#
    );
    let report =
        hostile_paths::run::<ProductTools>(&parse_corpus(&text), None, ProcessSharing::Shared)
            .await;
    assert!(report.lines.concat().contains("the runner failed"), "{report:#?}");
    assert!(report.summary.contains("run=2 ") && report.summary.contains("positives=1/1"));
}
