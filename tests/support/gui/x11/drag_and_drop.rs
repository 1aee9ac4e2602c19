//! A drag from another program, over the protocol for drags between programs on X (XDND, version
//! 5): the source announces its data, asks whether it may drop it, and hands it out when it is
//! asked for.

use super::{CLIENT_MESSAGE, GET_PROPERTY, SEND_EVENT, X11Client, X11Window, read_u32};

const CREATE_WINDOW: u8 = 1;
const CHANGE_PROPERTY: u8 = 18;
const SET_SELECTION_OWNER: u8 = 22;
const SELECTION_REQUEST: u8 = 30;
const SELECTION_NOTIFY: u32 = 31;
/// The bit of an event that another client sent.
const SENT_EVENT_BIT: u8 = 0x80;
/// The atom that every server has for the type of a list of atoms.
const ATOM_ATOM: u32 = 4;
const XDND_VERSION: u32 = 5;

/// The dragged data, in each type that a source offers.
#[derive(Debug, Clone)]
pub struct DragData(Vec<(&'static str, Vec<u8>)>);

/// How the source behaves where it is told that nothing may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DragSourceBehavior {
    /// It takes its drag away.
    Polite,
    /// It drops all the same.
    Stubborn,
}

/// The result of the drag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropOutcome {
    /// The window accepts the drop there.
    Yes,
    /// It refuses it.
    No,
}

impl DragData {
    /// Files, as a file manager offers them.
    #[must_use]
    pub fn file(path: &std::path::Path) -> Self {
        let uri = format!("file://{}", path.display());
        let list = format!("{uri}\r\n").into_bytes();
        let gnome = format!("copy\n{uri}").into_bytes();
        Self(vec![("text/uri-list", list), ("x-special/gnome-copied-files", gnome)])
    }

    /// A link, as a browser offers it.
    #[must_use]
    pub fn link(address: &str) -> Self {
        let html = format!("<a href=\"{address}\">a link</a>");
        let titled = format!("{address}\na link");
        let mozilla = titled.encode_utf16().flat_map(u16::to_le_bytes);
        Self(vec![
            ("text/uri-list", format!("{address}\r\n").into_bytes()),
            ("text/x-moz-url", mozilla.collect()),
            ("_NETSCAPE_URL", titled.as_bytes().to_vec()),
            ("text/html", html.into_bytes()),
            ("text/plain;charset=utf-8", address.as_bytes().to_vec()),
            ("UTF8_STRING", address.as_bytes().to_vec()),
        ])
    }
}

impl X11Client {
    /// Drags something from another program over a window, to a place of the screen, and drops it there.
    /// Returns once the window is done with it.
    pub fn drop_onto(
        &mut self,
        X11Window(onto): X11Window,
        at: (u16, u16),
        dragged: &DragData,
        manners: DragSourceBehavior,
    ) -> DropOutcome {
        let source = self.create_source_window();
        let kinds: Vec<(u32, &[u8])> =
            dragged.0.iter().map(|(name, data)| (self.atom(name), data.as_slice())).collect();
        let selection = self.atom("XdndSelection");
        self.send_request(SET_SELECTION_OWNER, 0, &[source, selection, 0]);
        self.announce_types(source, onto, &kinds);
        let place = u32::from(at.0) << 16 | u32::from(at.1);
        let copy = self.atom("XdndActionCopy");
        // The first place begins the drag; the answer to the second one is what the page says.
        let mut taken = DropOutcome::No;
        for _ in 0..3 {
            self.send_client_message(onto, "XdndPosition", [source, 0, place, 0, copy]);
            let status = self.serve_until_message(&kinds, "XdndStatus");
            taken = if read_u32(&status, 16) & 1 == 1 { DropOutcome::Yes } else { DropOutcome::No };
        }
        if taken == DropOutcome::No && manners == DragSourceBehavior::Polite {
            self.send_client_message(onto, "XdndLeave", [source, 0, 0, 0, 0]);
            self.atom("XdndLeave");
            return taken;
        }
        self.send_client_message(onto, "XdndDrop", [source, 0, 0, 0, 0]);
        self.serve_until_message(&kinds, "XdndFinished");
        taken
    }

