//! How a turn runs the calls of a tool.

/// How the turn treats a tool's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs beside other reads. Calls of unknown tools count as reads: they only get an error.
    Read,
    /// Plans changes, alone and in call order.
    Change,
    /// Talks or ends, alone and in call order.
    Talk,
}
