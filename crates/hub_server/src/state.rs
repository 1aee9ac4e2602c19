//! The state of the local hub (registered clients and deliveries) and what follows, as a pure
//! machine.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use hub::wire::{
    FromHub, MessageFrame, Registration, RegistrationResponse, ResponseFrame, ResponsePayload,
    ToHub,
};
use hub::{check_description, check_name};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::send::{InputMethod, SendRequest};
use crate::{DeliveryReport, HubNotification, LocalHubEvent};

/// The number of latest deliveries for which responses are accepted.
const MAX_DELIVERIES: usize = 100;

/// The actions of the hub, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HubAction {
    /// Send a text frame.
    Send { line: u64, frame: String },
    /// Close a line: it has heard everything.
    Finish { line: u64 },
    /// Offer a notification to the screen.
    Show(HubNotification),
    /// Tell the watchers.
    Tell(LocalHubEvent),
}

/// The machine. Lines are numbers, time is handed in.
#[derive(Debug)]
pub(crate) struct LocalHubState {
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
    message: MessageInTransit,
}

/// A text on its way from client to client until one takes it.
#[derive(Debug, Clone)]
struct MessageInTransit {
    sender: u64,
    text: String,
    input_method: InputMethod,
    direct: bool,
    sent_at: String,
    tried: Vec<String>,
}

impl LocalHubState {
    pub(crate) fn new(response_timeout: Duration) -> Self {
        Self {
            response_timeout,
            run: Uuid::now_v7(),
            issued: 0,
            clients: BTreeMap::new(),
            deliveries: VecDeque::new(),
        }
    }

    /// When silence will count as a refusal next.
    pub(crate) fn next_tick(&self) -> Option<Duration> {
        self.deliveries.iter().filter_map(|delivery| delivery.deadline).min()
    }

    pub(crate) fn connected(&mut self, line: u64) {
        self.clients.insert(line, None);
    }

    /// Deliveries are kept: a response may come over the client's next socket.
    pub(crate) fn disconnected(&mut self, line: u64, code: Option<u16>) -> Vec<HubAction> {
        let client = self.clients.remove(&line);
        client.map(|name| HubAction::Tell(LocalHubEvent::Left { name, code })).into_iter().collect()
    }

    pub(crate) fn on_client_frame(
        &mut self,
        now: Duration,
        line: u64,
        frame: &str,
    ) -> Vec<HubAction> {
        match serde_json::from_str(frame) {
            Ok(ToHub::Registration(registration)) => self.register(line, registration),
            Ok(ToHub::Response(response)) => self.respond(now, line, response),
            Err(_) if is_registration(frame) => {
                decline_registration(line, String::new(), "VALIDATION_ERROR")
            }
            Err(_) => self.report_dropped(line),
        }
    }

    pub(crate) fn on_sender_frame(
        &mut self,
        now: Duration,
        line: u64,
        frame: &str,
        sent_at: String,
    ) -> Vec<HubAction> {
        let Ok(SendRequest { text, input_method }) = serde_json::from_str(frame) else {
            return report_undelivered(line, "The hub could not read what was to be sent.".into());
        };
        match self.route(&text) {
            Ok((to, text, direct)) => {
                let tried = Vec::new();
                let words =
                    MessageInTransit { sender: line, text, input_method, direct, sent_at, tried };
                self.deliver(now, &to, words)
            }
            Err(reason) => report_undelivered(line, reason),
        }
    }

    /// Counts silence that has lasted too long as a refusal.
    pub(crate) fn tick(&mut self, now: Duration) -> Vec<HubAction> {
        let mut refused = Vec::new();
        for delivery in &mut self.deliveries {
            if delivery.deadline.is_some_and(|deadline| deadline <= now) {
                delivery.deadline = None;
                refused.push((delivery.id.clone(), delivery.to.clone(), delivery.message.clone()));
            }
        }
        let mut acts = Vec::new();
        for (id, by, words) in refused {
            acts.extend(report_rejected(&id, &by, &words, "Response timeout"));
            acts.extend(self.deliver_to_another(now, words));
        }
        acts
    }

    fn register(&mut self, line: u64, asked: Registration) -> Vec<HubAction> {
        let Registration { name, description, .. } = asked;
        let taken = self.connection_of(&name).is_some();
        let code = match self.clients.get(&line) {
            None => return Vec::new(),
            Some(Some(_)) => Some("ALREADY_REGISTERED"),
            Some(None) if check_name(&name).is_err() => Some("INVALID_NAME"),
            Some(None) if check_description(&description).is_err() => Some("INVALID_DESCRIPTION"),
            Some(None) if taken => Some("DUPLICATE_NAME"),
            Some(None) => None,
        };
        if let Some(code) = code {
            return decline_registration(line, name, code);
        }
        self.clients.insert(line, Some(name.clone()));
        let accepted = FromHub::RegistrationResponse(RegistrationResponse {
            success: true,
            client_id: Some(format!("client-{line}")),
            code: None,
            message: Some(format!("Registered as {name}")),
        });
        vec![
            HubAction::Send { line, frame: accepted.to_json() },
            HubAction::Tell(LocalHubEvent::Registered { name }),
        ]
    }

