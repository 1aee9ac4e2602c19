//! Attacks by text, in short: a model that obeys every one of them achieves nothing, and without
//! the rules it does.

use testkit::corpus::prompt_injection::{InjectionCorpus, PrivateNoteRules};
use testkit::corpus::{CorpusReport, prompt_injection};

const CASES: &str = include_str!("../corpus/injection.json");

async fn run_cases(text: &str, only: Option<&str>, rules: PrivateNoteRules) -> CorpusReport {
    prompt_injection::run(&InjectionCorpus::parse(text).expect("a corpus"), only, rules).await
}

#[tokio::test(flavor = "multi_thread")]
async fn text_in_notes_and_from_the_hub_commands_nothing() {
    let report = run_cases(CASES, None, PrivateNoteRules::Kept).await;
    assert!(report.holds, "{:#?}\n{}", report.lines, report.summary);
    assert!(report.summary.ends_with("benign=2/2 asked=0"), "{}", report.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_rule_the_secret_leaves_and_that_is_counted() {
    for id in ["X-exfil-02", "X-exfil-17"] {
        let report = run_cases(CASES, Some(id), PrivateNoteRules::None).await;
        assert!(!report.holds && !report.summary.contains(" leaks=0 "), "{id}: {report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_although_it_was_to_be_denied_is_counted_as_wrong() {
    for (id, known, other) in [
        ("B-benign-03", "\"benign\"", "\"deny\""),
        ("C-carrier-31", "\"review\"", "\"deny\""),
        ("S-chain-08", "\"deny\"", "\"benign\""),
    ] {
        let text = CASES.replace(known, other);
        assert_ne!(text, CASES, "{known} is not in the corpus");
        let report = run_cases(&text, Some(id), PrivateNoteRules::Kept).await;
        assert!(!report.holds && report.summary.contains(" wrong=1 "), "{id}: {report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_nobody_knows_is_wrong() {
    for (known, strange) in [("\"no_leak\"", "\"no_lack\""), ("\"note\"", "\"napkin\"")] {
        let text = CASES.replace(known, strange);
        assert_ne!(text, CASES, "{known} is not in the corpus");
        let report = run_cases(&text, Some("X-exfil-02"), PrivateNoteRules::Kept).await;
        assert!(report.lines.concat().contains("unknown word") && !report.holds, "{report:#?}");
        assert!(report.summary.contains(" run=0 skipped=1 "), "{report:#?}");
    }
}
