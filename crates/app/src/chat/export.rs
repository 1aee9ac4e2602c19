//! Conversations written into a file of the user's, as a stream: however many there are.

mod file;
mod json;
mod markdown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use llm::TimeScale;
use protocol::chat::export::{ExportFormat, Exported};
use protocol::job::JobKind;
use protocol::{ConversationId, UserError};
use store::{ConversationOutline, ExportedTurn, Store};
use vault::Progress;

use file::AtomicFileWriter;
pub use file::ExistingFile;

use crate::app::App;
use crate::settings::run_mode::RunMode;
use crate::user_texts;
use crate::workspace::data_dir::DataDir;

/// The number of conversations that are looked up together.
const CONVERSATION_BATCH: u32 = 500;
/// The number of turns that are in memory together.
const TURN_BATCH: usize = 200;

/// The conversations to export, and the file.
pub struct ExportJob {
    /// One conversation; `None` is all that are listed or archived.
    pub conversation: Option<ConversationId>,
    /// The format of the text, whatever extension `file` has.
    pub format: ExportFormat,
    /// The path of the file; its folder must exist.
    pub file: PathBuf,
    /// Whether a file of that name is replaced.
    pub existing: ExistingFile,
}

impl App {
    /// Writes conversations into a file. The file is complete or absent: until the end it has a
    /// temporary name and is removed when the export fails, is dropped, or is stopped (then
    /// `None`).
    pub async fn export(&self, export: &ExportJob) -> Result<Option<Exported>, UserError> {
        let (open, progress) = (self.session().await?, Progress::default());
        let work = write(&open.store, export, &progress);
        let work = self.services().jobs.run(JobKind::Exporting, &progress, work);
        let written = open.tasks.until_cancelled(work).await;
        written.unwrap_or_else(|| Err(UserError::other(user_texts::vault_closed_during_export())))
    }
}

/// Opens a vault, writes its conversations into a file, and closes it.
pub async fn export(
    data: DataDir,
    vault: &Path,
    export: &ExportJob,
) -> Result<Exported, UserError> {
    let app = App::start_with(data, RunMode::Ask, TimeScale::REAL_TIME);
    let written = match app.open_for_one_shot(vault, Box::new(|_| true)).await {
        Ok(open) => write(&open.store, export, &Progress::default()).await,
        Err(error) => Err(error),
    };
    app.shutdown().await;
    written?.ok_or_else(|| UserError::other(user_texts::export_stopped()))
}

/// `None` if it was stopped.
async fn write(
    store: &Store,
    export: &ExportJob,
    progress: &Progress,
) -> Result<Option<Exported>, UserError> {
    let mut out = AtomicFileWriter::create(&export.file, export.existing).await?;
    let mut form = ExportWriter::new(export.format);
    out.append(form.header()).await?;
    let mut conversations = 0_u32;
    match &export.conversation {
        Some(id) => {
            if !write_conversation(store, id, &mut form, &mut out, progress).await? {
                return Err(UserError::other(user_texts::conversation_gone()));
            }
            conversations = 1;
        }
        None => {
            let (all, ..) = store.conversation_counts().await?;
            progress.expect(usize::try_from(all).unwrap_or(usize::MAX));
            let mut after: Option<ConversationId> = None;
            loop {
                let page = store.conversation_ids(after.as_ref(), CONVERSATION_BATCH).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.clone());
                for id in &page {
                    if progress.is_stopped() {
                        return Ok(None);
                    }
                    // One that was deleted meanwhile is not written.
                    conversations += u32::from(
                        write_conversation(store, id, &mut form, &mut out, progress).await?,
                    );
                    progress.advance(1);
                }
            }
        }
    }
    if progress.is_stopped() {
        return Ok(None);
    }
    out.append(form.footer()).await?;
    out.finish().await?;
    Ok(Some(Exported { file: export.file.display().to_string(), conversations }))
}

/// Whether it is there.
async fn write_conversation(
    store: &Store,
    id: &ConversationId,
    form: &mut ExportWriter,
    out: &mut AtomicFileWriter,
    progress: &Progress,
) -> Result<bool, UserError> {
    let Some(outline) = store.conversation_outline(id).await? else { return Ok(false) };
    out.append(form.conversation_start(&outline)).await?;
    for numbers in outline.turns.chunks(TURN_BATCH) {
        if progress.is_stopped() {
            return Ok(true);
        }
        for turn in store.exported_turns(numbers).await? {
            out.append(form.turn(&outline, &turn)).await?;
        }
    }
    out.append(form.conversation_end()).await?;
    Ok(true)
}

/// Writes the export piece by piece.
enum ExportWriter {
    Markdown(markdown::MarkdownExport),
    Json(json::JsonExport),
}

impl ExportWriter {
    fn new(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Markdown => Self::Markdown(markdown::MarkdownExport::default()),
            ExportFormat::Json => Self::Json(json::JsonExport::default()),
        }
    }

    fn header(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::header(),
        }
    }

    fn conversation_start(&mut self, outline: &ConversationOutline) -> String {
        match self {
            Self::Markdown(form) => form.conversation(outline),
            Self::Json(form) => form.conversation(outline),
        }
    }

    fn turn(&mut self, outline: &ConversationOutline, turn: &ExportedTurn) -> String {
        match self {
            Self::Markdown(form) => form.turn(outline, turn),
            Self::Json(form) => form.turn(turn),
        }
    }

    fn conversation_end(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::CONVERSATION_END.to_owned(),
        }
    }

    fn footer(&self) -> String {
        match self {
            Self::Markdown(_) => String::new(),
            Self::Json(_) => json::FOOTER.to_owned(),
        }
    }
}

/// A moment, in the zone of this computer.
fn local_time(at: protocol::Timestamp) -> jiff::Zoned {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(jiff::tz::TimeZone::system())
}
