//! The user's input device: an end-to-end test runs with the pointer, and once more with the
//! keyboard alone.

use std::path::Path;

use serde_json::json;
use testkit::{DesktopApp, DesktopHome, Key};

/// Which hand does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputDevice {
    /// Everything but typing.
    Pointer,
    /// No click at all.
    Keyboard,
}

impl InputDevice {
    /// Writes a message and sends it.
    pub(crate) async fn send_message(self, app: &DesktopApp, words: &str) {
        match self {
            Self::Pointer => {
                app.window.type_into("[data-testid=composer]", words).await;
                app.window.click("[data-testid=send]").await;
            }
            Self::Keyboard => {
                app.window.wait_for_focus("composer").await;
                app.window.type_text(words).await;
                app.window.press_keys(&[Key::Enter]).await;
            }
        }
    }

    /// Presses the element that matches `css` and has `words` as its text or label.
    pub(crate) async fn press(self, app: &DesktopApp, css: &str, words: &str) {
        match self {
            Self::Pointer => app.window.click_text(css, words).await,
            Self::Keyboard => {
                app.window.find_text(css, words).await;
                app.window.tab_back_to_text(css, words).await;
                app.window.press_keys(&[Key::Enter]).await;
            }
        }
    }

    /// Puts the caret where messages are written.
    pub(crate) async fn focus_composer(self, app: &DesktopApp) {
        match self {
            Self::Pointer => app.window.click("[data-testid=composer]").await,
            Self::Keyboard => app.window.tab_to("composer").await,
        }
        app.window.wait_for_focus("composer").await;
    }

    /// Begins another conversation.
    pub(crate) async fn start_conversation(self, app: &DesktopApp) {
        match self {
            Self::Pointer => app.window.click("[data-testid=new-conversation]").await,
            Self::Keyboard => app.window.press_keys(&[Key::Control, Key::Char('n')]).await,
        }
        app.window.wait_until_gone("[data-testid=chat-log] .me").await;
    }

    /// Puts the conversation with this title in front.
    pub(crate) async fn open_conversation(self, app: &DesktopApp, title: &str) {
        match self {
            Self::Pointer => {
                app.window.click_text("[data-testid=conversation-list] [data-row]", title).await;
            }
            Self::Keyboard => run_palette_command(app, title).await,
        }
        app.window.find_text("h1", title).await;
    }

    /// Chooses one of the values that a setting has.
    pub(crate) async fn choose_setting(self, app: &DesktopApp, section: &str, value: &str) {
        let list = format!("#settings-{section} select");
        app.window.find_text(&list, value).await;
        match self {
            Self::Pointer => app.window.click_text(&format!("{list} option"), value).await,
            Self::Keyboard => {
                app.window.tab_to_text(&list, value).await;
                // A list finds its values by how they begin; a space would open it.
                let begins = value.split(' ').next().unwrap_or(value);
                app.window.type_text(begins).await;
            }
        }
        let chosen = format!(
            "return [...document.querySelectorAll('{list}')]
                .some((list) => list.selectedOptions[0]?.label === '{value}')"
        );
        app.window.wait_until(&format!("{value} to be chosen"), &chosen).await;
    }

    /// Opens a part of the settings.
    pub(crate) async fn open_settings(self, app: &DesktopApp, section: &str, title: &str) {
        match self {
            Self::Pointer => {
                let there = "return Boolean(document.querySelector('[data-testid=settings]'))";
                if app.window.execute(there, &json!([])).await == false {
                    app.window.click("[data-testid=open-settings]").await;
                }
                app.window.click_text("nav button", title).await;
            }
            Self::Keyboard => run_palette_command(app, &format!("Settings: {title}")).await,
        }
        app.window.find(&format!("#settings-{section} h2:focus")).await;
    }

    /// Presses the element that matches `css` and has `words` as its text, and chooses a folder in
    /// the dialog that comes.
    pub(crate) async fn choose_folder(
        self,
        (home, app): (&DesktopHome, &DesktopApp),
        (css, words): (&str, &str),
        folder: &Path,
    ) {
        self.press(app, css, words).await;
        home.choose_folder(folder).await;
    }

    /// Leaves the settings for the chat.
    pub(crate) async fn close_settings(self, app: &DesktopApp) {
        match self {
            Self::Pointer => app.window.click(".side .bar button").await,
            Self::Keyboard => app.window.press_keys(&[Key::Escape]).await,
        }
        app.window.wait_for_focus("composer").await;
    }

    /// Replaces the text of a field.
    pub(crate) async fn replace_text(self, app: &DesktopApp, css: &str, words: &str) {
        match self {
            Self::Pointer => app.window.replace_text(css, words).await,
            Self::Keyboard => {
                app.window.find(&format!("{css}:focus")).await;
                app.window.press_keys(&[Key::Control, Key::Char('a')]).await;
                app.window.type_text(words).await;
            }
        }
    }
}

/// Runs a command of the command palette, found by some of its words, with the keyboard.
pub(crate) async fn run_palette_command(app: &DesktopApp, words: &str) {
    app.window.press_keys(&[Key::Control, Key::Char('k')]).await;
    app.window.wait_for_focus("palette-field").await;
    app.window.type_text(words).await;
    app.window.find_text("[data-testid=palette] [aria-selected=true]", words).await;
    app.window.press_keys(&[Key::Enter]).await;
    app.window.wait_until_gone("[data-testid=palette]").await;
}
