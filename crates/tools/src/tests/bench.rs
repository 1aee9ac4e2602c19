//! A vault, a catalog over it, and what a conversation has seen and planned so far.

#![expect(clippy::disallowed_methods, reason = "the tests make the notes and look at them")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use index::Index;
use jiff::Zoned;
use llm::registry::ToolRegistry;
use llm::tool::{Called, Control, Effect, Plan, ToolContext};
use protocol::settings::{ExtraRoot, PrivateSettings};
use protocol::{
    CallId, ChangeSet, ChangeSetId, ContentHash, ConversationId, Intent, NotePath, Privacy,
    PrivateRules, QuestionId, Reaction, Role, Source, Timestamp, TurnId,
};
use serde_json::Value;
use vault::ledger::{Ledger, LedgerError};
use vault::{Links, Order, Planned, Screen, Vault};

use crate::archive::{Archive, ArchiveError, Ended, Heard, Said, Whole};
use crate::catalog::{Shelf, catalog};
use crate::desk::{Desk, SentNote};
use crate::questions::{Questions, Unsettled, Verdict};
use crate::verdict;

/// What becomes of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Apply,
    Wait,
}

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    _cache: tempfile::TempDir,
    index: Index,
    vault: Vault,
    pub(crate) tools: ToolRegistry,
    pub(crate) desk: Arc<StillDesk>,
    pub(crate) policy: Policy,
    overlay: ChangeSet,
    seen: BTreeMap<NotePath, ContentHash>,
}

/// The text for the model, and what else came of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) effect: Option<Effect>,
    pub(crate) control: Option<Control>,
    pub(crate) reactions: Vec<Reaction>,
    /// Where its words may come from.
    pub(crate) sources: Vec<Source>,
}

impl Bench {
    pub(crate) fn with(notes: &[(&str, &[u8])]) -> Self {
        Self::without(&[], notes)
    }

    /// With notes that the tools must not see: `never` are the user's rules for them.
    pub(crate) fn without(never: &[&str], notes: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in notes {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        let vault = Vault::open(folder.path()).unwrap();
        let desk = Arc::new(StillDesk::default());
        let never = never.iter().map(|rule| (*rule).to_owned()).collect();
        let rules = PrivateRules::parse(&PrivateSettings { never, ..PrivateSettings::default() });
        let screen = Arc::new(Screen::new(rules.unwrap(), Privacy::Open));
        let cache = tempfile::tempdir().unwrap();
        let index = Index::new(&vault, PrivateRules::default(), cache.path());
        let shelf = Shelf {
            index: index.clone(),
            vault: vault.behind(screen),
            archive: Arc::new(OneEnded),
            desk: desk.clone(),
            questions: Arc::new(OneWaits),
        };
        Self {
            folder,
            _cache: cache,
            index,
            vault,
            tools: catalog(shelf).unwrap(),
            desk,
            policy: Policy::Apply,
            overlay: ChangeSet::default(),
            seen: BTreeMap::new(),
        }
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.file(path)).unwrap()).unwrap()
    }

    /// The user adds a folder beside the vault.
    pub(crate) fn add_root(&self, folder: &std::path::Path, name: &str) {
        let folder = folder.to_str().unwrap().to_owned();
        self.vault.set_extra_roots(&[ExtraRoot { folder, name: name.to_owned() }]);
    }

    /// The user makes a link, and has links followed.
    pub(crate) fn link(&self, at: &str, to: &str) {
        std::os::unix::fs::symlink(to, self.file(at)).unwrap();
        self.vault.set_links(Links::Inside);
    }

    /// Another program writes a note.
    pub(crate) fn elsewhere(&self, path: &str, text: &str) {
        std::fs::write(self.file(path), text).unwrap();
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.index.catch_up(&AtomicBool::new(false)).unwrap();
        self.index.rank(&AtomicBool::new(false)).unwrap();
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(self.overlay.clone()),
            seen: Arc::new(self.seen.clone()),
            room: usize::MAX,
            shows: llm::tool::Shows::default(),
        };
        match self.tools.call(tool, arguments, &context).await {
            Called::Outcome(outcome) => {
                self.seen.extend(outcome.seen);
                Answer {
                    text: outcome.output,
                    is_error: outcome.is_error,
                    effect: None,
                    control: outcome.control,
                    reactions: outcome.reactions,
                    sources: context.shows.all(),
                }
            }
            Called::Planned(effect, plan) => {
                let sources = context.shows.of_plan().all();
                Answer { sources, ..self.decide(effect, plan).await }
            }
        }
    }

    /// A call that must work.
    pub(crate) async fn works(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer
    }

    /// A call that must fail; its words.
    pub(crate) async fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments).await;
        assert!(answer.is_error, "{tool}: {}", answer.text);
        answer.text
    }

    async fn decide(&mut self, effect: Effect, plan: Plan) -> Answer {
        let text = match self.policy {
            Policy::Apply => plan.summary.clone(),
            Policy::Wait => verdict::waiting(&plan.summary),
        };
        for change in plan.change_set.changes() {
            self.seen.extend(change.after_hash().map(|hash| (change.path.clone(), hash)));
        }
        match self.policy {
            Policy::Apply => self.apply(&plan.change_set).await,
            Policy::Wait => self.overlay.extend(plan.change_set).unwrap(),
        }
        let (effect, reactions, sources) = (Some(effect), Vec::new(), Vec::new());
        Answer { text, is_error: false, effect, control: None, reactions, sources }
    }

    async fn apply(&self, change_set: &ChangeSet) {
        let unit = change_set.is_unit().then(|| CallId::from("call"));
        let changes = change_set.changes().map(|change| Planned {
            change: change.clone(),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: unit.clone(),
            file: None,
        });
        let order = Order { change_set: ChangeSetId::from("set"), changes: changes.collect() };
        let applied = self.vault.apply(order, &Forgetful).await.unwrap();
        assert!(applied.problems.is_empty(), "{:?}", applied.problems);
    }
}

