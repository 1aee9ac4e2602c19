//! Conversations written into a file of the user's, as a stream: however many there are.

mod file;
mod json;
mod markdown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use llm::Pace;
use protocol::export::{ExportFormat, Exported};
use protocol::work::WorkKind;
use protocol::{ConversationId, UserError};
use store::{Outline, Store, ToldTurn};
use vault::Progress;

pub use file::Existing;
use file::Growing;

use crate::app::App;
use crate::data_dir::DataDir;
use crate::purpose::Purpose;
use crate::trouble::user_error;

/// So many conversations are looked up together.
const PAGE: u32 = 500;
/// So many turns are in memory together.
const TURNS: usize = 200;

/// What shall be written, and where.
pub struct Export {
    /// One conversation; `None` is all that are listed or put away.
    pub conversation: Option<ConversationId>,
    /// How.
    pub format: ExportFormat,
    /// The file.
    pub file: PathBuf,
    /// What becomes of a file that is there.
    pub existing: Existing,
}

impl App {
    /// Writes conversations into a file. It is there whole or not at all: what is written before
    /// the end has another name, and goes when this fails, is dropped, or is stopped: then `None`.
    pub async fn export(&self, export: &Export) -> Result<Option<Exported>, UserError> {
        let (open, progress) = (self.open().await?, Progress::default());
        let work = write(&open.store, export, &progress);
        let work = open.works.watch(WorkKind::Exporting, &progress, work);
        let written = open.while_open(work).await;
        written.unwrap_or_else(|| {
            Err(UserError::other("The vault was closed meanwhile: open it and export again."))
        })
    }
}

/// Opens a vault, writes its conversations into a file, and closes it.
pub async fn export(data: DataDir, vault: &Path, export: &Export) -> Result<Exported, UserError> {
    let app = App::with(data, Purpose::Ask, Pace::REAL);
    let written = match app.open_for_ask(vault, Box::new(|_| true)).await {
        Ok(open) => write(&open.store, export, &Progress::default()).await,
        Err(error) => Err(error),
    };
    app.shutdown().await;
    written?.ok_or_else(|| UserError::other("The export was stopped: no file was written."))
}

/// `None` if it was stopped.
async fn write(
    store: &Store,
    export: &Export,
    progress: &Progress,
) -> Result<Option<Exported>, UserError> {
    let mut out = Growing::begin(&export.file, export.existing).await?;
    let mut form = Form::new(export.format);
    out.add(form.begins()).await?;
    let mut conversations = 0_u32;
    match &export.conversation {
        Some(id) => {
            if !add(store, id, &mut form, &mut out, progress).await? {
                return Err(UserError::other("This conversation is not there any more."));
            }
            conversations = 1;
        }
        None => {
            let (all, ..) = store.kept_conversations().await.map_err(user_error)?;
            progress.expect(usize::try_from(all).unwrap_or(usize::MAX));
            let mut after: Option<ConversationId> = None;
            loop {
                let page = store.all_conversations(after.as_ref(), PAGE).await;
                let page = page.map_err(user_error)?;
                let Some(last) = page.last() else { break };
                after = Some(last.clone());
                for id in &page {
                    if progress.is_stopped() {
                        return Ok(None);
                    }
                    // One that was deleted meanwhile is not written.
                    conversations +=
                        u32::from(add(store, id, &mut form, &mut out, progress).await?);
                    progress.advance(1);
                }
            }
        }
    }
    if progress.is_stopped() {
        return Ok(None);
    }
    out.add(form.ends()).await?;
    out.finish().await?;
    Ok(Some(Exported { file: export.file.display().to_string(), conversations }))
}

/// Whether it is there.
async fn add(
    store: &Store,
    id: &ConversationId,
    form: &mut Form,
    out: &mut Growing,
    progress: &Progress,
) -> Result<bool, UserError> {
    let Some(outline) = store.outline(id).await.map_err(user_error)? else { return Ok(false) };
    out.add(form.conversation(&outline)).await?;
    for numbers in outline.turns.chunks(TURNS) {
        if progress.is_stopped() {
            return Ok(true);
        }
        for turn in store.told_turns(numbers).await.map_err(user_error)? {
            out.add(form.turn(&outline, &turn)).await?;
        }
    }
    out.add(form.conversation_ends()).await?;
    Ok(true)
}

/// What is written piece by piece.
enum Form {
    Markdown(markdown::Markdown),
    Json(json::Json),
}

impl Form {
    fn new(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Markdown => Self::Markdown(markdown::Markdown::default()),
            ExportFormat::Json => Self::Json(json::Json::default()),
        }
    }

    fn begins(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::begins(),
        }
    }

    fn conversation(&mut self, outline: &Outline) -> String {
        match self {
            Self::Markdown(form) => form.conversation(outline),
            Self::Json(form) => form.conversation(outline),
        }
    }

    fn turn(&mut self, outline: &Outline, turn: &ToldTurn) -> String {
        match self {
            Self::Markdown(form) => form.turn(outline, turn),
            Self::Json(form) => form.turn(turn),
        }
    }

    fn conversation_ends(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::CONVERSATION_ENDS.to_owned(),
        }
    }

    fn ends(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::ENDS.to_owned(),
        }
    }
}

/// A moment, in the zone of this computer.
fn moment(at: protocol::Timestamp) -> jiff::Zoned {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(jiff::tz::TimeZone::system())
}
