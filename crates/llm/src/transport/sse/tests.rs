//! Event streams in any pieces, within their caps.

use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8]) -> Vec<(String, String)> {
    let events = SseReader::default().feed(bytes).unwrap();
    events.into_iter().map(|event| (event.name, event.data)).collect()
}

#[track_caller]
fn check(bytes: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, data)| ((*name).into(), (*data).into())).collect();
    assert_eq!(read(bytes.as_bytes()), expected, "{bytes:?}");
}

#[test]
fn each_way_to_end_a_line_is_read() {
    for end in ["\n", "\r", "\r\n"] {
        check(
            &format!("event: a{end}data: 1{end}{end}data: 2{end}{end}"),
            &[("a", "1"), ("", "2")],
        );
    }
}

#[test]
fn a_mark_in_front_and_a_missing_space_are_no_matter() {
    check("\u{feff}event:a\ndata:1\n\n", &[("a", "1")]);
}

#[test]
fn comments_unknown_fields_and_empty_data_are_no_events() {
    check(": keep\n\nid: 7\nretry: 1\nfoo\n\nevent: a\ndata:\n\ndata: x\n\n", &[("", "x")]);
}

#[test]
fn data_lines_are_joined() {
    check("data: a\ndata: b\n\n", &[("", "a\nb")]);
}

#[test]
fn an_event_that_no_blank_line_closed_is_not_given_out() {
    check("data: a\n\ndata: b\n", &[("", "a")]);
}

#[test]
fn an_endless_line_is_refused_and_one_at_the_limit_is_not() {
    let mut reader = SseReader::default();
    let mut refused = false;
    for _ in 0..=MAX_LINE_BYTES / 1024 {
        refused |= reader.feed(&[b'x'; 1024]).is_err();
    }
    assert!(refused);
    let whole = format!("data:{}\n\n", "x".repeat(MAX_LINE_BYTES - 5));
    assert_eq!(read(whole.as_bytes()).len(), 1);
}

#[test]
fn endless_data_lines_of_one_event_are_refused() {
    let line = format!("data: {}\n", "x".repeat(1024));
    let mut reader = SseReader::default();
    assert!((0..=1024).any(|_| reader.feed(line.as_bytes()) == Err(LineTooLong)));
}

proptest! {
    #[test]
    fn any_bytes_read_the_same_however_they_are_cut(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
        cuts in proptest::collection::vec(0_usize..200, 0..8),
    ) {
        let whole = SseReader::default().feed(&bytes).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut reader = SseReader::default();
        let mut from = 0;
        let mut pieces = Vec::new();
        for cut in cuts {
            pieces.extend(reader.feed(&bytes[from..cut]).unwrap());
            from = cut;
        }
        prop_assert_eq!(pieces, whole);
    }
}