    /// Makes the window that a source must have; nobody sees it.
    fn create_source_window(&mut self) -> u32 {
        self.resource_count += 1;
        let source = self.resource_id_base + self.resource_count;
        let size = 1 | 1 << 16;
        self.send_request(CREATE_WINDOW, 0, &[source, self.root, 0, size, 1 << 16, 0, 0]);
        source
    }

    fn announce_types(&mut self, source: u32, onto: u32, kinds: &[(u32, &[u8])]) {
        let atoms: Vec<u8> = kinds.iter().flat_map(|(kind, _)| kind.to_le_bytes()).collect();
        let list = self.atom("XdndTypeList");
        self.set_property(source, list, (ATOM_ATOM, 32), &atoms);
        let mut first = kinds.iter().map(|(kind, _)| *kind).chain([0; 3]);
        let mut next = || first.next().unwrap_or_default();
        let about = XDND_VERSION << 24 | u32::from(kinds.len() > 3);
        self.send_client_message(onto, "XdndEnter", [source, about, next(), next(), next()]);
    }

    /// Hands out what is asked for until a message of this name comes; returns that.
    fn serve_until_message(&mut self, kinds: &[(u32, &[u8])], name: &str) -> Vec<u8> {
        let wanted = self.atom(name);
        loop {
            let event = self.next_event();
            match event[0] & !SENT_EVENT_BIT {
                SELECTION_REQUEST => self.answer_selection_request(&event, kinds),
                CLIENT_MESSAGE if read_u32(&event, 8) == wanted => return event,
                _ => {}
            }
        }
    }

    fn answer_selection_request(&mut self, request: &[u8], kinds: &[(u32, &[u8])]) {
        let [time, asker, selection, kind, property] =
            [4, 12, 16, 20, 24].map(|at| read_u32(request, at));
        let targets = self.atom("TARGETS");
        let given = if kind == targets {
            let atoms: Vec<u8> = kinds.iter().flat_map(|(kind, _)| kind.to_le_bytes()).collect();
            self.set_property(asker, property, (ATOM_ATOM, 32), &atoms);
            property
        } else if let Some((_, data)) = kinds.iter().find(|(offered, _)| *offered == kind) {
            self.set_property(asker, property, (kind, 8), data);
            property
        } else {
            0
        };
        let event = [SELECTION_NOTIFY, time, asker, selection, kind, given, 0, 0];
        self.send_request(SEND_EVENT, 0, &[&[asker, 0], &event[..]].concat());
    }

    fn set_property(
        &mut self,
        window: u32,
        property: u32,
        (kind, format): (u32, u32),
        data: &[u8],
    ) {
        let units = u32::try_from(data.len()).expect("short data") / (format / 8);
        let padded = [data, &[0; 3]].concat();
        let words = padded.chunks_exact(4).map(|four| read_u32(four, 0));
        let head = [window, property, kind, format, units];
        self.send_request(CHANGE_PROPERTY, 0, &head.into_iter().chain(words).collect::<Vec<_>>());
    }

    fn send_client_message(&mut self, onto: u32, name: &str, data: [u32; 5]) {
        let kind = self.atom(name);
        let head = u32::from_le_bytes([CLIENT_MESSAGE, 32, 0, 0]);
        self.send_request(SEND_EVENT, 0, &[&[onto, 0, head, onto, kind], &data[..]].concat());
    }

    /// Whether a window takes drags at all.
    #[must_use]
    pub fn accepts_drags(&mut self, X11Window(window): X11Window) -> bool {
        let aware = self.atom("XdndAware");
        let answer = self.request_reply(GET_PROPERTY, 0, &[window, aware, 0, 0, 1]);
        answer.is_some_and(|answer| read_u32(&answer, 8) != 0)
    }
}
