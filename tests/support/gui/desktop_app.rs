//! The built application in a real window, on a data folder that outlives it.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::gui::web_driver::{LaunchOptions, WebDriver};
use crate::gui::x11::{ScreenRegion, SpecialKey, X11Client, X11Window};
use crate::polling::poll_until;
use crate::scripted_model::{KEY, ScriptedModel};
use crate::{PrivateBus, TempVault, VirtualDisplay};

const WINDOW_TITLE: &str = "Vaultmate";
/// The title of the dialog in which a folder is chosen.
const FOLDER_DIALOG_TITLE: &str = "Select Folder";
/// Where a dialog shows the path: it stands in the corner of the screen, as nobody places it elsewhere.
const DIALOG_PATH_REGION: ScreenRegion = ScreenRegion { x: 160, y: 0, width: 930, height: 45 };

/// Whether the window stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowVisibility {
    /// It does.
    Shown,
    /// It does not.
    Gone,
}

/// Outlives the application: its data folder, the settings, the screen. Starting again on the same
/// home is what a user does after a crash.
#[derive(Debug)]
pub struct DesktopHome {
    folder: TempDir,
    display: VirtualDisplay,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl DesktopHome {
    /// A home where Vaultmate never ran: no vault, no key, no hub.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it starts a display")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = |name: &str| folder.path().join(name).display().to_string();
        let env = [
            ("VAULTMATE_DATA_DIR", place("data")),
            ("HOME", place("home")),
            ("XDG_DATA_HOME", place("xdg-data")),
            ("XDG_CONFIG_HOME", place("xdg-config")),
            ("XDG_CACHE_HOME", place("xdg-cache")),
            ("LANG", "C.UTF-8".into()),
            ("LANGUAGE", "en".into()),
            // Variables of the tester's own shell must not reach the application.
            ("ANTHROPIC_API_KEY", String::new()),
            ("ANTHROPIC_BASE_URL", String::new()),
            ("VAULTMATE_HUB_URL", String::new()),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self { folder, display: VirtualDisplay::start(), args: Vec::new(), env }
    }

    /// The same home with this vault opened.
    #[must_use]
    pub fn with_vault(mut self, vault: &TempVault) -> Self {
        self.args.extend(["--vault".to_owned(), vault.root().display().to_string()]);
        self
    }

    /// The same home with this model to ask.
    #[must_use]
    pub fn with_model(mut self, model: &ScriptedModel) -> Self {
        self.set_env_var("ANTHROPIC_API_KEY", KEY.into());
        self.set_env_var("ANTHROPIC_BASE_URL", model.base_url());
        self
    }

    /// The same home with the link to the hub at `url` switched on.
    #[must_use]
    pub fn with_hub(mut self, url: &str) -> Self {
        self.set_env_var("VAULTMATE_HUB_URL", url.into());
        self
    }

    /// The same home in a session with this bus.
    #[must_use]
    pub fn with_bus(mut self, bus: &PrivateBus) -> Self {
        self.set_env_var("DBUS_SESSION_BUS_ADDRESS", bus.address().into());
        self
    }

    /// Starts the application once more beside the one that runs; resolves when it has ended.
    pub async fn start_second_instance(&self) -> ExitStatus {
        self.start_undriven(&[]).wait_for_exit().await
    }

    /// Starts the application as a desktop does, with these arguments besides; nobody drives its page.
    #[must_use]
    pub fn start_undriven(&self, arguments: &[&str]) -> UndrivenApp {
        let own = self.args.iter().map(String::as_str);
        let all: Vec<&str> = own.chain(arguments.iter().copied()).collect();
        self.start_program(&application_path(), &all)
    }

    /// Starts another program in the same session, on the same screen.
    #[must_use]
    pub fn start_program(&self, program: &Path, arguments: &[&str]) -> UndrivenApp {
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("DISPLAY", self.display.name()).env_remove("WAYLAND_DISPLAY");
        // Only the bus that a test gave it: the other variable leads to the usual one.
        command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("XDG_RUNTIME_DIR");
        for (name, value) in &self.env {
            command.env(name, value);
        }
        UndrivenApp(command.kill_on_drop(true).spawn().expect("it starts"))
    }

    /// The screen and its keyboard.
    #[must_use]
    pub fn connect_x11(&self) -> X11Client {
        X11Client::connect(self.display.name())
    }

    /// The window of the application on a screen, if it stands there.
    #[must_use]
    pub fn find_window(screen: &mut X11Client) -> Option<X11Window> {
        screen.find_shown_window(WINDOW_TITLE)
    }

    /// Chooses a folder in the dialog of the system that stands on the screen, or comes: by typing its
    /// path there. Resolves when the dialog is gone.
    pub async fn choose_folder(&self, folder: &Path) {
        let mut screen = self.connect_x11();
        let shown = "the dialog of the system";
        let dialog = poll_until(shown, async || {
            screen.find_shown_window(FOLDER_DIALOG_TITLE).ok_or("none".to_owned())
        })
        .await;
        screen.focus_window_without_revert(dialog);
        let before = wait_until_unchanged(&mut screen).await;
        // The first letter of a path opens a field for the rest.
        let rest = folder.to_str().and_then(|path| path.strip_prefix('/')).expect("a whole path");
        screen.type_letter('/');
        poll_until("a field for the path", async || {
            (screen.pixels(DIALOG_PATH_REGION) != before)
                .then_some(())
                .ok_or("as before".to_owned())
        })
        .await;
        wait_until_unchanged(&mut screen).await;
        for letter in rest.chars() {
            screen.type_letter(letter);
        }
        let mut asked = 0_u32;
        poll_until("the dialog to go", async || {
            if screen.find_shown_window(FOLDER_DIALOG_TITLE).is_none() {
                return Ok(());
            }
            // While it still lists the folder, it does not take the key.
            if asked.is_multiple_of(20) {
                // It completes the name of a lone folder inside, as a selection.
                screen.press_special_key(SpecialKey::Delete);
                screen.press_special_key(SpecialKey::Enter);
            }
            asked += 1;
            Err("it stays".to_owned())
        })
        .await;
        screen.focus_pointer_root();
    }

    /// Resolves when the window stands on the screen, or does not.
    pub async fn wait_for_window(&self, seen: WindowVisibility) {
        let mut windows = X11Client::connect(self.display.name());
        poll_until(&format!("the window to be {seen:?}"), async || {
            let is = if windows.find_shown_window(WINDOW_TITLE).is_some() {
                WindowVisibility::Shown
            } else {
                WindowVisibility::Gone
            };
            if is == seen { Ok(()) } else { Err(format!("it is {is:?}")) }
        })
        .await;
    }

    /// Presses the close button of the window, which must be there.
    pub fn press_close_button(&self) {
        let mut windows = X11Client::connect(self.display.name());
        let window = windows.find_shown_window(WINDOW_TITLE).expect("the window is shown");
        windows.press_close_button(window);
    }

    /// The folder in `VAULTMATE_DATA_DIR`.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the application; resolves when its window shows a page.
    pub async fn start(&self) -> DesktopApp {
        let launch = LaunchOptions {
            binary: application_path(),
            args: self.args.clone(),
            env: self.env.clone(),
            display: self.display.name().into(),
            log: self.folder.path().join("window.log"),
        };
        DesktopApp { window: WebDriver::start(&launch).await }
    }

    /// Puts these into the environment of what is started from now on.
    pub fn set_env_vars<const N: usize>(&mut self, variables: [(&str, String); N]) {
        for (name, value) in variables {
            self.set_env_var(name, value);
        }
    }

    fn set_env_var(&mut self, name: &str, value: String) {
        self.env.retain(|(other, _)| other != name);
        self.env.push((name.into(), value));
    }
}

/// The running application. Dropping it ends it.
#[derive(Debug)]
pub struct DesktopApp {
    /// The session that drives its window.
    pub window: WebDriver,
}

impl DesktopApp {
    /// Resolves once there is something to look at: the chat, or on a first run the welcome.
    pub async fn wait_until_opened(&self) {
        self.window.find("[data-testid=composer], [data-testid=firstrun]").await;
    }

