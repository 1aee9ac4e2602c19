//! The list of IPC calls as the interface and the client of the window in TypeScript, and as the capability
//! that grants them.

use super::TypeDeclarations;

include!("../../ipc_calls.rs");

/// An entry of the list, with the names and types of TypeScript.
pub(super) struct WindowCall {
    docs: &'static [&'static str],
    scope: &'static str,
    command: &'static str,
    /// Names with their types.
    arguments: Vec<(String, String)>,
    result: String,
}

macro_rules! window_calls {
    (
        types { $($import:item)* }
        $($module:ident {
            $(
                $(#[doc = $docs:literal])*
                $scope:ident $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
            )*
        })*
    ) => {
        $($import)*

        /// All entries. Their types are declared.
        pub(super) fn window_calls(types: &mut TypeDeclarations) -> Vec<WindowCall> {
            vec![$($(WindowCall {
                docs: &[$($docs),*],
                scope: stringify!($scope),
                command: stringify!($name),
                arguments: vec![
                    $((camel_case(stringify!($argument)), types.declare::<$type>())),*
                ],
                result: types.declare::<$result>(),
            },)*)*]
        }
    };
}

ipc_calls!(window_calls);

impl WindowCall {
    /// Whether its client is generated. That of the feed needs a channel and is written by hand.
    fn has_client(&self) -> bool {
        self.scope != "feed"
    }

    /// Parameters with their types.
    fn parameters(&self) -> Vec<(&str, &str)> {
        let arguments = self.arguments.iter().map(|(name, kind)| (name.as_str(), kind.as_str()));
        let vault = (self.scope == "named_vault").then_some(("vault", "VaultId | null"));
        arguments.chain(vault).collect()
    }

    fn interface_method(&self) -> String {
        let name = camel_case(self.command);
        let docs: String = self.docs.iter().map(|line| format!("   *{line}\n")).collect();
        let parameters = self.parameters();
        let parameters = parameters.iter().map(|(name, kind)| format!("{name}: {kind}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let result: &str = if self.result == "null" { "void" } else { &self.result };
        format!("  /**\n{docs}   */\n  {name}({parameters}): Promise<{result}>;\n")
    }

    fn client_method(&self) -> String {
        let name = camel_case(self.command);
        let names: Vec<&str> = self.parameters().into_iter().map(|(name, _)| name).collect();
        let names = names.join(", ");
        let request = if names.is_empty() { "{}".to_owned() } else { format!("{{ {names} }}") };
        let invoke = if self.scope == "vault" { "invokeInVault" } else { "invoke" };
        format!("    {name}: ({names}) => {invoke}('{}', {request}),\n", self.command)
    }
}

/// A name of Rust as Tauri and TypeScript spell it.
fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for (at, word) in name.split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if at > 0 => camel.extend(first.to_uppercase()),
            first => camel.extend(first),
        }
        camel.push_str(letters.as_str());
    }
    camel
}

/// The interface that the window knows.
pub(super) fn interface(calls: &[WindowCall]) -> String {
    let calls = calls.iter().filter(|call| call.has_client());
    let methods: String = calls.map(WindowCall::interface_method).collect();
    format!("{INTERFACE_HEAD}{methods}}}\n\n")
}

const INTERFACE_HEAD: &str = "\
/**
 * The IPC calls of the window. Each may be refused with a `UserError`, thrown as it is.
 */
export interface IpcCalls {
";

/// The function that makes the client.
pub(super) fn client(calls: &[WindowCall]) -> String {
    let calls = calls.iter().filter(|call| call.has_client());
    let methods: String = calls.map(WindowCall::client_method).collect();
    format!("{CLIENT_HEAD}{methods}  }};\n}}\n\n")
}

const CLIENT_HEAD: &str = "\
/**
 * Calls a command with its arguments by name.
 */
type Invoke = <T>(command: string, request: Record<string, unknown>) => Promise<T>;

/**
 * The client. `invokeInVault` adds the id of the vault that the window shows to a request.
 */
export function ipcCalls(invoke: Invoke, invokeInVault: Invoke): IpcCalls {
  return {
";

/// The capability file of the one window.
pub(super) fn capability(calls: &[WindowCall]) -> String {
    let names = calls.iter().map(|call| call.command.replace('_', "-"));
    let permissions: Vec<String> = names.map(|name| format!("    \"allow-{name}\"")).collect();
    format!("{CAPABILITY_HEAD}{}\n  ]\n}}\n", permissions.join(",\n"))
}

const CAPABILITY_HEAD: &str = r#"{
  "$schema": "../gen/schemas/desktop-schema.json",
  "identifier": "main",
  "description": "The calls that the one window may make: our own commands, nothing of the system.",
  "windows": ["main"],
  "permissions": [
"#;

fn call(scope: &'static str) -> WindowCall {
    WindowCall {
        docs: &[" Stops a job."],
        scope,
        command: "stop_job",
        arguments: vec![("jobNumber".to_owned(), "number".to_owned())],
        result: "null".to_owned(),
    }
}

#[test]
fn a_client_carries_the_vault_that_the_scope_of_its_call_says() {
    for (scope, client) in [
        ("app", "    stopJob: (jobNumber) => invoke('stop_job', { jobNumber }),\n"),
        ("vault", "    stopJob: (jobNumber) => invokeInVault('stop_job', { jobNumber }),\n"),
        (
            "named_vault",
            "    stopJob: (jobNumber, vault) => invoke('stop_job', { jobNumber, vault }),\n",
        ),
    ] {
        assert_eq!(call(scope).client_method(), client, "{scope}");
    }
    let without = WindowCall { arguments: Vec::new(), ..call("vault") };
    assert_eq!(without.client_method(), "    stopJob: () => invokeInVault('stop_job', {}),\n");
}

#[test]
fn an_interface_has_the_documentation_the_types_and_no_feed() {
    let method = "  /**\n   * Stops a job.\n   */\n  stopJob(jobNumber: number): Promise<void>;\n";
    assert_eq!(call("vault").interface_method(), method);
    let named = call("named_vault").interface_method();
    assert!(named.contains("stopJob(jobNumber: number, vault: VaultId | null)"), "{named}");
    assert!(interface(&[call("app")]).contains(method));
    assert!(!interface(&[call("feed")]).contains("stopJob"));
    assert!(!client(&[call("feed")]).contains("stopJob"));
}

#[test]
fn a_capability_grants_each_call_and_nothing_else() {
    let granted = |calls: &[WindowCall]| {
        let capability: serde_json::Value =
            serde_json::from_str(&capability(calls)).expect("a capability is JSON");
        assert_eq!(capability["windows"], serde_json::json!(["main"]));
        capability["permissions"].clone()
    };
    assert_eq!(granted(&[call("app")]), serde_json::json!(["allow-stop-job"]));
    let other = WindowCall { command: "undo", ..call("feed") };
    assert_eq!(
        granted(&[call("vault"), other]),
        serde_json::json!(["allow-stop-job", "allow-undo"])
    );
}
