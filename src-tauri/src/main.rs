//! The desktop application.

fn main() -> std::process::ExitCode {
    vaultmate::run()
}
