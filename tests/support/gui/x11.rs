//! The windows on a display, its keyboard and pointer, the close button of a window, and drags from
//! another program, over the X protocol itself: a driver of the page does not see them.

mod drag_and_drop;

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::gui::desktop_app::WindowVisibility;
use crate::polling::poll_until;

pub use drag_and_drop::{DragData, DragSourceBehavior, DropOutcome};

/// Numbers of requests, as the core protocol has them.
const GET_ATTRIBUTES: u8 = 3;
const QUERY_TREE: u8 = 15;
const INTERN_ATOM: u8 = 16;
const GET_PROPERTY: u8 = 20;
const SEND_EVENT: u8 = 25;
const TRANSLATE_COORDINATES: u8 = 40;
const SET_INPUT_FOCUS: u8 = 42;
const GET_IMAGE: u8 = 73;
const QUERY_EXTENSION: u8 = 98;
const GET_KEYBOARD_MAPPING: u8 = 101;
/// The same of the extension that plays a keyboard.
const FAKE_INPUT: u8 = 2;
/// Events of a key.
const KEY_PRESS: u32 = 2;
const KEY_RELEASE: u32 = 3;
/// Events of the pointer.
const BUTTON_PRESS: u32 = 4;
const BUTTON_RELEASE: u32 = 5;
const MOTION_NOTIFY: u32 = 6;
/// The keys that tests hold or strike beside letters, as `keysymdef.h` has them.
const KEYSYM_SHIFT: u32 = 0xffe1;
const KEYSYM_ENTER: u32 = 0xff0d;
const KEYSYM_DOWN: u32 = 0xff54;
const KEYSYM_DELETE: u32 = 0xffff;
/// The lowest number that a key can have.
const MIN_KEYCODE: u8 = 8;
/// The atom that every server has for a window's title.
const ATOM_WM_NAME: u32 = 39;
const CLIENT_MESSAGE: u8 = 33;
/// Of an answer this much is there in any case.
const MIN_REPLY_BYTES: usize = 32;
/// How long an answer or an event is waited for.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// A client of one display.
#[derive(Debug)]
pub struct X11Client {
    server: UnixStream,
    root: u32,
    /// The first number of what this client makes.
    resource_id_base: u32,
    /// How much this client made.
    resource_count: u32,
    /// Events that came while a reply was awaited.
    events: VecDeque<Vec<u8>>,
}

/// A key that writes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialKey {
    /// The keysym `Return`.
    Enter,
    /// The keysym `Down`.
    Down,
    /// The keysym `Delete`.
    Delete,
}

/// A window's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct X11Window(u32);

/// A part of the screen, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenRegion {
    /// How far from the left it begins.
    pub x: u16,
    /// How far from the top.
    pub y: u16,
    /// How wide it is.
    pub width: u16,
    /// How high.
    pub height: u16,
}

