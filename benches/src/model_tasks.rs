//! Thirty tasks for a real model: success by end state, wasted calls, tokens and time.

use std::error::Error;
use std::process::ExitCode;

use protocol::{ProviderKind, Settings};
use testkit::corpus::model_tasks::{ModelTaskList, run};

const USAGE: &str = "usage: bench tasks --base-url URL --model NAME \
                     [--provider openai|anthropic|ollama] [--only TEXT]";

/// Runs the tasks and prints a line for each, and the sum. The exit code is 0 if all succeeded.
pub(crate) async fn print(options: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    let mut settings = Settings { provider: ProviderKind::OpenAi, ..Settings::default() };
    let mut only = "";
    let mut rest = options;
    while let [option, value, after @ ..] = rest {
        match *option {
            "--base-url" => (*value).clone_into(&mut settings.base_url),
            "--model" => (*value).clone_into(&mut settings.model),
            "--provider" => settings.provider = parse_provider(value)?,
            "--only" => only = value,
            _ => return Err(USAGE.into()),
        }
        rest = after;
    }
    if !rest.is_empty() || settings.base_url.is_empty() || settings.model.is_empty() {
        return Err(USAGE.into());
    }
    let report = run(&ModelTaskList::built_in(), &settings, None, only).await;
    println!("{}", report.summary);
    Ok(if report.holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse_provider(name: &str) -> Result<ProviderKind, String> {
    match name {
        "openai" => Ok(ProviderKind::OpenAi),
        "anthropic" => Ok(ProviderKind::Anthropic),
        "ollama" => Ok(ProviderKind::Ollama),
        _ => Err(format!("There is no provider `{name}`. {USAGE}")),
    }
}
