//! Which page may call which command, and what the window may load: checked against the files that
//! say so.

use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;
use tauri::{WebviewUrl, WebviewWindow, WebviewWindowBuilder};

use crate::{context, invoke_handler, navigation};

const CONFIGURATION: &str = include_str!("../tauri.conf.json");
const CAPABILITY: &str = include_str!("../capabilities/main.json");

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_page_loads_only_packaged_files_and_connects_only_to_the_application() {
    let policy = &parsed(CONFIGURATION)["app"]["security"]["csp"];
    let policy = policy.as_str().expect("a policy");
    let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
    assert_eq!(
        directives,
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' blob: data: vault-image: http://vault-image.localhost",
            "font-src 'self'",
            "connect-src ipc: http://ipc.localhost",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            // Ours draws Markdown; the framework's holds what was compiled; the cleaner's stays inside.
            "trusted-types vaultmate-markdown svelte-trusted-html dompurify",
        ]
    );
    let security = &parsed(CONFIGURATION)["app"]["security"];
    for loophole in ["dangerousDisableAssetCspModification", "assetProtocol", "capabilities"] {
        assert_eq!(security[loophole], Value::Null, "{loophole}");
    }
    assert_eq!(parsed(CONFIGURATION)["app"]["withGlobalTauri"], Value::Null);
}

#[test]
fn one_capability_grants_the_one_window_our_own_commands_and_nothing_of_the_system() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/capabilities");
    assert_eq!(std::fs::read_dir(folder).expect("the folder").count(), 1);
    let capability = parsed(CAPABILITY);
    let names: Vec<&String> = capability.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["$schema", "description", "identifier", "permissions", "windows"]);
    assert_eq!(capability["windows"], json!(["main"]));
    let permissions = capability["permissions"].as_array().expect("a list");
    let ours = |permission: &&Value| {
        let name = permission.as_str().unwrap_or_default();
        name.starts_with("allow-") && !name.contains(':')
    };
    assert_eq!(permissions.iter().filter(ours).count(), permissions.len());
}

/// The error of a call from a page at `url` in the window, if it is refused.
fn refusal(window: &WebviewWindow<MockRuntime>, url: &str) -> String {
    let request = InvokeRequest {
        cmd: "desktop_state".into(),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: url.parse().expect("an address"),
        body: InvokeBody::default(),
        headers: tauri::http::HeaderMap::default(),
        invoke_key: INVOKE_KEY.into(),
    };
    get_ipc_response(window, request).expect_err("nothing answers here").to_string()
}

#[test]
fn a_command_of_another_window_or_another_origin_is_refused() {
    let commands = navigation::only_for_own_page(invoke_handler::handler());
    let host = mock_builder().invoke_handler(commands).build(context()).expect("a host");
    let open = |label| {
        let window = WebviewWindowBuilder::new(&host, label, WebviewUrl::default());
        window.build().expect("a window")
    };
    let (main, other) = (open("main"), open("other"));
    let own = if cfg!(windows) { "http://tauri.localhost/" } else { "tauri://localhost/" };
    for (window, url) in [
        (&other, own),
        (&main, "https://example.org/"),
        (&main, "http://localhost:1420/"),
        (&main, "http://ipc.localhost/"),
        (&main, "data:text/html,x"),
    ] {
        let said = refusal(window, url);
        assert!(said.contains("not allowed"), "{} at {url}: {said}", window.label());
    }
    // The control: the window's own call comes as far as what it asks for, which no test has.
    let said = refusal(&main, own);
    assert!(!said.contains("not allowed"), "{said}");
    // The framework takes a page of each scheme that the application answers for its own.
    let image = "vault-image://localhost/?link=a.png";
    main.navigate(image.parse().expect("an address")).expect("the mock goes there");
    let said = refusal(&main, image);
    assert!(said.contains("not allowed"), "{said}");
}
