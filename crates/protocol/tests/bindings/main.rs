//! The checked-in TypeScript bindings are those of the types, and hold the default settings.
//! `./dev bindings` rewrites them.

use std::path::Path;

use protocol::changes::history::{
    AppliedBy, AppliedHunks, AppliedNote, AppliedPage, AppliedSet, AssistantLines, ChangeStatus,
    ChangedSince, ConflictingLines, ListApplied, NoteAttribution, UndoAction, UndoCandidate,
    UndoConflict, UndoResult, UndoScope, UndoTarget,
};
use protocol::changes::retention::{DeletedHistory, HistoryAge, HistoryAgeStats, HistoryStats};
use protocol::changes::review::{DiffLine, DiffLineKind, DiffSpan, NoteHunk};
use protocol::chat::conversation::{ChatItem, ConversationView, Interruption, MessageVariant};
use protocol::chat::conversation_list::{
    ArchiveState, ConversationCounts, ConversationHit, ConversationHits, ConversationPage,
    HitLocation, HitSource, ListConversations,
};
use protocol::chat::cost::{ModelCost, MonthCost, TurnCost};
use protocol::chat::export::{ExportFormat, Exported};
use protocol::chat::model::{Effort, ModelInfo, ModelParameters, Price};
use protocol::chat::tool_event::MatchReason;
use protocol::desktop::{AutostartMode, DesktopSettings, DesktopState, OnClose};
use protocol::event::{
    EnvServer, IndexProgress, LocalServer, ModelWait, ProviderStatus, VaultInfo,
};
use protocol::hub::approval::{ApprovalDecision, ApprovalReason, PendingApproval};
use protocol::job::{JobKind, JobProgress};
use protocol::notes::query::{
    CountedValue, CountedValues, LineMatch, LineMatches, LinkRepairs, MentionTarget, NameMatch,
    NameMatches, NoteBacklink, NoteCriterion, NoteLineMatches, NoteLinks, NoteList,
    NoteOutgoingLink, NoteProperty, NoteText, PatternKind, PrivateNote, RepairedLink, TextSearch,
    TruncationReason,
};
use protocol::request::{
    DecideReview, HunkDecision, KeyStorage, KeyTrial, NoteContent, NoteDecision, OldChanges,
    ProviderTestResult, RegenerateOutcome, RegenerateRequest, ReviewDecision, SavedAnswer,
    SendMessageRequest, TokenStatus, Unlocking,
};
use protocol::settings::{
    CompactionSettings, ExtraRoot, HubSettings, KeyPolicy, KeyringTrouble, Language,
    PrivateSettings, SettingsChoice, SettingsProblem, SpendingSettings, Theme, TitleSource,
};
use protocol::{
    AppEvent, AppSnapshot, CallId, ChangeKind, ChangeSetId, ContentHash, ContextKind, ContextPart,
    ContextUse, Conversation, ConversationId, ConversationState, EffectId, ErrorCode, FileId,
    HubState, HubStatus, MessageId, Mode, NoteDiff, NoteOpener, NotePath, NumberedEvent, Origin,
    Passage, ProviderKind, Question, QuestionId, ResumePolicy, Review, Settings, Source, Timestamp,
    TokenUsage, ToolEvent, TurnId, TurnStatus, UserError, VaultId,
};
use ts_rs::{Config, TS};

fn declaration<T: TS>(config: &Config, out: &mut String) {
    if let Some(docs) = T::docs() {
        out.push_str(docs.trim_end());
        out.push('\n');
    }
    out.push_str("export ");
    out.push_str(&T::decl(config));
    out.push_str("\n\n");
}

macro_rules! declarations {
    ($config:expr, $out:expr, $($name:ty),* $(,)?) => { $(declaration::<$name>($config, $out);)* };
}

