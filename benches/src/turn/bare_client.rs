//! The rival of a turn: a bare client that reads the same note and waits for the disk where we do.
#![allow(clippy::indexing_slicing, reason = "what JSON lacks reads as null")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use eventsource_stream::Eventsource as _;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

use super::timing_server::NOTE;

/// A conversation in memory, and a database with a row for each message.
pub(super) struct BareClient {
    client: reqwest::Client,
    url: String,
    /// The part before the messages: instructions and tools, as the product sends them.
    frame: Value,
    messages: Vec<Value>,
    database: SqliteConnection,
    note: PathBuf,
    _place: TempDir,
}

/// An assembled answer.
struct BareAnswer {
    text: String,
    call: Option<(String, Value)>,
}

impl BareClient {
    /// Asks at `url` with the instructions and tools of `body`.
    pub(super) async fn new(url: &str, body: &[u8]) -> Result<Self, Box<dyn Error>> {
        let place = tempfile::tempdir()?;
        let note = place.path().join(NOTE);
        fs::write(&note, "# Note\n\nA few words to read.\n")?;
        let options = SqliteConnectOptions::new()
            .filename(place.path().join("rival.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut database = SqliteConnection::connect_with(&options).await?;
        let table = "CREATE TABLE message (number INTEGER PRIMARY KEY, text TEXT) STRICT";
        sqlx::query(table).execute(&mut database).await?;
        let mut frame: Value = serde_json::from_slice(body)?;
        frame["messages"] = json!([]);
        Ok(Self {
            client: reqwest::Client::builder().no_proxy().build()?,
            url: format!("{url}/v1/messages"),
            frame,
            messages: Vec::new(),
            database,
            note,
            _place: place,
        })
    }

    /// One message, one read, one answer.
    pub(super) async fn run_turn(&mut self) -> Result<(), Box<dyn Error>> {
        let text = json!([{ "type": "text", "text": "Please look at it." }]);
        self.store_message("user", text).await?;
        let answer = self.request().await?;
        let Some((id, input)) = answer.call else { return Err("no call came".into()) };
        let call = json!({ "type": "tool_use", "id": id, "name": "read_file", "input": input });
        self.store_message("assistant", json!([call])).await?;
        let read = fs::read_to_string(&self.note)?;
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": read }]);
        self.messages.push(json!({ "role": "user", "content": result }));
        let answer = self.request().await?;
        self.store_message("assistant", json!([{ "type": "text", "text": answer.text }])).await
    }

    /// Asks, and only takes the events apart.
    pub(super) async fn drain_answer(&mut self) -> Result<(), Box<dyn Error>> {
        let response = self.client.post(&self.url).json(&self.frame).send().await?;
        let mut events = response.bytes_stream().eventsource();
        while let Some(event) = events.next().await {
            event?;
        }
        Ok(())
    }

    async fn store_message(&mut self, role: &str, content: Value) -> Result<(), Box<dyn Error>> {
        let message = json!({ "role": role, "content": content });
        sqlx::query("INSERT INTO message (text) VALUES (?)")
            .bind(message.to_string())
            .execute(&mut self.database)
            .await?;
        self.messages.push(message);
        Ok(())
    }

    async fn request(&mut self) -> Result<BareAnswer, Box<dyn Error>> {
        self.frame["messages"] = Value::from(self.messages.clone());
        let response = self.client.post(&self.url).json(&self.frame).send().await?;
        let mut events = response.bytes_stream().eventsource();
        let mut answer = BareAnswer { text: String::new(), call: None };
        let (mut id, mut input) = (None, String::new());
        while let Some(event) = events.next().await {
            let data: Value = serde_json::from_str(&event?.data)?;
            if let Some(call) = data["content_block"]["id"].as_str() {
                id = Some(call.to_owned());
            }
            input.push_str(data["delta"]["partial_json"].as_str().unwrap_or_default());
            answer.text.push_str(data["delta"]["text"].as_str().unwrap_or_default());
        }
        if let Some(id) = id {
            answer.call = Some((id, serde_json::from_str(&input)?));
        }
        Ok(answer)
    }
}
