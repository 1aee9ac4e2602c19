//! Errors of the link, with messages for the user, and whether a retry can help.

use std::time::Duration;

use crate::LinkConfig;
use crate::endpoint::Endpoint;

/// A hub may ask for a pause, but not for ever.
const MAX_PAUSE: Duration = Duration::from_secs(3600);
const MAX_CODE_LENGTH: usize = 64;
/// The close code of RFC 6455 for a client that breaks the server's rules.
const POLICY_VIOLATION: u16 = 1008;

/// Why there is no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkError {
    /// Nobody listens at the URL.
    NoAnswer,
    /// The same on this computer, where trying again costs nothing.
    NotListening,
    /// Somebody listens but says nothing in time.
    Silent,
    /// The server does not speak WebSocket as it should.
    NotAHub,
    /// Its certificate does not prove who it is; why, in a few words.
    Untrusted { why: String },
    /// 401 or 403.
    Forbidden { status: u16 },
    /// 429 or 503.
    Busy { retry_after: Option<Duration> },
    /// The connection ended.
    Lost,
    /// The hub closed it, with its code.
    Closed { code: u16 },
    /// A frame announced a size that none can have, or broke the WebSocket protocol.
    Broken,
    /// `DUPLICATE_NAME`: maybe our own lost socket, which the hub has not noticed yet.
    NameTaken,
    /// `INVALID_NAME`.
    NameRefused,
    /// `INVALID_DESCRIPTION`.
    DescriptionRefused,
    /// `ALREADY_REGISTERED` or `VALIDATION_ERROR`.
    RegistrationRefused { code: String },
    /// Any other code.
    Declined { code: String },
}

impl LinkError {
    /// The error of a failed registration, by the hub's code.
    pub(crate) fn from_decline_code(code: &str) -> Self {
        match code {
            "DUPLICATE_NAME" => Self::NameTaken,
            "INVALID_NAME" => Self::NameRefused,
            "INVALID_DESCRIPTION" => Self::DescriptionRefused,
            "ALREADY_REGISTERED" | "VALIDATION_ERROR" => {
                Self::RegistrationRefused { code: code.into() }
            }
            unknown => {
                let harmless = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
                Self::Declined {
                    code: unknown.chars().filter(harmless).take(MAX_CODE_LENGTH).collect(),
                }
            }
        }
    }

    /// Whether trying again without the user is of no use.
    pub(crate) const fn needs_user(&self) -> bool {
        matches!(
            self,
            Self::Forbidden { .. }
                | Self::Untrusted { .. }
                | Self::NameRefused
                | Self::DescriptionRefused
                | Self::RegistrationRefused { .. }
        )
    }

    /// Whether trying again soon would only be refused again.
    pub(crate) const fn needs_slow_retry(&self) -> bool {
        matches!(self, Self::Closed { code: POLICY_VIOLATION })
    }

    /// How long the hub asked us to stay away.
    pub(crate) fn retry_pause(&self) -> Duration {
        match self {
            Self::Busy { retry_after: Some(pause) } => MAX_PAUSE.min(*pause),
            _ => Duration::ZERO,
        }
    }

    /// One sentence: what failed on what, and what to do.
    pub(crate) fn user_message(&self, config: &LinkConfig) -> String {
        let at = &config.endpoint;
        let said = match self {
            Self::NoAnswer | Self::NotListening => {
                format!("The hub at {at} isn’t responding. Check that it’s running.")
            }
            Self::Silent => {
                format!("The hub at {at} stopped responding. Restart it if this lasts.")
            }
            Self::NotAHub => {
                format!("The server at {at} isn’t a hub. Check the URL in Settings.")
            }
            Self::Untrusted { why } => format!(
                "The hub at {at} has a certificate that this computer doesn’t trust ({why}). \
                 Check the URL, or have the certificate trusted here, then connect again."
            ),
            Self::Forbidden { status } if config.is_token_withheld => format!(
                "The hub at {at} refuses the connection ({status}), and the saved token is for \
                 another hub. Enter the token of this hub in Settings > Hub."
            ),
            Self::Forbidden { status } => format!(
                "The hub at {at} refuses the connection ({status}). Check its token and settings, \
                 then connect again."
            ),
            Self::Busy { .. } => format!("The hub at {at} is busy and asked Vaultmate to wait."),
            Self::Lost => format!(
                "The connection to the hub at {at} was lost. Check that the hub is running."
            ),
            Self::Closed { code } => closed_message(*code, at),
            Self::Broken => format!(
                "The hub at {at} sent an unexpected message. Check the URL and that the hub is up \
                 to date."
            ),
            Self::NameTaken => format!(
                "Another client is registered as “{}”. End it, or choose another name.",
                config.name
            ),
            Self::NameRefused => format!(
                "The hub refuses the name “{}”. Use letters, digits, - and _, beginning with a \
                 letter.",
                config.name
            ),
            Self::DescriptionRefused => {
                "The hub refuses the description. Describe in a sentence what your notes are good \
                 for."
                    .into()
            }
            Self::RegistrationRefused { code } => format!(
                "The hub at {at} refuses to register “{}” ({code}). Change its name or \
                 description, then connect again.",
                config.name
            ),
            Self::Declined { code } => format!(
                "The hub at {at} doesn’t register “{}” now ({code}). See its log if this lasts.",
                config.name
            ),
        };
        if self.needs_user() { said } else { format!("{said} Retrying automatically.") }
    }
}

/// The message for a connection that the hub has ended, by its close code.
fn closed_message(code: u16, at: &Endpoint) -> String {
    match code {
        1001 => format!("The hub at {at} was closed. Start it again to use it."),
        POLICY_VIOLATION => format!(
            "The hub at {at} closed the connection because of its policy (code \
             {POLICY_VIOLATION}). See the hub’s log."
        ),
        _ => {
            format!(
                "The hub at {at} ended the connection (code {code}). See its log if this lasts."
            )
        }
    }
}
