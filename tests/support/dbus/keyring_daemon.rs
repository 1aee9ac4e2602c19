//! The real keyring of GNOME on a bus of a test's own, with its files in a folder of its own. Its default
//! collection is unlocked at first.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use zbus::Connection;
use zbus::connection::Builder;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
/// Its own way in for tests and for those who migrate keyrings.
const INTERNAL: &str = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface";
const PASSWORD: &str = "open sesame";
const KEYRING_TIMEOUT: Duration = Duration::from_secs(20);

/// A running gnome-keyring-daemon; ended on drop.
#[derive(Debug)]
pub struct KeyringDaemon {
    _folder: TempDir,
    daemon: Child,
    bus: Connection,
}

impl KeyringDaemon {
    /// Starts it on the bus at `address`; resolves when it takes secrets.
    pub async fn on(address: &str) -> Self {
        let builder = Builder::address(address).expect("an address");
        let bus = builder.build().await.expect("the bus lets us in");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut daemon = Command::new("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets"])
            .arg(format!("--control-directory={}", folder.path().display()))
            .env("DBUS_SESSION_BUS_ADDRESS", address)
            .env("HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .env_remove("DISPLAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("gnome-keyring-daemon starts: install the package gnome-keyring");
        let mut input = daemon.stdin.take().expect("its input is piped");
        input.write_all(PASSWORD.as_bytes()).expect("it reads the password");
        drop(input);
        let this = Self { _folder: folder, daemon, bus };
        let is_there = async {
            loop {
                let read = this.bus.call_method(
                    Some(NAME),
                    ROOT,
                    Some(SERVICE),
                    "ReadAlias",
                    &("default",),
                );
                if let Ok(answer) = read.await
                    && answer
                        .body()
                        .deserialize::<OwnedObjectPath>()
                        .is_ok_and(|path| path.as_str() != "/")
                {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(KEYRING_TIMEOUT, is_there)
            .await
            .expect("the keyring has a default collection");
        this
    }

    /// Locks its default collection.
    pub async fn lock(&self) {
        let objects = (vec![self.collection().await],);
        let locked = self.bus.call_method(Some(NAME), ROOT, Some(SERVICE), "Lock", &objects);
        locked.await.expect("it locks");
    }

    /// Stores the secret of an account of ours, as another run of the program has.
    pub async fn store(&self, account: &str, secret: &str) {
        let attributes = HashMap::from([("service", "vaultmate"), ("username", account)]);
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Value::from("a secret")),
            ("org.freedesktop.Secret.Item.Attributes", Value::from(attributes)),
        ]);
        let item = (properties, self.plainly(secret).await, true);
        let (bus, collection) = (&self.bus, self.collection().await);
        let created =
            bus.call_method(Some(NAME), collection, Some(COLLECTION), "CreateItem", &item);
        created.await.expect("it stores");
    }

    /// Unlocks it as its user would, without asking anybody.
    pub async fn unlock(&self) {
        let with = (self.collection().await, self.plainly(PASSWORD).await);
        let method = "UnlockWithMasterPassword";
        let unlocked = self.bus.call_method(Some(NAME), ROOT, Some(INTERNAL), method, &with);
        unlocked.await.expect("it unlocks");
    }

    /// A secret as it goes over the bus, in a session that does not encrypt.
    async fn plainly(&self, secret: &str) -> (OwnedObjectPath, Vec<u8>, Vec<u8>, &'static str) {
        let plain = ("plain", Value::from(""));
        let opened = self.bus.call_method(Some(NAME), ROOT, Some(SERVICE), "OpenSession", &plain);
        let opened = opened.await.expect("a session");
        let (_, session): (OwnedValue, OwnedObjectPath) =
            opened.body().deserialize().expect("a session's path");
        (session, Vec::new(), secret.as_bytes().to_vec(), "text/plain")
    }

    async fn collection(&self) -> ObjectPath<'static> {
        let read =
            self.bus.call_method(Some(NAME), ROOT, Some(SERVICE), "ReadAlias", &("default",));
        let answer = read.await.expect("an answer");
        let path: OwnedObjectPath = answer.body().deserialize().expect("a path");
        path.into_inner()
    }
}

impl Drop for KeyringDaemon {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
