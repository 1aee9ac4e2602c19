//! The checked-in TypeScript bindings and the capability of the window are made from the types and from the
//! list of IPC calls. `./dev bindings` rewrites them.

mod window_calls;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use protocol::changes::retention::HistoryStats;
use protocol::{NumberedEvent, Settings, UserError};
use ts_rs::{Config, TS, TypeVisitor};

/// The declarations of types in TypeScript by their names.
#[derive(Default)]
struct TypeDeclarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeDeclarations {
    /// Declares a type and each type that it is made of. Returns how TypeScript spells the type.
    fn declare<T: TS + 'static>(&mut self) -> String {
        self.visit::<T>();
        T::visit_generics(self);
        T::name(&self.config)
    }
}

impl TypeVisitor for TypeDeclarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // A type of the language itself has no file and no declaration.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if self.by_name.contains_key(&name) {
            return;
        }
        let docs = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
        let declaration = format!("{docs}export {}\n\n", T::decl(&self.config));
        self.by_name.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

/// The types of the calls, of the feed and of a refusal, in the order of their names, and the calls.
fn bindings() -> String {
    let mut types = TypeDeclarations::default();
    let calls = window_calls::window_calls(&mut types);
    types.declare::<NumberedEvent>();
    types.declare::<UserError>();
    let mut out =
        String::from("// Written by `./dev bindings` from crates/protocol. Do not edit.\n\n");
    out.extend(types.by_name.into_values());
    out.push_str(&window_calls::interface(&calls));
    out.push_str(&window_calls::client(&calls));
    out.push_str(&default_settings());
    out
}

fn capability() -> String {
    window_calls::capability(&window_calls::window_calls(&mut TypeDeclarations::default()))
}

/// The defaults as a constant: the window and its tests need no copy of them.
#[expect(clippy::expect_used, reason = "settings are JSON")]
fn default_settings() -> String {
    let settings = serde_json::to_string_pretty(&Settings::default()).expect("settings are JSON");
    let docs = "/**\n * The settings before the user changes any.\n */";
    format!("{docs}\nexport const defaultSettings: Settings = {settings};\n")
}

/// Whether the file at this path below the root has the fresh text. `UPDATE_BINDINGS` writes it first.
#[expect(clippy::disallowed_methods, reason = "the file is a source, not a note")]
fn is_fresh(path: &str, fresh: &str) -> io::Result<bool> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::write(&file, fresh)?;
    }
    Ok(std::fs::read_to_string(&file)? == fresh)
}

#[test]
fn the_checked_in_bindings_are_those_of_the_types_and_calls() {
    let path = "ui/src/ipc/bindings.ts";
    let is_fresh = is_fresh(path, &bindings()).expect("a source file");
    assert!(is_fresh, "{path} is stale: run ./dev bindings");
}

#[test]
fn the_checked_in_capability_grants_the_calls_of_the_list() {
    let path = "src-tauri/capabilities/main.json";
    let is_fresh = is_fresh(path, &capability()).expect("a source file");
    assert!(is_fresh, "{path} is stale: run ./dev bindings");
}

#[test]
fn a_type_is_declared_with_the_types_that_it_is_made_of() {
    let mut types = TypeDeclarations::default();
    let name = types.declare::<Option<Vec<HistoryStats>>>();
    assert_eq!(name, "Array<HistoryStats> | null");
    let names: Vec<&str> = types.by_name.keys().map(String::as_str).collect();
    assert_eq!(names, ["HistoryAge", "HistoryAgeStats", "HistoryStats", "Timestamp"]);
}
