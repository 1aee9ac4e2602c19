//! `get_current_time`: the clock on the user's wall.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ports::environment::Environment;

/// Returns the user's local date, time, weekday and time zone. The <context> block of each message has
/// them already: call this only if they may be out of date.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetCurrentTimeInput {}

pub(crate) struct GetCurrentTime(pub(crate) Arc<dyn Environment>);

#[async_trait]
impl Tool for GetCurrentTime {
    const NAME: &'static str = "get_current_time";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = GetCurrentTimeInput;

    async fn run(&self, _: GetCurrentTimeInput, _: &ToolContext) -> ToolOutcome {
        let now = self.0.now();
        let zone = now.time_zone().iana_name().unwrap_or("local time").to_owned();
        ToolOutcome::ok(format!("{} ({zone})", now.strftime("%A, %Y-%m-%d %H:%M:%S %:z"))).labeled()
    }
}
