//! Looks at a path of a server that many servers do not have. No answer in time is not the
//! answer that nothing stands there.

use std::time::Duration;

use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::api_profile::BasePath;
use super::error_body::{ErrorBody, ErrorClass};
use super::{ApiClient, MAX_VALUE_BYTES};

/// A server's answer about a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OptionalReply {
    /// This value stands there.
    Value(Value),
    /// The server is well and has no JSON there.
    Nothing,
    /// It is still loading its model.
    Loading,
    /// Nobody knows: there was no answer in time, none that is whole, or one that tells of a failure.
    Unknown,
}

impl OptionalReply {
    /// The value; null for none.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Nothing | Self::Loading | Self::Unknown => Value::Null,
        }
    }
}

impl ApiClient {
    /// The answer at one of the API's own paths, if the server gives it within `timeout`.
    pub(crate) async fn optional_reply(&self, path: &str, timeout: Duration) -> OptionalReply {
        self.reply(self.client.get(self.url(path)), timeout).await
    }

    /// The same, of a path beside the API's own paths on the server.
    pub(crate) async fn optional_reply_at_root(
        &self,
        path: &str,
        timeout: Duration,
    ) -> OptionalReply {
        self.reply(self.client.get(self.url_at_root(path)), timeout).await
    }

    /// The same, where the path is asked with a `body`.
    pub(crate) async fn optional_reply_to(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
        timeout: Duration,
    ) -> OptionalReply {
        self.reply(self.client.post(self.url_at_root(path)).json(body), timeout).await
    }

    fn url_at_root(&self, path: &str) -> Url {
        let (BasePath::Always(root) | BasePath::UnlessGiven(root)) = self.api.root;
        let base = self.base.path().trim_end_matches('/');
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", base.strip_suffix(root).unwrap_or(base)));
        url
    }

    async fn reply(&self, request: RequestBuilder, timeout: Duration) -> OptionalReply {
        let deadline = Instant::now() + timeout;
        let asked = self.signed(request).send();
        let Ok(Ok(mut response)) = timeout_at(deadline, asked).await else {
            return OptionalReply::Unknown;
        };
        let status = response.status();
        match whole(&mut response, deadline).await {
            Some(body) => read(status, &body),
            None => OptionalReply::Unknown,
        }
    }
}

fn read(status: StatusCode, body: &[u8]) -> OptionalReply {
    match status.as_u16() {
        200..=299 => {
            serde_json::from_slice(body).map_or(OptionalReply::Nothing, OptionalReply::Value)
        }
        // A proxy in between may answer with these, or a server that is overloaded.
        407 | 408 | 425 | 429 => OptionalReply::Unknown,
        400..=499 | 501 => OptionalReply::Nothing,
        503 if ErrorBody::parse(body).classify() == ErrorClass::Loading => OptionalReply::Loading,
        _ => OptionalReply::Unknown,
    }
}

/// The whole body; `None` for one that is cut, late or too large.
async fn whole(response: &mut Response, deadline: Instant) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = timeout_at(deadline, response.chunk()).await.ok()?.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_VALUE_BYTES {
            return None;
        }
    }
    Some(body)
}
