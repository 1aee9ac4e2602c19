//! The window's invoke handler, made from the list of IPC calls.

use tauri::Runtime;
use tauri::ipc::Invoke;

use crate::commands::{changes, chat, conversations, desktop, hub, notes, search, settings, vault};

include!("../../crates/protocol/ipc_calls.rs");

macro_rules! handler_of {
    (
        types $types:tt
        $($module:ident {
            $(
                $(#[doc = $docs:literal])*
                $scope:ident $name:ident($($arguments:tt)*) -> $result:ty;
            )*
        })*
    ) => {
        tauri::generate_handler![$($($module::$name,)*)*]
    };
}

/// Answers the calls of the list, and no other.
pub(crate) fn handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    ipc_calls!(handler_of)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use serde_json::{Value, json};

    macro_rules! names_and_signatures {
        (
            types $types:tt
            $($module:ident {
                $(
                    $(#[doc = $docs:literal])*
                    $scope:ident $name:ident($($arguments:tt)*) -> $result:ty;
                )*
            })*
        ) => {
            vec![$($((
                stringify!($name),
                signature(
                    stringify!($scope),
                    stringify!($name),
                    stringify!($($arguments)*),
                    stringify!($result),
                ),
            ),)*)*]
        };
    }

    /// Arguments that the host fills in: they are no part of a call.
    const FILLED_IN: [&str; 4] = [": VaultApp", ": State<", ": AppHandle<", ": Channel<"];

    /// The name and the signature of each entry of the list.
    fn listed() -> Vec<(&'static str, String)> {
        ipc_calls!(names_and_signatures)
    }

    /// A call as one text, whatever its line breaks. A command cannot tell who names its vault.
    fn signature(scope: &str, name: &str, arguments: &str, result: &str) -> String {
        let scope = if scope == "named_vault" { "vault" } else { scope };
        let call = format!("{name}({arguments}) -> {result}");
        let call: String = call.split_whitespace().collect();
        format!("{scope} {}", call.replace(",)", ")"))
    }

    /// The signature of a command, from the name of its function on.
    fn command_signature(command: &str) -> String {
        let head = command.split('{').next().unwrap_or_default().replace("'_, ", "");
        let (name, head) = head.split_once('(').expect("arguments");
        let name = name.split('<').next().unwrap_or_default();
        let (arguments, result) = head.split_once(')').expect("the end of the arguments");
        let result = result.trim().strip_prefix("-> Result<");
        let result = result.and_then(|result| result.strip_suffix(", UserError>"));
        let (filled_in, arguments): (Vec<&str>, Vec<&str>) = arguments
            .split(',')
            .partition(|argument| FILLED_IN.iter().any(|kind| argument.contains(*kind)));
        let takes = |kind: &str| filled_in.iter().any(|argument| argument.contains(kind));
        let scope = match (takes(": VaultApp"), takes(": Channel<")) {
            (true, _) => "vault",
            (false, true) => "feed",
            (false, false) => "app",
        };
        signature(scope, name, &arguments.join(","), result.unwrap_or("not a result"))
    }

    /// Entries without such a command, and commands without such an entry.
    fn disagreements(listed: &[String], sources: &str) -> Vec<String> {
        let listed: BTreeSet<String> = listed.iter().cloned().collect();
        let commands = sources.split("#[tauri::command]").skip(1);
        let commands = commands.filter_map(|command| command.split_once("fn "));
        let commands = commands.map(|(_, command)| command_signature(command)).collect();
        listed.symmetric_difference(&commands).cloned().collect()
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads the sources")]
    fn sources() -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands");
        let files = fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file"));
        files.map(|file| fs::read_to_string(file.path()).expect("a source")).collect()
    }

    #[test]
    fn each_command_has_the_scope_the_arguments_and_the_result_of_its_entry() {
        let listed: Vec<String> = listed().into_iter().map(|(_, signature)| signature).collect();
        assert!(listed.len() > 50, "only {} calls are listed", listed.len());
        let disagreements = disagreements(&listed, &sources());
        assert!(disagreements.is_empty(), "\n{}\n", disagreements.join("\n"));
    }

    /// They are answered whichever vault the window shows.
    #[test]
    fn the_calls_about_the_whole_application_are_these() {
        let listed = listed();
        let of_app = listed.iter().filter(|(_, signature)| signature.starts_with("app "));
        let mut names: Vec<&str> = of_app.map(|(name, _)| *name).collect();
        names.sort_unstable();
        let expected = [
            "add_extra_root",
            "answer_close_request",
            "choose_vault",
            "desktop_state",
            "hub_token_source",
            "open_sample",
            "recover_settings",
            "save_settings",
            "set_autostart",
            "set_hub_token",
            "set_key",
            "set_window_focus",
            "stop_description",
            "stop_job",
            "stop_unlocking",
            "test_provider",
            "try_key",
            "unlock_keyring",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_command_that_differs_from_its_entry_is_complained_about() {
        let entry = [signature("vault", "stop", "conversation: ConversationId,", "()")];
        let complaints = |head: &str| {
            disagreements(&entry, &format!("#[tauri::command]\npub(crate) async fn {head} {{\n"))
        };
        let agreed = "stop(app: VaultApp, conversation: ConversationId) -> Result<(), UserError>";
        assert!(complaints(agreed).is_empty());
        for (part, other) in [
            ("stop", "halt"),
            ("VaultApp", "State<'_, App>"),
            ("conversation:", "chat:"),
            ("ConversationId", "TurnId"),
            ("ConversationId", "ConversationId, turn: TurnId"),
            ("<(),", "<bool,"),
            (" -> Result<(), UserError>", ""),
        ] {
            let head = agreed.replace(part, other);
            assert_eq!(complaints(&head).len(), 2, "{head}");
        }
        assert_eq!(disagreements(&entry, "").len(), 1);
    }

    #[test]
    fn the_capability_grants_the_calls_of_the_list_and_nothing_else() {
        let capability = include_str!("../capabilities/main.json");
        let capability: Value = serde_json::from_str(capability).expect("JSON");
        let permission = |(name, _): (&str, String)| format!("allow-{}", name.replace('_', "-"));
        let permissions: Vec<String> = listed().into_iter().map(permission).collect();
        assert_eq!(capability["permissions"], json!(permissions));
    }
}
