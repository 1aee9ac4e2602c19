//! From the start of a program to a window that can be used: ours to a letter that stands in the
//! composer, the small browser's to a blank page on the screen. Files are in the system's memory.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::gui::web_driver::MINI_BROWSER;
use testkit::gui::x11::{ScreenRegion, X11Client};
use testkit::{DesktopHome, PrivateBus, TempVault, UndrivenApp, search_freshness};
use tokio::time::sleep;

use super::{WindowFigure, WindowMeasurement, process_tree};
use crate::paired_timing::measure_alternating;

const SMALL_VAULT: usize = 100;
const LARGE_VAULT: usize = 10_000;

/// So many pairs are timed, after so many that are not.
const PAIRS: usize = 12;
const WARM_UP: usize = 2;

/// How long anything may take to come.
const START_TIMEOUT: Duration = Duration::from_secs(40);

/// Each figure, and its bar.
pub(crate) const FIGURES: [(&str, f64); 4] = [
    ("start_small_vault", 1.3),
    ("start_large_vault", 1.3),
    ("start_without_bus", 1.3),
    // Which of two equal starts is faster is chance, to this much.
    ("start_growth", 1.1),
];

/// Takes the figure with this name.
pub(crate) async fn measure_figures(name: &'static str, bar: f64) -> WindowMeasurement {
    let bus = PrivateBus::start();
    let bus = Some(&bus).filter(|_| name != "start_without_bus");
    let scene =
        OpenedVault::new(if name == "start_large_vault" { LARGE_VAULT } else { SMALL_VAULT }, bus)
            .await?;
    let ratio = if name == "start_growth" {
        let large = OpenedVault::new(LARGE_VAULT, bus).await?;
        measure_alternating(
            PAIRS,
            WARM_UP,
            async || large.time_start().await,
            async || scene.time_start().await,
        )
        .await
    } else {
        let rival = async || scene.time_mini_browser().await;
        measure_alternating(PAIRS, WARM_UP, async || scene.time_start().await, rival).await
    }?;
    let (ours, rival) = (ratio.ours.as_secs_f64() * 1e3, ratio.rival.as_secs_f64() * 1e3);
    Ok(vec![WindowFigure { name, bar, ours, rival, unit: "ms" }])
}

/// A vault that was opened before, with all that the application knows of it.
pub(crate) struct OpenedVault {
    pub(crate) home: DesktopHome,
    _vault: TempVault,
    /// The button of the composer, as it stands on the screen.
    button: ScreenCapture,
    /// The text of an empty composer.
    placeholder: ScreenCapture,
}

/// A part of the screen, and its image.
struct ScreenCapture {
    region: ScreenRegion,
    pixels: Vec<u8>,
}

impl ScreenCapture {
    /// Whether it is seen again: each start draws its edges a little differently.
    fn is_shown_again(&self, screen: &mut X11Client) -> bool {
        let apart = |a: &u8, b: &u8| u64::from(a.abs_diff(*b));
        let ground = self.pixels.get(..3).unwrap_or_default().iter().cycle();
        let drawn: u64 = self.pixels.iter().zip(ground).map(|(a, b)| apart(a, b)).sum();
        let now = screen.pixels(self.region);
        let differs: u64 = self.pixels.iter().zip(&now).map(|(a, b)| apart(a, b)).sum();
        differs * 3 < drawn
    }

    /// Whether nothing is drawn there any more.
    fn is_empty(&self, screen: &mut X11Client) -> bool {
        let now = screen.pixels(self.region);
        now.chunks_exact(3).all(|pixel| now.starts_with(pixel))
    }
}

impl OpenedVault {
    /// Opens a vault of so many notes for the first time, on `bus`; then sees how the composer looks.
    pub(crate) async fn new(
        notes: usize,
        bus: Option<&PrivateBus>,
    ) -> Result<Self, Box<dyn Error>> {
        let vault = TempVault::new(&[]);
        search_freshness::write_sample_notes(vault.root(), notes);
        let mut home = DesktopHome::new().with_vault(&vault);
        if let Some(bus) = bus {
            home = home.with_bus(bus);
        }
        let app = home.start().await;
        app.wait_until_opened().await;
        app.window.wait_until_gone("[data-testid=status-indexing]").await;
        let script = "const box = (css) => {
                const { x, y, width, height } = document.querySelector(css).getBoundingClientRect();
                return [x, y, width, height].map(Math.round);
            };
            return [box('[data-testid=send]'), box('[data-testid=composer]')]";
        let boxes = app.window.execute(script, &json!([])).await;
        let [button, words]: [[u16; 4]; 2] = serde_json::from_value(boxes)?;
        let mut screen = home.connect_x11();
        let window = DesktopHome::find_window(&mut screen).ok_or("no window")?;
        let (left, top) =
            screen.window_position(window).ok_or("the window is not on the screen")?;
        app.quit().await;
        let [x, y, width, height] = button;
        let button = ScreenRegion { x: left + x, y: top + y, width, height };
        // Right of the caret and of the letter that is typed.
        let [x, y, _, height] = words;
        let words = ScreenRegion { x: left + x + 30, y: top + y, width: 120, height };

