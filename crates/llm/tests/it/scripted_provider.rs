//! A model that says what a test wrote down, and checks what it is asked.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use llm::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, Provider,
    StopReason, ToolCall,
};
use protocol::{CallId, Role, TokenUsage};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// One answer.
pub(crate) enum ProviderScript {
    /// These events, and then the stream ends.
    Says(Vec<Result<ModelEvent, ModelError>>),
    /// These events, and then nothing more comes; the token is cancelled when nobody listens.
    SaysAndHolds(Vec<ModelEvent>, CancellationToken),
    /// No answer.
    Refuses(ModelError),
}

/// Answers each request with the next script.
#[derive(Default)]
pub(crate) struct ScriptedProvider {
    scripts: Mutex<VecDeque<ProviderScript>>,
    requests: watch::Sender<Vec<ModelRequest>>,
}

impl ScriptedProvider {
    pub(crate) fn enqueue(&self, script: ProviderScript) -> &Self {
        self.scripts.lock().unwrap().push_back(script);
        self
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.borrow().clone()
    }

    /// Resolves when it was asked so often.
    pub(crate) async fn asked(&self, times: usize) {
        let mut requests = self.requests.subscribe();
        requests.wait_for(|requests| requests.len() >= times).await.unwrap();
    }
}

#[async_trait]
impl Provider for ScriptedProvider {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.requests.send_modify(|requests| requests.push(request));
        match self.scripts.lock().unwrap().pop_front() {
            Some(ProviderScript::Says(events)) => Ok(stream::iter(events).boxed()),
            Some(ProviderScript::SaysAndHolds(events, dropped)) => {
                Ok(hold(events, dropped.drop_guard()))
            }
            Some(ProviderScript::Refuses(error)) => Err(error),
            None => Err(ModelError::InvalidRequest("the script is over".into())),
        }
    }
}

fn hold(events: Vec<ModelEvent>, guard: DropGuard) -> ModelStream {
    let held = stream::pending().inspect(move |_| {
        let _ = &guard;
    });
    stream::iter(events.into_iter().map(Ok)).chain(held).boxed()
}

pub(crate) fn text(words: &str) -> ModelEvent {
    ModelEvent::Text(words.into())
}

pub(crate) fn call(id: &str, tool: &str, arguments: Value) -> ModelEvent {
    ModelEvent::Call(ToolCall { id: id.into(), tool: tool.into(), arguments })
}

pub(crate) fn answers(words: &str) -> ProviderScript {
    says(vec![text(words)], StopReason::EndTurn)
}

pub(crate) fn calls(events: Vec<ModelEvent>) -> ProviderScript {
    says(events, StopReason::ToolUse)
}

fn says(events: Vec<ModelEvent>, reason: StopReason) -> ProviderScript {
    let stop = ModelEvent::Stopped { reason, usage: TokenUsage::default() };
    ProviderScript::Says(events.into_iter().chain([stop]).map(Ok).collect())
}

/// Panics unless the API would take the request: roles alternate, and each call has its result
/// at the head of the next message.
pub(crate) fn check_request(request: &ModelRequest) {
    let mut open: Vec<CallId> = Vec::new();
    for (n, message) in request.messages.iter().enumerate() {
        let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.role, role, "{request:?}");
        assert_eq!(results(message), open, "{request:?}");
        open = calls_of(message);
    }
    assert!(open.is_empty(), "{request:?}");
}

fn results(message: &ModelMessage) -> Vec<CallId> {
    let result = |block: &ContentBlock| match block {
        ContentBlock::Result { call, .. } => Some(call.clone()),
        _ => None,
    };
    message.blocks.iter().map_while(result).collect()
}

fn calls_of(message: &ModelMessage) -> Vec<CallId> {
    let call = |block: &ContentBlock| match block {
        ContentBlock::Call(call) => Some(call.id.clone()),
        _ => None,
    };
    message.blocks.iter().filter_map(call).collect()
}
