//! A computer that sleeps and wakes: a double of logind on a bus of a test's own, which says what the
//! real one says, from its name, its path and its interface.

use zbus::Connection;
use zbus::connection::Builder;

const PATH: &str = "/org/freedesktop/login1";
const INTERFACE: &str = "org.freedesktop.login1.Manager";

/// The double, for as long as the value lives.
#[derive(Debug)]
pub struct FakeLogind(Connection);

impl FakeLogind {
    /// Takes logind's name on the bus at `address`.
    pub async fn start(address: &str) -> Self {
        Self::start_with_name("org.freedesktop.login1", address).await
    }

    /// The same under another name: somebody who is not logind.
    pub async fn start_with_name(name: &str, address: &str) -> Self {
        let builder = Builder::address(address).expect("an address");
        let builder = builder.name(name).expect("a name");
        Self(builder.build().await.expect("the bus lets it in"))
    }

    /// The computer is about to sleep.
    pub async fn announce_sleep(&self) {
        self.emit_prepare_for_sleep(true).await;
    }

    /// It is awake again.
    pub async fn announce_resume(&self) {
        self.emit_prepare_for_sleep(false).await;
    }

    async fn emit_prepare_for_sleep(&self, begins: bool) {
        let nobody_in_particular = None::<&str>;
        let told =
            self.0.emit_signal(nobody_in_particular, PATH, INTERFACE, "PrepareForSleep", &begins);
        told.await.expect("the signal goes out");
    }
}
