//! The product's own tools over a vault: a plan is applied at once, through a ledger in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::tools::catalog::{ToolDeps, catalog};
use async_trait::async_trait;
use index::Index;
use llm::tool_api::registry::ToolRegistry;
use llm::tool_api::tool::{CallOutcome, ChangePlan, ToolContext};
use protocol::{
    CallId, ChangeSet, ChangeSetId, ContentHash, ConversationId, Intent, NotePath, PrivateRules,
    TurnId,
};
use serde_json::Value;
use vault::ledger::{Ledger, LedgerError};
use vault::{ChangeBatch, PlannedChange, Vault, VaultError};

use super::case::PathOperation;
use super::fixture::CANARY;
use super::{PathResolver, ResolverAnswer};
use crate::stub_tool_deps::StubToolDeps;

/// The tools that a model would call.
pub struct ProductTools {
    vault: Vault,
    registry: ToolRegistry,
    seen: Mutex<BTreeMap<NotePath, ContentHash>>,
}

#[async_trait]
impl PathResolver for ProductTools {
    fn open(folder: &Path) -> Self {
        let vault = Vault::open(folder).expect("the vault opens");
        let deps = ToolDeps {
            vault: vault.clone(),
            index: Index::new(&vault, PrivateRules::default(), Path::new("unused")),
            archive: Arc::new(StubToolDeps),
            environment: Arc::new(StubToolDeps),
            questions: Arc::new(StubToolDeps),
        };
        let registry = catalog(deps).expect("no name twice");
        Self { vault, registry, seen: Mutex::default() }
    }

    fn has(&self, tool: &str) -> bool {
        self.registry.names().contains(&tool)
    }

    async fn call(&self, tool: &str, arguments: Value) -> ResolverAnswer {
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
        match self.registry.call(tool, arguments, &context).await {
            CallOutcome::Outcome(outcome) => {
                self.seen.lock().expect("no panic").extend(outcome.seen);
                ResolverAnswer { text: outcome.output, is_error: outcome.is_error }
            }
            CallOutcome::Planned(_, plan) => self.apply(plan).await,
        }
    }

    fn unrelated_refusal(
        &self,
        op: PathOperation,
        path: &str,
        to: Option<&str>,
        said: &str,
    ) -> Option<String> {
        let read = |asked: &str| {
            self.vault.resolve(asked.trim()).and_then(|path| self.vault.read(&path)).err()
        };
        let refused = match op {
            PathOperation::Read
            | PathOperation::Edit
            | PathOperation::Delete
            | PathOperation::MoveSource => read(path),
            PathOperation::Move
                if ["is already there", "into itself"].iter().any(|it| said.contains(it)) =>
            {
                return None;
            }
            PathOperation::Move => {
                read(path).or_else(|| self.move_refusal(path, to.unwrap_or("notes/moved.md")))
            }
            PathOperation::MoveDestination => self.move_refusal("notes/b.md", path),
            PathOperation::Write | PathOperation::Append => self.vault.new_path(path).err(),
            PathOperation::Mkdir => self.vault.new_folder(path).err(),
            PathOperation::List | PathOperation::Search => return None,
        };
        match refused {
            None => Some("the path check accepts the path".to_owned()),
            // The tools have words of their own for these.
            Some(
                VaultError::NotFound { .. }
                | VaultError::Ambiguous { .. }
                | VaultError::Exists { .. },
            ) => None,
            Some(VaultError::NotANote { .. }) if said.contains("Can’t open `") => None,
            Some(VaultError::Path(_)) if said.contains("names no folder") => None,
            Some(
                error @ (VaultError::Path(_)
                | VaultError::NotANote { .. }
                | VaultError::TooLarge { .. }),
            ) => {
                let is_told = said.contains(&error.to_string());
                (!is_told).then(|| format!("the path check says “{error}”"))
            }
            Some(error) => Some(format!("an accident: {error}")),
        }
    }
}

impl ProductTools {
    /// Why nothing can be moved from here to there; a destination with a slash at its end is the
    /// folder to move into.
    fn move_refusal(&self, from: &str, to: &str) -> Option<VaultError> {
        let from = NotePath::parse(from).ok()?;
        let into = to.ends_with('/') && !to.trim_matches(['/', '.']).is_empty();
        let to = if into { format!("{to}{}", from.name()) } else { to.to_owned() };
        self.vault.new_path_for_rename(&from, &to).err()
    }

    async fn apply(&self, plan: ChangePlan) -> ResolverAnswer {
        let planned = |change: &protocol::Change| PlannedChange {
            change: change.clone(),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: plan.change_set.is_unit().then(|| CallId::from("call")),
            file: None,
        };
        let changes = plan.change_set.changes().map(planned).collect();
        let order = ChangeBatch { change_set: ChangeSetId::from("set"), changes };
        match self.vault.apply(order, &CheckingLedger).await {
            Ok(applied) if applied.problems.is_empty() => {
                ResolverAnswer { text: plan.summary, is_error: false }
            }
            Ok(applied) => {
                let said = applied.problems.iter().map(|(_, why)| why.to_string());
                ResolverAnswer { text: said.collect::<Vec<_>>().join("\n"), is_error: true }
            }
            Err(error) => ResolverAnswer { text: error.to_string(), is_error: true },
        }
    }
}

/// A ledger that keeps nothing, but refuses to store text from outside.
struct CheckingLedger;

#[async_trait]
impl Ledger for CheckingLedger {
    async fn record_intents(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(CANARY);
        let leaks = intents.iter().any(|intent| {
            intent.change.after().is_some_and(holds) || intent.change.before().is_some_and(holds)
        });
        if leaks { Err(LedgerError(format!("an image holds {CANARY}"))) } else { Ok(()) }
    }

    async fn record_outcomes(&self, _: &[protocol::SettledIntent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        Ok(Vec::new())
    }
}
