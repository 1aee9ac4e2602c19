//! What closing the window means.

use protocol::desktop::OnClose;

/// What is known when the window is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closing {
    /// Whether the hub is on: it keeps nothing for the absent.
    pub(crate) hub_is_on: bool,
    /// Whether the program stands in a tray, from which it can be shown again.
    pub(crate) in_tray: bool,
    /// What the user chose.
    pub(crate) chosen: OnClose,
    /// Whether the question is before the user already.
    pub(crate) asking: bool,
}

/// What is done then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The program ends.
    End,
    /// The window goes, the program stays.
    Hide,
    /// The user is asked.
    Ask,
}

impl Closing {
    /// Never hides what could not be shown again, and never asks twice: who closes the window while
    /// it asks means it, or sees no question.
    pub(crate) const fn then(self) -> Then {
        match self {
            Self { hub_is_on: false, .. } | Self { in_tray: false, .. } => Then::End,
            Self { chosen: OnClose::Tray, .. } => Then::Hide,
            Self { chosen: OnClose::Ask, asking: false, .. } => Then::Ask,
            Self { .. } => Then::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hides_only_into_a_tray_that_is_there_and_asks_once() {
        let all = Closing { hub_is_on: true, in_tray: true, chosen: OnClose::Ask, asking: false };
        assert_eq!(all.then(), Then::Ask);
        assert_eq!(Closing { asking: true, ..all }.then(), Then::End);
        assert_eq!(Closing { chosen: OnClose::Tray, ..all }.then(), Then::Hide);
        assert_eq!(Closing { chosen: OnClose::Quit, ..all }.then(), Then::End);
        for chosen in [OnClose::Ask, OnClose::Tray, OnClose::Quit] {
            assert_eq!(Closing { in_tray: false, chosen, ..all }.then(), Then::End);
            assert_eq!(Closing { hub_is_on: false, chosen, ..all }.then(), Then::End);
        }
    }
}
