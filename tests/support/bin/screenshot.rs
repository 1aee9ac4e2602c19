//! Takes a screenshot of the working window: `screenshot APP FILE [ARGUMENTS OF THE APP…]`.
//!
//! For machines without a display: it brings its own, waits until the chat is painted, saves the
//! PNG and ends what it started. Last line on stdout: the path of the screenshot.

#![allow(clippy::expect_used, reason = "without a temporary folder there is no screenshot")]

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::gui::web_driver::{LaunchOptions, WebDriver};
use testkit::{DesktopApp, VirtualDisplay};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(binary), Some(screenshot)) = (words.next(), words.next()) else {
        eprintln!("usage: screenshot APP FILE [ARGUMENTS OF THE APP…]");
        return ExitCode::from(2);
    };
    let screenshot = PathBuf::from(screenshot);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let display = VirtualDisplay::start();
    let launch = LaunchOptions {
        binary: binary.into(),
        args: words.collect(),
        env: Vec::new(),
        display: display.name().into(),
        log: folder.path().join("window.log"),
    };
    let app = DesktopApp { window: WebDriver::start(&launch).await };
    app.wait_until_opened().await;
    app.window.screenshot(&screenshot).await;
    app.quit().await;
    println!("{}", screenshot.display());
    ExitCode::SUCCESS
}
