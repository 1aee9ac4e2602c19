//! The user's settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::chat::model::{ModelInfo, ModelParameters};
use crate::desktop::DesktopSettings;
use crate::error::user_text::CatalogText;

/// The treatment of planned changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Creations and additions at once, everything else before the user.
    #[default]
    Review,
    /// Also edits of notes that the message names, or that are open.
    Auto,
    /// No changing tool is offered.
    ReadOnly,
}

/// Whether an interrupted turn continues automatically at the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ResumePolicy {
    /// It does, whatever it was doing.
    Always,
    /// It does if that cannot surprise anyone; else the user is asked.
    #[default]
    Ask,
    /// The user is asked.
    Never,
}

/// The provider that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// The first provider with a key, Anthropic first; else Commands.
    #[default]
    Automatic,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions: OpenAI, and compatible servers.
    #[serde(rename = "openai")]
    OpenAi,
    /// Ollama's own API.
    Ollama,
    /// Built in, no model: commands and passages.
    Commands,
}

/// How several keys of one provider are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyPolicy {
    /// One until it is refused or used up, then the next.
    #[default]
    Failover,
    /// In turn.
    RoundRobin,
}

/// The source of the title and summary of a conversation that the user has given no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// The model that summarizes, in the background; without one its first words.
    #[default]
    Model,
    /// Its first words: no model is asked.
    Words,
}

/// Light, dark or as the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// The look that the desktop prefers, also when that changes.
    #[default]
    System,
    /// Dark text on a light ground, whatever the desktop prefers.
    Light,
    /// Light text on a dark ground, whatever the desktop prefers.
    Dark,
}

/// The language of everything that the program itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// As the system; English where the system's is none of these.
    #[default]
    System,
    /// English.
    En,
    /// German.
    De,
}

/// The hub link's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct HubSettings {
    /// Off until the user turns it on.
    pub enabled: bool,
    /// `ws://127.0.0.1:9473` unless changed.
    pub address: String,
    /// The name we register; `^[a-zA-Z][a-zA-Z0-9_-]*$`, at most 64.
    pub name: String,
    /// The description for the hub's router; not blank, at most 1024 UTF-16 units.
    pub description: String,
    /// Notes, by path, that messages may add to at once, besides the inbox and the daily note.
    pub notes: Vec<String>,
    /// The note, by path, to which text is added that no model could process or that is to be
    /// remembered. Empty means [`HubSettings::INBOX`].
    pub inbox_note: String,
}

impl HubSettings {
    /// The inbox unless the user chose another note.
    pub const INBOX: &str = "inbox/Inbox.md";
}

impl Default for HubSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            address: "ws://127.0.0.1:9473".into(),
            name: "Notes".into(),
            description: "Keeps my notes: remembers things, adds to lists, answers from notes."
                .into(),
            notes: Vec::new(),
            inbox_note: Self::INBOX.into(),
        }
    }
}

/// Rules for notes that are kept from models: folders (`Diary`), tags (`#private`), properties
/// (`status: secret`). A key that is not known here is an error, because the notes that it should
/// protect are not known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PrivateSettings {
    /// Notes that no model sees, nor their names.
    pub never: Vec<String>,
    /// Notes that only a model on this computer sees.
    pub local: Vec<String>,
    /// Whether the user declares that the provider's server URL is on this computer. Counts only
    /// for a loopback address. Saving another provider or URL turns it off.
    pub endpoint_is_local: bool,
}

/// The spending limits for models, in US cents; 0 is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SpendingSettings {
    /// The cost at which a turn ends; the user may continue.
    pub turn_cents: u32,
    /// The cost of a month at which no model is asked until the next month.
    pub month_cents: u32,
    /// No model is asked at all.
    pub paused: bool,
}

impl Default for SpendingSettings {
    fn default() -> Self {
        Self { turn_cents: 50, month_cents: 2_000, paused: false }
    }
}

/// How earlier messages are summarized when a conversation grows too long for its model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionSettings {
    /// The model that summarizes, of the same provider; empty means the one that answers.
    pub model: String,
    /// Its additional instructions.
    pub prompt: String,
}

/// A folder outside the vault that is seen as a top-level folder of it, and only read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtraRoot {
    /// Its path from the top of the file system.
    pub folder: String,
    /// Its name in the vault; empty means the last part of `folder`.
    pub name: String,
}

/// All settings, as in `config.toml`. Keys are never among them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The treatment of planned changes.
    pub mode: Mode,
    /// The provider that answers.
    pub provider: ProviderKind,
    /// The model's id or alias; empty means the provider's default.
    pub model: String,
    /// The provider's server URL; empty means its default.
    pub base_url: String,
    /// Whether an interrupted turn continues automatically at the next start.
    pub resume: ResumePolicy,
    /// How several keys are used.
    pub key_policy: KeyPolicy,
    /// Whether the offer of a model server on this computer was answered; it is made once.
    pub local_offer_answered: bool,
    /// The user's corrections of model data: windows, limits, prices.
    pub models: Vec<ModelInfo>,
    /// How models are asked, each one at most once.
    pub parameters: Vec<ModelParameters>,
    /// How the notes are organised, in the user's words; the model is told.
    pub organisation: String,
    /// The spending limits.
    pub spending: SpendingSettings,
    /// How earlier messages are summarized.
    pub compaction: CompactionSettings,
    /// The source of titles of conversations.
    pub titles: TitleSource,
    /// The look.
    pub theme: Theme,
    /// The language of the window, the tray and notifications.
    pub language: Language,
    /// The hub link.
    pub hub: HubSettings,
    /// The desktop around the window.
    pub desktop: DesktopSettings,
    /// Rules for notes that are kept from models.
    pub private: PrivateSettings,
    /// Whether links to notes inside the vault are read through. They are never written through.
    pub follow_links: bool,
    /// Additional folders, which are read as if they were in the vault.
    pub extra_roots: Vec<ExtraRoot>,
}

/// Why the settings file does not count. No model is asked until it is whole again or the user has decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsProblem {
    /// The message, with what to do, in English.
    pub message: String,
    /// The same as an entry of the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<CatalogText>,
    /// The choices of the user.
    pub choices: Vec<SettingsChoice>,
}

/// Which settings count from now on, where the settings file does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SettingsChoice {
    /// The file as it is, although its end may be missing.
    File,
    /// Those that could be read last.
    LastGood,
    /// As on the first start.
    Defaults,
}

/// Why the keyring could not be looked into for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyringTrouble {
    /// It is locked, and the secret is in it or is needed.
    Locked,
    /// It is locked, and nothing says that the secret is in it.
    Unknown,
    /// It holds the secret, and there is no keyring now or it does not answer.
    Unavailable,
}
