//! Reading one note through the tool, compared with the three system calls that it needs at least.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use index::Index;
use llm::tool_api::registry::ToolRegistry;
use llm::tool_api::tool::{CallOutcome, ToolContext};
use protocol::{CallId, ChangeSet, ConversationId, PrivateRules, TurnId};
use serde_json::json;
use tools::catalog::{ToolDeps, catalog};
use tools::ports::conversation_archive::{
    ArchiveError, ArchiveSearch, ArchivedConversation, ArchivedResult, ArchivedTranscript,
    ConversationArchive,
};
use tools::ports::environment::{Environment, SentNote};
use vault::Vault;

use crate::mcp_server::McpServer;
use crate::paired_timing::{Ratio, measure};
use crate::sample_notes::{note_name, note_text};

/// Reads in a row that count as one, because the clock is too coarse for a single one.
const READS_PER_SAMPLE: usize = 20;

/// How many notes the vault has.
const NOTES: usize = 200;

/// Measures the tool compared with open, read and close.
pub(crate) async fn against_system_calls(pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = make_vault()?;
    let tool = ReadFileBench::new(place.path())?;
    let (mut asked, mut opened, mut buffer) = (0, 0, vec![0; 1 << 16]);
    let ours = async || {
        for _ in 0..READS_PER_SAMPLE {
            asked += 1;
            tool.read(&note_name(asked % NOTES)).await?;
        }
        Ok(())
    };
    let calls = async || {
        for _ in 0..READS_PER_SAMPLE {
            opened += 1;
            let mut file = fs::File::open(place.path().join(note_name(opened % NOTES)))?;
            let _ = file.read(&mut buffer)?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    measure(pairs, ours, calls).await
}

/// Measures the tool compared with the same tool of the file system server that others plug in.
pub(crate) async fn against_mcp_server(pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = make_vault()?;
    let tool = ReadFileBench::new(place.path())?;
    let mut server = McpServer::start(place.path())?;
    let (mut asked, mut served) = (0, 0);
    let ours = async || {
        asked += 1;
        tool.read(&note_name(asked % NOTES)).await
    };
    let theirs = async || {
        served += 1;
        server.read(&place.path().join(note_name(served % NOTES)))
    };
    measure(pairs, ours, theirs).await
}

fn make_vault() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    for number in 0..NOTES {
        fs::write(place.path().join(note_name(number)), note_text(number, 0))?;
    }
    Ok(place)
}

/// The tool as a turn calls it.
struct ReadFileBench {
    tools: ToolRegistry,
    context: ToolContext,
}

impl ReadFileBench {
    fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let vault = Vault::open(folder)?;
        let deps = ToolDeps {
            index: Index::new(&vault, PrivateRules::default(), Path::new("unused")),
            vault,
            archive: Arc::new(EmptyToolDeps),
            environment: Arc::new(EmptyToolDeps),
            questions: Arc::new(EmptyToolDeps),
        };
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(ChangeSet::default()),
            withheld: Arc::default(),
            seen: Arc::new(BTreeMap::new()),
            max_output_bytes: usize::MAX,
            sources: llm::tool_api::tool::SourceLog::default(),
            offered: llm::tool_api::tool::ToolOffer::default(),
        };
        Ok(Self { tools: catalog(deps)?, context })
    }

    async fn read(&self, path: &str) -> Result<(), Box<dyn Error>> {
        match self.tools.call("read_file", json!({ "path": path }), &self.context).await {
            CallOutcome::Outcome(outcome) if !outcome.is_error => Ok(()),
            other => Err(format!("read_file refused: {other:?}").into()),
        }
    }
}

/// An environment without an open note, and an empty archive.
struct EmptyToolDeps;

#[async_trait]
impl ConversationArchive for EmptyToolDeps {
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
        Ok(None)
    }

    async fn recent(&self, _: u32) -> Result<Vec<ArchivedConversation>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn search(&self, _: &str, _: u32) -> Result<ArchiveSearch, ArchiveError> {
        Ok(ArchiveSearch::default())
    }

    async fn transcript(
        &self,
        _: &ConversationId,
    ) -> Result<Option<ArchivedTranscript>, ArchiveError> {
        Ok(None)
    }
}

#[async_trait]
impl Environment for EmptyToolDeps {
    async fn sent_note(&self, _: &TurnId) -> SentNote {
        SentNote::NoneOpen
    }

    fn now(&self) -> jiff::Zoned {
        jiff::Zoned::now()
    }
}

#[async_trait::async_trait]
impl tools::ports::question_resolver::QuestionResolver for EmptyToolDeps {
    async fn resolve(
        &self,
        _: &TurnId,
        _: &protocol::QuestionId,
        _: tools::ports::question_resolver::QuestionResolution,
    ) -> Result<(), tools::ports::question_resolver::UnresolvedQuestion> {
        Err(tools::ports::question_resolver::UnresolvedQuestion("No question waits.".to_owned()))
    }
}
