//! Makes a permission of each IPC call, so that only what the capability file grants can be called.

include!("../crates/protocol/ipc_calls.rs");

macro_rules! command_names {
    (
        types $types:tt
        $($module:ident {
            $(
                $(#[doc = $docs:literal])*
                $scope:ident $name:ident($($arguments:tt)*) -> $result:ty;
            )*
        })*
    ) => {
        &[$($(stringify!($name),)*)*]
    };
}

const COMMANDS: &[&str] = ipc_calls!(command_names);

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new().app_manifest(manifest);
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo::error={error:#}");
    }
}
