//! Runs one test of this binary again where the kernel knows no `openat2`, or grants no leases.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part, and fails where it cannot go on"
)]

use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// Set in the process whose kernel says that there is no `openat2`.
const MARK: &str = "VAULT_WITHOUT_OPENAT2";

/// Set in the process that gets no leases.
const UNLEASED: &str = "VAULT_WITHOUT_LEASES";

/// Answers `openat2` (437 on every machine) with ENOSYS and lets the rest through.
const NO_OPENAT2: &str =
    "[0x20, 0, 0, 0], [0x15, 0, 1, 437], [0x06, 0, 0, 0x00050026], [0x06, 0, 0, 0x7fff0000]";

/// Answers `fcntl` (72, on aarch64 25) with EINVAL where it asks for a lease (1024), as file systems
/// do that grant none, and lets the rest through.
const NO_LEASES: &str = "[0x20, 0, 0, 0], [0x15, 0, 3, $fcntl], [0x20, 0, 0, 24], [0x15, 0, 1, 1024], \
     [0x06, 0, 0, 0x00050016], [0x06, 0, 0, 0x7fff0000]";

/// Asks for a filter, in perl, because it may call the system by number: `prctl` is 157, on aarch64
/// 167.
const FILTER: &str = r#"
    my ($prctl, $fcntl) = splice @ARGV, 0, 2;
    my @steps = (STEPS);
    my $program = join "", map { pack "SCCL", @$_ } @steps;
    my $filter = pack "Sx![P]P", scalar(@steps), $program;
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    syscall($prctl, 22, 2, $filter, 0, 0) == 0 or die "seccomp: $!";
    exec @ARGV or die "exec: $!";
"#;

/// Whether this is that process; it is checked that the kernel really says so.
pub fn is_blocked() -> bool {
    let is_blocked = std::env::var_os(MARK).is_some();
    let opened = openat2(CWD, ".", OFlags::RDONLY, Mode::empty(), ResolveFlags::empty());
    assert_eq!(
        opened.err() == Some(Errno::NOSYS),
        is_blocked,
        "openat2 fails exactly when blocked"
    );
    is_blocked
}

/// Whether this is the process that gets no leases.
pub fn is_unleased() -> bool {
    std::env::var_os(UNLEASED).is_some()
}

/// Runs the test `name` in such a process; it must pass there.
pub fn passes_without_openat2(name: &str) {
    passes(name, NO_OPENAT2, MARK);
}

/// The same in a process that gets no leases.
pub fn passes_without_leases(name: &str) {
    passes(name, NO_LEASES, UNLEASED);
}

fn passes(name: &str, steps: &str, mark: &str) {
    let numbers = if cfg!(target_arch = "aarch64") { ["167", "25"] } else { ["157", "72"] };
    let output = Command::new("perl")
        .args(["-e", &FILTER.replace("STEPS", steps)])
        .args(numbers)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(mark, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let cried = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{cried}");
    eprint!("{cried}");
}
