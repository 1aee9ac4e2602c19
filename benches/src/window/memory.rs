//! The memory of the window and all its processes, compared with Chromium with one blank window.

use std::env;
use std::error::Error;
use std::path::PathBuf;

use testkit::PrivateBus;

use super::startup::{OpenedVault, close_app};
use super::{WindowFigure, WindowMeasurement, process_tree};

/// The names of the figures.
pub(crate) const FIGURES: [&str; 2] = ["memory_small_vault", "memory_large_vault"];

/// So often each is looked at, in turn.
const ROUNDS: usize = 3;

/// Takes them: with a small vault, and with one of ten thousand notes.
pub(crate) async fn measure_figures() -> WindowMeasurement {
    let bus = PrivateBus::start();
    let [small, large] =
        [OpenedVault::new(100, Some(&bus)).await?, OpenedVault::new(10_000, Some(&bus)).await?];
    let (mut ours, mut ours_large, mut rival) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(measure_app(&small).await?);
        rival.push(measure_chromium(&small).await?);
        ours_large.push(measure_app(&large).await?);
    }
    let rival = median(rival);
    let figure =
        |name, ours| WindowFigure { name, bar: 0.8, ours: median(ours), rival, unit: "MB" };
    let [name, name_large] = FIGURES;
    Ok(vec![figure(name, ours), figure(name_large, ours_large)])
}

async fn measure_app(scene: &OpenedVault) -> Result<f64, Box<dyn Error>> {
    let (app, _) = scene.start_until_composer().await?;
    let memory = process_tree::memory_at_rest(app.process_id().ok_or("it has ended")?).await?;
    close_app(&scene.home, app).await?;
    Ok(memory)
}

async fn measure_chromium(scene: &OpenedVault) -> Result<f64, Box<dyn Error>> {
    let program = env::var_os("CHROMIUM").map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from);
    let profile = scene.home.data_dir().with_file_name("chromium");
    let profile = format!("--user-data-dir={}", profile.display());
    let mut arguments = vec!["--app=about:blank", "--no-first-run", &profile];
    if rustix::process::getuid().is_root() {
        // It starts for root in no other way.
        arguments.push("--no-sandbox");
    }
    let browser = scene.home.start_program(&program, &arguments);
    let process = browser.process_id().ok_or("it has ended")?;
    let memory = process_tree::memory_at_rest(process).await?;
    let all = process_tree::process_tree(process);
    if all.len() < 4 {
        return Err(format!("{} does not stay", program.display()).into());
    }
    browser.kill().await;
    process_tree::wait_until_gone(&all).await?;
    Ok(memory)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