        // One that is driven is drawn a little differently.
        let app = home.start_undriven(&[]);
        let [button, words] = [
            capture_at_rest(&mut screen, button).await?,
            capture_at_rest(&mut screen, words).await?,
        ];
        close_app(&home, app).await?;
        Ok(Self { home, _vault: vault, button, placeholder: words })
    }

    /// Starts the application; resolves once its composer stands on the screen.
    pub(crate) async fn start_until_composer(
        &self,
    ) -> Result<(UndrivenApp, X11Client), Box<dyn Error>> {
        let mut screen = self.home.connect_x11();
        if self.button.is_shown_again(&mut screen) {
            return Err("the composer of the last start is still there".into());
        }
        let app = self.home.start_undriven(&[]);
        wait_until_seen("the composer", &mut screen, |screen| self.button.is_shown_again(screen))
            .await?;
        Ok((app, screen))
    }

    /// How long the application takes until a letter that is typed stands in its composer.
    async fn time_start(&self) -> Result<Duration, Box<dyn Error>> {
        let began = Instant::now();
        let (app, mut screen) = self.start_until_composer().await?;
        let window = DesktopHome::find_window(&mut screen).ok_or("no window")?;
        screen.focus_window(window);
        screen.type_letter('a');
        wait_until_seen("the letter", &mut screen, |screen| self.placeholder.is_empty(screen))
            .await?;
        let took = began.elapsed();
        close_app(&self.home, app).await?;
        Ok(took)
    }

    /// How long the small browser takes to show a page that has nothing but its colour.
    async fn time_mini_browser(&self) -> Result<Duration, Box<dyn Error>> {
        let page = self.blank_page()?;
        let page = page.to_str().ok_or("a folder with an odd name")?;
        let spot = ScreenRegion { x: 300, y: 300, width: 8, height: 8 };
        let blue = |screen: &mut X11Client| {
            screen.pixels(spot).chunks_exact(3).all(|pixel| pixel == [0xac, 0x68, 0x24])
        };
        let mut screen = self.home.connect_x11();
        if blue(&mut screen) {
            return Err("the page of the last start is still there".into());
        }
        let began = Instant::now();
        let browser = self.home.start_program(Path::new(MINI_BROWSER), &[page]);
        wait_until_seen("a blank page", &mut screen, blue).await?;
        let took = began.elapsed();
        let all = process_tree::process_tree(browser.process_id().ok_or("it has ended")?);
        browser.kill().await;
        process_tree::wait_until_gone(&all).await?;
        Ok(took)
    }

    fn blank_page(&self) -> Result<PathBuf, Box<dyn Error>> {
        let page = self.home.data_dir().with_file_name("blank.html");
        std::fs::write(
            &page,
            "<!doctype html><title>-</title><style>html{background:#2468ac}</style>",
        )?;
        Ok(page)
    }
}

/// Closes the window of the application; resolves when nothing of it runs any more.
pub(crate) async fn close_app(home: &DesktopHome, app: UndrivenApp) -> Result<(), Box<dyn Error>> {
    let all = process_tree::process_tree(app.process_id().ok_or("it has ended")?);
    home.press_close_button();
    app.wait_for_exit().await;
    process_tree::wait_until_gone(&all).await
}

/// The image of a spot once something is there, and nothing has moved for two seconds.
async fn capture_at_rest(
    screen: &mut X11Client,
    spot: ScreenRegion,
) -> Result<ScreenCapture, Box<dyn Error>> {
    let began = Instant::now();
    let (mut pixels, mut since) = (Vec::new(), Instant::now());
    while began.elapsed() < START_TIMEOUT {
        let now = screen.pixels(spot);
        let first = now.get(..3).unwrap_or_default();
        let is_something = now.chunks_exact(3).any(|pixel| pixel != first);
        if now != pixels || !is_something {
            since = Instant::now();
        } else if since.elapsed() > Duration::from_secs(2) {
            return Ok(ScreenCapture { region: spot, pixels });
        }
        pixels = now;
        sleep(Duration::from_millis(50)).await;
    }
    Err(format!("nothing stands still at {spot:?}").into())
}

async fn wait_until_seen(
    what: &str,
    screen: &mut X11Client,
    is: impl Fn(&mut X11Client) -> bool,
) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    while !is(screen) {
        if began.elapsed() > START_TIMEOUT {
            return Err(format!("{what} does not come").into());
        }
        sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