#[expect(clippy::too_many_lines, reason = "a list, a line for each type")]
fn bindings() -> String {
    let config = Config::default();
    let mut out =
        String::from("// Written by `./dev bindings` from crates/protocol. Do not edit.\n\n");
    declarations!(
        &config,
        &mut out,
        ConversationId,
        MessageId,
        TurnId,
        VaultId,
        CallId,
        ChangeSetId,
        EffectId,
        QuestionId,
        NotePath,
        FileId,
        ContentHash,
        Source,
        Timestamp,
        Origin,
        NoteOpener,
        TurnStatus,
        ErrorCode,
        UserError,
        Mode,
        ResumePolicy,
        ProviderKind,
        KeyPolicy,
        TitleSource,
        Theme,
        Language,
        HubSettings,
        PrivateSettings,
        ExtraRoot,
        Price,
        ModelInfo,
        Effort,
        ModelParameters,
        SpendingSettings,
        SettingsChoice,
        SettingsProblem,
        CompactionSettings,
        OnClose,
        DesktopSettings,
        AutostartMode,
        DesktopState,
        Settings,
        HubState,
        HubStatus,
        LocalServer,
        ModelWait,
        KeyringTrouble,
        EnvServer,
        ProviderStatus,
        IndexProgress,
        VaultInfo,
        TokenUsage,
        ModelCost,
        TurnCost,
        MonthCost,
        ConversationState,
        Conversation,
        MatchReason,
        Passage,
        ToolEvent,
        Interruption,
        ChatItem,
        Question,
        ChangeKind,
        DiffLineKind,
        DiffSpan,
        DiffLine,
        NoteHunk,
        NoteDiff,
        Review,
        PendingApproval,
        ApprovalReason,
        ApprovalDecision,
        AppliedBy,
        ChangeStatus,
        AppliedNote,
        AppliedSet,
        ListApplied,
        AppliedPage,
        AppliedHunks,
        ChangedSince,
        UndoScope,
        ConflictingLines,
        UndoConflict,
        UndoCandidate,
        UndoAction,
        UndoTarget,
        UndoResult,
        AssistantLines,
        NoteAttribution,
        HistoryAge,
        HistoryAgeStats,
        HistoryStats,
        DeletedHistory,
        JobProgress,
        JobKind,
        MessageVariant,
        ContextKind,
        ContextPart,
        ContextUse,
        ConversationView,
        ArchiveState,
        ListConversations,
        ConversationPage,
        ConversationCounts,
        HitSource,
        HitLocation,
        ConversationHit,
        ConversationHits,
        ExportFormat,
        Exported,
        AppSnapshot,
        AppEvent,
        NumberedEvent,
        SendMessageRequest,
        OldChanges,
        RegenerateRequest,
        RegenerateOutcome,
        DecideReview,
        NoteDecision,
        ReviewDecision,
        HunkDecision,
        SavedAnswer,
        NoteProperty,
        NoteText,
        NoteContent,
        ProviderTestResult,
        KeyTrial,
        Unlocking,
        TokenStatus,
        KeyStorage,
        PrivateNote,
        MentionTarget,
        NameMatch,
        NameMatches,
        PatternKind,
        TextSearch,
        LineMatch,
        NoteLineMatches,
        TruncationReason,
        LineMatches,
        CountedValue,
        CountedValues,
        NoteCriterion,
        NoteList,
        NoteOutgoingLink,
        NoteBacklink,
        NoteLinks,
        LinkRepairs,
        RepairedLink,
    );
    out.push_str(&default_settings());
    out
}

/// The defaults as a constant: the window and its tests need no copy of them.
#[expect(clippy::expect_used, reason = "settings are JSON")]
fn default_settings() -> String {
    let settings = serde_json::to_string_pretty(&Settings::default()).expect("settings are JSON");
    let docs = "/**\n * The settings before the user changes any.\n */";
    format!("{docs}\nexport const defaultSettings: Settings = {settings};\n")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the bindings are a source file, not a note")]
fn the_checked_in_bindings_are_those_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/ipc/bindings.ts");
    let fresh = bindings();
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::write(&file, &fresh).expect("the bindings can be written");
    }
    let checked_in = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(checked_in == fresh, "ui/src/ipc/bindings.ts is stale: run ./dev bindings");
}
