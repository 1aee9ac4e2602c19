//! Who is registered, what was delivered to whom, and what follows: the local hub as a pure machine.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::send::{InputMethod, Outgoing};
use super::{Notice, Report, Seen};
use crate::config::{check_description, check_name};
use crate::wire::{
    Answer, FromHub, MessageFrame, Registration, RegistrationResponse, ResponseFrame, ToHub,
};

/// Responses are accepted for so many deliveries back.
const REMEMBERED: usize = 100;

/// What the hub has to do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Send a text frame.
    Send { line: u64, frame: String },
    /// Close a line: it has heard everything.
    Finish { line: u64 },
    /// Offer a notification to the screen.
    Show(Notice),
    /// Tell the watchers.
    Tell(Seen),
}

/// The machine. Lines are numbers, time is handed in.
#[derive(Debug)]
pub(super) struct Board {
    response_timeout: Duration,
    /// Makes ids differ from those of any earlier run.
    run: Uuid,
    issued: u64,
    /// Open sockets of clients, with the name once registered.
    clients: BTreeMap<u64, Option<String>>,
    deliveries: VecDeque<Delivery>,
}

#[derive(Debug)]
struct Delivery {
    id: String,
    to: String,
    /// When silence counts as a refusal; `None` once there was a response.
    deadline: Option<Duration>,
    words: Words,
}

/// A text on its way from client to client until one takes it.
#[derive(Debug, Clone)]
struct Words {
    sender: u64,
    text: String,
    input_method: InputMethod,
    direct: bool,
    sent_at: String,
    tried: Vec<String>,
}

impl Board {
    pub(super) fn new(response_timeout: Duration) -> Self {
        Self {
            response_timeout,
            run: Uuid::now_v7(),
            issued: 0,
            clients: BTreeMap::new(),
            deliveries: VecDeque::new(),
        }
    }

    /// When silence will count as a refusal next.
    pub(super) fn next_tick(&self) -> Option<Duration> {
        self.deliveries.iter().filter_map(|delivery| delivery.deadline).min()
    }

    pub(super) fn connected(&mut self, line: u64) {
        self.clients.insert(line, None);
    }

    /// What was delivered stays: a response may come over the client's next socket.
    pub(super) fn left(&mut self, line: u64, code: Option<u16>) -> Vec<Act> {
        let client = self.clients.remove(&line);
        client.map(|name| Act::Tell(Seen::Left { name, code })).into_iter().collect()
    }

    pub(super) fn client_said(&mut self, now: Duration, line: u64, frame: &str) -> Vec<Act> {
        match serde_json::from_str(frame) {
            Ok(ToHub::Registration(registration)) => self.register(line, registration),
            Ok(ToHub::Response(response)) => self.respond(now, line, response),
            Err(_) if is_registration(frame) => decline(line, String::new(), "VALIDATION_ERROR"),
            Err(_) => self.dropped(line),
        }
    }

    pub(super) fn sender_said(
        &mut self,
        now: Duration,
        line: u64,
        frame: &str,
        sent_at: String,
    ) -> Vec<Act> {
        let Ok(Outgoing { text, input_method }) = serde_json::from_str(frame) else {
            return undelivered(line, "The hub could not read what was to be sent.".into());
        };
        match self.route(&text) {
            Ok((to, text, direct)) => {
                let tried = Vec::new();
                let words = Words { sender: line, text, input_method, direct, sent_at, tried };
                self.deliver(now, &to, words)
            }
            Err(reason) => undelivered(line, reason),
        }
    }

    /// Counts silence that has lasted too long as a refusal.
    pub(super) fn tick(&mut self, now: Duration) -> Vec<Act> {
        let mut refused = Vec::new();
        for delivery in &mut self.deliveries {
            if delivery.deadline.is_some_and(|deadline| deadline <= now) {
                delivery.deadline = None;
                refused.push((delivery.id.clone(), delivery.to.clone(), delivery.words.clone()));
            }
        }
        let mut acts = Vec::new();
        for (id, by, words) in refused {
            acts.extend(rejected(&id, &by, &words, "Response timeout"));
            acts.extend(self.deliver_to_another(now, words));
        }
        acts
    }

    fn register(&mut self, line: u64, asked: Registration) -> Vec<Act> {
        let Registration { name, description, .. } = asked;
        let taken = self.line_of(&name).is_some();
        let code = match self.clients.get(&line) {
            None => return Vec::new(),
            Some(Some(_)) => Some("ALREADY_REGISTERED"),
            Some(None) if check_name(&name).is_err() => Some("INVALID_NAME"),
            Some(None) if check_description(&description).is_err() => Some("INVALID_DESCRIPTION"),
            Some(None) if taken => Some("DUPLICATE_NAME"),
            Some(None) => None,
        };
        if let Some(code) = code {
            return decline(line, name, code);
        }
        self.clients.insert(line, Some(name.clone()));
        let accepted = FromHub::RegistrationResponse(RegistrationResponse {
            success: true,
            client_id: Some(format!("client-{line}")),
            code: None,
            message: Some(format!("Registered as {name}")),
        });
        vec![Act::Send { line, frame: accepted.print() }, Act::Tell(Seen::Registered { name })]
    }

