//! Our requests against the providers' own types, and a model server that others wrote. Both are
//! modules of Node in `tests/conformance`, of pinned versions; their scripts never run.

pub mod request_bodies;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

/// The result of the check.
#[derive(Debug)]
pub struct ConformanceReport {
    /// Whether each body is one that the provider's types take, and the check ran on all of them.
    pub holds: bool,
    /// A line a complaint, and a summary.
    pub output: String,
}

/// A model server with all three APIs; dropped, it is gone.
pub struct ThirdPartyServer {
    /// Its address, without a path.
    pub url: String,
    _process: Child,
}

/// Where the modules are, installed when they are missing or old; `Err` says in a sentence why
/// they cannot be had.
pub fn node_modules() -> Result<&'static Path, String> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    INSTALLED.get_or_init(install).as_deref().map_err(String::clone)
}

fn install() -> Result<PathBuf, String> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let lock = place.join("package-lock.json");
    let installed = place.join("node_modules/.installed-lock.json");
    let same = || Some(std::fs::read(&lock).ok()? == std::fs::read(&installed).ok()?);
    if same() == Some(true) {
        return Ok(place);
    }
    let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let done = Command::new("npm").args(npm).current_dir(&place).output();
    let done = done.map_err(|error| format!("npm cannot be run: {error}"))?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!("the modules of tests/conformance cannot be installed: {why}"));
    }
    std::fs::copy(&lock, &installed).map_err(|error| format!("{installed:?}: {error}"))?;
    Ok(place)
}

/// Holds all bodies in `folder` against the providers' types.
#[must_use]
pub fn check_bodies(modules: &Path, folder: &Path) -> ConformanceReport {
    let run = Command::new("node").arg(modules.join("check.mjs")).arg(folder).output();
    let run = run.expect("node runs");
    let said = [run.stdout, run.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    ConformanceReport { holds: run.status.success(), output: said.concat() }
}

impl ThirdPartyServer {
    /// Starts it; the bodies that it is asked with are kept in `folder`.
    pub async fn start(modules: &Path, folder: &Path) -> Self {
        let mut process = tokio::process::Command::new("node")
            .arg(modules.join("outside_server.mjs"))
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let line = tokio::time::timeout(crate::polling::TEST_TIMEOUT, lines.next_line()).await;
        let line = line.expect("it starts in time").expect("it can be read");
        Self { url: line.expect("it tells its address"), _process: process }
    }
}
