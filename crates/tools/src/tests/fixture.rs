//! A vault, a catalog over it, and what a conversation has seen and planned so far.

#![expect(clippy::disallowed_methods, reason = "the tests make the notes and look at them")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use index::Index;
use jiff::Zoned;
use llm::tool_api::registry::ToolRegistry;
use llm::tool_api::tool::{CallOutcome, ChangePlan, ToolContext, ToolEffect, ToolOffer};
use protocol::settings::{ExtraRoot, PrivateSettings};
use protocol::{
    CallId, ChangeSet, ChangeSetId, ContentHash, ConversationId, Intent, NotePath, Privacy,
    PrivateRules, QuestionId, Role, Source, Speech, Timestamp, ToolEvent, TurnId,
};
use serde_json::Value;
use vault::ledger::{Ledger, LedgerError};
use vault::{ChangeBatch, PlannedChange, PrivacyFilter, SymlinkPolicy, Vault};

use crate::catalog::{ToolDeps, catalog};
use crate::plan_outcome;
use crate::ports::conversation_archive::{
    ArchiveError, ArchiveSearch, ArchivedConversation, ArchivedMessage, ArchivedResult,
    ArchivedTranscript, ConversationArchive,
};
use crate::ports::environment::{Environment, SentNote};
use crate::ports::question_resolver::{QuestionResolution, QuestionResolver, UnresolvedQuestion};

/// The decision on plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanPolicy {
    Apply,
    Wait,
}

pub(crate) struct ToolFixture {
    folder: tempfile::TempDir,
    _cache: tempfile::TempDir,
    index: Index,
    vault: Vault,
    pub(crate) tools: ToolRegistry,
    pub(crate) environment: Arc<FixedEnvironment>,
    pub(crate) policy: PlanPolicy,
    pub(crate) offered: ToolOffer,
    overlay: ChangeSet,
    seen: BTreeMap<NotePath, ContentHash>,
    told: Arc<Mutex<Vec<String>>>,
}

/// The text for the model, and what else came of a call.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) effect: Option<ToolEffect>,
    pub(crate) speech: Option<Speech>,
    pub(crate) reactions: Vec<ToolEvent>,
    /// Its recorded sources.
    pub(crate) sources: Vec<Source>,
}

impl ToolFixture {
    pub(crate) fn with(notes: &[(&str, &[u8])]) -> Self {
        Self::with_private(&[], notes)
    }

    /// With notes that the tools must not see: `never` are the user's rules for them.
    pub(crate) fn with_private(never: &[&str], notes: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in notes {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        let vault = Vault::open(folder.path()).unwrap();
        let environment = Arc::new(FixedEnvironment::default());
        let never = never.iter().map(|rule| (*rule).to_owned()).collect();
        let rules = PrivateRules::parse(&PrivateSettings { never, ..PrivateSettings::default() });
        let screen = Arc::new(PrivacyFilter::new(rules.unwrap(), Privacy::Open));
        let cache = tempfile::tempdir().unwrap();
        let index = Index::new(&vault, PrivateRules::default(), cache.path());
        let told = Arc::default();
        let deps = ToolDeps {
            index: index.clone(),
            vault: vault.filtered(screen),
            archive: Arc::new(SingleConversationArchive(Arc::clone(&told))),
            environment: environment.clone(),
            questions: Arc::new(SingleQuestionResolver),
        };
        Self {
            folder,
            _cache: cache,
            index,
            vault,
            tools: catalog(deps).unwrap(),
            environment,
            policy: PlanPolicy::Apply,
            offered: ToolOffer::default(),
            overlay: ChangeSet::default(),
            seen: BTreeMap::new(),
            told,
        }
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.file(path)).unwrap()).unwrap()
    }

    /// The user adds an additional folder.
    pub(crate) fn add_root(&self, folder: &std::path::Path, name: &str) {
        let folder = folder.to_str().unwrap().to_owned();
        self.vault.set_extra_roots(&[ExtraRoot { folder, name: name.to_owned() }]);
    }

    /// The user makes a link, and has links followed.
    pub(crate) fn link(&self, at: &str, to: &str) {
        std::os::unix::fs::symlink(to, self.file(at)).unwrap();
        self.vault.set_symlink_policy(SymlinkPolicy::Inside);
    }

    /// Another program writes a note.
    pub(crate) fn write_externally(&self, path: &str, text: &str) {
        std::fs::write(self.file(path), text).unwrap();
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> CallAnswer {
        self.index.catch_up(&AtomicBool::new(false)).unwrap();
        self.index.update_fulltext(&AtomicBool::new(false)).unwrap();
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(self.overlay.clone()),
            withheld: Arc::default(),
            seen: Arc::new(self.seen.clone()),
            max_output_bytes: usize::MAX,
            sources: llm::tool_api::tool::SourceLog::default(),
            offered: self.offered.clone(),
        };
        let given = arguments.as_object().into_iter().flat_map(|fields| fields.values());
        let given = given.filter_map(Value::as_str).map(str::to_owned);
        self.told.lock().unwrap().extend(given);
        match self.tools.call(tool, arguments, &context).await {
            CallOutcome::Outcome(outcome) => {
                self.told.lock().unwrap().push(outcome.output.clone());
                self.seen.extend(outcome.seen);
                CallAnswer {
                    text: outcome.output,
                    is_error: outcome.is_error,
                    effect: None,
                    speech: outcome.speech,
                    reactions: outcome.reactions,
                    sources: context.sources.all(),
                }
            }
            CallOutcome::Planned(effect, plan) => {
                let sources = context.sources.of_plan().all();
                CallAnswer { sources, ..self.decide(effect, plan).await }
            }
        }
    }

    /// A call that must work.
    pub(crate) async fn call_ok(&mut self, tool: &str, arguments: Value) -> CallAnswer {
        let answer = self.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer
    }

    /// A call that must fail; returns its text.
    pub(crate) async fn call_err(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments).await;
        assert!(answer.is_error, "{tool}: {}", answer.text);
        answer.text
    }

    async fn decide(&mut self, effect: ToolEffect, plan: ChangePlan) -> CallAnswer {
        let text = match self.policy {
            PlanPolicy::Apply => plan_outcome::applied_text(&plan.summary),
            PlanPolicy::Wait => plan_outcome::pending_text(&plan.summary),
        };
        for change in plan.change_set.changes() {
            self.seen.extend(change.after_hash().map(|hash| (change.path.clone(), hash)));
        }
        match self.policy {
            PlanPolicy::Apply => self.apply(&plan.change_set).await,
            PlanPolicy::Wait => self.overlay.extend(plan.change_set).unwrap(),
        }
        let (effect, reactions, sources) = (Some(effect), Vec::new(), Vec::new());
        CallAnswer { text, is_error: false, effect, speech: None, reactions, sources }
    }

    async fn apply(&self, change_set: &ChangeSet) {
        let unit = change_set.is_unit().then(|| CallId::from("call"));
        let changes = change_set.changes().map(|change| PlannedChange {
            change: change.clone(),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: unit.clone(),
            file: None,
        });
        let order =
            ChangeBatch { change_set: ChangeSetId::from("set"), changes: changes.collect() };
        let applied = self.vault.apply(order, &DiscardingLedger).await.unwrap();
        assert!(applied.problems.is_empty(), "{:?}", applied.problems);
    }
}

