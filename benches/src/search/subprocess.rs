//! Work that is done in a process of its own, so that its time and memory are its alone.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

/// The numbers that a process printed, by name.
#[derive(Debug, Clone)]
pub(super) struct NamedNumbers(BTreeMap<String, f64>);

impl NamedNumbers {
    /// Of `name=number`, parted by blanks.
    pub(super) fn parse(printed: &str) -> Self {
        let pairs = printed.split_whitespace().filter_map(|word| word.split_once('='));
        let numbers = pairs.filter_map(|(name, number)| Some((name.into(), number.parse().ok()?)));
        Self(numbers.collect())
    }

    /// The number of that name.
    pub(super) fn get(&self, name: &str) -> Result<f64, Box<dyn Error>> {
        Ok(*self.0.get(name).ok_or_else(|| format!("a process did not tell its {name}"))?)
    }
}

/// The command that does this kind of work over a vault; what it keeps is in `place`.
pub(super) fn command(kind: &str, vault: &Path, place: &Path) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["look", kind]).arg(vault).arg(place);
    Ok(command)
}

/// Runs a command to its end; the numbers it printed.
pub(super) fn run(command: &mut Command) -> Result<NamedNumbers, Box<dyn Error>> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !done.status.success() {
        return Err(format!("{command:?} ended with {}", done.status).into());
    }
    Ok(NamedNumbers::parse(&String::from_utf8(done.stdout)?))
}

/// Does this kind of work and gives the numbers that come of it.
pub(super) fn run_kind(
    kind: &str,
    vault: &Path,
    place: &Path,
) -> Result<NamedNumbers, Box<dyn Error>> {
    run(&mut command(kind, vault, place)?)
}

/// The one in the middle.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}
