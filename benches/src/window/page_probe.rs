//! The measurements inside the page: a probe that its driver puts there, and that does not ship.

use std::error::Error;

use serde::Deserialize;
use serde_json::json;
use testkit::WebDriver;

/// Counts messages, work and frames of the page from the moment it runs.
const PROBE_SCRIPT: &str = include_str!("probe.js");

/// The counts of the probe since the last call. Times in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct PageCounters {
    /// How long the page's own code worked on what came.
    pub(crate) busy: f64,
    /// How much came from the application.
    pub(crate) messages: f64,
    /// How many frames there were.
    pub(crate) frames: f64,
    /// The longest time from one frame to the next.
    pub(crate) longest: f64,
    /// How much came between two frames at most.
    pub(crate) most: f64,
}

/// Begins to count.
pub(crate) async fn start_counting(window: &WebDriver) {
    window.execute(PROBE_SCRIPT, &json!([])).await;
}

/// Returns the counts, and resets them.
pub(crate) async fn take_counters(window: &WebDriver) -> Result<PageCounters, Box<dyn Error>> {
    let script = "const { busy, messages, frames, longest, most } = window.probe;
        const none = { busy: 0, messages: 0, frames: 0, longest: 0, most: 0, inFrame: 0, last: 0 };
        Object.assign(window.probe, none);
        return { busy, messages, frames, longest, most }";
    Ok(serde_json::from_value(window.execute(script, &json!([])).await)?)
}

/// Opens the conversation with this name; resolves once it is drawn and nothing follows any more.
pub(crate) async fn open_conversation(window: &WebDriver, name: &str) {
    window.click_text("nav button", name).await;
    let drawn = format!("return document.querySelector('main h1').innerText === '{name}'");
    window.wait_until(&format!("`{name}` to be shown"), &drawn).await;
    wait_until_quiet(window).await;
}

/// Resolves once nothing has come from the application for a while.
pub(crate) async fn wait_until_quiet(window: &WebDriver) {
    let script = "const { probe } = window;
        const still = probe.messages === probe.before;
        probe.before = probe.messages;
        probe.still = still ? (probe.still ?? 0) + 1 : 0;
        return probe.still >= 5";
    window.wait_until("the page to be at rest", script).await;
}
