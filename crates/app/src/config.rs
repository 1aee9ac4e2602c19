//! `config.toml`: what the user chose. Changed by hand and by every window of this data directory, key by key;
//! comments are kept.
//!
//! A file that cannot be read, or that may have lost a part, counts for nothing: then every note is private
//! and no model is asked, until the file is whole again or the user has decided ([`Config::settle`]).
#![expect(clippy::disallowed_methods, reason = "config.toml is a file of the data directory")]

mod keys;
mod misspelled;
mod watch;
mod whole;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use protocol::settings::HubSettings;
use protocol::{ErrorCode, PrivateRules, Settings, SettingsChoice, SettingsTrouble, UserError};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::sync::{mpsc, oneshot};
use vault::{Links, Vault};

use crate::aside::aside;
use crate::data_dir::{DataDir, trouble};
use crate::hub_places;
use crate::spending::PAUSED;
use crate::write_lock::WriteLock;
pub(crate) use watch::Watch;
use whole::{END, Fault, Found, Whole};

/// So often a change is made anew because somebody saved the file by hand at the same moment.
const ATTEMPTS: u32 = 50;

/// The settings in force, and the file they are kept in. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    data: DataDir,
    current: Arc<RwLock<Current>>,
    /// Rung when the file is another one than was read.
    outdated: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// Asks for the file to be read again, and waits for that.
pub(crate) type Outdated = mpsc::UnboundedReceiver<oneshot::Sender<()>>;

#[derive(Debug)]
struct Current {
    settings: Settings,
    /// What is private; everything while the file does not count.
    private: PrivateRules,
    /// The hub name of the open vault, where that is another than the file's.
    hub_name: Option<String>,
    trouble: Option<SettingsTrouble>,
    /// The file as it was when its copy could not be written. The next file is compared with this one
    /// instead of the copy.
    unguarded: Option<String>,
    /// The file that was read.
    stamp: Stamp,
}

/// By what one state of a file is told from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stamp {
    File { device: u64, inode: u64, size: u64, written: (i64, i64), changed: (i64, i64) },
    None(io::ErrorKind),
}

impl Stamp {
    fn of(file: &Path) -> Self {
        match fs::metadata(file) {
            Err(error) => Self::None(error.kind()),
            Ok(about) => Self::File {
                device: about.dev(),
                inode: about.ino(),
                size: about.size(),
                written: (about.mtime(), about.mtime_nsec()),
                changed: (about.ctime(), about.ctime_nsec()),
            },
        }
    }
}

impl Config {
    /// Reads the file. While it does not count, the settings that counted last are shown. Blocks.
    pub(crate) fn load(data: &DataDir) -> (Self, Outdated) {
        let (outdated, asked) = mpsc::unbounded_channel();
        let current = Current {
            settings: Settings::default(),
            private: PrivateRules::everything(),
            hub_name: None,
            trouble: None,
            unguarded: None,
            stamp: Stamp::None(io::ErrorKind::Other),
        };
        let current = Arc::new(RwLock::new(current));
        let config = Self { data: data.clone(), current, outdated };
        let lock = config.data.lock();
        let (stamp, found) = config.found();
        if let Some(last) = found.last() {
            config.write().settings = last.settings;
        }
        config.take(lock.as_ref(), stamp, &found);
        (config, asked)
    }

    /// The settings in force.
    pub(crate) fn get(&self) -> Settings {
        let current = self.read();
        let mut settings = current.settings.clone();
        if let Some(name) = &current.hub_name {
            settings.hub.name.clone_from(name);
        }
        settings
    }

    /// The hub's settings as the file has them, for whatever vault.
    pub(crate) fn hub_in_file(&self) -> HubSettings {
        self.read().settings.hub.clone()
    }

    /// What is kept from models.
    pub(crate) fn private_rules(&self) -> PrivateRules {
        self.read().private.clone()
    }

    /// Why the file does not count, while it does not.
    pub(crate) fn trouble(&self) -> Option<SettingsTrouble> {
        self.read().trouble.clone()
    }

    /// Refuses while the file does not count.
    pub(crate) fn counts(&self) -> Result<(), UserError> {
        match self.trouble() {
            Some(trouble) => Err(UserError::new(ErrorCode::Settings, trouble.message)),
            None => Ok(()),
        }
    }

    /// Refuses while no model may be asked.
    pub(crate) fn may_ask(&self) -> Result<(), UserError> {
        self.counts()?;
        match self.read().settings.spending.paused {
            true => Err(UserError::new(ErrorCode::Spending, PAUSED)),
            false => Ok(()),
        }
    }

    /// Has the open vault go by this name at the hub; `None` for the name in the file.
    pub(crate) fn name_at_hub(&self, name: Option<String>) {
        self.write().hub_name = name;
    }

    /// Returns when what is in force is what the file says at this moment, whether its change was noticed or
    /// not.
    pub(crate) async fn up_to_date(&self) {
        let config = self.clone();
        if !matches!(aside(move || config.is_outdated()).await, Ok(true)) {
            return;
        }
        let (ask, read) = oneshot::channel();
        if self.outdated.send(ask).is_ok() {
            // Nobody reads it any more once the application ends.
            let _ = read.await;
        }
    }

