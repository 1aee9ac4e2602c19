//! MiniSearch, set up as note programs set it up, in Node.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

const PACKAGE: &str = "minisearch@7";

/// Installs it into `modules`, unless it is there; builds, changes and asks.
pub(crate) fn measure(modules: &Path, files: [&Path; 3]) -> Result<String, Box<dyn Error>> {
    let script = modules.join("measure.mjs");
    if !script.exists() {
        install(modules)?;
        std::fs::write(&script, include_str!("minisearch.mjs"))?;
    }
    let done = Command::new("node")
        .arg("--max-old-space-size=8192")
        .arg(script)
        .args(files)
        .stderr(Stdio::inherit())
        .output()?;
    if !done.status.success() {
        return Err(format!("node ended with {}", done.status).into());
    }
    Ok(String::from_utf8(done.stdout)?)
}

fn install(modules: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(modules)?;
    let done = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
        .arg(modules)
        .arg(PACKAGE)
        .stdin(Stdio::null())
        .output()?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!("npm cannot install {PACKAGE}: {}", why.trim()).into());
    }
    Ok(())
}