    fn respond(&mut self, now: Duration, line: u64, response: ResponseFrame) -> Vec<Act> {
        let ResponseFrame { message_id: id, answer } = response;
        if says_nothing(&answer) {
            return self.dropped(line);
        }
        let name = self.clients.get(&line).cloned().flatten();
        let delivery = self
            .deliveries
            .iter_mut()
            .find(|delivery| delivery.id == id && Some(&delivery.to) == name.as_ref());
        let Some(delivery) = delivery else { return self.dropped(line) };
        let waited_for = delivery.deadline.take().is_some();
        let (by, words) = (delivery.to.clone(), delivery.words.clone());
        match answer {
            Answer::Ack {} => {
                let report = Report::Acked { by: by.clone() };
                vec![send_report(words.sender, &report), Act::Tell(Seen::Acked { id, by })]
            }
            Answer::Reject { reason } => {
                let mut acts = rejected(&id, &by, &words, &reason.unwrap_or_default());
                if waited_for {
                    acts.extend(self.deliver_to_another(now, words));
                }
                acts
            }
            Answer::Notification { title, body, priority } => {
                let notice = Notice {
                    title: title.unwrap_or_default(),
                    body: body.unwrap_or_default(),
                    priority: priority.unwrap_or_default(),
                };
                let report = Report::Notified { by: by.clone(), notice: notice.clone() };
                vec![
                    send_report(words.sender, &report),
                    Act::Tell(Seen::Notified { id, by, notice: notice.clone() }),
                    Act::Show(notice),
                ]
            }
        }
    }

    /// The client a text is for, the words for it, and whether they named it.
    fn route(&self, text: &str) -> Result<(String, String, bool), String> {
        if text.trim().is_empty() {
            return Err("There is nothing to send: the text is blank.".into());
        }
        let names: Vec<&String> = self.clients.values().flatten().collect();
        match names.as_slice() {
            [] => Err("No client is connected: start one and switch its hub link on.".into()),
            [only] => Ok(((*only).clone(), text.into(), false)),
            several => {
                let (asked, words) = text.split_once(':').unwrap_or_default();
                let is_asked = |name: &&&String| name.eq_ignore_ascii_case(asked.trim());
                match several.iter().find(is_asked) {
                    Some(name) if !words.trim().is_empty() => {
                        Ok(((*name).clone(), words.trim().into(), true))
                    }
                    _ => Err(format!(
                        "Several clients are connected: begin the text with one of {}.",
                        several
                            .iter()
                            .map(|name| format!("“{name}:”"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    )),
                }
            }
        }
    }

    fn deliver(&mut self, now: Duration, to: &str, mut words: Words) -> Vec<Act> {
        let Some(line) = self.line_of(to) else { return Vec::new() };
        self.issued += 1;
        let id = format!("{}-{}", self.run, self.issued);
        let frame = FromHub::Message(MessageFrame {
            id: id.clone(),
            text: words.text.clone(),
            timestamp: Value::String(words.sent_at.clone()),
            metadata: json!({
                "inputMethod": words.input_method,
                "directRouted": words.direct,
            }),
        });
        words.tried.push(to.into());
        let report = Report::Delivered { to: to.into(), id: id.clone() };
        let acts = vec![
            Act::Send { line, frame: frame.print() },
            send_report(words.sender, &report),
            Act::Tell(Seen::Delivered { id: id.clone(), to: to.into(), text: words.text.clone() }),
        ];
        let deadline = Some(now + self.response_timeout);
        self.deliveries.push_back(Delivery { id, to: to.into(), deadline, words });
        if self.deliveries.len() > REMEMBERED {
            self.deliveries.pop_front();
        }
        acts
    }

    fn deliver_to_another(&mut self, now: Duration, words: Words) -> Vec<Act> {
        let untried = |name: &&String| !words.tried.contains(*name);
        match self.clients.values().flatten().find(untried).cloned() {
            Some(to) => self.deliver(now, &to, words),
            None => undelivered(words.sender, "No client has taken the message.".into()),
        }
    }

    fn line_of(&self, name: &str) -> Option<u64> {
        let of_name = |(_, registered): &(&u64, &Option<String>)| {
            registered.as_deref().is_some_and(|registered| registered == name)
        };
        self.clients.iter().find(of_name).map(|(line, _)| *line)
    }

    fn dropped(&self, line: u64) -> Vec<Act> {
        vec![Act::Tell(Seen::Dropped { by: self.clients.get(&line).cloned().flatten() })]
    }
}

fn is_registration(frame: &str) -> bool {
    serde_json::from_str::<Value>(frame)
        .is_ok_and(|frame| frame.get("type").and_then(Value::as_str) == Some("registration"))
}

fn says_nothing(answer: &Answer) -> bool {
    let blank = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    matches!(answer, Answer::Notification { title, body, .. } if blank(title) && blank(body))
}

fn decline(line: u64, name: String, code: &'static str) -> Vec<Act> {
    let declined = FromHub::RegistrationResponse(RegistrationResponse {
        success: false,
        client_id: None,
        code: Some(code.into()),
        message: Some("The registration failed".into()),
    });
    vec![Act::Send { line, frame: declined.print() }, Act::Tell(Seen::Declined { name, code })]
}

fn rejected(id: &str, by: &str, words: &Words, reason: &str) -> Vec<Act> {
    let report = Report::Rejected { by: by.into(), reason: reason.into() };
    let seen = Seen::Rejected { id: id.into(), by: by.into(), reason: reason.into() };
    vec![send_report(words.sender, &report), Act::Tell(seen)]
}

fn undelivered(line: u64, reason: String) -> Vec<Act> {
    let report = Report::Undelivered { reason: reason.clone() };
    vec![send_report(line, &report), Act::Finish { line }, Act::Tell(Seen::Undelivered { reason })]
}

fn send_report(line: u64, report: &Report) -> Act {
    // A report holds strings only, which always print.
    Act::Send { line, frame: serde_json::to_string(report).unwrap_or_default() }
}

#[cfg(test)]
mod tests;
