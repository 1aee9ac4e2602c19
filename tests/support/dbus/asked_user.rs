//! A user whom the keyring asks: a double of a Secret Service with one locked collection, which answers its
//! prompts as a person would and knows no secrets.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use zbus::connection::Builder;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{OwnedObjectPath, Value};
use zbus::{Connection, interface};

const ROOT: &str = "/org/freedesktop/secrets";
const COLLECTION: &str = "/org/freedesktop/secrets/collection/login";
const PROMPT: &str = "/org/freedesktop/secrets/prompt/p1";

/// The user's answer to the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Types the password.
    Unlocks,
    /// Closes the question.
    Dismisses,
}

/// The double, for as long as the value lives.
#[derive(Debug)]
pub struct AskedUser {
    _bus: Connection,
    asked: Arc<AtomicUsize>,
}

impl AskedUser {
    /// Takes the keyring's name on the bus at `address`.
    pub async fn on(address: &str, answer: Answer) -> Self {
        let (asked, locked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
        let prompt = Prompt { asked: Arc::clone(&asked), locked: Arc::clone(&locked), answer };
        let build = || -> zbus::Result<Builder<'_>> {
            Builder::address(address)?
                .name("org.freedesktop.secrets")?
                .serve_at(ROOT, Service)?
                .serve_at(COLLECTION, Collection { locked })?
                .serve_at(PROMPT, prompt)
        };
        let bus = build().expect("a connection").build().await.expect("the bus lets it in");
        Self { _bus: bus, asked }
    }

    /// How often the user was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn path(text: &str) -> OwnedObjectPath {
    OwnedObjectPath::try_from(text).expect("a path")
}

struct Service;

#[interface(name = "org.freedesktop.Secret.Service")]
impl Service {
    fn search_items(
        &self,
        _attributes: HashMap<String, String>,
    ) -> (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) {
        (Vec::new(), Vec::new())
    }

    fn read_alias(&self, _name: &str) -> OwnedObjectPath {
        path(COLLECTION)
    }

    fn unlock(&self, _objects: Vec<OwnedObjectPath>) -> (Vec<OwnedObjectPath>, OwnedObjectPath) {
        (Vec::new(), path(PROMPT))
    }
}

struct Collection {
    locked: Arc<AtomicBool>,
}

#[interface(name = "org.freedesktop.Secret.Collection")]
impl Collection {
    #[zbus(property)]
    fn locked(&self) -> bool {
        self.locked.load(Ordering::SeqCst)
    }

    #[zbus(property)]
    fn items(&self) -> Vec<OwnedObjectPath> {
        Vec::new()
    }
}

struct Prompt {
    asked: Arc<AtomicUsize>,
    locked: Arc<AtomicBool>,
    answer: Answer,
}

#[interface(name = "org.freedesktop.Secret.Prompt")]
impl Prompt {
    async fn prompt(
        &self,
        _window: &str,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let dismissed = self.answer == Answer::Dismisses;
        self.locked.store(dismissed, Ordering::SeqCst);
        let told = Self::completed(&emitter, dismissed, Value::from(Vec::<String>::new()));
        Ok(told.await?)
    }

    fn dismiss(&self) {}

    #[zbus(signal)]
    async fn completed(
        emitter: &SignalEmitter<'_>,
        dismissed: bool,
        result: Value<'_>,
    ) -> zbus::Result<()>;
}
