//! `config.toml`: what the user chose. Changed by hand and by every window of this data directory, key by key;
//! comments are kept.
//!
//! A file that cannot be read, or that may have lost a part, counts for nothing: then every note is private
//! and no model is asked, until the file is whole again or the user has decided ([`Config::recover`]).
#![expect(clippy::disallowed_methods, reason = "config.toml is a file of the data directory")]

mod file_watcher;
mod integrity;
mod kept_files;
mod misspelled_keys;
mod toml_patch;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use protocol::error::user_text::UserText;
use protocol::settings::HubSettings;
use protocol::{ErrorCode, PrivateRules, Settings, SettingsChoice, SettingsProblem, UserError};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::sync::{mpsc, oneshot};
use vault::{SymlinkPolicy, Vault};

use crate::hub::writable_notes;
use crate::support::blocking::run_blocking;
use crate::user_texts;
use crate::workspace::data_dir::DataDir;
use crate::workspace::write_lock::WriteLock;
pub(crate) use file_watcher::ConfigWatcher;
use integrity::{ConfigFault, ConfigOnDisk, END_MARKER, ParsedConfig};
use kept_files::{move_aside, replace_broken};

/// How often a change is repeated because another program saved the file at the same moment, or has it open for writing.
const MAX_WRITE_ATTEMPTS: u32 = 50;

/// The settings in force, and the file they are kept in. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    data: DataDir,
    current: Arc<RwLock<LoadedConfig>>,
    /// Notified when the file is another one than was read.
    reload_requests: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// Asks for the file to be read again, and waits for that.
pub(crate) type ReloadRequests = mpsc::UnboundedReceiver<oneshot::Sender<()>>;

#[derive(Debug)]
struct LoadedConfig {
    settings: Settings,
    /// The private rules; everything is private while the file does not count.
    private: PrivateRules,
    /// The hub name of the open vault, where that is another than the file's.
    hub_name: Option<String>,
    problem: Option<SettingsProblem>,
    /// The file as it was when its copy could not be written. The next file is compared with this one
    /// instead of the copy.
    unsaved_last_good: Option<String>,
    /// The file that was read.
    stamp: ConfigStamp,
}

/// By what one state of a file is told from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigStamp {
    File { device: u64, inode: u64, size: u64, written: (i64, i64), changed: (i64, i64) },
    None(io::ErrorKind),
}

