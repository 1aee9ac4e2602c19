//! Anonymous memory of a process that has built the index, searched lines and found notes.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::Taken;
use super::apart::{self, Numbers};
use super::ground::{Ground, asked_in};
use super::line::Line;
use super::literal::{Manner, query};
use super::standing::Standing;
use crate::ranking::own_process::anonymous;
use crate::ranking::queries::Asked;

/// What it may hold of a vault without notes, in bytes.
const BASE: f64 = 30e6;

/// What it may hold for each byte of text.
const SHARE: f64 = 0.35;

/// So often the process is looked at for its peak.
const BEAT: Duration = Duration::from_millis(2);

/// Of every fifth query the lines are searched too.
const SEARCHED: usize = 5;

/// What is held at the end, beside what may be; the most that was seen meanwhile is told with it.
pub(super) fn take(ground: &Ground) -> Result<Taken, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    fs::copy(asked_in(ground.place()?), asked_in(place.path()))?;
    let mut command = apart::command("use", &ground.folder, place.path())?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0.0_f64);
    while child.try_wait()?.is_none() {
        let held = fs::read_to_string(&status).ok().and_then(|status| held(&status));
        peak = peak.max(held.unwrap_or_default());
        std::thread::sleep(BEAT);
    }
    let done = child.wait_with_output()?;
    if !done.status.success() {
        return Err(format!("the measured process ended with {}", done.status).into());
    }
    let numbers = Numbers::of(&String::from_utf8(done.stdout)?);
    let (anonymous, peak) = (numbers.get("anon_mb")?, peak / 1e6);
    let text = megabytes(ground.bytes);
    let limit = BASE / 1e6 + SHARE * text;
    let details = format!(
        "anon_mb={anonymous:.1} limit_mb={limit:.1} peak_mb={peak:.1} opened_mb={:.1} \
         built_mb={:.1} text_mb={text:.1}",
        numbers.get("opened_mb")?,
        numbers.get("built_mb")?
    );
    let costs = vec![("memory", anonymous), ("memory_peak", peak)];
    Ok(Taken { lines: vec![Line::new("memory", anonymous / limit, 1.0, details)], costs })
}

/// Does all that a person does with an index, one after the other.
pub(super) fn use_all(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let asked: Vec<Asked> = serde_json::from_slice(&fs::read(asked_in(place))?)?;
    let standing = Standing::begin(vault, place)?;
    standing.open()?;
    let opened = megabytes(anonymous()?);
    standing.build()?;
    let built = megabytes(anonymous()?);
    for asked in asked.iter().step_by(SEARCHED) {
        standing.search(&query(&asked.words.join(" "), Manner::AsTheTool))?;
    }
    for asked in &asked {
        standing.find(&asked.typed())?;
        standing.index.names(&standing.vault, &asked.words.join(" "), &[], 50)?;
    }
    let anonymous = megabytes(anonymous()?);
    Ok(format!("anon_mb={anonymous:.2} opened_mb={opened:.2} built_mb={built:.2}"))
}

/// The anonymous memory of which a process tells in its status, in bytes.
fn held(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
