//! Keys as WebDriver spells them.

use serde_json::{Value, json};

/// A key of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// One that writes a character.
    Char(char),
    /// The key that WebDriver calls `Enter`, not that of the number pad.
    Enter,
    /// Moves the focus, backwards while [`Key::Shift`] is held.
    Tab,
    /// Closes what is open.
    Escape,
    /// Deletes the character before the caret.
    Backspace,
    /// Space bar.
    Space,
    /// Held with others.
    Control,
    /// Held with others.
    Shift,
    /// The arrow that points up.
    ArrowUp,
    /// The arrow that points down.
    ArrowDown,
}

impl Key {
    /// The code point that the standard gives it.
    #[must_use]
    pub const fn code_point(self) -> char {
        match self {
            Self::Char(letter) => letter,
            Self::Enter => '\u{E007}',
            Self::Tab => '\u{E004}',
            Self::Escape => '\u{E00C}',
            Self::Backspace => '\u{E003}',
            Self::Space => ' ',
            Self::Control => '\u{E009}',
            Self::Shift => '\u{E008}',
            Self::ArrowUp => '\u{E013}',
            Self::ArrowDown => '\u{E015}',
        }
    }

    pub(super) fn key_down(&self) -> Value {
        json!({ "type": "keyDown", "value": self.code_point() })
    }

    pub(super) fn key_up(&self) -> Value {
        json!({ "type": "keyUp", "value": self.code_point() })
    }

    pub(super) fn key_press(self) -> [Value; 2] {
        [self.key_down(), self.key_up()]
    }
}
