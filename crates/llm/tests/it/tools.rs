//! Tools that show when and with what they are called.

use std::sync::Arc;

use async_trait::async_trait;
use llm::ToolRegistry;
use llm::{
    ChangingTool, Control, Effect, Labels, Plan, Tool, ToolContext, ToolFailure, ToolOutcome,
};
use protocol::{Change, ChangeSet, NotePath};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Barrier;

/// Looks at something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct What {
    /// At what.
    what: String,
}

pub(crate) struct Look;

#[async_trait]
impl Tool for Look {
    const NAME: &'static str = "look";
    const EFFECT: Effect = Effect::Read;
    type Input = What;

    async fn run(&self, input: What, context: &ToolContext) -> ToolOutcome {
        match input.what.as_str() {
            "void" => panic!("nobody looks into the void"),
            what => ToolOutcome::ok(format!("{what} {}", context.overlay.len())),
        }
    }
}

/// Comes back only when two of its calls are under way at once.
pub(crate) struct Meet(Barrier);

#[async_trait]
impl Tool for Meet {
    const NAME: &'static str = "meet";
    const EFFECT: Effect = Effect::Read;
    type Input = What;

    async fn run(&self, input: What, _: &ToolContext) -> ToolOutcome {
        self.0.wait().await;
        ToolOutcome::ok(input.what)
    }
}

/// Asks the user.
pub(crate) struct Ask;

#[async_trait]
impl Tool for Ask {
    const NAME: &'static str = "ask";
    const EFFECT: Effect = Effect::Speak;
    type Input = What;

    async fn run(&self, input: What, _: &ToolContext) -> ToolOutcome {
        let control = Some(Control::Ask { message: input.what, options: vec!["yes".into()] });
        ToolOutcome { control, ..ToolOutcome::default() }
    }
}

/// Plans a note; says how many planned changes it saw.
pub(crate) struct Make;

#[async_trait]
impl ChangingTool for Make {
    const NAME: &'static str = "make";
    type Input = What;

    async fn plan(
        &self,
        input: What,
        context: &ToolContext,
    ) -> Result<(Effect, Plan), ToolFailure> {
        let path = NotePath::parse(&input.what).map_err(|error| ToolFailure::new(error.0))?;
        let change_set = ChangeSet::one(Change::create(path, b"new".to_vec()));
        let summary = format!("saw {}", context.overlay.len());
        Ok((Effect::Create, Plan { change_set, summary, labels: Labels::Complete }))
    }
}

pub(crate) fn registry() -> Arc<ToolRegistry> {
    let mut registry = ToolRegistry::new();
    registry.register(Look).unwrap();
    registry.register(Meet(Barrier::new(2))).unwrap();
    registry.register(Ask).unwrap();
    registry.register_changing(Make).unwrap();
    Arc::new(registry)
}
