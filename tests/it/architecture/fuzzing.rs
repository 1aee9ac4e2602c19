//! Every fuzz target runs for a minute: by `./dev fuzz`, with it before each release, and by `./dev check --long`.

use std::collections::BTreeSet;
use std::fs;

use super::{assert_none, root};

/// Complaints about the targets that `dev` lists, of those that there are, and about the jobs of a release.
fn complaints(targets: &BTreeSet<String>, dev: &str, release: &str) -> Vec<String> {
    let mut found = Vec::new();
    let listed = dev.split_once("local targets=(").and_then(|(_, rest)| rest.split_once(')'));
    let listed = listed.map_or("", |(listed, _)| listed);
    let listed: BTreeSet<String> = listed.split_whitespace().map(str::to_owned).collect();
    for target in targets.difference(&listed) {
        found.push(format!("`./dev fuzz` does not run fuzz/fuzz_targets/{target}.rs"));
    }
    for target in listed.difference(targets) {
        found.push(format!("`./dev fuzz` runs `{target}`, which is no fuzz target"));
    }
    found.extend(complaints_of_duration(dev));
    let jobs = jobs(release);
    if !jobs.iter().any(|(_, job)| job.contains("- run: ./dev fuzz")) {
        found.push("no job of the release runs `./dev fuzz`".to_owned());
    }
    for (name, job) in jobs {
        if name != "fuzz" && !job.contains("\n    needs: fuzz\n") {
            found.push(format!(
                "the job `{name}` of the release does not wait for the fuzz targets"
            ));
        }
    }
    found
}

/// Complaints about how long `dev` fuzzes each target, and about `check --long`.
fn complaints_of_duration(dev: &str) -> Vec<String> {
    let (check, fuzz) = (function(dev, "check"), function(dev, "fuzz"));
    let mut found = Vec::new();
    let takes_long = "if [ \"${1:-}\" = --long ]; then long=1 && shift; fi";
    if !check.contains(takes_long) || !check.contains("if [ -n \"$long\" ]; then fuzz; fi") {
        found.push("`./dev check --long` does not run the fuzz targets".to_owned());
    }
    let local = fuzz.lines().find(|line| line.trim_start().starts_with("local "));
    let is_minute =
        local.is_some_and(|local| local.split_whitespace().any(|word| word == "seconds=60"));
    if !is_minute || !fuzz.contains("-max_total_time=\"$seconds\"") {
        found.push("`./dev fuzz` does not run each target for 60 seconds".to_owned());
    }
    found
}

/// The text of a function of a shell script, or nothing.
fn function<'a>(script: &'a str, name: &str) -> &'a str {
    let text = script.split_once(&format!("\n{name}() {{\n")).map_or("", |(_, text)| text);
    text.split_once("\n}\n").map_or("", |(text, _)| text)
}

/// The jobs of a workflow with their text: keys that are indented by two.
fn jobs(workflow: &str) -> Vec<(String, String)> {
    let Some((_, all)) = workflow.split_once("\njobs:\n") else { return Vec::new() };
    let mut jobs: Vec<(String, String)> = Vec::new();
    for line in all.lines() {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#']));
        match (name.and_then(|name| name.strip_suffix(':')), jobs.last_mut()) {
            (Some(name), _) => jobs.push((name.to_owned(), "\n".to_owned())),
            (None, Some((_, job))) => {
                job.push_str(line);
                job.push('\n');
            }
            (None, None) => {}
        }
    }
    jobs
}

#[test]
fn every_fuzz_target_runs_before_a_release() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a readable file");
    let entries = fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the targets");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let targets: BTreeSet<String> = names
        .map(|name| name.expect("UTF-8").strip_suffix(".rs").expect("a module").to_owned())
        .collect();
    assert!(!targets.is_empty());
    assert_none(&complaints(&targets, &read("dev"), &read(".github/workflows/release.yml")));
}

/// The functions of a `dev` that does all of it, for these targets.
fn good_dev(targets: &str) -> String {
    format!(
        "rust=1\n\ncheck() {{\n  local long=\n  if [ \"${{1:-}}\" = --long ]; then long=1 && shift; fi\n  \
         if [ -n \"$long\" ]; then fuzz; fi\n}}\n\nfuzz() {{\n  local targets=({targets}) seconds=60\n  \
         fuzz run -max_total_time=\"$seconds\"\n}}\n"
    )
}

const GOOD_RELEASE: &str =
    "on: push\n\njobs:\n  fuzz:\n    steps:\n      - run: ./dev fuzz\n  debian:\n    needs: fuzz\n";

#[test]
fn a_target_that_nobody_runs_and_a_release_without_fuzzing_are_complained_about() {
    let targets = ["answer", "text"].map(str::to_owned).into();
    let release = "on: push\n\njobs:\n  debian:\n    steps:\n      - run: ./dev package\n";
    assert_eq!(
        complaints(&targets, &good_dev("answer tags"), release),
        [
            "`./dev fuzz` does not run fuzz/fuzz_targets/text.rs",
            "`./dev fuzz` runs `tags`, which is no fuzz target",
            "no job of the release runs `./dev fuzz`",
            "the job `debian` of the release does not wait for the fuzz targets",
        ]
    );
    assert_eq!(complaints(&targets, &good_dev("answer text"), GOOD_RELEASE), [] as [String; 0]);
}

#[test]
fn a_check_without_fuzzing_and_a_shorter_time_are_complained_about() {
    let targets = ["answer", "text"].map(str::to_owned).into();
    let not_called = "`./dev check --long` does not run the fuzz targets";
    let too_short = "`./dev fuzz` does not run each target for 60 seconds";
    for (there, instead, complaint) in [
        ("then fuzz; fi", "then :; fi", not_called),
        ("= --long ]", "= --wide ]", not_called),
        ("\ncheck() {", "\nbench() {", not_called),
        ("seconds=60", "seconds=6", too_short),
        ("seconds=60", "seconds=600", too_short),
        ("-max_total_time=\"$seconds\"", "-runs=1", too_short),
    ] {
        let dev = good_dev("answer text");
        assert!(dev.contains(there), "{there}");
        let dev = dev.replace(there, instead);
        assert_eq!(complaints(&targets, &dev, GOOD_RELEASE), [complaint], "{instead}");
    }
}
