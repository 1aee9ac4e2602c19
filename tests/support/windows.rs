//! What stands on a display, and the close button of a window, over the X protocol itself: what a
//! driver of the page does not see.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

/// Numbers of requests, as the core protocol has them.
const GET_ATTRIBUTES: u8 = 3;
const QUERY_TREE: u8 = 15;
const INTERN_ATOM: u8 = 16;
const GET_PROPERTY: u8 = 20;
const SEND_EVENT: u8 = 25;
/// The atom that every server has for a window's title.
const WM_NAME: u32 = 39;
const CLIENT_MESSAGE: u8 = 33;
/// Of an answer this much is there in any case.
const ANSWER: usize = 32;

/// A client of one display.
#[derive(Debug)]
pub struct Windows {
    server: UnixStream,
    root: u32,
}

/// A window's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window(u32);

impl Windows {
    /// Of the display with this name, as it stands in `DISPLAY`.
    #[must_use]
    pub fn on(display: &str) -> Self {
        let socket = format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':'));
        let mut server = UnixStream::connect(socket).expect("the display takes clients");
        // Little-endian, version 11.0, no proof of who we are.
        server.write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]).expect("written");
        let mut head = [0; 8];
        server.read_exact(&mut head).expect("an answer");
        assert_eq!(head[0], 1, "the display lets us in");
        let mut rest = vec![0; 4 * usize::from(short(&head, 6))];
        server.read_exact(&mut rest).expect("the rest of it");
        let vendor = usize::from(short(&rest, 16)).next_multiple_of(4);
        let formats = 8 * usize::from(rest[21]);
        let root = long(&rest, 32 + vendor + formats);
        Self { server, root }
    }

    /// The window with this title, if it stands on the screen.
    #[must_use]
    pub fn shown(&mut self, title: &str) -> Option<Window> {
        let tree = self.ask(QUERY_TREE, 0, &[self.root])?;
        let windows: Vec<u32> = tree[ANSWER..].chunks_exact(4).map(|four| long(four, 0)).collect();
        windows.into_iter().find(|window| self.is_shown(*window, title)).map(Window)
    }

    /// Presses the window's close button: what a window manager sends then.
    pub fn press_close(&mut self, Window(window): Window) {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS"), self.atom("WM_DELETE_WINDOW"));
        let head = u32::from_le_bytes([CLIENT_MESSAGE, 32, 0, 0]);
        let event = [window, 0, head, window, protocols, delete, 0, 0, 0, 0];
        self.tell(SEND_EVENT, 0, &event);
        // Its answer says that the server has taken what came before.
        self.atom("WM_PROTOCOLS");
    }

    fn is_shown(&mut self, window: u32, title: &str) -> bool {
        let viewable = |answer: Vec<u8>| answer[26] == 2;
        let called = [window, WM_NAME, 0, 0, 64];
        self.ask(GET_ATTRIBUTES, 0, &[window]).is_some_and(viewable)
            && self.ask(GET_PROPERTY, 0, &called).is_some_and(|answer| {
                let length = usize::try_from(long(&answer, 16)).expect("a small number");
                answer[ANSWER..].get(..length) == Some(title.as_bytes())
            })
    }

    fn atom(&mut self, name: &str) -> u32 {
        let mut words = vec![u32::try_from(name.len()).expect("a short name")];
        let padded = [name.as_bytes(), &[0; 3]].concat();
        words.extend(padded.chunks_exact(4).map(|four| long(four, 0)));
        let answer = self.ask(INTERN_ATOM, 0, &words).expect("an atom");
        long(&answer, 8)
    }

    fn tell(&mut self, request: u8, detail: u8, words: &[u32]) {
        let length = u16::try_from(words.len() + 1).expect("a short request").to_le_bytes();
        let mut bytes = vec![request, detail, length[0], length[1]];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.server.write_all(&bytes).expect("the display takes it");
    }

    /// The whole answer; nothing when the window has gone meanwhile. Events are passed over.
    fn ask(&mut self, request: u8, detail: u8, words: &[u32]) -> Option<Vec<u8>> {
        self.tell(request, detail, words);
        loop {
            let mut answer = vec![0; ANSWER];
            self.server.read_exact(&mut answer).expect("an answer");
            match answer[0] {
                0 => return None,
                1 => {
                    let more = usize::try_from(long(&answer, 4)).expect("a small number");
                    answer.resize(ANSWER + 4 * more, 0);
                    self.server.read_exact(&mut answer[ANSWER..]).expect("the rest of it");
                    return Some(answer);
                }
                _ => {}
            }
        }
    }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
