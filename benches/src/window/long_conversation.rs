//! How soon a conversation of ten thousand messages is there, and how much of it stands in the page.

use std::error::Error;

use serde_json::json;
use testkit::{DesktopHome, TempVault, WebDriver};

use super::{WindowFigure, WindowMeasurement, page_probe};
use crate::conversations::{conversation_title, database_path, insert_conversations};

/// The names of the figures.
pub(crate) const FIGURES: [&str; 2] = ["long_open", "long_nodes"];

/// So many conversations, and turns of two messages each in every one of them.
const CONVERSATIONS: u64 = 20;
const TURNS: u64 = 5_000;

/// The numbers of the conversations that are opened.
const OPENED_CONVERSATIONS: std::ops::Range<u64> = 10..19;

/// Opens the conversation with a title, and tells when its end was on the screen.
const OPEN_SCRIPT: &str = "
    const [title] = arguments;
    const row = [...document.querySelectorAll('nav button')].find((e) => e.innerText.includes(title));
    window.opened = null;
    const begun = performance.now();
    const look = () => {
        const head = document.querySelector('main h1').innerText;
        const rows = document.querySelectorAll('[data-testid=chat-log] > .row-of');
        if (head !== title || rows.length < 2) return requestAnimationFrame(look);
        // The frame that shows it is over when the next one begins.
        return requestAnimationFrame(() => {
            window.opened = { took: performance.now() - begun, nodes: rows.length };
        });
    };
    row.click();
    requestAnimationFrame(look);";

/// Takes them.
pub(crate) async fn measure_figures() -> WindowMeasurement {
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::new().with_vault(&vault);
    let app = home.start().await;
    app.wait_until_opened().await;
    app.quit().await;
    insert_conversations(&database_path(&home.data_dir())?, CONVERSATIONS, TURNS).await?;
    let app = home.start().await;
    app.wait_until_opened().await;
    page_probe::start_counting(&app.window).await;
    let (mut times, mut nodes) = (Vec::new(), 0.0_f64);
    for number in OPENED_CONVERSATIONS {
        // The earlier content is complete, and nothing else is under way.
        page_probe::wait_until_quiet(&app.window).await;
        let (took, stand) = open(&app.window, &conversation_title(number)).await?;
        times.push(took);
        nodes = nodes.max(stand);
    }
    app.quit().await;
    eprintln!("opened in {times:?}ms");
    let longest = times.iter().copied().fold(0.0, f64::max);
    let [open, stand] = FIGURES;
    Ok(vec![
        WindowFigure { name: open, bar: 1.0, ours: longest, rival: 300.0, unit: "ms" },
        WindowFigure { name: stand, bar: 1.0, ours: nodes, rival: 200.0, unit: "" },
    ])
}

async fn open(window: &WebDriver, title: &str) -> Result<(f64, f64), Box<dyn Error>> {
    window.execute(OPEN_SCRIPT, &json!([title])).await;
    window.wait_until("the conversation", "return window.opened !== null").await;
    let opened = window.execute("return window.opened", &json!([])).await;
    let number = |name: &str| opened.get(name).and_then(serde_json::Value::as_f64);
    Ok((number("took").ok_or("no time")?, number("nodes").ok_or("no count")?))
}