impl X11Client {
    /// Of the display with this name, as it stands in `DISPLAY`.
    #[must_use]
    pub fn connect(display: &str) -> Self {
        let socket = format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':'));
        let mut server = UnixStream::connect(socket).expect("the display takes clients");
        // Little-endian, version 11.0, no proof of who we are.
        server.write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]).expect("written");
        let mut head = [0; 8];
        server.read_exact(&mut head).expect("an answer");
        assert_eq!(head[0], 1, "the display lets us in");
        let mut rest = vec![0; 4 * usize::from(read_u16(&head, 6))];
        server.read_exact(&mut rest).expect("the rest of it");
        let vendor_length = usize::from(read_u16(&rest, 16)).next_multiple_of(4);
        let formats = 8 * usize::from(rest[21]);
        let (base, root) = (read_u32(&rest, 4), read_u32(&rest, 32 + vendor_length + formats));
        // Replies come at once, or never.
        server.set_read_timeout(Some(REPLY_TIMEOUT)).expect("a socket has one");
        Self { server, root, resource_id_base: base, resource_count: 0, events: VecDeque::new() }
    }

    /// The window whose title ends so, if it stands on the screen.
    #[must_use]
    pub fn find_shown_window(&mut self, title: &str) -> Option<X11Window> {
        self.all_windows().into_iter().find(|window| self.is_shown(*window, title)).map(X11Window)
    }

    /// Resolves when a menu stands on the screen, or none does.
    pub async fn wait_for_menu(&mut self, seen: WindowVisibility) {
        poll_until(&format!("a menu to be {seen:?}"), async || {
            let is = if self.has_menu() { WindowVisibility::Shown } else { WindowVisibility::Gone };
            if is == seen { Ok(()) } else { Err(format!("it is {is:?}")) }
        })
        .await;
    }

    /// A window that no window manager is asked about.
    fn has_menu(&mut self) -> bool {
        self.all_windows().into_iter().any(|window| {
            let attributes = self.request_reply(GET_ATTRIBUTES, 0, &[window]);
            attributes.is_some_and(|answer| answer[26] == 2 && answer[27] == 1)
        })
    }

    fn all_windows(&mut self) -> Vec<u32> {
        let tree =
            self.request_reply(QUERY_TREE, 0, &[self.root]).expect("the display has windows");
        tree[MIN_REPLY_BYTES..].chunks_exact(4).map(|four| read_u32(four, 0)).collect()
    }

    /// Presses the window's close button: what a window manager sends then.
    pub fn press_close_button(&mut self, X11Window(window): X11Window) {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS"), self.atom("WM_DELETE_WINDOW"));
        let head = u32::from_le_bytes([CLIENT_MESSAGE, 32, 0, 0]);
        let event = [window, 0, head, window, protocols, delete, 0, 0, 0, 0];
        self.send_request(SEND_EVENT, 0, &event);
        // Its answer says that the server has taken what came before.
        self.atom("WM_PROTOCOLS");
    }

    /// Where the upper left corner of a window is, from the screen's; `None` where it is not on it.
    #[must_use]
    pub fn window_position(&mut self, X11Window(window): X11Window) -> Option<(u16, u16)> {
        let answer = self.request_reply(TRANSLATE_COORDINATES, 0, &[window, self.root, 0])?;
        Some((read_u16(&answer, 12), read_u16(&answer, 14)))
    }

    /// The pixels of a part of the screen: blue, green and red of each.
    #[must_use]
    pub fn pixels(&mut self, spot: ScreenRegion) -> Vec<u8> {
        let two = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        let part = [self.root, two(spot.x, spot.y), two(spot.width, spot.height), u32::MAX];
        // Pixel by pixel, not plane by plane.
        let answer = self.request_reply(GET_IMAGE, 2, &part).expect("a part of the screen");
        answer[MIN_REPLY_BYTES..].chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec()).collect()
    }

    /// Gives the keyboard to a window, as a window manager does.
    pub fn focus_window(&mut self, X11Window(window): X11Window) {
        self.send_request(SET_INPUT_FOCUS, 1, &[window, 0]);
        self.atom("WM_PROTOCOLS");
    }

    /// The same until the window goes: what is struck after that comes to nobody.
    pub fn focus_window_without_revert(&mut self, X11Window(window): X11Window) {
        self.send_request(SET_INPUT_FOCUS, 0, &[window, 0]);
        self.atom("WM_PROTOCOLS");
    }

    /// The keyboard is no window's: what is struck comes to the one below the pointer.
    pub fn focus_pointer_root(&mut self) {
        self.send_request(SET_INPUT_FOCUS, 0, &[1, 0]);
        self.atom("WM_PROTOCOLS");
    }

    /// Strikes the key of a letter on the display's own keyboard.
    pub fn type_letter(&mut self, letter: char) {
        let (key, level) =
            self.keycode_for(u32::from(letter)).expect("the keyboard has the letter");
        let shift =
            (level == 1).then(|| self.keycode_for(KEYSYM_SHIFT).expect("it has a shift key").0);
        if let Some(key) = shift {
            self.fake_input(KEY_PRESS, key, (0, 0));
        }
        self.fake_input(KEY_PRESS, key, (0, 0));
        self.fake_input(KEY_RELEASE, key, (0, 0));
        if let Some(key) = shift {
            self.fake_input(KEY_RELEASE, key, (0, 0));
        }
        self.atom("WM_PROTOCOLS");
    }

    /// Strikes a key that writes nothing.
    pub fn press_special_key(&mut self, struck: SpecialKey) {
        let sign = match struck {
            SpecialKey::Enter => KEYSYM_ENTER,
            SpecialKey::Down => KEYSYM_DOWN,
            SpecialKey::Delete => KEYSYM_DELETE,
        };
        let (key, _) = self.keycode_for(sign).expect("the keyboard has the key");
        self.fake_input(KEY_PRESS, key, (0, 0));
        self.fake_input(KEY_RELEASE, key, (0, 0));
        self.atom("WM_PROTOCOLS");
    }

    /// Presses a button of the display's own pointer at a place of the screen: 1 is the left one, 2 the
    /// middle one, 3 the right one.
    pub fn press_button(&mut self, button: u8, at: (u16, u16)) {
        self.fake_input(MOTION_NOTIFY, 0, at);
        self.fake_input(BUTTON_PRESS, button, at);
        self.fake_input(BUTTON_RELEASE, button, at);
        self.atom("WM_PROTOCOLS");
    }

    fn fake_input(&mut self, event: u32, detail: u8, (x, y): (u16, u16)) {
        let name = b"XTEST\0\0\0";
        let words = [5, read_u32(name, 0), read_u32(name, 4)];
        let extension = self.request_reply(QUERY_EXTENSION, 0, &words).expect("an answer")[9];
        let (event, place) = (event | u32::from(detail) << 8, u32::from(x) | u32::from(y) << 16);
        self.send_request(extension, FAKE_INPUT, &[event, 0, self.root, 0, 0, place, 0, 0]);
    }

    /// The key that has a sign, and whether alone (0) or with the shift key (1).
    fn keycode_for(&mut self, sign: u32) -> Option<(u8, usize)> {
        let keys = u8::MAX - MIN_KEYCODE;
        let asked = u32::from(MIN_KEYCODE) | u32::from(keys) << 8;
        let answer = self.request_reply(GET_KEYBOARD_MAPPING, 0, &[asked])?;
        let signs = usize::from(answer[1]) * 4;
        let mut keys = answer[MIN_REPLY_BYTES..].chunks_exact(signs);
        let level = |signs: &[u8]| (0..2).find(|level| read_u32(signs, 4 * level) == sign);
        let (at, level) =
            keys.by_ref().map(level).enumerate().find_map(|(at, level)| Some((at, level?)))?;
        Some((u8::try_from(at).ok()?.checked_add(MIN_KEYCODE)?, level))
    }

    fn is_shown(&mut self, window: u32, title: &str) -> bool {
        let viewable = |answer: Vec<u8>| answer[26] == 2;
        let called = [window, ATOM_WM_NAME, 0, 0, 256];
        self.request_reply(GET_ATTRIBUTES, 0, &[window]).is_some_and(viewable)
            && self.request_reply(GET_PROPERTY, 0, &called).is_some_and(|answer| {
                let length = usize::try_from(read_u32(&answer, 16)).expect("a small number");
                let name = answer[MIN_REPLY_BYTES..].get(..length);
                name.is_some_and(|name| name.ends_with(title.as_bytes()))
            })
    }

    fn atom(&mut self, name: &str) -> u32 {
        let mut words = vec![u32::try_from(name.len()).expect("a short name")];
        let padded = [name.as_bytes(), &[0; 3]].concat();
        words.extend(padded.chunks_exact(4).map(|four| read_u32(four, 0)));
        let answer = self.request_reply(INTERN_ATOM, 0, &words).expect("an atom");
        read_u32(&answer, 8)
    }

    fn send_request(&mut self, request: u8, detail: u8, words: &[u32]) {
        let length = u16::try_from(words.len() + 1).expect("a short request").to_le_bytes();
        let mut bytes = vec![request, detail, length[0], length[1]];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.server.write_all(&bytes).expect("the display takes it");
    }

    /// The whole answer; nothing when the window has gone meanwhile. Events are kept for later.
    fn request_reply(&mut self, request: u8, detail: u8, words: &[u32]) -> Option<Vec<u8>> {
        self.send_request(request, detail, words);
        loop {
            let mut answer = vec![0; MIN_REPLY_BYTES];
            self.server.read_exact(&mut answer).expect("an answer");
            match answer[0] {
                0 => return None,
                1 => {
                    let more = usize::try_from(read_u32(&answer, 4)).expect("a small number");
                    answer.resize(MIN_REPLY_BYTES + 4 * more, 0);
                    self.server.read_exact(&mut answer[MIN_REPLY_BYTES..]).expect("the rest of it");
                    return Some(answer);
                }
                _ => self.events.push_back(answer),
            }
        }
    }

    /// The next event; panics when none comes.
    fn next_event(&mut self) -> Vec<u8> {
        self.events.pop_front().unwrap_or_else(|| {
            let mut event = vec![0; MIN_REPLY_BYTES];
            self.server.read_exact(&mut event).expect("an event");
            event
        })
    }
}

fn read_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
