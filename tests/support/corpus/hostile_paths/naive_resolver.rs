//! The control: joins the path to the folder and asks the system, as a careless program does.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::oneshot;

use super::case::PathOperation;
use super::{PathResolver, ResolverAnswer};

/// Leaks, follows every link and waits for every pipe.
pub struct NaiveResolver(PathBuf);

#[async_trait]
impl PathResolver for NaiveResolver {
    fn open(vault: &Path) -> Self {
        Self(vault.to_owned())
    }

    fn has(&self, tool: &str) -> bool {
        ["read_file", "write_file", "edit_file"].contains(&tool)
    }

    async fn call(&self, tool: &str, arguments: Value) -> ResolverAnswer {
        let (tell, told) = oneshot::channel();
        let (root, tool) = (self.0.clone(), tool.to_owned());
        // A thread of its own: a runtime would wait at its end for one that hangs.
        thread::spawn(move || tell.send(answer(&root, &tool, &arguments)));
        told.await.unwrap_or(ResolverAnswer { text: "the thread ended".to_owned(), is_error: true })
    }

    fn unrelated_refusal(
        &self,
        _: PathOperation,
        _: &str,
        _: Option<&str>,
        _: &str,
    ) -> Option<String> {
        None
    }
}

fn answer(root: &Path, tool: &str, arguments: &Value) -> ResolverAnswer {
    let word = |name: &str| arguments[name].as_str().unwrap_or_default();
    // It leaks on the stage only: a control does not touch the machine.
    let file = root.join(word("path").trim_start_matches('/'));
    let done = match tool {
        "write_file" => fs::write(&file, word("content")).map(|()| "written".to_owned()),
        "edit_file" => fs::read_to_string(&file).and_then(|text| {
            let text = text.replace(word("old_text"), word("new_text"));
            fs::write(&file, text).map(|()| "edited".to_owned())
        }),
        _ => fs::read_to_string(&file),
    };
    match done {
        Ok(text) => ResolverAnswer { text, is_error: false },
        Err(error) => ResolverAnswer { text: error.to_string(), is_error: true },
    }
}
