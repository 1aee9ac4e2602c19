//! All tools there are, in the order a model is told about them.

use std::sync::Arc;

use index::Index;
use llm::tool_api::registry::{DuplicateTool, ToolRegistry};
use llm::{ChangingTool as _, Tool as _};
use vault::Vault;

use crate::conversation_tools::end_conversation::EndConversation;
use crate::conversation_tools::get_conversation::GetConversation;
use crate::conversation_tools::get_current_time::GetCurrentTime;
use crate::conversation_tools::read_result::ReadResult;
use crate::conversation_tools::resolve_question::ResolveQuestion;
use crate::conversation_tools::send_message::SendMessage;
use crate::conversation_tools::show_note::ShowNote;
use crate::notes::notes_view::NotesView;
use crate::ports::conversation_archive::ConversationArchive;
use crate::ports::environment::Environment;
use crate::ports::question_resolver::QuestionResolver;
use crate::read_tools::find_notes::FindNotes;
use crate::read_tools::get_active_note::GetActiveNote;
use crate::read_tools::get_file_info::GetFileInfo;
use crate::read_tools::get_links::GetLinks;
use crate::read_tools::list_files::ListFiles;
use crate::read_tools::list_tags::ListTags;
use crate::read_tools::read_file::ReadFile;
use crate::read_tools::search_files::SearchFiles;
use crate::show_changes::ShowChanges;
use crate::write_tools::append_file::AppendFile;
use crate::write_tools::create_folder::CreateFolder;
use crate::write_tools::delete_file::DeleteFile;
use crate::write_tools::edit_file::EditFile;
use crate::write_tools::edit_section::EditSection;
use crate::write_tools::move_file::MoveFile;
use crate::write_tools::set_property::SetProperty;
use crate::write_tools::write_file::WriteFile;

/// The tools for a model that loses its way among many: to find, to read, to change, to ask.
pub const SMALL_MODEL_TOOLS: [&str; 8] = [
    FindNotes::NAME,
    ListFiles::NAME,
    ReadFile::NAME,
    EditFile::NAME,
    AppendFile::NAME,
    WriteFile::NAME,
    SendMessage::NAME,
    RESOLVE_QUESTION,
];

/// The tools for a model with room for hardly anything: to find, to read, to add.
pub const MINIMAL_TOOLS: [&str; 4] =
    [FindNotes::NAME, ReadFile::NAME, AppendFile::NAME, RESOLVE_QUESTION];

/// The tools that find, list and read notes.
pub const READ_ONLY_TOOLS: [&str; 8] = [
    FindNotes::NAME,
    SearchFiles::NAME,
    ListFiles::NAME,
    ReadFile::NAME,
    GetFileInfo::NAME,
    GetLinks::NAME,
    ListTags::NAME,
    ReadResult::NAME,
];

/// Whether a second call of this tool does nothing that the first did not do: it only reads.
#[must_use]
pub fn is_repeatable(tool: &str) -> bool {
    let readers = [GetActiveNote::NAME, GetConversation::NAME, GetCurrentTime::NAME];
    let windows = [SHOW_NOTE, ShowChanges::NAME];
    READ_ONLY_TOOLS.iter().chain(&readers).chain(&windows).any(|name| *name == tool)
}

/// The tool that shows a note in the window.
pub const SHOW_NOTE: &str = ShowNote::NAME;

/// The tools that need a window.
pub const IN_WINDOW: [&str; 2] = [SHOW_NOTE, ShowChanges::NAME];

/// The tool that says whether a message answers the open question.
pub const RESOLVE_QUESTION: &str = ResolveQuestion::NAME;

/// The dependencies of the tools.
#[derive(Clone)]
pub struct ToolDeps {
    /// The notes.
    pub vault: Vault,
    /// The index of the notes that a model may see.
    pub index: Index,
    /// Conversations that have ended.
    pub archive: Arc<dyn ConversationArchive>,
    /// The open note and the clock.
    pub environment: Arc<dyn Environment>,
    /// Open questions.
    pub questions: Arc<dyn QuestionResolver>,
}

/// The registry of all tools over `deps`. The order is part of the prompt: it does not change from
/// start to start.
pub fn catalog(deps: ToolDeps) -> Result<ToolRegistry, DuplicateTool> {
    let ToolDeps { vault, index, archive, environment, questions } = deps;
    // A hub message is added to the inbox note also where the model may not see that.
    let all_notes = NotesView::new(vault.unfiltered(), index.clone(), environment.clone());
    let notes = NotesView::new(vault, index, environment.clone());
    let append = |to| AppendFile { notes: to, told: notes.clone() };
    let mut tools = ToolRegistry::new();
    tools.register(FindNotes(notes.clone()))?;
    tools.register(SearchFiles(notes.clone()))?;
    tools.register(ListFiles { notes: notes.clone(), environment: environment.clone() })?;
    tools.register(ReadFile(notes.clone()))?;
    tools.register(GetFileInfo { notes: notes.clone(), environment: environment.clone() })?;
    tools.register(GetLinks(notes.clone()))?;
    tools.register(ListTags(notes.clone()))?;
    tools.register_changing(EditFile(notes.clone()))?;
    tools.register_changing(EditSection { notes: notes.clone(), archive: archive.clone() })?;
    tools.register_changing(SetProperty(notes.clone()))?;
    tools.register_changing_with_own(append(notes.clone()), append(all_notes))?;
    tools.register_changing(WriteFile { notes: notes.clone(), archive: archive.clone() })?;
    tools.register_changing(MoveFile(notes.clone()))?;
    tools.register_changing(DeleteFile(notes.clone()))?;
    tools.register_changing(CreateFolder(notes.clone()))?;
    tools.register(ShowNote(notes.clone()))?;
    tools.register(ShowChanges)?;
    tools.register(GetActiveNote { notes, environment: environment.clone() })?;
    tools.register(GetCurrentTime(environment.clone()))?;
    tools.register(GetConversation { archive: archive.clone(), environment })?;
    tools.register(ReadResult(archive))?;
    tools.register(SendMessage)?;
    tools.register(ResolveQuestion(questions))?;
    tools.register(EndConversation)?;
    Ok(tools)
}
