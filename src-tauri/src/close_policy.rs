//! Decides what closing the window does.

use protocol::desktop::OnClose;

/// The state when the window is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CloseContext {
    /// Whether the hub is on: it keeps nothing for the absent.
    pub(crate) hub_is_on: bool,
    /// Whether the program stands in a tray, from which it can be shown again.
    pub(crate) in_tray: bool,
    /// The user's setting.
    pub(crate) setting: OnClose,
    /// Whether the question is before the user already.
    pub(crate) is_asking: bool,
}

/// The action on closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseAction {
    /// The program ends.
    End,
    /// The window goes, the program stays.
    Hide,
    /// The user is asked.
    Ask,
}

impl CloseContext {
    /// Never hides what could not be shown again, and never asks twice: who closes the window while
    /// it asks means it, or sees no question.
    pub(crate) const fn action(self) -> CloseAction {
        match self {
            Self { hub_is_on: false, .. } | Self { in_tray: false, .. } => CloseAction::End,
            Self { setting: OnClose::Tray, .. } => CloseAction::Hide,
            Self { setting: OnClose::Ask, is_asking: false, .. } => CloseAction::Ask,
            Self { .. } => CloseAction::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hides_only_into_a_tray_that_is_there_and_asks_once() {
        let all = CloseContext {
            hub_is_on: true,
            in_tray: true,
            setting: OnClose::Ask,
            is_asking: false,
        };
        assert_eq!(all.action(), CloseAction::Ask);
        assert_eq!(CloseContext { is_asking: true, ..all }.action(), CloseAction::End);
        assert_eq!(CloseContext { setting: OnClose::Tray, ..all }.action(), CloseAction::Hide);
        assert_eq!(CloseContext { setting: OnClose::Quit, ..all }.action(), CloseAction::End);
        for chosen in [OnClose::Ask, OnClose::Tray, OnClose::Quit] {
            assert_eq!(
                CloseContext { in_tray: false, setting: chosen, ..all }.action(),
                CloseAction::End
            );
            assert_eq!(
                CloseContext { hub_is_on: false, setting: chosen, ..all }.action(),
                CloseAction::End
            );
        }
    }
}
