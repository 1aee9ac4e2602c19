//! A screen that nobody looks at: one real X server a test run.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A running Xvfb of 1280×800; ended on drop.
#[derive(Debug)]
pub struct VirtualDisplay {
    name: String,
    server: Child,
}

impl VirtualDisplay {
    /// Starts one on the first number that is free; resolves when it takes clients.
    #[must_use]
    pub fn start() -> Self {
        // Without `-noreset` the server restarts when its last client leaves, and the next client
        // may not be able to connect: tests that restart the program would fail now and then.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset"])
            .args(["-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts: install the package xvfb");
        let mut number = String::new();
        let answer = server.stdout.take().expect("its output is piped");
        // The server writes its number once it is ready, and closes the pipe when it gives up.
        BufReader::new(answer).read_line(&mut number).expect("Xvfb says its number");
        assert!(!number.trim().is_empty(), "Xvfb ended before it was ready");
        Self { name: format!(":{}", number.trim()), server }
    }

    /// The value for `DISPLAY`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