    fn respond(&mut self, now: Duration, line: u64, response: ResponseFrame) -> Vec<HubAction> {
        let ResponseFrame { message_id: id, answer } = response;
        if is_blank(&answer) {
            return self.report_dropped(line);
        }
        let name = self.clients.get(&line).cloned().flatten();
        let delivery = self
            .deliveries
            .iter_mut()
            .find(|delivery| delivery.id == id && Some(&delivery.to) == name.as_ref());
        let Some(delivery) = delivery else { return self.report_dropped(line) };
        let waited_for = delivery.deadline.take().is_some();
        let (by, words) = (delivery.to.clone(), delivery.message.clone());
        match answer {
            ResponsePayload::Ack {} => {
                let report = DeliveryReport::Acked { by: by.clone() };
                vec![
                    send_report(words.sender, &report),
                    HubAction::Tell(LocalHubEvent::Acked { id, by }),
                ]
            }
            ResponsePayload::Reject { reason } => {
                let mut acts = report_rejected(&id, &by, &words, &reason.unwrap_or_default());
                if waited_for {
                    acts.extend(self.deliver_to_another(now, words));
                }
                acts
            }
            ResponsePayload::Notification { title, body, priority } => {
                let notice = HubNotification {
                    title: title.unwrap_or_default(),
                    body: body.unwrap_or_default(),
                    priority: priority.unwrap_or_default(),
                };
                let report = DeliveryReport::Notified { by: by.clone(), notice: notice.clone() };
                vec![
                    send_report(words.sender, &report),
                    HubAction::Tell(LocalHubEvent::Notified { id, by, notice: notice.clone() }),
                    HubAction::Show(notice),
                ]
            }
        }
    }

    /// The client that a text is for, the text for it, and whether the text named it.
    fn route(&self, text: &str) -> Result<(String, String, bool), String> {
        if text.trim().is_empty() {
            return Err("There is nothing to send: the text is blank.".into());
        }
        let names: Vec<&String> = self.clients.values().flatten().collect();
        match names.as_slice() {
            [] => Err("No client is connected. Start one and switch its hub link on.".into()),
            [only] => Ok(((*only).clone(), text.into(), false)),
            several => {
                let (asked, words) = text.split_once(':').unwrap_or_default();
                let is_asked = |name: &&&String| name.eq_ignore_ascii_case(asked.trim());
                match several.iter().find(is_asked) {
                    Some(name) if !words.trim().is_empty() => {
                        Ok(((*name).clone(), words.trim().into(), true))
                    }
                    _ => Err(format!(
                        "Several clients are connected. Begin the text with one of {}.",
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

    fn deliver(&mut self, now: Duration, to: &str, mut words: MessageInTransit) -> Vec<HubAction> {
        let Some(line) = self.connection_of(to) else { return Vec::new() };
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
        let report = DeliveryReport::Delivered { to: to.into(), id: id.clone() };
        let acts = vec![
            HubAction::Send { line, frame: frame.to_json() },
            send_report(words.sender, &report),
            HubAction::Tell(LocalHubEvent::Delivered {
                id: id.clone(),
                to: to.into(),
                text: words.text.clone(),
            }),
        ];
        let deadline = Some(now + self.response_timeout);
        self.deliveries.push_back(Delivery { id, to: to.into(), deadline, message: words });
        if self.deliveries.len() > MAX_DELIVERIES {
            self.deliveries.pop_front();
        }
        acts
    }

    fn deliver_to_another(&mut self, now: Duration, words: MessageInTransit) -> Vec<HubAction> {
        let untried = |name: &&String| !words.tried.contains(*name);
        match self.clients.values().flatten().find(untried).cloned() {
            Some(to) => self.deliver(now, &to, words),
            None => report_undelivered(words.sender, "No client has taken the message.".into()),
        }
    }

    fn connection_of(&self, name: &str) -> Option<u64> {
        let of_name = |(_, registered): &(&u64, &Option<String>)| {
            registered.as_deref().is_some_and(|registered| registered == name)
        };
        self.clients.iter().find(of_name).map(|(line, _)| *line)
    }

    fn report_dropped(&self, line: u64) -> Vec<HubAction> {
        vec![HubAction::Tell(LocalHubEvent::Dropped {
            by: self.clients.get(&line).cloned().flatten(),
        })]
    }
}

fn is_registration(frame: &str) -> bool {
    serde_json::from_str::<Value>(frame)
        .is_ok_and(|frame| frame.get("type").and_then(Value::as_str) == Some("registration"))
}

fn is_blank(answer: &ResponsePayload) -> bool {
    let blank = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    matches!(answer, ResponsePayload::Notification { title, body, .. } if blank(title) && blank(body))
}

fn decline_registration(line: u64, name: String, code: &'static str) -> Vec<HubAction> {
    let declined = FromHub::RegistrationResponse(RegistrationResponse {
        success: false,
        client_id: None,
        code: Some(code.into()),
        message: Some("The registration failed".into()),
    });
    vec![
        HubAction::Send { line, frame: declined.to_json() },
        HubAction::Tell(LocalHubEvent::Declined { name, code }),
    ]
}

fn report_rejected(id: &str, by: &str, message: &MessageInTransit, reason: &str) -> Vec<HubAction> {
    let report = DeliveryReport::Rejected { by: by.into(), reason: reason.into() };
    let seen = LocalHubEvent::Rejected { id: id.into(), by: by.into(), reason: reason.into() };
    vec![send_report(message.sender, &report), HubAction::Tell(seen)]
}

fn report_undelivered(line: u64, reason: String) -> Vec<HubAction> {
    let report = DeliveryReport::Undelivered { reason: reason.clone() };
    vec![
        send_report(line, &report),
        HubAction::Finish { line },
        HubAction::Tell(LocalHubEvent::Undelivered { reason }),
    ]
}

fn send_report(line: u64, report: &DeliveryReport) -> HubAction {
    // A report holds strings only, which always print.
    HubAction::Send { line, frame: serde_json::to_string(report).unwrap_or_default() }
}

#[cfg(test)]
mod tests;
