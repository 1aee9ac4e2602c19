//! Keeps the window's toolkit from waiting for a desktop portal that never comes.
//!
//! GTK calls the portal while it registers its application, on the thread of the window, and waits
//! 25 s. It cannot be told not to, but it can be kept from the bus: it refuses an address with a value
//! that is no valid escape, where everybody else here looks at the keys they know alone.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use desktop::{Bus, PortalStatus};

const BUS_ADDRESS_VARIABLE: &str = "DBUS_SESSION_BUS_ADDRESS";
/// The suffix that GTK cannot parse.
const INVALID_SUFFIX: &str = ",nogtk=%zz";

/// Starts the program again, in this process and without the bus, where the toolkit would wait.
/// Does nothing where it would not wait, and where that was done already.
pub(crate) fn disable_portal() -> Result<(), String> {
    let Some(address) = bus_address().filter(|address| !address.ends_with(INVALID_SUFFIX)) else {
        return Ok(());
    };
    let portal = tauri::async_runtime::block_on(PortalStatus::probe(&Bus::session()));
    if portal == PortalStatus::Answers {
        return Ok(());
    }
    eprintln!("The desktop’s portal doesn’t answer. The window starts without it.");
    let program = env::current_exe().map_err(|error| format!("This program is gone: {error}."))?;
    let mut restarted = Command::new(program);
    restarted.args(env::args_os().skip(1)).env(BUS_ADDRESS_VARIABLE, invalidate_address(&address));
    app::give_keys_to(&mut restarted);
    // Only a failure comes back; then it is better to wait than not to start.
    let error = restarted.exec();
    eprintln!(
        "The window couldn’t be started without the portal ({error}). The start may take half a \
         minute."
    );
    Ok(())
}

/// Where the session's bus is: as the environment says, else where sessions have it.
fn bus_address() -> Option<String> {
    let given = env::var(BUS_ADDRESS_VARIABLE).ok().filter(|address| !address.is_empty());
    let usual = || Some(format!("unix:path={}/bus", env::var("XDG_RUNTIME_DIR").ok()?));
    given.or_else(usual)
}

/// An address list has its parts between semicolons; each is spoiled.
fn invalidate_address(address: &str) -> String {
    let parts = address.split(';').filter(|part| !part.is_empty());
    parts.map(|part| format!("{part}{INVALID_SUFFIX}")).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_spoiled_in_each_of_its_parts() {
        let both = invalidate_address("unix:path=/run/user/1000/bus;unix:abstract=x,guid=1f");
        assert_eq!(
            both,
            "unix:path=/run/user/1000/bus,nogtk=%zz;unix:abstract=x,guid=1f,nogtk=%zz"
        );
    }
}
