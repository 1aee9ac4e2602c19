//! The time of a key while an answer comes: from the moment that the window has it until the letter
//! is in the composer, laid out, with everything before it in the queue of the page.

use std::time::Duration;

use serde_json::json;
use testkit::WebDriver;
use tokio::time::{MissedTickBehavior, interval};

use super::chat_fixture::ChatFixture;
use super::{WindowFigure, WindowMeasurement};

/// The names of the figures.
pub(crate) const FIGURES: [&str; 1] = ["typing"];

/// How many characters the answer has.
const ANSWER_CHARS: usize = 20_000;

/// So many keys are pressed meanwhile, each so long after the one before: a fast hand.
const KEY_COUNT: usize = 250;
const KEY_INTERVAL: Duration = Duration::from_millis(90);

/// Has each key timed, by the time that its event carries.
const WATCH_SCRIPT: &str = "
    const box = document.querySelector('[data-testid=composer]');
    const took = (window.took = []);
    let pressed = 0;
    const settled = (depth, then) =>
        depth === 0 ? then() : queueMicrotask(() => settled(depth - 1, then));
    document.addEventListener('keydown', (event) => (pressed = event.timeStamp), true);
    document.addEventListener('input', () => settled(8, () => {
        void box.offsetHeight;
        took.push(performance.now() - pressed);
    }));";

/// Takes it.
pub(crate) async fn measure_figures() -> WindowMeasurement {
    let talk = ChatFixture::start().await;
    let app = talk.home.start().await;
    app.wait_until_opened().await;
    talk.request_answer(&app, ANSWER_CHARS).await;
    app.window.execute(WATCH_SCRIPT, &json!([])).await;
    tokio::join!(talk.release_rest(ANSWER_CHARS), type_keys(&app.window));
    let took = app.window.execute("return window.took", &json!([])).await;
    let mut took: Vec<f64> = serde_json::from_value(took)?;
    app.window.wait_until_gone("[data-testid=stop]").await;
    app.quit().await;
    if took.len() < KEY_COUNT {
        return Err(format!("of {KEY_COUNT} letters only {} came", took.len()).into());
    }
    took.sort_by(f64::total_cmp);
    let at = |share: usize| took.get((took.len() - 1) * share / 100).copied().unwrap_or(f64::NAN);
    eprintln!("keys: p50 {}ms, p90 {}ms, most {}ms", at(50), at(90), at(100));
    let [name] = FIGURES;
    Ok(vec![WindowFigure { name, bar: 1.0, ours: at(99), rival: 16.0, unit: "ms" }])
}

async fn type_keys(window: &WebDriver) {
    let mut clock = interval(KEY_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for (_, letter) in (0..KEY_COUNT).zip("some words and more of them ".chars().cycle()) {
        clock.tick().await;
        window.type_text(letter.encode_utf8(&mut [0; 4])).await;
    }
}
