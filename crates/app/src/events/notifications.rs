//! Which notifications the desktop gets, and when: pure rules without a clock.
//!
//! The desktop is notified when something begins to need the user (a question, changes, an answer for the hub), when the work
//! on a hub message is done, and when an answer fails; not of what the user is looking at. No text of a model or a note is in a
//! notification, and a conversation's name only where nothing is private.

use std::collections::HashMap;

use protocol::chat::conversation::ChatItem;
use protocol::settings::Language;
use protocol::time::Weekday;
use protocol::{AppEvent, Conversation, ConversationId, HubState, Settings, TurnStatus};

use crate::support::redact::redact;

/// Whether the window has the focus, and the conversation that it shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowFocus {
    /// Whether the window has the keyboard.
    pub focused: bool,
    /// The conversation that it shows.
    pub conversation: Option<ConversationId>,
}

/// The event that a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationKind {
    /// A question is open.
    Asked,
    /// Changes are pending.
    ToReview,
    /// An answer to the hub needs approval.
    Held,
    /// A hub message was answered.
    Done,
    /// An answer failed.
    Failed,
    /// Something went wrong outside any conversation.
    WentWrong,
    /// The hub will not have us as we are.
    HubRefused,
}

/// An order to the desktop: show a notification, or withdraw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationChange {
    /// Something happened that nobody saw.
    News(AppNotification),
    /// The notification of the conversation is outdated.
    Over(ConversationId),
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppNotification {
    /// The event.
    pub happened: NotificationKind,
    /// The conversation that a click opens; `None` if it is about none.
    pub conversation: Option<ConversationId>,
    /// The conversation's title, where it may be shown on a screen that anyone sees. Keys are
    /// masked in it. Never text of a model or of a note.
    pub name: Option<String>,
    /// The day that words that title, if it is the one of a day of the hub.
    pub inbox_day: Option<Weekday>,
}

/// How the application stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrayState {
    /// Whether the hub is switched on.
    pub hub_on: bool,
    /// How its link stands.
    pub hub: HubState,
    /// Whether the vault is in trouble.
    pub in_trouble: bool,
    /// How many conversations have an open question.
    pub questions: u32,
    /// How many conversations need attention otherwise: pending changes, an answer for the hub, an
    /// interrupted turn.
    pub reviews: u32,
    /// Whether a turn runs.
    pub working: bool,
    /// Whether no model is asked.
    pub paused: bool,
    /// The language in which all of it is told.
    pub language: Language,
}

impl Default for TrayState {
    fn default() -> Self {
        Self {
            hub_on: false,
            hub: HubState::Off,
            in_trouble: false,
            questions: 0,
            reviews: 0,
            working: false,
            paused: false,
            language: Language::System,
        }
    }
}

/// The status in one word, the most pressing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrayStatus {
    /// Something is wrong and does not recover automatically, or has not yet.
    Trouble,
    /// Somebody is waited for.
    Waiting,
    /// Something is being done.
    Working,
    /// Nothing is.
    Idle,
}

impl TrayState {
    /// The status in one word.
    #[must_use]
    pub const fn status(&self) -> TrayStatus {
        match self {
            Self { in_trouble: true, .. }
            | Self { hub: HubState::Refused | HubState::Waiting, .. } => TrayStatus::Trouble,
            Self { questions: 1.., .. } | Self { reviews: 1.., .. } => TrayStatus::Waiting,
            Self { working: true, .. } => TrayStatus::Working,
            _ => TrayStatus::Idle,
        }
    }
}

/// The state of the conversations, and what was notified.
#[derive(Debug, Default)]
pub(crate) struct NotificationRules {
    rows: HashMap<ConversationId, TrackedConversation>,
    tray: TrayState,
    silent: bool,
    shows_titles: bool,
}

/// The state of an active conversation; others are dropped.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct TrackedConversation {
    question: Option<String>,
    waiting: u32,
    held: u32,
    interrupted: bool,
    working: bool,
    failed: bool,
}

impl TrackedConversation {
    fn of(row: &Conversation, before: &Self) -> Self {
        Self {
            question: row.waiting_question.clone(),
            // The pending changes may still grow while the turn runs.
            waiting: if row.working { before.waiting } else { row.waiting_notes },
            held: row.held,
            interrupted: row.interrupted,
            working: row.working,
            // A turn that begins has not failed.
            failed: before.failed && (before.working || !row.working),
        }
    }

    const fn needs_attention(&self) -> bool {
        self.question.is_some() || self.waiting > 0 || self.held > 0
    }

    fn notification_since(&self, before: &Self, row: &Conversation) -> Option<NotificationKind> {
        if self.question.is_some() && self.question != before.question {
            return Some(NotificationKind::Asked);
        }
        if self.waiting > before.waiting {
            return Some(NotificationKind::ToReview);
        }
        if self.held > before.held {
            return Some(NotificationKind::Held);
        }
        if !before.working || self.working {
            return None;
        }
        match (self.failed, row.from_hub) {
            // It is retried, and notified alone in the end.
            (true, true) => None,
            (true, false) => Some(NotificationKind::Failed),
            (false, true) => Some(NotificationKind::Done),
            (false, false) => None,
        }
    }
}

