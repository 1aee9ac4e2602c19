//! Setups that only some machines allow: mounts, leases, attributes of files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::fixture::{NOTE_TEXT, PathFixture};
use super::super::runner::CaseProblem;

/// A mount that ends with this value.
#[derive(Debug)]
pub(in super::super) struct CaseMount(PathBuf);

/// Shows `source` at `at`, in a name space that nobody else sees.
pub(in super::super) fn bind_mount(source: &Path, at: &Path) -> Result<CaseMount, CaseProblem> {
    let space = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    if space("self").is_none() || space("self") == space("1") {
        return Err(CaseProblem::Skip("it wants mounts of its own (unshare -m)".to_owned()));
    }
    run_command(Command::new("mount").arg("--bind").arg(source).arg(at))?;
    Ok(CaseMount(at.to_owned()))
}

impl Drop for CaseMount {
    fn drop(&mut self) {
        // Lazily: a handle of the subject may still be in it.
        let _ = run_command(Command::new("umount").arg("-l").arg(&self.0));
    }
}

/// Makes the other disk that a destination may be on; other destinations need nothing.
pub(super) fn mount_destination(path: &str, fixture: &mut PathFixture) -> Result<(), CaseProblem> {
    if path.starts_with("other-mount/") {
        let at = fixture.vault.join("other-mount");
        fs::create_dir(&at).map_err(super::skip_because)?;
        let mount = bind_mount(&fixture.enclosing_folder().join("home"), &at)?;
        fixture.cleanups.push(Box::new(move || drop(mount)));
    }
    Ok(())
}

/// A file with an attribute that is taken away again at the end.
pub(super) fn set_attribute(
    at: &Path,
    letter: char,
    fixture: &mut PathFixture,
) -> Result<(), CaseProblem> {
    fs::write(at, NOTE_TEXT).map_err(super::skip_because)?;
    run_command(Command::new("chattr").arg(format!("+{letter}")).arg(at))?;
    let at = at.to_owned();
    fixture.cleanups.push(Box::new(move || {
        let _ = run_command(Command::new("chattr").arg(format!("-{letter}")).arg(at));
    }));
    Ok(())
}

/// Another process holds a lease for writing and does not give it back.
pub(super) fn take_lease(at: &Path, fixture: &mut PathFixture) -> Result<(), CaseProblem> {
    const HOLD: &str = "$SIG{IO} = 'IGNORE'; $| = 1; open(F, '+<', $ARGV[0]) or exit 1; \
                        fcntl(F, 1024, 1) or exit 1; print \"held\\n\"; <STDIN>;";
    fs::write(at, NOTE_TEXT).map_err(super::skip_because)?;
    let mut command = Command::new("perl");
    command.args(["-e", HOLD]).arg(at).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = command.spawn().map_err(super::skip_because)?;
    let mut line = String::new();
    let said = holder.stdout.take().map(BufReader::new);
    let read = said.map(|mut said| said.read_line(&mut line));
    fixture.cleanups.push(Box::new(move || {
        let _ = holder.kill();
        let _ = holder.wait();
    }));
    match read {
        Some(Ok(_)) if line.trim() == "held" => Ok(()),
        _ => Err(CaseProblem::Skip("nobody here can hold a lease".to_owned())),
    }
}

fn run_command(command: &mut Command) -> Result<(), CaseProblem> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(super::skip_because)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default();
    Err(CaseProblem::Skip(format!("{name} does not work here: {said}")))
}
