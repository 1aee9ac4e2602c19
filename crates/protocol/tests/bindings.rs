//! The checked-in TypeScript bindings are those of the types. `./dev bindings` rewrites them.

use std::path::Path;

use protocol::applied::{
    AppliedBy, AppliedHunks, AppliedNote, AppliedPage, AppliedSet, AssistantLines, ChangedSince,
    ConflictPlace, Identified, ListApplied, NoteMarks, Standing, UndoConflict, UndoScope, Undone,
};
use protocol::conversation::{ConversationView, Interruption, Item, Variant};
use protocol::desktop::{AtLogin, DesktopSettings, DesktopState, OnClose};
use protocol::event::{
    Indexing, KeyringTrouble, LocalServer, ModelWait, ProviderStatus, VaultInfo,
};
use protocol::export::{ExportFormat, Exported};
use protocol::held::{HeldNotice, HeldVerdict, HeldWhy};
use protocol::history::{Age, ForgottenHistory, KeptHistory, Older};
use protocol::looking::{
    CountedWord, CountedWords, CutShort, FoundLine, FoundLines, FoundNames, FoundNote, Having,
    LinkIn, LinkOut, LinkRepairs, Meaning, NamedNote, NoteLinks, NoteList, PrivateNote,
    RepairedLink, SearchText,
};
use protocol::model::{Effort, ModelInfo, ModelParameters, Price};
use protocol::request::{
    AskAnew, AskedAnew, DecideReview, HunkVerdict, KeyPlace, KeyTrial, NoteText, NoteVerdict,
    OldChanges, ProviderTest, SavedAnswer, SendMessage, TokenStatus, Unlocking, Verdict,
};
use protocol::review::{DiffLine, Hunk, Sign, Words};
use protocol::settings::{
    CompactionSettings, ExtraRoot, HubSettings, KeyPolicy, Language, PrivateSettings,
    SettingsChoice, SettingsTrouble, SpendingSettings, Theme, Titles,
};
use protocol::shelf::{
    ConversationPage, FoundConversations, FoundSaid, KeptConversations, ListConversations, SaidAt,
    SaidBy, Shelf,
};
use protocol::spent::{MonthSpent, Spent, TurnSpent};
use protocol::work::{Work, WorkKind};
use protocol::{
    AppEvent, CallId, ChangeKind, ChangeSetId, ContextKind, ContextPart, ContextUse, Conversation,
    ConversationId, ConversationState, EffectId, ErrorCode, HubState, HubStatus, MessageId, Mode,
    NoteDiff, NotePath, Numbered, Origin, Passage, ProviderKind, Question, QuestionId, Reaction,
    Resume, Review, Settings, Snapshot, Source, Timestamp, TurnId, TurnStatus, Usage, UserError,
    VaultId, reaction::Why,
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
        Source,
        Timestamp,
        Origin,
        TurnStatus,
        ErrorCode,
        UserError,
        Mode,
        Resume,
        ProviderKind,
        KeyPolicy,
        Titles,
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
        SettingsTrouble,
        CompactionSettings,
        OnClose,
        DesktopSettings,
        AtLogin,
        DesktopState,
        Settings,
        HubState,
        HubStatus,
        LocalServer,
        ModelWait,
        KeyringTrouble,
        ProviderStatus,
        Indexing,
        VaultInfo,
        Usage,
        Spent,
        TurnSpent,
        MonthSpent,
        ConversationState,
        Conversation,
        Why,
        Passage,
        Reaction,
        Interruption,
        Item,
        Question,
        ChangeKind,
        Sign,
        Words,
        DiffLine,
        Hunk,
        NoteDiff,
        Review,
        HeldNotice,
        HeldWhy,
        HeldVerdict,
        AppliedBy,
        Standing,
        AppliedNote,
        AppliedSet,
        ListApplied,
        AppliedPage,
        AppliedHunks,
        ChangedSince,
        UndoScope,
        ConflictPlace,
        UndoConflict,
        Identified,
        Undone,
        AssistantLines,
        NoteMarks,
        Age,
        Older,
        KeptHistory,
        ForgottenHistory,
        Work,
        WorkKind,
        Variant,
        ContextKind,
        ContextPart,
        ContextUse,
        ConversationView,
        Shelf,
        ListConversations,
        ConversationPage,
        KeptConversations,
        SaidBy,
        SaidAt,
        FoundSaid,
        FoundConversations,
        ExportFormat,
        Exported,
        Snapshot,
        AppEvent,
        Numbered,
        SendMessage,
        OldChanges,
        AskAnew,
        AskedAnew,
        DecideReview,
        NoteVerdict,
        Verdict,
        HunkVerdict,
        SavedAnswer,
        NoteText,
        ProviderTest,
        KeyTrial,
        Unlocking,
        TokenStatus,
        KeyPlace,
        PrivateNote,
        NamedNote,
        FoundNames,
        Meaning,
        SearchText,
        FoundLine,
        FoundNote,
        CutShort,
        FoundLines,
        CountedWord,
        CountedWords,
        Having,
        NoteList,
        LinkOut,
        LinkIn,
        NoteLinks,
        LinkRepairs,
        RepairedLink,
    );
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
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