    /// Saves a screenshot of the window as `NAME.png` in the folder `VAULTMATE_SCREENSHOTS`, if one
    /// is set, for people who want to watch a test.
    pub async fn save_screenshot(&self, name: &str) {
        if let Some(folder) = std::env::var_os("VAULTMATE_SCREENSHOTS") {
            let file = Path::new(&folder).join(name).with_extension("png");
            self.window.screenshot(&file).await;
        }
    }

    /// Ends it as a power cut would; resolves when it is gone.
    pub async fn kill(self) {
        self.window.kill_app().await;
    }

    /// Closes the window; resolves when the program is gone.
    pub async fn quit(self) {
        self.window.quit().await;
    }
}

/// The application as a desktop starts it. Dropping it ends it.
#[derive(Debug)]
pub struct UndrivenApp(Child);

impl UndrivenApp {
    /// Its process; none once it has ended.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.0.id()
    }

    /// Ends it as a power cut would; resolves when it is gone.
    pub async fn kill(mut self) {
        self.0.kill().await.expect("it can be ended");
    }

    /// Resolves when it has ended on its own.
    pub async fn wait_for_exit(mut self) -> ExitStatus {
        let ended = tokio::time::timeout(Duration::from_secs(60), self.0.wait()).await;
        ended.expect("it ends").expect("its status")
    }
}

/// The head of a dialog once it has not changed for a while.
async fn wait_until_unchanged(screen: &mut X11Client) -> Vec<u8> {
    let (mut last, mut same) = (Vec::new(), 0);
    poll_until("the dialog to be drawn", async || {
        let now = screen.pixels(DIALOG_PATH_REGION);
        same = if now == last { same + 1 } else { 0 };
        last = now;
        if same >= 5 { Ok(last.clone()) } else { Err("it changes".to_owned()) }
    })
    .await
}

/// The application that was built: `VAULTMATE_APP`, else the one beside this test.
#[must_use]
pub fn application_path() -> PathBuf {
    built_program("VAULTMATE_APP", "vaultmate")
}

/// The headless host that was built: `VAULTMATE_CLI`, else the one beside this test.
#[must_use]
pub fn cli_path() -> PathBuf {
    built_program("VAULTMATE_CLI", "vaultmate-cli")
}

fn built_program(variable: &str, name: &str) -> PathBuf {
    let program =
        std::env::var_os(variable).map_or_else(|| sibling_of_test_binary(name), PathBuf::from);
    let there = program.is_file();
    assert!(there, "{} is not built: run `cargo build --workspace` first", program.display());
    program
}

fn sibling_of_test_binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's own file");
    let folder = test.ancestors().find(|folder| folder.join("deps").is_dir());
    folder.unwrap_or_else(|| Path::new("target/debug")).join(name)
}
