//! Makes a permission of each command, so that only what the capability file grants can be called.

include!("command_names.rs");

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(&COMMANDS);
    let attributes = tauri_build::Attributes::new().app_manifest(manifest);
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo::error={error:#}");
    }
}
