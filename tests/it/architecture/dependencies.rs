//! The allowed dependencies between crates, and the libraries that only some crates may use.

use serde_json::Value;

use super::{array_at, assert_none, metadata, text_at};

/// The table of `docs/architecture.md`, from the bottom up: a crate and what it may depend on.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 14] = [
    ("protocol", &[]),
    ("file_lease", &[]),
    ("markdown", &["protocol"]),
    ("vault", &["protocol", "markdown", "file_lease"]),
    ("index", &["protocol", "markdown", "vault"]),
    ("llm", &["protocol"]),
    ("tools", &["protocol", "markdown", "llm", "vault", "index"]),
    ("store", &["protocol"]),
    ("hub", &["protocol"]),
    ("desktop", &["protocol"]),
    (
        "app",
        &[
            "protocol",
            "file_lease",
            "markdown",
            "vault",
            "index",
            "llm",
            "tools",
            "store",
            "hub",
            "desktop",
        ],
    ),
    ("hub_server", &["hub"]),
    ("cli", &["protocol", "app", "hub_server"]),
    ("vaultmate", &["protocol", "app", "desktop"]),
];

/// May be used by tests alone.
const TESTS: &str = "tests";

/// May see everything.
const UNRESTRICTED_CRATES: [&str; 2] = [TESTS, "benches"];

/// Libraries, by how their names begin, and the crates each lives in.
const LIBRARY_OWNERS: [(&str, &[&str]); 15] = [
    ("libc", &["file_lease"]),
    ("sqlx", &["store"]),
    ("reqwest", &["llm"]),
    ("tokio-tungstenite", &["hub", "hub_server"]),
    ("notify", &["vault"]),
    ("keyring", &["desktop"]),
    ("secret-service", &["desktop"]),
    ("tauri", &["vaultmate"]),
    ("clap", &["cli"]),
    ("grep-", &["index"]),
    ("pulldown-cmark", &["markdown"]),
    ("saphyr", &["markdown"]),
    ("tantivy", &["index"]),
    ("zbus", &["desktop"]),
    ("ksni", &["desktop"]),
];

struct DependencyEdge {
    from: String,
    to: String,
    kind: DependencyKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DependencyKind {
    Product,
    Test,
}

fn edges(metadata: &Value) -> Vec<DependencyEdge> {
    let mut edges = Vec::new();
    for package in array_at(metadata, "packages") {
        for dependency in array_at(package, "dependencies") {
            edges.push(DependencyEdge {
                from: text_at(package, "name").into(),
                to: text_at(dependency, "name").into(),
                kind: if dependency["kind"] == "dev" {
                    DependencyKind::Test
                } else {
                    DependencyKind::Product
                },
            });
        }
    }
    edges
}

fn layer_of(name: &str) -> Option<usize> {
    ALLOWED_DEPENDENCIES.iter().position(|(other, _)| *other == name)
}

fn complaints(edges: &[DependencyEdge]) -> Vec<String> {
    edges
        .iter()
        .filter(|edge| !UNRESTRICTED_CRATES.contains(&edge.from.as_str()))
        .filter_map(complaint)
        .collect()
}

fn complaint(DependencyEdge { from, to, kind }: &DependencyEdge) -> Option<String> {
    let Some(height) = layer_of(from) else {
        return Some(format!("`{from}` is not in the table: a new crate needs an ADR and a row"));
    };
    if to == TESTS {
        return (*kind == DependencyKind::Product)
            .then(|| format!("`{from}` depends on the tests"));
    }
    if let Some(other) = layer_of(to) {
        let allowed = ALLOWED_DEPENDENCIES[height].1.contains(&to.as_str());
        let lower = *kind == DependencyKind::Test && other < height;
        return (!allowed && !lower).then(|| format!("`{from}` must not know `{to}`"));
    }
    let (_, homes) = LIBRARY_OWNERS.iter().find(|(library, _)| to.starts_with(library))?;
    let complaint = || {
        let homes = homes.join("` and `");
        format!("`{to}` lives only in `{homes}`, not in `{from}`")
    };
    (*kind == DependencyKind::Product && !homes.contains(&from.as_str())).then(complaint)
}

#[test]
fn every_dependency_is_in_the_table() {
    let edges = edges(&metadata(&["--no-deps"]));
    assert!(edges.len() > 50, "cargo named only {} dependencies", edges.len());
    assert_none(&complaints(&edges));
}

#[test]
fn an_edge_outside_the_table_is_complained_about() {
    let complaint = |from: &str, to: &str, kind: DependencyKind| {
        complaints(&[DependencyEdge { from: from.into(), to: to.into(), kind }]).concat()
    };
    assert_eq!(complaint("tools", "vault", DependencyKind::Product), "");
    assert_eq!(complaint("llm", "vault", DependencyKind::Product), "`llm` must not know `vault`");
    assert_eq!(
        complaint("protocol", "app", DependencyKind::Test),
        "`protocol` must not know `app`"
    );
    assert_eq!(complaint("cli", "hub", DependencyKind::Test), "");
    assert_eq!(complaint("cli", "hub", DependencyKind::Product), "`cli` must not know `hub`");
    assert_eq!(complaint("cli", "hub_server", DependencyKind::Product), "");
    assert_eq!(
        complaint("app", "hub_server", DependencyKind::Product),
        "`app` must not know `hub_server`"
    );
    assert_eq!(
        complaint("app", "tauri-plugin-dialog", DependencyKind::Product),
        "`tauri-plugin-dialog` lives only in `vaultmate`, not in `app`"
    );
    assert_eq!(complaint("hub_server", "tokio-tungstenite", DependencyKind::Product), "");
    assert_eq!(
        complaint("app", "tokio-tungstenite", DependencyKind::Product),
        "`tokio-tungstenite` lives only in `hub` and `hub_server`, not in `app`"
    );
    assert_eq!(
        complaint("vaultmate", "clap", DependencyKind::Product),
        "`clap` lives only in `cli`, not in `vaultmate`"
    );
    assert_eq!(
        complaint("common", "serde", DependencyKind::Product),
        "`common` is not in the table: a new crate needs an ADR and a row"
    );
}
