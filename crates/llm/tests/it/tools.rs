//! Tools that show when and with what they are called.

use std::sync::Arc;

use async_trait::async_trait;
use llm::ToolRegistry;
use llm::{
    ChangePlan, ChangingTool, SourceLabels, Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome,
};
use protocol::{Change, ChangeSet, NotePath, Speech};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Barrier;

/// Looks at something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatInput {
    /// The thing to look at.
    what: String,
}

pub(crate) struct LookTool;

#[async_trait]
impl Tool for LookTool {
    const NAME: &'static str = "look";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = WhatInput;

    async fn run(&self, input: WhatInput, context: &ToolContext) -> ToolOutcome {
        match input.what.as_str() {
            "void" => panic!("nobody looks into the void"),
            what => ToolOutcome::ok(format!("{what} {}", context.overlay.len())),
        }
    }
}

/// Comes back only when two of its calls are under way at once.
pub(crate) struct BarrierTool(Barrier);

#[async_trait]
impl Tool for BarrierTool {
    const NAME: &'static str = "meet";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = WhatInput;

    async fn run(&self, input: WhatInput, _: &ToolContext) -> ToolOutcome {
        self.0.wait().await;
        ToolOutcome::ok(input.what)
    }
}

/// Asks the user.
pub(crate) struct AskTool;

#[async_trait]
impl Tool for AskTool {
    const NAME: &'static str = "ask";
    const EFFECT: ToolEffect = ToolEffect::Speak;
    type Input = WhatInput;

    async fn run(&self, input: WhatInput, _: &ToolContext) -> ToolOutcome {
        let speech = Some(Speech::Ask { text: input.what, options: vec!["yes".into()] });
        ToolOutcome { speech, ..ToolOutcome::default() }
    }
}

/// Plans a note; says how many planned changes it saw.
pub(crate) struct PlanNoteTool;

#[async_trait]
impl ChangingTool for PlanNoteTool {
    const NAME: &'static str = "make";
    type Input = WhatInput;

    async fn plan(
        &self,
        input: WhatInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let path = NotePath::parse(&input.what).map_err(|error| ToolFailure::new(error.0))?;
        let change_set = ChangeSet::one(Change::create(path, b"new".to_vec()));
        let summary = format!("saw {}", context.overlay.len());
        Ok((ToolEffect::Create, ChangePlan { change_set, summary, labels: SourceLabels::Complete }))
    }
}

pub(crate) fn registry() -> Arc<ToolRegistry> {
    let mut registry = ToolRegistry::new();
    registry.register(LookTool).unwrap();
    registry.register(BarrierTool(Barrier::new(2))).unwrap();
    registry.register(AskTool).unwrap();
    registry.register_changing(PlanNoteTool).unwrap();
    Arc::new(registry)
}