impl ConfigStamp {
    fn of_file(file: &Path) -> Self {
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
    pub(crate) fn load(data: &DataDir) -> (Self, ReloadRequests) {
        let (outdated, asked) = mpsc::unbounded_channel();
        let current = LoadedConfig {
            settings: Settings::default(),
            private: PrivateRules::everything(),
            hub_name: None,
            problem: None,
            unsaved_last_good: None,
            stamp: ConfigStamp::None(io::ErrorKind::Other),
        };
        let current = Arc::new(RwLock::new(current));
        let config = Self { data: data.clone(), current, reload_requests: outdated };
        let lock = config.data.lock();
        let (stamp, found) = config.read_from_disk();
        if let Some(last) = found.parse_last_good() {
            config.write().settings = last.settings;
        }
        config.activate(lock.as_ref(), stamp, &found);
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

    /// The rules for notes that are kept from models.
    pub(crate) fn private_rules(&self) -> PrivateRules {
        self.read().private.clone()
    }

    /// Why the file does not count, while it does not.
    pub(crate) fn problem(&self) -> Option<SettingsProblem> {
        self.read().problem.clone()
    }

    /// Refuses while the file does not count.
    pub(crate) fn ensure_valid(&self) -> Result<(), UserError> {
        match self.problem() {
            Some(SettingsProblem { message, text, .. }) => {
                Err(UserError { code: ErrorCode::Settings, message, text })
            }
            None => Ok(()),
        }
    }

    /// Refuses while no model may be asked.
    pub(crate) fn ensure_models_allowed(&self) -> Result<(), UserError> {
        self.ensure_valid()?;
        match self.read().settings.spending.paused {
            true => Err(UserError::new(ErrorCode::Spending, user_texts::models_paused())),
            false => Ok(()),
        }
    }

    /// Has the open vault go by this name at the hub; `None` for the name in the file.
    pub(crate) fn set_hub_name(&self, name: Option<String>) {
        self.write().hub_name = name;
    }

    /// Returns when what is in force is what the file says at this moment, whether its change was noticed or
    /// not.
    pub(crate) async fn reload_if_changed(&self) {
        let config = self.clone();
        if !matches!(run_blocking(move || config.is_outdated()).await, Ok(true)) {
            return;
        }
        let (ask, read) = oneshot::channel();
        if self.reload_requests.send(ask).is_ok() {
            // Nobody reads it any more once the application ends.
            let _ = read.await;
        }
    }

    /// Whether the file is another one than was read.
    pub(crate) fn is_outdated(&self) -> bool {
        ConfigStamp::of_file(&self.data.config_file()) != self.read().stamp
    }

    /// Reads the file again and activates its settings. `false` when they are active already.
    /// Blocks.
    pub(crate) fn reload(&self) -> bool {
        let lock = self.data.lock();
        let (stamp, found) = self.read_from_disk();
        self.activate(lock.as_ref(), stamp, &found)
    }

    /// Changes whatever differs between `before` and `after`, over what the file holds now; nothing is changed
    /// when the outcome is refused. Blocks.
    pub(crate) fn change(&self, before: &Settings, after: &Settings) -> Result<(), UserError> {
        let lock = self.data.lock()?;
        let mut is_sealed = false;
        for _ in 0..MAX_WRITE_ATTEMPTS {
            let (stamp, found) = self.read_from_disk();
            let Ok(whole) = found.parse_complete() else {
                self.activate(Ok(&lock), stamp, &found);
                return self.ensure_valid();
            };
            let sealed = whole.to_text();
            let text = self.patched_text(whole, before, after)?;
            let old = found.file.as_ref().ok().and_then(Option::as_deref);
            if old == Some(text.as_bytes()) {
                self.activate(Ok(&lock), stamp, &found);
                return Ok(());
            }
            // Beside a copy without its last line, a setting that this change removes would look lost. So the
            // copy first gets its last line, with all settings in it.
            let seals_first = !is_sealed && !found.has_sealed_copy();
            let text = if seals_first { &sealed } else { &text };
            if lock.replace_if(&self.target(), old, text.as_bytes())? {
                self.activate_from_disk(&lock);
                if !seals_first {
                    return Ok(());
                }
                is_sealed = true;
            }
        }
        Err(UserError::new(ErrorCode::Busy, user_texts::settings_saved_elsewhere()))
    }

    /// The file with the change in it.
    fn patched_text(
        &self,
        mut whole: ParsedConfig,
        before: &Settings,
        after: &Settings,
    ) -> Result<String, UserError> {
        let told = |settings| {
            toml_edit::ser::to_document(settings).map_err(|error| {
                UserError::other(user_texts::settings_not_written(error.to_string()))
            })
        };
        let old = whole.settings.clone();
        let (before, after) = (told(before)?, told(after)?);
        toml_patch::patch_table(whole.document.as_table_mut(), before.as_table(), after.as_table());
        let text = whole.to_text();
        // The text that is written is what will be read.
        let now = ParsedConfig::parse(&text).map_err(|fault| match fault {
            ConfigFault::Unreadable(error) => {
                UserError::other(user_texts::settings_not_written(error.to_string()))
            }
            ConfigFault::Gone
            | ConfigFault::Empty
            | ConfigFault::Cut
            | ConfigFault::Unguarded(_) => {
                UserError::new(ErrorCode::Settings, self.fault_text(&fault))
            }
        })?;
        validate(&now.settings)?;
        if now.marks_server_of(&old) {
            let marked = now.settings.clone();
            let mut unmarked = marked.clone();
            unmarked.private.endpoint_is_local = false;
            return self.patched_text(now, &marked, &unmarked);
        }
        Ok(text)
    }

    /// Activates the user's choice where the file does not count; a file that counts stays as it
    /// is. A file that is replaced is kept beside it; until it is replaced, it stays where it is, and everything
    /// stays private. Blocks.
    pub(crate) fn recover(&self, choice: SettingsChoice) -> Result<(), UserError> {
        let lock = self.data.lock()?;
        let (stamp, found) = self.read_from_disk();
        if found.parse_complete().is_ok() {
            self.activate(Ok(&lock), stamp, &found);
            return Ok(());
        }
        let text = match choice {
            SettingsChoice::File => {
                let bytes = found.file.clone().ok().flatten().unwrap_or_default();
                String::from_utf8(bytes).ok().and_then(|text| ParsedConfig::parse(&text).ok())
            }
            SettingsChoice::LastGood => found.parse_last_good(),
            SettingsChoice::Defaults => Some(ParsedConfig::default()),
        };
        let whole = text.ok_or_else(|| {
            UserError::new(ErrorCode::Settings, user_texts::settings_choice_unreadable())
        })?;
        if !replace_broken(&lock, &self.target(), &found, &whole.to_text())? {
            // The user chose without knowing the file that is there now.
            self.activate_from_disk(&lock);
            return self.ensure_valid();
        }
        // The chosen settings may lack what the copy has. The copy goes last: without it and without the file,
        // the next start would count as the first one.
        if choice != SettingsChoice::LastGood {
            move_aside(&self.data.last_good_config_file(), "old")?;
        }
        self.write().unsaved_last_good = None;
        self.activate_from_disk(&lock);
        Ok(())
    }

    /// Activates the text that was just written, and keeps it as the last good one. If the process
    /// is killed in between, the file has its end marker.
    fn activate_from_disk(&self, lock: &WriteLock) {
        let (stamp, found) = self.read_from_disk();
        self.activate(Ok(lock), stamp, &found);
    }

    /// Activates the settings that were found.
    fn activate(
        &self,
        lock: Result<&WriteLock, &UserError>,
        stamp: ConfigStamp,
        found: &ConfigOnDisk,
    ) -> bool {
        let whole =
            found.parse_complete().and_then(|whole| match self.save_last_good(lock, found) {
                Err(why)
                    if self.read().unsaved_last_good.is_some() || found.has_new_rules(&whole) =>
                {
                    Err(ConfigFault::Unguarded(why))
                }
                _ => Ok(whole),
            });
        // The copy may be writable again at any time.
        let stamp = match &whole {
            Err(ConfigFault::Unguarded(_)) => ConfigStamp::None(io::ErrorKind::Other),
            _ => stamp,
        };
        let mut current = self.write();
        let unguarded = match &whole {
            Ok(_) => None,
            Err(ConfigFault::Unguarded(_)) => found.text().map(str::to_owned),
            Err(_) => current.unsaved_last_good.take(),
        };
        let (settings, private, trouble) = match whole {
            Ok(whole) => (whole.settings, whole.private, None),
            Err(fault) => {
                let (message, text) = self.fault_text(&fault).into_parts();
                let problem = SettingsProblem { message, text, choices: found.choices() };
                (current.settings.clone(), PrivateRules::everything(), Some(problem))
            }
        };
        let is_another = (&current.settings, &current.private, &current.problem)
            != (&settings, &private, &trouble);
        let hub_name = current.hub_name.take();
        *current = LoadedConfig {
            settings,
            private,
            hub_name,
            problem: trouble,
            unsaved_last_good: unguarded,
            stamp,
        };
        is_another
    }

    /// Keeps a whole file as the one that counted last, by which the next one is judged; else why not.
    fn save_last_good(
        &self,
        lock: Result<&WriteLock, &UserError>,
        found: &ConfigOnDisk,
    ) -> Result<(), String> {
        let Ok(Some(bytes)) = &found.file else { return Ok(()) };
        if found.is_last_good {
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
    fn read_from_disk(&self) -> (ConfigStamp, ConfigOnDisk) {
        let file = self.data.config_file();
        let stamp = ConfigStamp::of_file(&file);
        let read = read_config_bytes(&file).map_err(|error| {
            let words = error.to_string();
            words.split(" (os error").next().unwrap_or_default().to_owned()
        });
        let last_good = match read_config_bytes(&self.data.last_good_config_file()) {
            Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            Err(_) => Some(String::new()),
        };
        let text = read.as_ref().ok().and_then(Option::as_deref);
        let is_kept = text.is_some() && text == last_good.as_deref().map(str::as_bytes);
        let last_good = match &self.read().unsaved_last_good {
            Some(unguarded) if !is_kept => Some(unguarded.clone()),
            _ => last_good,
        };
        (stamp, ConfigOnDisk { file: read, last_good, is_last_good: is_kept })
    }

    /// The file itself where `config.toml` is a link to it.
    fn target(&self) -> PathBuf {
        let file = self.data.config_file();
        fs::canonicalize(&file).unwrap_or(file)
    }

    fn fault_text(&self, fault: &ConfigFault) -> UserText {
        let file = self.data.config_file().display().to_string();
        match fault {
            ConfigFault::Gone => user_texts::settings_gone(file),
            ConfigFault::Empty => user_texts::settings_empty(file),
            ConfigFault::Cut => user_texts::settings_cut(file, END_MARKER),
            ConfigFault::Unguarded(why) => user_texts::settings_unguarded(file, why.as_str()),
            ConfigFault::Unreadable(why) => user_texts::settings_unreadable(file, why.as_str()),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, LoadedConfig> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, LoadedConfig> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A settings file of more bytes is not read: to understand tens of megabytes takes the better part of a minute.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// The bytes of a file; `None` where there is none. A pipe is not waited for, and a broken symlink
/// is an error: its target may be on a disk that is not mounted at the moment.
fn read_config_bytes(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut opened = match rustix::fs::open(file, flags, rustix::fs::Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT) if fs::symlink_metadata(file).is_ok() => {
            return Err(io::Error::other("it is a link to a file that isn’t there"));
        }
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it isn’t a file"));
    }
    let mut bytes = Vec::new();
    (&mut opened).take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        return Err(io::Error::other("it is larger than 4 MiB"));
    }
    Ok(Some(bytes))
}

/// Refuses settings that no file may hold.
fn validate(settings: &Settings) -> Result<(), UserError> {
    // Settings are sent to the window and stored in a file; a key has a place of its own.
    if llm::transport::http::has_credentials(&settings.base_url) {
        return Err(UserError::other(user_texts::server_url_with_credentials()));
    }
    writable_notes::validate(&settings.hub)
}

/// Lets a vault be read as the settings say: through which links, and with which folders beside it.
pub(crate) fn apply_read_settings(vault: &Vault, settings: &Settings) {
    vault.set_symlink_policy(if settings.follow_links {
        SymlinkPolicy::Inside
    } else {
        SymlinkPolicy::Refused
    });
    vault.set_extra_roots(&settings.extra_roots);
}

#[cfg(test)]
mod tests;
