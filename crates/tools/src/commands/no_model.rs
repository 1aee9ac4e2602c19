//! Why typed lines are answered by commands.

/// Why no model is asked, which the replies begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoModelReason {
    /// None is connected.
    NotConnected,
    /// The keyring is locked: whether it holds an API key is not known.
    KeyringLocked,
}

impl NoModelReason {
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::NotConnected => "No model connected.",
            Self::KeyringLocked => "The keyring is locked, so no model was asked.",
        }
    }
}
