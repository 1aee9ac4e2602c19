//! A vault with one note of a shape in it, its index and its tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ::tools::catalog::{ToolDeps, catalog};
use index::Index;
use llm::tool_api::registry::ToolRegistry;
use llm::tool_api::tool::{CallOutcome, ToolContext};
use protocol::settings::PrivateSettings;
use protocol::{
    CallId, ChangeSet, ContentHash, ConversationId, NotePath, Privacy, PrivateRules, TurnId,
};
use serde_json::Value;
use tempfile::TempDir;
use vault::{PrivacyFilter, Vault};

use super::NoteShape;
use crate::stub_tool_deps::StubToolDeps;

/// The name of the note.
pub(super) const NOTE: &str = "Heavy.md";

pub(super) struct ScalingFixture {
    folder: TempDir,
    _cache: TempDir,
    /// As a model sees it, behind rules of every kind.
    pub(super) vault: Vault,
    pub(super) index: Index,
    pub(super) text: String,
    pub(super) note: NotePath,
    registry: ToolRegistry,
    seen: Mutex<BTreeMap<NotePath, ContentHash>>,
}

impl ScalingFixture {
    /// The index does not stand yet.
    pub(super) fn new(shape: &NoteShape, size: usize) -> Self {
        let (folder, cache) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir());
        let cache = cache.expect("a folder");
        let text = (shape.text)(size);
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
        };
        write(NOTE, &text);
        write("Other.md", "See [[Heavy]] and #tag1.\n");
        write("Diary/Day.md", "---\nstatus: secret\n---\n[[Heavy]]\n");
        (shape.others)(size).iter().for_each(|path| write(path, "a"));
        let rules = private_rules();
        let whole = Vault::open(folder.path()).expect("a vault");
        let vault = whole.filtered(Arc::new(PrivacyFilter::new(rules.clone(), Privacy::Open)));
        let index = Index::new(&whole, rules, cache.path());
        let deps = ToolDeps {
            vault: vault.clone(),
            index: index.clone(),
            archive: Arc::new(StubToolDeps),
            environment: Arc::new(StubToolDeps),
            questions: Arc::new(StubToolDeps),
        };
        Self {
            registry: catalog(deps).expect("no name twice"),
            note: NotePath::parse(NOTE).expect("a path"),
            seen: Mutex::default(),
            folder,
            _cache: cache,
            vault,
            index,
            text,
        }
    }

    /// Has the index stand, with its ranking.
    pub(super) fn build_index(&self) {
        let never = AtomicBool::new(false);
        self.index.catch_up(&never).expect("an index");
        self.index.update_fulltext(&never).expect("a ranking");
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The answer of a tool; a plan is made and not applied. Fails where the tool has no such arguments.
    pub(super) fn call_tool(&self, tool: &str, arguments: Value) -> String {
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(ChangeSet::default()),
            withheld: Arc::default(),
            seen: Arc::new(self.seen.lock().expect("no panic").clone()),
            max_output_bytes: usize::MAX,
            sources: llm::tool_api::tool::SourceLog::default(),
            offered: llm::tool_api::tool::ToolOffer::default(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let called = runtime
            .expect("a runtime")
            .block_on(async { self.registry.call(tool, arguments, &context).await });
        match called {
            CallOutcome::Outcome(outcome) => {
                // A call with such arguments does no work, so its cost would say nothing.
                let is_call = !outcome.output.starts_with("Wrong arguments for ");
                assert!(is_call, "{}", outcome.output);
                self.seen.lock().expect("no panic").extend(outcome.seen);
                outcome.output
            }
            CallOutcome::Planned(_, plan) => plan.summary,
        }
    }
}

/// Rules of every kind, which hide the diary.
pub(super) fn private_rules() -> PrivateRules {
    let settings = PrivateSettings {
        never: vec!["#private".to_owned(), "status: secret".to_owned(), "Letters".to_owned()],
        local: vec!["#home".to_owned(), "Diary".to_owned()],
        ..Default::default()
    };
    PrivateRules::parse(&settings).expect("rules")
}