impl NotificationRules {
    /// Starts with the pending items of a vault that was opened, and its link. None of it is news.
    pub(crate) fn begin(&mut self, rows: &[Conversation], hub: HubState) {
        self.tray.hub = hub;
        self.rows.clear();
        for row in rows {
            self.rows.insert(
                row.id.clone(),
                TrackedConversation::of(row, &TrackedConversation::default()),
            );
        }
    }

    /// Takes over what the user chose.
    pub(crate) fn apply_settings(&mut self, settings: &Settings) {
        self.silent = !settings.desktop.notifications;
        // With rules for privacy a name may say too much already.
        self.shows_titles = settings.private.never.is_empty() && settings.private.local.is_empty();
        self.tray.hub_on = settings.hub.enabled;
        self.tray.paused = settings.spending.paused;
        self.tray.language = settings.language;
    }

    /// Shows no title from now on: no rule for privacy is known, so any note may be private.
    pub(crate) const fn hide_titles(&mut self) {
        self.shows_titles = false;
    }

    /// Takes one event and says what the desktop is told of it.
    pub(crate) fn step(
        &mut self,
        event: &AppEvent,
        focus: &WindowFocus,
    ) -> Vec<NotificationChange> {
        let told = match event {
            AppEvent::ConversationChanged { conversation } => {
                self.on_conversation(conversation, focus)
            }
            AppEvent::ConversationGone { conversation } => {
                self.rows.remove(conversation);
                vec![NotificationChange::Over(conversation.clone())]
            }
            AppEvent::ItemChanged { conversation, item: ChatItem::Ended { status, .. } } => {
                if let Some(known) = self.rows.get_mut(conversation) {
                    known.failed = *status == TurnStatus::Failed;
                }
                Vec::new()
            }
            AppEvent::HubChanged { hub } => {
                let before = std::mem::replace(&mut self.tray.hub, hub.state);
                let newly = hub.state == HubState::Refused && before != HubState::Refused;
                unless_focused(newly, NotificationKind::HubRefused, focus)
            }
            AppEvent::Problem { .. } => unless_focused(true, NotificationKind::WentWrong, focus),
            AppEvent::SettingsChanged { settings, trouble } => {
                self.apply_settings(settings);
                if trouble.is_some() {
                    self.hide_titles();
                }
                unless_focused(trouble.is_some(), NotificationKind::WentWrong, focus)
            }
            AppEvent::VaultChanged { vault } => {
                self.tray.in_trouble = vault.as_ref().is_some_and(|v| v.trouble.is_some());
                Vec::new()
            }
            _ => Vec::new(),
        };
        let silent = self.silent;
        told.into_iter()
            .filter(|told| !silent || matches!(told, NotificationChange::Over(_)))
            .collect()
    }

    /// How everything stands.
    pub(crate) fn tray_state(&self) -> TrayState {
        let count = |wanted: fn(&TrackedConversation) -> bool| {
            u32::try_from(self.rows.values().filter(|known| wanted(known)).count())
                .unwrap_or(u32::MAX)
        };
        TrayState {
            questions: count(|known| known.question.is_some()),
            reviews: count(|known| {
                known.question.is_none()
                    && (known.waiting > 0 || known.held > 0 || known.interrupted)
            }),
            working: self.rows.values().any(|known| known.working),
            // The environment may have switched it on.
            hub_on: self.tray.hub_on || self.tray.hub != HubState::Off,
            ..self.tray
        }
    }

    fn on_conversation(
        &mut self,
        row: &Conversation,
        focus: &WindowFocus,
    ) -> Vec<NotificationChange> {
        let before = self.rows.remove(&row.id).unwrap_or_default();
        let now = TrackedConversation::of(row, &before);
        let happened = now.notification_since(&before, row);
        let over = (before.needs_attention() && !now.needs_attention())
            || (!before.working && now.working);
        if now != TrackedConversation::default() {
            self.rows.insert(row.id.clone(), now);
        }
        let in_sight = focus.focused && focus.conversation.as_ref() == Some(&row.id);
        match happened {
            Some(NotificationKind::Done) if focus.focused => Vec::new(),
            Some(_) if in_sight => Vec::new(),
            Some(happened) => {
                let name = self.shown_title(row);
                vec![NotificationChange::News(AppNotification {
                    happened,
                    conversation: Some(row.id.clone()),
                    inbox_day: row.inbox_day.filter(|_| name.is_some()),
                    name,
                })]
            }
            None if over => vec![NotificationChange::Over(row.id.clone())],
            None => Vec::new(),
        }
    }
}

impl NotificationRules {
    /// The title of a conversation where the user worded it. A model's may quote a note.
    fn shown_title(&self, row: &Conversation) -> Option<String> {
        let is_shown = self.shows_titles && !row.titled_by_model;
        is_shown.then(|| redact(&row.title).into_owned())
    }
}

/// Notifies of an event outside any conversation unless the user sees the window.
fn unless_focused(
    is_new: bool,
    happened: NotificationKind,
    focus: &WindowFocus,
) -> Vec<NotificationChange> {
    if !is_new || focus.focused {
        return Vec::new();
    }
    vec![NotificationChange::News(AppNotification {
        happened,
        conversation: None,
        name: None,
        inbox_day: None,
    })]
}

#[cfg(test)]
mod tests;
