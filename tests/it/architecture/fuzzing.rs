//! Every fuzz target runs: by `./dev fuzz`, and with it before each release.

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

#[test]
fn a_target_that_nobody_runs_and_a_release_without_fuzzing_are_complained_about() {
    let targets = ["answer", "text"].map(str::to_owned).into();
    let dev = "fuzz() {\n  local targets=(answer tags) seconds=60\n}\n";
    let release = "on: push\n\njobs:\n  debian:\n    steps:\n      - run: ./dev package\n";
    assert_eq!(
        complaints(&targets, dev, release),
        [
            "`./dev fuzz` does not run fuzz/fuzz_targets/text.rs",
            "`./dev fuzz` runs `tags`, which is no fuzz target",
            "no job of the release runs `./dev fuzz`",
            "the job `debian` of the release does not wait for the fuzz targets",
        ]
    );
    let dev = "fuzz() {\n  local targets=(answer text) seconds=60\n}\n";
    let release =
        "jobs:\n  fuzz:\n    steps:\n      - run: ./dev fuzz\n  debian:\n    needs: fuzz\n";
    assert_eq!(complaints(&targets, dev, &format!("on: push\n{release}")), [] as [String; 0]);
}
