//! The checked-in TypeScript bindings are those of the types, and hold the default settings.
//! `./dev bindings` rewrites them.

mod window_calls;

use std::collections::BTreeMap;
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
    /// Declares a type and each type that it is made of.
    fn declare<T: TS + 'static>(&mut self) {
        self.visit::<T>();
        T::visit_generics(self);
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

/// The types of the calls, of the feed and of a refusal, in the order of their names.
fn bindings() -> String {
    let mut types = TypeDeclarations::default();
    window_calls::declare_types(&mut types);
    types.declare::<NumberedEvent>();
    types.declare::<UserError>();
    let mut out =
        String::from("// Written by `./dev bindings` from crates/protocol. Do not edit.\n\n");
    out.extend(types.by_name.into_values());
    out.push_str(&default_settings());
    out
}

/// The defaults as a constant: the window and its tests need no copy of them.
#[expect(clippy::expect_used, reason = "settings are JSON")]
fn default_settings() -> String {
    let settings = serde_json::to_string_pretty(&Settings::default()).expect("settings are JSON");
    let docs = "/**\n * The settings before the user changes any.\n */";
    format!("{docs}\nexport const defaultSettings: Settings = {settings};\n")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the bindings are a source file, not a note")]
fn the_checked_in_bindings_are_those_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/ipc/bindings.ts");
    let fresh = bindings();
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::write(&file, &fresh).expect("the bindings can be written");
    }
    let checked_in = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(checked_in == fresh, "ui/src/ipc/bindings.ts is stale: run ./dev bindings");
}

#[test]
fn a_type_is_declared_with_the_types_that_it_is_made_of() {
    let mut types = TypeDeclarations::default();
    types.declare::<Option<Vec<HistoryStats>>>();
    let names: Vec<&str> = types.by_name.keys().map(String::as_str).collect();
    assert_eq!(names, ["HistoryAge", "HistoryAgeStats", "HistoryStats"]);
}
