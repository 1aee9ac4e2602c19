//! What an answer costs that comes in four characters at a time, two hundred times a second: the time
//! of the page's own code beside drawing the same answer once, its frames, and what is sent to it.

use std::error::Error;

use testkit::DesktopApp;

use super::talk::Talk;
use super::{Figure, Taken, page};

/// The names of the figures.
pub(crate) const FIGURES: [&str; 4] =
    ["stream_time", "stream_growth", "stream_frame", "stream_messages"];

/// The lengths of the answers, in characters.
const SHORT: usize = 20_000;
const LONG: usize = 3 * SHORT;

/// Talk beside them, of some characters each.
const SMALL: [usize; 2] = [8, 9];

/// So often an answer that is complete is drawn.
const DRAWN: u8 = 15;

/// Takes them; the long answer comes only if it is wanted.
pub(crate) async fn take(wanted: &str) -> Taken {
    let talk = Talk::begin().await;
    let app = talk.home.start().await;
    app.opened().await;
    page::watch(&app.window).await;
    for length in SMALL {
        hear(&talk, &app, length).await?;
    }
    let short = hear(&talk, &app, SHORT).await?;
    let once = drawn_once(&app, SHORT).await?;
    let (most, frames) = (short.most, short.frames);
    eprintln!("{SHORT} characters: {frames} frames, at most {most} messages in one");
    let figure = |name, bar, ours, rival, unit| Figure { name, bar, ours, rival, unit };
    let mut figures = vec![
        figure("stream_time", 3.0, short.busy, once, "ms"),
        figure("stream_frame", 1.0, short.longest, 50.0, "ms"),
        figure("stream_messages", 1.0, short.messages, short.frames, ""),
    ];
    if "stream_growth".starts_with(wanted) {
        let long = hear(&talk, &app, LONG).await?;
        figures.push(figure("stream_growth", 1.2, long.busy, 3.0 * short.busy, "ms"));
    }
    app.quit().await;
    Ok(figures)
}

/// Asks for so many characters; what their coming took.
async fn hear(
    talk: &Talk,
    app: &DesktopApp,
    length: usize,
) -> Result<page::Counted, Box<dyn Error>> {
    talk.ask(app, length).await;
    page::quiet(&app.window).await;
    page::counted(&app.window).await?;
    talk.come(length).await;
    app.window.wait_until_gone("[data-testid=stop]").await;
    page::quiet(&app.window).await;
    page::counted(&app.window).await
}

/// What it takes to draw a conversation with the answer in place of one with some words, less what it
/// takes to draw another one with some words.
async fn drawn_once(app: &DesktopApp, length: usize) -> Result<f64, Box<dyn Error>> {
    let [first, second] = SMALL;
    let mut sum = 0.0;
    for _ in 0..DRAWN {
        page::open(&app.window, &Talk::name(first)).await;
        page::counted(&app.window).await?;
        page::open(&app.window, &Talk::name(second)).await;
        sum -= page::counted(&app.window).await?.busy;
        page::open(&app.window, &Talk::name(length)).await;
        sum += page::counted(&app.window).await?.busy;
    }
    Ok(sum / f64::from(DRAWN))
}