    /// Whether the file is another one than was read.
    pub(crate) fn is_outdated(&self) -> bool {
        Stamp::of(&self.data.config_file()) != self.read().stamp
    }

    /// Reads the file again and puts in force what it says. `false` when that is what was in force. Blocks.
    pub(crate) fn reread(&self) -> bool {
        let lock = self.data.lock();
        let (stamp, found) = self.found();
        self.take(lock.as_ref(), stamp, &found)
    }

    /// Changes whatever differs between `before` and `after`, over what the file holds now; nothing is changed
    /// when the outcome is refused. Blocks.
    pub(crate) fn change(&self, before: &Settings, after: &Settings) -> Result<(), UserError> {
        let lock = self.data.lock()?;
        for _ in 0..ATTEMPTS {
            let (stamp, found) = self.found();
            let Ok(whole) = found.whole() else {
                self.take(Ok(&lock), stamp, &found);
                return self.counts();
            };
            let text = self.changed(whole, before, after)?;
            let old = found.file.as_ref().ok().and_then(Option::as_deref);
            if old == Some(text.as_bytes()) {
                self.take(Ok(&lock), stamp, &found);
                return Ok(());
            }
            if lock.replace_if(&self.target(), old, text.as_bytes())? {
                self.take_found(&lock);
                return Ok(());
            }
        }
        Err(UserError::new(
            ErrorCode::Busy,
            "Another program saves the settings file all the time. End that program, then try again.",
        ))
    }

    /// The file with the change in it.
    fn changed(
        &self,
        mut whole: Whole,
        before: &Settings,
        after: &Settings,
    ) -> Result<String, UserError> {
        let told = |settings| {
            toml_edit::ser::to_document(settings).map_err(|error| {
                UserError::other(format!("The settings cannot be written: {error}"))
            })
        };
        let (before, after) = (told(before)?, told(after)?);
        keys::change(whole.document.as_table_mut(), before.as_table(), after.as_table());
        let text = whole.text();
        // What is written is what will be read.
        let now = Whole::parse(&text).map_err(|fault| match fault {
            Fault::Unreadable(error) => {
                UserError::other(format!("The settings cannot be written: {error}"))
            }
            Fault::Gone | Fault::Empty | Fault::Cut | Fault::Unguarded(_) => {
                UserError::new(ErrorCode::Settings, self.words(&fault))
            }
        })?;
        check(&now.settings)?;
        Ok(text)
    }

    /// Has the user's choice count from now on, where the file does not; a file that counts stays as it is.
    /// Whatever is replaced is kept beside it. Blocks.
    pub(crate) fn settle(&self, choice: SettingsChoice) -> Result<(), UserError> {
        let lock = self.data.lock()?;
        let (stamp, found) = self.found();
        if found.whole().is_ok() {
            self.take(Ok(&lock), stamp, &found);
            return Ok(());
        }
        let text = match choice {
            SettingsChoice::File => {
                let bytes = found.file.clone().ok().flatten().unwrap_or_default();
                String::from_utf8(bytes).ok().and_then(|text| Whole::parse(&text).ok())
            }
            SettingsChoice::LastGood => found.last(),
            SettingsChoice::Defaults => Some(Whole::default()),
        };
        let whole = text.ok_or_else(|| {
            UserError::new(
                ErrorCode::Settings,
                "These settings cannot be read any more. Choose others, or correct the file by hand.",
            )
        })?;
        let target = self.target();
        keep_aside(&target, "broken")?;
        if choice == SettingsChoice::Defaults {
            keep_aside(&self.data.last_good_config_file(), "old")?;
        }
        lock.replace(&target, whole.text().as_bytes())?;
        self.write().unguarded = None;
        self.take_found(&lock);
        Ok(())
    }

    /// Puts in force what was just written, and keeps it as what was whole last: killed in between, the file
    /// has its end.
    fn take_found(&self, lock: &WriteLock) {
        let (stamp, found) = self.found();
        self.take(Ok(lock), stamp, &found);
    }

    /// Puts in force what was found.
    fn take(&self, lock: Result<&WriteLock, &UserError>, stamp: Stamp, found: &Found) -> bool {
        let whole = found.whole().and_then(|whole| match self.keep(lock, found) {
            Err(why) if self.read().unguarded.is_some() || found.has_new_rules(&whole) => {
                Err(Fault::Unguarded(why))
            }
            _ => Ok(whole),
        });
        // The copy may be writable again at any time.
        let stamp = match &whole {
            Err(Fault::Unguarded(_)) => Stamp::None(io::ErrorKind::Other),
            _ => stamp,
        };
        let mut current = self.write();
        let unguarded = match &whole {
            Ok(_) => None,
            Err(Fault::Unguarded(_)) => found.text().map(str::to_owned),
            Err(_) => current.unguarded.take(),
        };
        let (settings, private, trouble) = match whole {
            Ok(whole) => (whole.settings, whole.private, None),
            Err(fault) => (
                current.settings.clone(),
                PrivateRules::everything(),
                Some(SettingsTrouble { message: self.words(&fault), choices: found.choices() }),
            ),
        };
        let is_another = (&current.settings, &current.private, &current.trouble)
            != (&settings, &private, &trouble);
        let hub_name = current.hub_name.take();
        *current = Current { settings, private, hub_name, trouble, unguarded, stamp };
        is_another
    }