/// A ledger for tests that never recover.
struct Forgetful;

#[async_trait]
impl Ledger for Forgetful {
    async fn intend(&self, _: &[Intent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn settle(&self, _: &[protocol::Ended]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open(&self) -> Result<Vec<Intent>, LedgerError> {
        Ok(Vec::new())
    }
}

/// A desk on which it is always the same Saturday in Ljubljana.
#[derive(Default)]
pub(crate) struct StillDesk(pub(crate) Mutex<SentNote>);

#[async_trait]
impl Desk for StillDesk {
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

/// An archive that holds one conversation.
struct OneEnded;

impl OneEnded {
    fn ended() -> Ended {
        Ended {
            id: ConversationId::from("c-1"),
            title: "The boiler".to_owned(),
            ended_at: Timestamp(1_763_712_000_000),
            gist: "Bruno comes on Monday.".to_owned(),
            sources: [Source::Hub].into(),
        }
    }
}

#[async_trait]
impl Archive for OneEnded {
    async fn result(&self, _: &ConversationId, _: &str) -> Result<Option<Whole>, ArchiveError> {
        Ok(None)
    }

    async fn recent(&self, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(vec![Self::ended()])
    }

    async fn search(&self, query: &str, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(if query == "boiler" { vec![Self::ended()] } else { Vec::new() })
    }

    async fn whole(&self, id: &ConversationId) -> Result<Option<Heard>, ArchiveError> {
        let said = |by, text: String| Said { by, text };
        Ok((*id == Self::ended().id).then(|| Heard {
            said: vec![
                said(Role::User, "x".repeat(19_000)),
                said(Role::Assistant, "y".repeat(19_000)),
                said(Role::User, "Thanks.".to_owned()),
            ],
            sources: Self::ended().sources,
        }))
    }
}

/// The question `q-1` waits for the message of whatever turn there is.
struct OneWaits;

#[async_trait]
impl Questions for OneWaits {
    async fn settle(&self, _: &TurnId, question: &QuestionId, _: Verdict) -> Result<(), Unsettled> {
        match question.as_str() {
            "q-1" => Ok(()),
            _ => Err(Unsettled("The one that waits is `q-1`.".to_owned())),
        }
    }
}
