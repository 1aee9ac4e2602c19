//! Whether the application serves a window, the command line or a check.

/// The purpose that the application was started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// To stay: it listens to the hub, and what was queued goes on.
    Stay,
    /// The same without a window (`serve`).
    Serve,
    /// To answer one question from the command line and go. Nothing else is begun, because it
    /// would be cut in the middle.
    Ask,
    /// The same, and its changes are written (`ask --write`).
    AskAndWrite,
}

impl RunMode {
    /// Whether it listens to the hub, and goes on with what was queued.
    pub(crate) const fn is_long_running(self) -> bool {
        matches!(self, Self::Stay | Self::Serve)
    }

    /// Whether turns of the command line may change notes.
    pub(crate) const fn may_write(self) -> bool {
        matches!(self, Self::AskAndWrite)
    }
}
