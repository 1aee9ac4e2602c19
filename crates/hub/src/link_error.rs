//! Errors of the link, with messages for the user, and whether a retry can help.

use std::time::Duration;

use protocol::UserError;
use protocol::error::user_text::UserText;

use crate::LinkConfig;
use crate::config::user_texts;

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

    /// The failure with its cause, and what to do.
    pub(crate) fn user_error(&self, config: &LinkConfig) -> UserError {
        let text = self.text(config);
        UserError::other(if self.needs_user() { text } else { user_texts::retrying(text) })
    }

    fn text(&self, config: &LinkConfig) -> UserText {
        let (hub, name) = (config.endpoint.to_string(), config.name.as_str());
        match self {
            Self::NoAnswer | Self::NotListening => user_texts::hub_not_responding(hub),
            Self::Silent => user_texts::hub_stopped_responding(hub),
            Self::NotAHub => user_texts::not_a_hub(hub),
            Self::Untrusted { why } => user_texts::hub_not_trusted(hub, why.as_str()),
            Self::Forbidden { status } if config.is_token_withheld => {
                user_texts::hub_refuses_without_token(hub, status.to_string())
            }
            Self::Forbidden { status } => {
                user_texts::hub_refuses_connection(hub, status.to_string())
            }
            Self::Busy { .. } => user_texts::hub_busy(hub),
            Self::Lost => user_texts::hub_lost(hub),
            Self::Closed { code } => closed_text(*code, hub),
            Self::Broken => user_texts::hub_sent_unexpected(hub),
            Self::NameTaken => user_texts::client_name_taken(name),
            Self::NameRefused => user_texts::hub_refuses_name(name),
            Self::DescriptionRefused => user_texts::hub_refuses_description(),
            Self::RegistrationRefused { code } => {
                user_texts::hub_refuses_registration(hub, name, code.as_str())
            }
            Self::Declined { code } => {
                user_texts::hub_declines_registration(hub, name, code.as_str())
            }
        }
    }
}

/// The text for a connection that the hub has ended, by its close code.
fn closed_text(code: u16, hub: String) -> UserText {
    match code {
        1001 => user_texts::hub_closed(hub),
        POLICY_VIOLATION => user_texts::hub_closed_by_policy(hub, code.to_string()),
        _ => user_texts::hub_ended_connection(hub, code.to_string()),
    }
}
