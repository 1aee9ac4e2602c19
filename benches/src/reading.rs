//! Reading one note through the tool, beside the three system calls that it cannot do without.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use index::Index;
use llm::registry::ToolRegistry;
use llm::tool::{Called, ToolContext};
use protocol::{CallId, ChangeSet, ConversationId, PrivateRules, TurnId};
use serde_json::json;
use tools::archive::{Archive, ArchiveError, Ended, Heard, Whole};
use tools::catalog::{Shelf, catalog};
use tools::desk::{Desk, SentNote};
use vault::Vault;

use crate::mcp::Server;
use crate::pairs::{Ratio, measure};
use crate::text::{name, note};

/// Reads in a row that count as one, because the clock is too coarse for a single one.
const AT_ONCE: usize = 20;

/// How many notes the vault has.
const NOTES: usize = 200;

/// Measures the tool beside open, read and close.
pub(crate) async fn beside_the_calls(pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = place()?;
    let tool = ReadFile::over(place.path())?;
    let (mut asked, mut opened, mut buffer) = (0, 0, vec![0; 1 << 16]);
    let ours = async || {
        for _ in 0..AT_ONCE {
            asked += 1;
            tool.read(&name(asked % NOTES)).await?;
        }
        Ok(())
    };
    let calls = async || {
        for _ in 0..AT_ONCE {
            opened += 1;
            let mut file = fs::File::open(place.path().join(name(opened % NOTES)))?;
            let _ = file.read(&mut buffer)?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    measure(pairs, ours, calls).await
}

/// Measures the tool beside the same tool of the file system server that others plug in.
pub(crate) async fn beside_the_server(pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = place()?;
    let tool = ReadFile::over(place.path())?;
    let mut server = Server::start(place.path())?;
    let (mut asked, mut served) = (0, 0);
    let ours = async || {
        asked += 1;
        tool.read(&name(asked % NOTES)).await
    };
    let theirs = async || {
        served += 1;
        server.read(&place.path().join(name(served % NOTES)))
    };
    measure(pairs, ours, theirs).await
}

fn place() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    for number in 0..NOTES {
        fs::write(place.path().join(name(number)), note(number, 0))?;
    }
    Ok(place)
}

/// The tool as a turn calls it.
struct ReadFile {
    tools: ToolRegistry,
    context: ToolContext,
}

impl ReadFile {
    fn over(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let vault = Vault::open(folder)?;
        let shelf = Shelf {
            index: Index::new(&vault, PrivateRules::default(), Path::new("unused")),
            vault,
            archive: Arc::new(Bare),
            desk: Arc::new(Bare),
            questions: Arc::new(Bare),
        };
        let context = ToolContext {
            conversation: ConversationId::from("conversation"),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            overlay: Arc::new(ChangeSet::default()),
            seen: Arc::new(BTreeMap::new()),
            room: usize::MAX,
            shows: llm::tool::Shows::default(),
        };
        Ok(Self { tools: catalog(shelf)?, context })
    }

    async fn read(&self, path: &str) -> Result<(), Box<dyn Error>> {
        match self.tools.call("read_file", json!({ "path": path }), &self.context).await {
            Called::Outcome(outcome) if !outcome.is_error => Ok(()),
            other => Err(format!("read_file refused: {other:?}").into()),
        }
    }
}

/// A desk and an archive with nothing on them.
struct Bare;

#[async_trait]
impl Archive for Bare {
    async fn result(&self, _: &ConversationId, _: &str) -> Result<Option<Whole>, ArchiveError> {
        Ok(None)
    }

    async fn recent(&self, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn search(&self, _: &str, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn whole(&self, _: &ConversationId) -> Result<Option<Heard>, ArchiveError> {
        Ok(None)
    }
}

#[async_trait]
impl Desk for Bare {
    async fn sent_note(&self, _: &TurnId) -> SentNote {
        SentNote::NoneOpen
    }

    fn now(&self) -> jiff::Zoned {
        jiff::Zoned::now()
    }
}

#[async_trait::async_trait]
impl tools::questions::Questions for Bare {
    async fn settle(
        &self,
        _: &TurnId,
        _: &protocol::QuestionId,
        _: tools::questions::Verdict,
    ) -> Result<(), tools::questions::Unsettled> {
        Err(tools::questions::Unsettled("No question waits.".to_owned()))
    }
}
