//! The cost of an answer that comes in four characters at a time, two hundred times a second: the
//! time of the page's own code compared with drawing the same answer once, its frames, and the data
//! sent to it.

use std::error::Error;

use testkit::DesktopApp;

use super::chat_fixture::ChatFixture;
use super::{WindowFigure, WindowMeasurement, page_probe};

/// The names of the figures.
pub(crate) const FIGURES: [&str; 4] =
    ["stream_time", "stream_growth", "stream_frame", "stream_messages"];

/// The lengths of the answers, in characters.
const SHORT_ANSWER: usize = 20_000;
const LONG_ANSWER: usize = 3 * SHORT_ANSWER;

/// Answers for comparison, of some characters each.
const SMALL_ANSWERS: [usize; 2] = [8, 9];

/// So often an answer that is complete is drawn.
const DRAW_COUNT: u8 = 15;

/// Takes them; the long answer comes only if it is wanted.
pub(crate) async fn measure_figures(wanted: &str) -> WindowMeasurement {
    let talk = ChatFixture::start().await;
    let app = talk.home.start().await;
    app.wait_until_opened().await;
    page_probe::start_counting(&app.window).await;
    for length in SMALL_ANSWERS {
        measure_streaming(&talk, &app, length).await?;
    }
    let short = measure_streaming(&talk, &app, SHORT_ANSWER).await?;
    let once = measure_drawing(&app, SHORT_ANSWER).await?;
    let (most, frames) = (short.most, short.frames);
    eprintln!("{SHORT_ANSWER} characters: {frames} frames, at most {most} messages in one");
    let figure = |name, bar, ours, rival, unit| WindowFigure { name, bar, ours, rival, unit };
    let mut figures = vec![
        figure("stream_time", 3.0, short.busy, once, "ms"),
        figure("stream_frame", 1.0, short.longest, 50.0, "ms"),
        figure("stream_messages", 1.0, short.messages, short.frames, ""),
    ];
    if "stream_growth".starts_with(wanted) {
        let long = measure_streaming(&talk, &app, LONG_ANSWER).await?;
        figures.push(figure("stream_growth", 1.2, long.busy, 3.0 * short.busy, "ms"));
    }
    app.quit().await;
    Ok(figures)
}

/// Requests so many characters; returns the cost of their arrival.
async fn measure_streaming(
    talk: &ChatFixture,
    app: &DesktopApp,
    length: usize,
) -> Result<page_probe::PageCounters, Box<dyn Error>> {
    talk.request_answer(app, length).await;
    page_probe::wait_until_quiet(&app.window).await;
    page_probe::take_counters(&app.window).await?;
    talk.release_rest(length).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    page_probe::wait_until_quiet(&app.window).await;
    page_probe::take_counters(&app.window).await
}

/// The cost of drawing a conversation with the answer in place of a short text, less the cost of
/// drawing another one with a short text.
async fn measure_drawing(app: &DesktopApp, length: usize) -> Result<f64, Box<dyn Error>> {
    let [first, second] = SMALL_ANSWERS;
    let mut sum = 0.0;
    for _ in 0..DRAW_COUNT {
        page_probe::open_conversation(&app.window, &ChatFixture::conversation_name(first)).await;
        page_probe::take_counters(&app.window).await?;
        page_probe::open_conversation(&app.window, &ChatFixture::conversation_name(second)).await;
        sum -= page_probe::take_counters(&app.window).await?.busy;
        page_probe::open_conversation(&app.window, &ChatFixture::conversation_name(length)).await;
        sum += page_probe::take_counters(&app.window).await?.busy;
    }
    Ok(sum / f64::from(DRAW_COUNT))
}
