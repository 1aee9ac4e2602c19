//! The vault that a call of the window is about.

use std::ops::Deref;

use app::App;
use protocol::VaultId;
use serde::Deserialize as _;
use tauri::ipc::{CommandArg, CommandItem, InvokeError};
use tauri::{Runtime, State};

/// The argument that names the vault which the window shows; `null` while it shows none.
const VAULT_ARGUMENT: &str = "vault";

/// The application for a command about the vault that the window shows. What was shown of one vault
/// is never done in another that was opened meanwhile: the call is refused, as is one that names none.
pub(crate) struct VaultApp(App);

impl Deref for VaultApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}

impl<'de, R: Runtime> CommandArg<'de, R> for VaultApp {
    fn from_command(command: CommandItem<'de, R>) -> Result<Self, InvokeError> {
        let CommandItem { plugin, name, key, message, acl } = command;
        let item = |key| CommandItem { plugin, name, key, message, acl };
        let app = State::<App>::from_command(item(key))?;
        let vault = Option::<VaultId>::deserialize(item(VAULT_ARGUMENT))
            .map_err(InvokeError::from_error)?;
        Ok(Self(app.for_vault(vault)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use app::DataDir;
    use serde_json::{Value, json};
    use tauri::ipc::{CallbackFn, InvokeBody};
    use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
    use tauri::webview::InvokeRequest;
    use tauri::{Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

    use super::*;
    use crate::{context, invoke_handler};

    fn said(window: &WebviewWindow<MockRuntime>, command: &str, request: Value) -> String {
        let request = InvokeRequest {
            cmd: command.into(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: "tauri://localhost/".parse().expect("an address"),
            body: InvokeBody::Json(request),
            headers: tauri::http::HeaderMap::default(),
            invoke_key: INVOKE_KEY.into(),
        };
        match get_ipc_response(window, request) {
            Ok(_) => "done".to_owned(),
            Err(refused) => refused.to_string(),
        }
    }

    /// The application with the second of two vaults open, and the ids of both.
    async fn with_two_vaults(all: &std::path::Path) -> (App, String, String) {
        let app = App::start(DataDir::at(all.join("data")).expect("a data directory"));
        let mut ids = Vec::new();
        for name in ["First", "Second"] {
            fs::create_dir(all.join(name)).expect("a vault");
            app.open_vault(&all.join(name)).await.expect("it opens");
            let snapshot = app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
            ids.push(snapshot.vault.expect("a vault").id.to_string());
        }
        let second = ids.pop().expect("two");
        (app, ids.pop().expect("one"), second)
    }

    #[test]
    fn what_was_decided_about_one_vault_is_not_done_in_another_that_was_opened_meanwhile() {
        let all = tempfile::tempdir().expect("a folder");
        let (app, first, second) = tauri::async_runtime::block_on(with_two_vaults(all.path()));
        let host = mock_builder()
            .invoke_handler(invoke_handler::handler())
            .build(context())
            .expect("a host");
        host.manage(app.clone());
        let window = WebviewWindowBuilder::new(&host, "main", WebviewUrl::default());
        let window = window.build().expect("a window");
        let turn = json!({ "type": "turn", "turn": "t" });
        let message = json!({
            "conversation": null, "text": "words", "answers": null, "openNote": null,
        });
        let calls = [
            ("decide_approval", json!({ "number": 1, "decision": "discard" })),
            ("decide_review", json!({ "request": { "review": "r", "notes": [] } })),
            ("undo", json!({ "scope": turn })),
            ("redo", json!({ "scope": turn })),
            ("reapply", json!({ "effect": "e" })),
            ("save_answer", json!({ "answer": "m", "name": "n" })),
            ("delete_conversations", json!({})),
            ("restore_conversations", json!({})),
            ("delete_history", json!({ "age": "any" })),
            ("stop", json!({ "conversation": "c" })),
            ("select_in_note", json!({ "path": "a.md", "selected": "words", "heading": null })),
            ("send_message", json!({ "request": message })),
        ];
        for (command, request) in calls {
            let with = |vault: Value| {
                let mut request = request.clone();
                request["vault"] = vault;
                said(&window, command, request)
            };
            for vault in [json!(first), Value::Null] {
                let refused = with(vault);
                assert!(
                    refused.contains("Another vault was opened meanwhile"),
                    "{command}: {refused}"
                );
            }
            let unnamed = said(&window, command, request.clone());
            assert!(unnamed.contains("Another vault was opened"), "{command}: {unnamed}");
            // The control: for the vault that is open it comes through, to whatever it then finds.
            let taken = with(json!(second));
            let is_taken = !taken.contains("Another vault") && !taken.contains("invalid args");
            assert!(is_taken, "{command}: {taken}");
        }
        tauri::async_runtime::block_on(app.shutdown());
    }
}