    /// Keeps a whole file as the one that counted last, by which the next one is judged; else why not.
    fn keep(&self, lock: Result<&WriteLock, &UserError>, found: &Found) -> Result<(), String> {
        let Ok(Some(bytes)) = &found.file else { return Ok(()) };
        if found.is_kept {
            return Ok(());
        }
        let copy = self.data.last_good_config_file();
        let kept = match lock {
            Ok(lock) => lock.replace(&copy, bytes).map_err(|error| error.message),
            Err(error) => Err(error.message.clone()),
        };
        if let Err(error) = &kept {
            tracing::warn!(error, "the settings that counted last are not kept");
        }
        kept
    }

    /// The stamp is taken first: what changes in between is looked at again.
    fn found(&self) -> (Stamp, Found) {
        let file = self.data.config_file();
        let stamp = Stamp::of(&file);
        let read = contents(&file).map_err(|error| {
            let words = error.to_string();
            words.split(" (os error").next().unwrap_or_default().to_owned()
        });
        let last_good = match contents(&self.data.last_good_config_file()) {
            Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            Err(_) => Some(String::new()),
        };
        let text = read.as_ref().ok().and_then(Option::as_deref);
        let is_kept = text.is_some() && text == last_good.as_deref().map(str::as_bytes);
        let last_good = match &self.read().unguarded {
            Some(unguarded) if !is_kept => Some(unguarded.clone()),
            _ => last_good,
        };
        (stamp, Found { file: read, last_good, is_kept })
    }

    /// The file itself where `config.toml` is a link to it.
    fn target(&self) -> PathBuf {
        let file = self.data.config_file();
        fs::canonicalize(&file).unwrap_or(file)
    }

    fn words(&self, fault: &Fault) -> String {
        let file = self.data.config_file();
        let file = file.display();
        match fault {
            Fault::Gone => format!(
                "The settings file {file} is gone. No model is asked until it is back, or until you choose \
                 which settings count."
            ),
            Fault::Empty => format!(
                "The settings file {file} is empty. No model is asked until it is corrected, or until you \
                 choose which settings count."
            ),
            Fault::Cut => format!(
                "The settings file {file} may be cut off: it no longer has all it had, and its last line is \
                 not “{END}”. No model is asked until it is corrected, or until you choose which settings \
                 count."
            ),
            Fault::Unguarded(why) => format!(
                "The settings file {file} has a new rule for private notes, and the copy that would show its \
                 loss cannot be written. No model is asked until it is. {why}"
            ),
            Fault::Unreadable(why) => format!(
                "The settings file {file} cannot be read ({why}). No model is asked until it is corrected, or \
                 until you choose which settings count."
            ),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Current> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A settings file of more bytes is not read: to understand tens of megabytes takes the better part of a minute.
const LARGEST: u64 = 4 << 20;

/// The bytes of a file; `None` where there is none. A pipe is not waited for, and a link that leads nowhere is an
/// error: its file may be on a disk that is not there at the moment.
fn contents(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut opened = match rustix::fs::open(file, flags, rustix::fs::Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT) if fs::symlink_metadata(file).is_ok() => {
            return Err(io::Error::other("it is a link to a file that is not there"));
        }
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    (&mut opened).take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 4 MiB"));
    }
    Ok(Some(bytes))
}

/// What no file may hold, whoever wrote the rest of it.
fn check(settings: &Settings) -> Result<(), UserError> {
    // What is saved is told to the window and stands in a file; a key has a place of its own.
    if llm::http::holds_a_secret(&settings.base_url) {
        return Err(UserError::other(
            "The provider's address holds a login or a ?: leave the address alone there, and \
             paste the key where keys are asked for.",
        ));
    }
    hub_places::check(&settings.hub)
}

/// Renames a file to `NAME.word`, or to the next free number behind it. One that is not there is no trouble.
fn keep_aside(file: &Path, word: &str) -> Result<(), UserError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2_u32..).map(|number| format!("{name}.{word}.{number}"));
    let names = std::iter::once(format!("{name}.{word}")).chain(numbered);
    let free = names.map(|name| file.with_file_name(name)).find(|path| !path.exists());
    let kept = free.unwrap_or_else(|| file.with_file_name(&name));
    match fs::rename(file, &kept) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(trouble("keep the broken file as", &kept, &error))
        }
        _ => Ok(()),
    }
}

/// Lets a vault be read as the settings say: through which links, and with which folders beside it.
pub(crate) fn let_read(vault: &Vault, settings: &Settings) {
    vault.set_links(if settings.follow_links { Links::Inside } else { Links::Refused });
    vault.set_extra_roots(&settings.extra_roots);
}

#[cfg(test)]
mod tests;
