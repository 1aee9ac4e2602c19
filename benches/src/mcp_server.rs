//! The file system server that others plug into their assistants, spoken to over its pipes.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const PACKAGE: &str = "@modelcontextprotocol/server-filesystem";

/// A running server; ended on drop.
pub(crate) struct McpServer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
    _installed: TempDir,
}

impl McpServer {
    /// Installs the server into a folder of its own and starts it over `folder`.
    pub(crate) fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let installed = tempfile::tempdir()?;
        let script = install(installed.path())?;
        let mut child = Command::new("node")
            .arg(script)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = child.stdin.take().ok_or("the server takes no input")?;
        let from = BufReader::new(child.stdout.take().ok_or("the server says nothing")?);
        let mut server = Self { child, to, from, number: 0, _installed: installed };
        server.initialize()?;
        Ok(server)
    }

    /// Reads a file through the server's own tool.
    pub(crate) fn read(&mut self, file: &Path) -> Result<(), Box<dyn Error>> {
        let arguments = json!({ "path": file });
        let call = json!({ "name": "read_text_file", "arguments": arguments });
        let result = self.request("tools/call", call)?;
        let failed = result.get("isError").is_some_and(|failed| *failed == true);
        if failed || result.get("content").is_none() {
            return Err(format!("the server did not read {}: {result}", file.display()).into());
        }
        Ok(())
    }

    /// Finds files below `folder` with `part` in their names through the server's own tool.
    pub(crate) fn search(&mut self, folder: &Path, part: &str) -> Result<(), Box<dyn Error>> {
        let arguments = json!({ "path": folder, "pattern": format!("**/*{part}*") });
        let result =
            self.request("tools/call", json!({ "name": "search_files", "arguments": arguments }))?;
        let failed = result.get("isError").is_some_and(|failed| *failed == true);
        if failed || !result.to_string().contains(".md") {
            return Err(format!("the server found no `{part}`: {result}").into());
        }
        Ok(())
    }

    fn initialize(&mut self) -> Result<(), Box<dyn Error>> {
        let client = json!({ "name": "bench", "version": "0" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        self.request("initialize", hello)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        self.number += 1;
        let id = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer.get("id").is_some_and(|answered| *answered == id) {
                return match (answer.get_mut("result").map(Value::take), answer.get("error")) {
                    (Some(result), None) => Ok(result),
                    _ => Err(format!("the server refused {method}: {answer}").into()),
                };
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Box<dyn Error>> {
        writeln!(self.to, "{message}")?;
        Ok(self.to.flush()?)
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Installs the package; its entry script.
fn install(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let done = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
        .arg(folder)
        .arg(PACKAGE)
        .stdin(Stdio::null())
        .output()?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!("npm cannot install {PACKAGE}: {}", why.trim()).into());
    }
    Ok(folder.join("node_modules").join(PACKAGE).join("dist/index.js"))
}
