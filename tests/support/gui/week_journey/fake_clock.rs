//! Another day on the wall clock of the programs that are started, and of nobody else.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const C_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/support/gui/week_journey/clock.c");
const SECONDS_PER_DAY: u32 = 24 * 60 * 60;

/// A clock that can be set ahead. It measures no shorter or longer, it only tells another time.
#[derive(Debug)]
pub(super) struct FakeClock {
    library: PathBuf,
    _folder: TempDir,
}

impl FakeClock {
    /// Makes it; wants a C compiler.
    pub(super) fn compile() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = folder.path().join("clock.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(Path::new(C_SOURCE));
        let made = compiler.status().expect("a C compiler: install build-essential");
        assert!(made.success(), "{C_SOURCE} is not compiled");
        Self { library, _folder: folder }
    }

    /// The environment of a program that lives so many days ahead.
    pub(super) fn env_days_ahead(&self, days: u32) -> [(&'static str, String); 2] {
        let library = self.library.display().to_string();
        [("LD_PRELOAD", library), ("CLOCK_AHEAD", (days * SECONDS_PER_DAY).to_string())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_lives_days_ahead_and_its_neighbours_do_not() {
        let clock = FakeClock::compile();
        let today = |days: Option<u32>| {
            let mut date = Command::new("date");
            date.arg("+%s");
            if let Some(days) = days {
                date.envs(clock.env_days_ahead(days));
            }
            let said = date.output().expect("date runs").stdout;
            let seconds = String::from_utf8_lossy(&said).trim().parse::<u64>();
            seconds.expect("seconds")
        };
        let (now, ahead, later) = (today(None), today(Some(8)), today(None));
        let days = u64::from(8 * SECONDS_PER_DAY);
        assert!((now + days..=later + days).contains(&ahead), "{now} {ahead} {later}");
    }
}
