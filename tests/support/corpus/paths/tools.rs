//! The product's own tools over a vault: a plan is applied at once, through a ledger in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::tools::catalog::{Shelf, catalog};
use async_trait::async_trait;
use index::Index;
use llm::registry::ToolRegistry;
use llm::tool::{Called, Plan, ToolContext};
use protocol::{
    CallId, ChangeSet, ChangeSetId, ContentHash, ConversationId, Intent, NotePath, PrivateRules,
    TurnId,
};
use serde_json::Value;
use vault::ledger::{Ledger, LedgerError};
use vault::{Order, Planned, Vault, VaultError};

use super::case::Op;
use super::stage::CANARY;
use super::{Answer, Subject};
use crate::nothing::Nothing;

/// What a model would call.
pub struct Tools {
    vault: Vault,
    registry: ToolRegistry,
    seen: Mutex<BTreeMap<NotePath, ContentHash>>,
}

#[async_trait]
impl Subject for Tools {
    fn over(folder: &Path) -> Self {
        let vault = Vault::open(folder).expect("the vault opens");
        let shelf = Shelf {
            vault: vault.clone(),
            index: Index::new(&vault, PrivateRules::default(), Path::new("unused")),
            archive: Arc::new(Nothing),
            desk: Arc::new(Nothing),
            questions: Arc::new(Nothing),
        };
        let registry = catalog(shelf).expect("no name twice");
        Self { vault, registry, seen: Mutex::default() }
    }

    fn has(&self, tool: &str) -> bool {
        self.registry.names().contains(&tool)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(ChangeSet::default()),
            seen: Arc::new(self.seen.lock().expect("no panic").clone()),
            room: usize::MAX,
            shows: llm::tool::Shows::default(),
        };
        match self.registry.call(tool, arguments, &context).await {
            Called::Outcome(outcome) => {
                self.seen.lock().expect("no panic").extend(outcome.seen);
                Answer { text: outcome.output, is_error: outcome.is_error }
            }
            Called::Planned(_, plan) => self.apply(plan).await,
        }
    }

    fn accident(&self, op: Op, path: &str, to: Option<&str>, said: &str) -> Option<String> {
        let read = |asked: &str| {
            self.vault.resolve(asked.trim()).and_then(|path| self.vault.read(&path)).err()
        };
        let refused = match op {
            Op::Read | Op::Edit | Op::Delete | Op::MoveSource => read(path),
            Op::Move if ["is there already", "into itself"].iter().any(|it| said.contains(it)) => {
                return None;
            }
            Op::Move => read(path).or_else(|| self.misplaced(path, to.unwrap_or("notes/moved.md"))),
            Op::MoveDestination => self.misplaced("notes/b.md", path),
            Op::Write | Op::Append => self.vault.new_path(path).err(),
            Op::Mkdir => self.vault.new_folder(path).err(),
            Op::List | Op::Search => return None,
        };
        match refused {
            None => Some("the path check accepts the path".to_owned()),
            // The tools have words of their own for these.
            Some(
                VaultError::NotFound { .. }
                | VaultError::Ambiguous { .. }
                | VaultError::Exists { .. },
            ) => None,
            Some(VaultError::NotANote { .. }) if said.contains("which is not opened") => None,
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

impl Tools {
    /// Why nothing can be moved from here to there; a destination with a slash at its end is the
    /// folder to move into.
    fn misplaced(&self, from: &str, to: &str) -> Option<VaultError> {
        let from = NotePath::parse(from).ok()?;
        let into = to.ends_with('/') && !to.trim_matches(['/', '.']).is_empty();
        let to = if into { format!("{to}{}", from.name()) } else { to.to_owned() };
        self.vault.new_path_of(&from, &to).err()
    }

    async fn apply(&self, plan: Plan) -> Answer {
        let planned = |change: &protocol::Change| Planned {
            change: change.clone(),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: plan.change_set.is_unit().then(|| CallId::from("call")),
            file: None,
        };
        let changes = plan.change_set.changes().map(planned).collect();
        let order = Order { change_set: ChangeSetId::from("set"), changes };
        match self.vault.apply(order, &Watched).await {
            Ok(applied) if applied.problems.is_empty() => {
                Answer { text: plan.summary, is_error: false }
            }
            Ok(applied) => {
                let said = applied.problems.iter().map(|(_, why)| why.to_string());
                Answer { text: said.collect::<Vec<_>>().join("\n"), is_error: true }
            }
            Err(error) => Answer { text: error.to_string(), is_error: true },
        }
    }
}

/// A ledger that forgets, but would not store what is outside either.
struct Watched;

#[async_trait]
impl Ledger for Watched {
    async fn intend(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(CANARY);
        let leaks = intents.iter().any(|intent| {
            intent.change.after().is_some_and(holds) || intent.change.before().is_some_and(holds)
        });
        if leaks { Err(LedgerError(format!("an image holds {CANARY}"))) } else { Ok(()) }
    }

    async fn settle(&self, _: &[protocol::Ended]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open(&self) -> Result<Vec<Intent>, LedgerError> {
        Ok(Vec::new())
    }
}
