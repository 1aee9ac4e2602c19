//! A computer that leaves networks and gets on others: a double of NetworkManager on a bus of a
//! test's own, which says what the real one says, from its name, its path and its interface.

use zbus::Connection;
use zbus::connection::Builder;

const PATH: &str = "/org/freedesktop/NetworkManager";
const NAME: &str = "org.freedesktop.NetworkManager";

/// The double, for as long as the value lives.
#[derive(Debug)]
pub struct FakeNetworkManager(Connection);

impl FakeNetworkManager {
    /// Takes NetworkManager's name on the bus at `address`.
    pub async fn start(address: &str) -> Self {
        Self::start_with_name(NAME, address).await
    }

    /// The same under another name: somebody who is not NetworkManager.
    pub async fn start_with_name(name: &str, address: &str) -> Self {
        let builder = Builder::address(address).expect("an address");
        let builder = builder.name(name).expect("a name");
        Self(builder.build().await.expect("the bus lets it in"))
    }

    /// The state changes to this `NMState`: 20 is no network, 40 is on the way to one, 50 to 70 are
    /// networks that reach ever further.
    pub async fn set_state(&self, state: u32) {
        let nobody_in_particular = None::<&str>;
        let told = self.0.emit_signal(nobody_in_particular, PATH, NAME, "StateChanged", &state);
        told.await.expect("the signal goes out");
    }
}