/// A ledger for tests that never recover.
struct DiscardingLedger;

#[async_trait]
impl Ledger for DiscardingLedger {
    async fn record_intents(&self, _: &[Intent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn record_outcomes(&self, _: &[protocol::SettledIntent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        Ok(Vec::new())
    }
}

/// An environment in which it is always the same Saturday in Ljubljana.
#[derive(Default)]
pub(crate) struct FixedEnvironment(pub(crate) Mutex<SentNote>);

#[async_trait]
impl Environment for FixedEnvironment {
    async fn sent_note(&self, _: &TurnId) -> SentNote {
        self.0.lock().unwrap().clone()
    }

    fn now(&self) -> Zoned {
        still_now()
    }
}

pub(crate) fn still_now() -> Zoned {
    "2026-11-21T09:30:00[Europe/Ljubljana]".parse().unwrap()
}

/// An archive that holds one conversation, and what was told in the one that goes on.
struct SingleConversationArchive(Arc<Mutex<Vec<String>>>);

impl SingleConversationArchive {
    fn ended() -> ArchivedConversation {
        ArchivedConversation {
            id: ConversationId::from("c-1"),
            title: "The boiler".to_owned(),
            ended_at: Timestamp(1_763_712_000_000),
            summary: "Bruno comes on Monday.".to_owned(),
            sources: [Source::Hub].into(),
        }
    }
}

#[async_trait]
impl ConversationArchive for SingleConversationArchive {
    async fn full_result(
        &self,
        _: &ConversationId,
        _: &str,
    ) -> Result<Option<ArchivedResult>, ArchiveError> {
        Ok(None)
    }

    async fn told_texts(
        &self,
        _: &ConversationId,
        _: &TurnId,
        _: &CallId,
    ) -> Result<Option<Vec<String>>, ArchiveError> {
        Ok(Some(self.0.lock().unwrap().clone()))
    }

    async fn recent(&self, _: u32) -> Result<Vec<ArchivedConversation>, ArchiveError> {
        Ok(vec![Self::ended()])
    }

    async fn search(&self, query: &str, _: u32) -> Result<ArchiveSearch, ArchiveError> {
        let found = if query.starts_with("boiler") { vec![Self::ended()] } else { Vec::new() };
        Ok(ArchiveSearch { found, searched_newest: query.ends_with("long ago").then_some(500) })
    }

    async fn transcript(
        &self,
        id: &ConversationId,
    ) -> Result<Option<ArchivedTranscript>, ArchiveError> {
        let said = |role, text: String| ArchivedMessage { role, text };
        Ok((*id == Self::ended().id).then(|| ArchivedTranscript {
            messages: vec![
                said(Role::User, "x".repeat(19_000)),
                said(Role::Assistant, "y".repeat(19_000)),
                said(Role::User, "Thanks.".to_owned()),
            ],
            sources: Self::ended().sources,
        }))
    }
}

/// The question `q-1` is open for the message of any turn.
struct SingleQuestionResolver;

#[async_trait]
impl QuestionResolver for SingleQuestionResolver {
    async fn resolve(
        &self,
        _: &TurnId,
        question: &QuestionId,
        _: QuestionResolution,
    ) -> Result<(), UnresolvedQuestion> {
        match question.as_str() {
            "q-1" => Ok(()),
            _ => Err(UnresolvedQuestion("The one that waits is `q-1`.".to_owned())),
        }
    }
}
