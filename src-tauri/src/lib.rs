//! The desktop host: one window over [`app::App`].
//!
//! Each IPC command in `commands` is one line that calls the application; a second line belongs in `app`. The rest is
//! what only a host can do: the window and its limits (`navigation`, `webview_limits`), the tray and notifications
//! (`lifecycle`, `notification_text`), and images of the vault (`image_protocol`). The binary is one call:
//!
//! ```no_run
//! let exit_code = vaultmate::run();
//! ```

mod close_policy;
mod commands;
#[cfg(target_os = "linux")]
mod gpu_workaround;
mod i18n;
mod image_protocol;
mod invoke_handler;
mod launch_args;
mod lifecycle;
mod navigation;
mod notification_text;
mod portal_workaround;
#[cfg(test)]
mod security_tests;
mod vault_app;
#[cfg(target_os = "linux")]
mod webview_limits;

use std::process::ExitCode;

use app::{App, DataDir, RunningInstance};
use tauri::webview::PageLoadEvent;
use tauri::{Manager as _, RunEvent, Runtime, WebviewUrl, WebviewWindowBuilder};

use crate::launch_args::{Invocation, LaunchArgs};
use crate::lifecycle::WindowLifecycle;

/// Runs until the window is closed. Prints an error if it cannot start.
#[must_use]
pub fn run() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), String> {
    let arguments = match Invocation::parse(std::env::args_os().skip(1))? {
        Invocation::Open(arguments) => arguments,
        Invocation::Help => {
            print!("{}", launch_args::HELP);
            return Ok(());
        }
        Invocation::Version => {
            println!("vaultmate {}", env!("CARGO_PKG_VERSION"));
            return Ok(());
        }
    };
    app::keep_memory_to_itself();
    // The web engine's processes inherit what is left.
    #[cfg(target_os = "linux")]
    app::take_keys_from_environment(|name| glib::unsetenv(name));
    #[cfg(target_os = "linux")]
    gpu_workaround::disable_gpu_emulation();
    let displays = ["DISPLAY", "WAYLAND_DISPLAY"];
    if cfg!(target_os = "linux") && displays.iter().all(|name| std::env::var_os(name).is_none()) {
        return Err(
            "There is no display to open a window on. Start Vaultmate from a desktop, or use \
             `vaultmate-cli`, which needs none."
                .to_owned(),
        );
    }
    let data = DataDir::locate().map_err(|error| error.message)?;
    if is_open_already(&data, &arguments) {
        return Ok(());
    }
    portal_workaround::disable_portal()?;
    let mut log = Some(app::start_log(&data));
    let built = builder(tauri::Builder::default(), data, arguments)
        .build(context())
        .map_err(|error| format!("The window can’t be opened: {error}."))?;
    built.run(move |handle, event| {
        if let RunEvent::Exit = event {
            tauri::async_runtime::block_on(handle.state::<App>().shutdown());
            // The event loop ends the process and never returns: what is buffered goes out now.
            log.take();
        }
    });
    Ok(())
}

/// The built-in configuration: the page, the permissions, and the policy for what may be loaded.
fn context<R: Runtime>() -> tauri::Context<R> {
    tauri::generate_context!()
}

/// The host on any runtime: the window's own, or the tests' mock.
fn builder<R: Runtime>(
    builder: tauri::Builder<R>,
    data: DataDir,
    arguments: LaunchArgs,
) -> tauri::Builder<R> {
    let builder =
        builder.plugin(tauri_plugin_dialog::init()).on_window_event(lifecycle::on_window_event);
    let builder = builder.register_asynchronous_uri_scheme_protocol(
        image_protocol::SCHEME,
        image_protocol::handle_request,
    );
    builder.invoke_handler(navigation::only_for_own_page(invoke_handler::handler())).setup(
        move |host| {
            let begin = arguments.begin;
            let (app, presence) = tauri::async_runtime::block_on(async {
                let app = App::start(data);
                let presence = WindowLifecycle::start(host.handle(), &app, begin);
                app.open_initial_vault(arguments.vault, arguments.fallback);
                (app, presence)
            });
            let shown = lifecycle::is_shown_at_once(&app, begin);
            host.manage(app);
            host.manage(presence);
            if let Err(error) = open_window(host, shown) {
                // Handed to the framework it would be a panic.
                eprintln!("The window can’t be opened: {error}.");
                host.handle().exit(1);
            }
            Ok(())
        },
    )
}

/// Whether a window has the vault open already; it has come to the front then.
fn is_open_already(data: &DataDir, arguments: &LaunchArgs) -> bool {
    let folder = arguments.vault.clone().or_else(|| data.last_vault());
    folder.is_some_and(|folder| {
        let running = tauri::async_runtime::block_on(app::notify_running(data, &folder));
        running == RunningInstance::Answered
    })
}

fn open_window<R: Runtime>(host: &tauri::App<R>, shown: bool) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(host, "main", WebviewUrl::default());
    let window = navigation::restrict_navigation(window)
        .title("Vaultmate")
        // Drawn before its page is there, the engine would keep the thread of the window for half a second.
        .visible(false)
        .on_document_title_changed(|window, title| {
            // A window system that shows no title cannot be helped from here.
            let _ = window.set_title(&title);
        })
        .on_page_load(move |window, load| {
            if load.event() == PageLoadEvent::Finished {
                lifecycle::on_page_loaded(&window, shown);
            }
        })
        .inner_size(1180.0, 760.0)
        .min_inner_size(420.0, 420.0)
        // Drops belong to the page: the composer attaches files, and everything else is ignored.
        .disable_drag_drop_handler()
        .build()?;
    #[cfg(target_os = "linux")]
    webview_limits::restrict_webview(&window)?;
    Ok(())
}
