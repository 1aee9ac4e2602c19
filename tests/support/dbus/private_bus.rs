//! A message bus of a test's own: the real dbus-daemon in a folder of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A running dbus-daemon that serves as the computer's bus or a session's; ended on drop.
#[derive(Debug)]
pub struct PrivateBus {
    _folder: TempDir,
    daemon: Child,
    address: String,
}

impl PrivateBus {
    /// Starts one that knows no services; resolves when it takes clients.
    #[must_use]
    pub fn start() -> Self {
        Self::with_unresponsive_services(&[])
    }

    /// The same where these names have services that are started when somebody calls them, and never
    /// take their name: calls wait for them until the daemon gives up, after two minutes.
    #[must_use]
    pub fn with_unresponsive_services(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let services = folder.path().join("services");
        fs::create_dir(&services).expect("a folder of services");
        for name in names {
            let service = format!("[D-BUS Service]\nName={name}\nExec=/bin/sleep 45\n");
            fs::write(services.join(format!("{name}.service")), service).expect("a service");
        }
        let config = folder.path().join("bus.conf");
        let place = folder.path().display();
        let words = format!(
            "<busconfig><type>session</type><listen>unix:path={place}/bus</listen>\
             <auth>EXTERNAL</auth><servicedir>{place}/services</servicedir>\
             <policy context=\"default\"><allow send_destination=\"*\"/>\
             <allow receive_sender=\"*\"/><allow own=\"*\"/></policy></busconfig>"
        );
        fs::write(&config, words).expect("a configuration");
        let mut daemon = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--print-address=1", "--nofork", "--nopidfile"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon starts: install the package dbus-daemon");
        let mut address = String::new();
        let answer = daemon.stdout.take().expect("its output is piped");
        BufReader::new(answer).read_line(&mut address).expect("dbus-daemon says its address");
        assert!(!address.trim().is_empty(), "dbus-daemon ended before it was ready");
        Self { _folder: folder, daemon, address: address.trim().to_owned() }
    }

    /// The value for `DBUS_SESSION_BUS_ADDRESS` or `DBUS_SYSTEM_BUS_ADDRESS`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for PrivateBus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
