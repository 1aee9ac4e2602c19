//! Who may depend on whom, and which libraries live in one crate only.

use serde_json::Value;

use super::{assert_none, list, metadata, text};

/// The table of `docs/architecture.md`, from the bottom up: a crate and what it may depend on.
const TABLE: [(&str, &[&str]); 13] = [
    ("protocol", &[]),
    ("lease", &[]),
    ("markdown", &["protocol"]),
    ("vault", &["protocol", "markdown", "lease"]),
    ("index", &["protocol", "markdown", "vault"]),
    ("llm", &["protocol"]),
    ("tools", &["protocol", "markdown", "llm", "vault", "index"]),
    ("store", &["protocol"]),
    ("hub", &["protocol"]),
    ("desktop", &["protocol"]),
    ("app", &["protocol", "markdown", "vault", "index", "llm", "tools", "store", "hub", "desktop"]),
    ("cli", &["protocol", "app"]),
    ("vaultmate", &["protocol", "app", "desktop"]),
];

/// May be used by tests alone.
const TESTS: &str = "tests";

/// May see everything.
const ONLOOKERS: [&str; 2] = [TESTS, "benches"];

/// Libraries, by how their names begin, and the one crate each lives in.
const LIVES_ONLY_IN: [(&str, &str); 15] = [
    ("libc", "lease"),
    ("sqlx", "store"),
    ("reqwest", "llm"),
    ("tokio-tungstenite", "hub"),
    ("notify", "vault"),
    ("keyring", "desktop"),
    ("secret-service", "desktop"),
    ("tauri", "vaultmate"),
    ("clap", "cli"),
    ("grep-", "index"),
    ("pulldown-cmark", "index"),
    ("saphyr", "markdown"),
    ("tantivy", "index"),
    ("zbus", "desktop"),
    ("ksni", "desktop"),
];

struct Edge {
    from: String,
    to: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Product,
    Test,
}

fn edges(metadata: &Value) -> Vec<Edge> {
    let mut edges = Vec::new();
    for package in list(metadata, "packages") {
        for dependency in list(package, "dependencies") {
            edges.push(Edge {
                from: text(package, "name").into(),
                to: text(dependency, "name").into(),
                kind: if dependency["kind"] == "dev" { Kind::Test } else { Kind::Product },
            });
        }
    }
    edges
}

fn place(name: &str) -> Option<usize> {
    TABLE.iter().position(|(other, _)| *other == name)
}

fn complaints(edges: &[Edge]) -> Vec<String> {
    edges
        .iter()
        .filter(|edge| !ONLOOKERS.contains(&edge.from.as_str()))
        .filter_map(complaint)
        .collect()
}

fn complaint(Edge { from, to, kind }: &Edge) -> Option<String> {
    let Some(height) = place(from) else {
        return Some(format!("`{from}` is not in the table: a new crate needs an ADR and a row"));
    };
    if to == TESTS {
        return (*kind == Kind::Product).then(|| format!("`{from}` depends on the tests"));
    }
    if let Some(other) = place(to) {
        let allowed = TABLE[height].1.contains(&to.as_str());
        let lower = *kind == Kind::Test && other < height;
        return (!allowed && !lower).then(|| format!("`{from}` must not know `{to}`"));
    }
    let (_, home) = LIVES_ONLY_IN.iter().find(|(library, _)| to.starts_with(library))?;
    (*kind == Kind::Product && from != home)
        .then(|| format!("`{to}` lives only in `{home}`, not in `{from}`"))
}

#[test]
fn every_dependency_is_in_the_table() {
    let edges = edges(&metadata(&["--no-deps"]));
    assert!(edges.len() > 50, "cargo named only {} dependencies", edges.len());
    assert_none(&complaints(&edges));
}

#[test]
fn an_edge_outside_the_table_is_complained_about() {
    let complaint = |from: &str, to: &str, kind: Kind| {
        complaints(&[Edge { from: from.into(), to: to.into(), kind }]).concat()
    };
    assert_eq!(complaint("tools", "vault", Kind::Product), "");
    assert_eq!(complaint("llm", "vault", Kind::Product), "`llm` must not know `vault`");
    assert_eq!(complaint("protocol", "app", Kind::Test), "`protocol` must not know `app`");
    assert_eq!(complaint("cli", "hub", Kind::Test), "");
    assert_eq!(complaint("cli", "hub", Kind::Product), "`cli` must not know `hub`");
    assert_eq!(
        complaint("app", "tauri-plugin-dialog", Kind::Product),
        "`tauri-plugin-dialog` lives only in `vaultmate`, not in `app`"
    );
    assert_eq!(
        complaint("vaultmate", "clap", Kind::Product),
        "`clap` lives only in `cli`, not in `vaultmate`"
    );
    assert_eq!(
        complaint("common", "serde", Kind::Product),
        "`common` is not in the table: a new crate needs an ADR and a row"
    );
}
