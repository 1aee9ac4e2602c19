//! Turns a failed request into an error that says what to do. The key never gets into one.

use std::time::Duration;

use protocol::error::user_text::UserText;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};

use super::api_profile::{ApiProfile, KeylessServers};
use super::error_body::{ErrorBody, ErrorClass};
use crate::model::{ModelError, user_texts};
use crate::transport::clock::utc_now;
use crate::transport::decoder::DecodeError;
use crate::transport::retry::MAX_WAIT;

#[cfg(test)]
mod tests;

/// How much of a server's own message is passed on, in characters.
const MAX_QUOTE_CHARS: usize = 300;

/// Knows what an error of one request is about.
#[derive(Debug, Clone)]
pub(crate) struct RequestErrors {
    pub(super) api: &'static ApiProfile,
    pub(super) host: String,
    pub(super) model: String,
    pub(super) key: SecretString,
    /// Whether the server is on this computer.
    pub(super) is_local: bool,
}

impl RequestErrors {
    /// An answer with a status that is not success.
    pub(super) fn status(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> ModelError {
        let trouble = ErrorBody::parse(body);
        let retry_after = headers.get(reqwest::header::RETRY_AFTER);
        let retry_after =
            retry_after.and_then(|value| parse_retry_after(value.to_str().ok()?, utc_now()));
        match (status.as_u16(), trouble.classify()) {
            (401, _) => self.bad_key(),
            (402, _) | (403 | 429, ErrorClass::NoCredit) => self.no_credit(),
            (400 | 404 | 422 | 500 | 501, ErrorClass::NoTools) => self.no_tools(),
            (403, _) => self.forbidden(&trouble),
            // Some servers have no more to say to a request with tools.
            (400 | 404 | 501, _) if trouble.is_empty() => self.no_tools(),
            (404, _) => self.no_model(),
            (407, _) => self.behind_a_proxy(),
            (408, _) => self.network("took too long to answer"),
            // Another request is in its way (RFC 9110 §15.5.10); it is soon done.
            (409, _) => self.server_failed(&trouble),
            (413, _) | (400 | 422 | 500, ErrorClass::TooLong) => self.too_long(&trouble),
            (429, _) => self.busy(&trouble, retry_after),
            (503, ErrorClass::Loading) => self.loading(),
            (503 | 529, _) => self.overloaded(retry_after),
            (511, _) => final_error(user_texts::network_requires_login(self.host())),
            (300..=399, _) => final_error(user_texts::server_redirects(self.host())),
            (400 | 422, ErrorClass::NoModel) => self.no_model(),
            (400 | 422, _) => self.refused(&trouble),
            (500..=599, _) => self.server_failed(&trouble),
            (code, _) => final_error(user_texts::unexpected_status(self.host(), code.to_string())),
        }
    }

    /// An answer that cannot be read to its end.
    pub(super) fn decode(&self, error: DecodeError) -> ModelError {
        match error {
            DecodeError::Reported(trouble) => self.reported(&trouble),
            DecodeError::Unreadable(why) => ModelError::Unknown {
                message: user_texts::answer_unreadable(self.host(), why),
                retryable: true,
            },
            DecodeError::TooLarge(why) => self.too_large(why),
            DecodeError::Cut { sent, read } => ModelError::ContextExceeded {
                message: user_texts::prompt_cut(self.host(), read.to_string(), sent.to_string()),
                window: None,
                prompt: None,
            },
        }
    }

    pub(super) fn too_large(&self, why: impl std::fmt::Display) -> ModelError {
        final_error(user_texts::answer_too_large(self.host(), why.to_string()))
    }

    /// `what` reads "cut off its answer".
    pub(super) fn network(&self, what: &str) -> ModelError {
        ModelError::Network(self.check_the_network(what))
    }

    /// A deadline passed; `what` reads "took too long to answer".
    pub(super) fn silent(&self, what: &str) -> ModelError {
        // A slow server is not faster when it is asked once more: that only doubles the wait.
        if self.is_local {
            return final_error(user_texts::local_server_slow(self.host(), what));
        }
        ModelError::Silent(self.check_the_network(what))
    }

    fn check_the_network(&self, what: &str) -> UserText {
        user_texts::check_the_network(self.host(), what)
    }

    fn host(&self) -> &str {
        &self.host
    }

    /// The request did not get through.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        if is_bad_certificate(error) {
            return final_error(user_texts::certificate_not_trusted(self.host()));
        }
        if is_refused_by_a_proxy(error) {
            return self.behind_a_proxy();
        }
        ModelError::Network(user_texts::server_unreachable(self.host()))
    }

    /// The server answered well, and with something else. Some report errors that way.
    pub(super) fn not_a_stream(&self, body: &[u8]) -> ModelError {
        let trouble = ErrorBody::parse(body);
        if !trouble.message.is_empty() {
            return self.reported(&trouble);
        }
        final_error(user_texts::not_the_expected_api(self.host(), self.api.api))
    }

    /// An `error` event inside a stream that began well.
    fn reported(&self, error_body: &ErrorBody) -> ModelError {
        match error_body.classify() {
            ErrorClass::BadKey => self.bad_key(),
            ErrorClass::Forbidden => self.forbidden(error_body),
            ErrorClass::NoCredit => self.no_credit(),
            ErrorClass::NoModel => self.no_model(),
            ErrorClass::NoTools => self.no_tools(),
            ErrorClass::TooLong => self.too_long(error_body),
            ErrorClass::Busy => self.busy(error_body, None),
            ErrorClass::Overloaded => self.overloaded(None),
            ErrorClass::Loading => self.loading(),
            ErrorClass::Invalid => self.refused(error_body),
            ErrorClass::Other => self.server_failed(error_body),
        }
    }

    fn bad_key(&self) -> ModelError {
        // A proxy may ask for the key of one provider; other APIs are used by many servers.
        let owner = match self.api.keyless {
            KeylessServers::Never => self.api.name,
            KeylessServers::Local => self.host(),
        };
        ModelError::Auth(user_texts::key_refused(owner))
    }

    fn no_credit(&self) -> ModelError {
        ModelError::Auth(user_texts::no_credit(self.host()))
    }

    fn no_tools(&self) -> ModelError {
        ModelError::NoTools(user_texts::tools_rejected(self.host(), self.model.as_str()))
    }

    fn forbidden(&self, error_body: &ErrorBody) -> ModelError {
        ModelError::Auth(user_texts::key_without_permission(self.quote(error_body)))
    }

    fn no_model(&self) -> ModelError {
        ModelError::NoModel(user_texts::unknown_model(self.host(), self.model.as_str()))
    }

    fn too_long(&self, error_body: &ErrorBody) -> ModelError {
        let message = match error_body.window {
            Some(window) => user_texts::server_window_full(window.to_string()),
            None => user_texts::context_window_full(),
        };
        let ErrorBody { window, prompt, .. } = *error_body;
        ModelError::ContextExceeded { message, window, prompt }
    }

    fn busy(&self, error_body: &ErrorBody, retry_after: Option<Duration>) -> ModelError {
        let said = self.quote(error_body);
        let message = match retry_after.and_then(describe_long_wait) {
            Some(time) => user_texts::too_many_requests_until(said, time),
            None => user_texts::too_many_requests(said),
        };
        ModelError::RateLimit { message, retry_after }
    }

    fn overloaded(&self, retry_after: Option<Duration>) -> ModelError {
        let message = match retry_after.and_then(describe_long_wait) {
            Some(time) => user_texts::server_overloaded_until(self.host(), time),
            None => user_texts::server_overloaded(self.host()),
        };
        ModelError::Overloaded { message, retry_after }
    }

    fn loading(&self) -> ModelError {
        ModelError::Loading(user_texts::model_loading(self.host(), self.model.as_str()))
    }

    fn refused(&self, error_body: &ErrorBody) -> ModelError {
        let said = self.quote(error_body);
        ModelError::InvalidRequest(user_texts::request_refused(self.host(), said))
    }

    fn server_failed(&self, error_body: &ErrorBody) -> ModelError {
        let said = self.quote(error_body);
        let message = user_texts::server_error(self.host(), said);
        ModelError::Unknown { message, retryable: true }
    }

    fn behind_a_proxy(&self) -> ModelError {
        final_error(user_texts::proxy_requires_login(self.host()))
    }

    /// The server's own message in brackets, short, on one line and without the key.
    fn quote(&self, error_body: &ErrorBody) -> String {
        let key = self.key.expose_secret();
        let said = match key {
            "" => error_body.message.clone(),
            key => error_body.message.replace(key, "[key]"),
        };
        let said: String = said.chars().filter(|c| !c.is_control()).take(MAX_QUOTE_CHARS).collect();
        if said.trim().is_empty() { String::new() } else { format!(" ({})", said.trim()) }
    }
}

/// A wait that is too long, as text, rounded up.
fn describe_long_wait(asked_for: Duration) -> Option<String> {
    (asked_for > MAX_WAIT).then(|| match asked_for.as_secs().div_ceil(60) {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes => format!("{} h", minutes.div_ceil(60)),
    })
}

/// Asking again does not mend it.
fn final_error(message: UserText) -> ModelError {
    ModelError::Unknown { message, retryable: false }
}

/// `Retry-After`: seconds, or an HTTP date (RFC 9110 §10.2.3). `None` when it is neither.
fn parse_retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

fn is_bad_certificate(error: &reqwest::Error) -> bool {
    causes(error)
        .any(|cause| matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))))
}

/// The library has no public type for it; a test with a real proxy checks its message.
fn is_refused_by_a_proxy(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.to_string() == "tunnel error: proxy authorization required")
}

/// The error, what caused it, and so on.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |cause| {
        // An error of IO passes over the one that it holds.
        let held = cause.downcast_ref().and_then(std::io::Error::get_ref);
        held.map_or_else(|| cause.source(), |held| Some(held))
    })
}
