//! Spellings of one tag or property: a rule covers them all, as the index finds them.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where it cannot go on"
)]

#[path = "rules/naive_matcher.rs"]
#[allow(unreachable_pub, dead_code, reason = "a control")]
mod naive_matcher;

use markdown::{Properties, metadata, privacy};
use proptest::prelude::*;
use protocol::settings::PrivateSettings;
use protocol::{Privacy, PrivateRules};

fn covers(rule: &str, bytes: &[u8]) -> bool {
    let never = vec![rule.to_owned()];
    let rules = PrivateRules::parse(&PrivateSettings { never, ..Default::default() }).unwrap();
    privacy(&rules, bytes) == Privacy::Never
}

/// The result by the letters alone.
fn naive_covers(rule: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let text = text.trim_start_matches('\u{FEFF}');
    match rule.split_once(':') {
        Some((name, value)) => {
            let value = value.trim();
            naive_matcher::has_property(text, name, (!value.is_empty()).then_some(value))
        }
        None => naive_matcher::has_tag(text, rule.trim_start_matches('#')),
    }
}

/// Spellings that letters alone do not tell.
const HIDDEN_SPELLINGS: &[(&str, &str)] = &[
    // Signs that nobody sees, other forms of letters.
    ("#private", "#pri\u{200B}vate"),
    ("#private", "#\u{2060}private"),
    ("#private", "#pri\u{AD}vate/health"),
    ("#private", "#\u{FF50}\u{FF52}ivate"),
    ("#private", "---\ntags: [pri\u{200D}vate]\n---\n"),
    ("#private", "---\nta\u{200B}gs: [private]\n---\n"),
    ("status: secret", "---\nsta\u{FEFF}tus: secret\n---\n"),
    ("status: secret", "---\nstatus: \u{FF53}ecret\n---\n"),
    ("status: secret", "---\nstatus: se\u{E0020}cret\n---\n"),
    // Anchors, aliases and merge keys.
    ("#private", "---\nx: &a private\ntags: *a\n---\n"),
    ("#private", "---\nx: &a [private]\ntags: *a\n---\n"),
    ("#private", "---\nx: &a tags\n*a : private\n---\n"),
    ("status: secret", "---\nx: &a secret\nstatus: *a\n---\n"),
    ("status: secret", "---\nstatus: &a secret\n---\n"),
    // Type tags.
    ("status: secret", "---\nstatus: !!str secret\n---\n"),
    ("status: secret", "---\nstatus: !<tag:yaml.org,2002:str> secret\n---\n"),
    ("status: secret", "---\nstatus: !!binary c2VjcmV0\n---\n"),
    ("status: secret", "---\nstatus: !!binary |\n  c2Vj\n  cmV0\n---\n"),
    ("status: secret", "---\n!!str status: !mine secret\n---\n"),
    // Escapes.
    ("#private", "---\ntags: [\"\\x70rivate\"]\n---\n"),
    ("#private", "---\n\"\\u0074ags\": private\n---\n"),
    ("status: secret", "---\nstatus: \"s\\\n  ecret\"\n---\n"),
    ("status: secret", "---\n\"sta\\x74us\": \"\\U00000073ecret\"\n---\n"),
    // Block scalars and keys on lines of their own.
    ("status: very secret", "---\nstatus:\n  very\n  secret\n---\n"),
    ("status: secret", "---\n? status\n: secret\n---\n"),
    ("status: secret", "---\n? [status]\n: secret\n---\n"),
    ("level: 3", "---\nlevel: 0x3\n---\n"),
    // Links, which YAML takes for lists.
    ("up: [[Secret]]", "---\nup: [[ Secret ]]\n---\n"),
    ("up: [[Secret]]", "---\nup: [[Secret]]\n---\n"),
    ("up: [[Secret]]", "---\nup:\n  - [[Home]]\n  - [[Secret]]\n---\n"),
    ("#private", "#pri\0vate"),
    ("up: [[Secret]]", "---\nup:\n  - - Secret\n---\n"),
    ("level: 3", "---\nlevel: 3.0\n---\n"),
    // Line ends and fences.
    ("status: secret", "---\rstatus: secret\r---\r"),
    ("#private", "---\rtags: private\r---\rText"),
    ("status: secret", "---\na: 1\n...\nstatus: secret\n---\n"),
    ("status: secret", "---\na: 1\n--- \nstatus: secret\n---\n"),
    // Unreadable properties may say anything.
    ("status: secret", "---\ntitle: a: b\n---\n"),
    ("#private", "---\ntags: [a\n---\n"),
    ("#private", "---\n\ta: 1\n  b: 2\n---\n"),
    ("#private", "---\na: &a [*a]\n---\n"),
    ("status: secret", "---\nx: *nobody\n---\n"),
    // Texts and lists where properties are meant, and a fence that nobody closed.
    ("#private", "---\ntags\u{FF1A}private\n---\n"),
    ("#private", "---\nta\u{200B}gs:private\n---\n"),
    ("#private", "---\n- a\n- tags\u{FF1A}private\n---\n"),
    ("status: secret", "---\nA: x\n--- state:secret\n---\n"),
    ("status: secret", "---\n# note\r\n! status: open\n"),
    // Cards of a canvas.
    ("#private", "{\"nodes\":[{\"type\":\"text\",\"text\":\"\\u0023private\"}]}"),
    ("#private", "{\"nodes\":[{\"type\":\"text\",\"text\":\"a\\n#private\"}]}"),
    ("#private", "{\"nodes\":[{\"type\":\"text\",\"text\":\"#pr\\u0069vate\"}]}"),
    ("#\u{1F512}", "{\"nodes\":[{\"text\":\"#\\ud83d\\udd12\"}]}"),
    // Properties of a canvas.
    ("status: secret", "{\"nodes\":[],\"metadata\":{\"frontmatter\":{\"status\":\"secret\"}}}"),
    (
        "status: secret",
        "{\"met\\u0061data\":{\"frontm\\u0061tter\":{\"status\":[1,\"s\\u0065cret\"]}}}",
    ),
    ("status: \u{1F512}", "{\"metadata\":{\"frontmatter\":{\"status\":\"\\ud83d\\udd12\"}}}"),
    ("#private", "{\"metadata\":{\"frontmatter\":{\"tags\":[\"private\"]}}}"),
    ("status: secret", "{\"metadata\":{\"frontmatter\":{\"status\":"),
];

/// Spellings that letters alone tell.
const PLAIN_SPELLINGS: &[(&str, &str)] = &[
    ("status: secret", "---\nstatus: >-\n  secret\n---\n"),
    ("status: secret", "---\nstatus: |\n  secret\n---\n"),
    ("status: secret", "---\nstatus\t: secret # no\n---\n---\n"),
    ("#private", "---\ntags: !!set\n  ? private\n---\n"),
    ("#private", "#private\0x"),
    ("#private", "about #private things"),
    ("#private", "#Private"),
    ("#private", "#private/health"),
    ("#private", "(#private)"),
    ("#private", "> [!note] #private\n> text"),
    ("#private", "- [ ] task #private"),
    ("#private", "```\n#private\n```"),
    ("#private", "%%#private%%"),
    ("#private", "---\ntags: [a, private]\n---\n"),
    ("#private", "---\ntags:\n  - a\n  - \"#private/x\"\n---\n"),
    ("#private", "---\ntags:\n- private\ntitle: x\n---\n"),
    ("#private", "\u{FEFF}---\r\nTags: private, b\r\n---\r\n"),
    ("#private", "---\ntag: b private\n---\n"),
    ("#private", "---\n{tags: [private]}\n---\n"),
    ("#private", "---\n\"tags\" : 'private'\n---\n"),
    ("#private", "---\nbase: &b\n  tags: private\nall:\n  <<: *b\n---\n"),
    ("#private", "---\ntags: private\nno end of the fence"),
    ("#private", "--- \ntags: private\n---\t\n"),
    ("#private", "---\ntags:private\n---\n"),
    ("#private", "---\nmy tags:private\n---\n"),
    ("#private", "---\n# mine\n  tags:private\n  all of it\n...\n"),
    ("#private", "---\ntags:private\nno end of the fence"),
    ("#private", "---\n# note\ntags: private\nno end of the fence"),
    ("status: secret", "---\nstatus:\u{A0}secret\n---\n"),
    ("#private", "{\"nodes\":[{\"type\":\"text\",\"text\":\"see #private\"}]}"),
    ("#caf\u{e9}", "#caf\u{e9}"),
    ("status: secret", "---\nstatus: Secret\n---\n"),
    ("status: secret", "---\nstatus: \"secret\" # really\n---\n"),
    ("status: secret", "---\nstatus:\n  - open\n  - secret\n---\n"),
    ("status: secret", "---\nstatus: open, secret\n---\n"),
    ("status: secret", "---\nstatus: {a: [b, secret]}\n---\n"),
    ("private:", "---\nprivate: no\n---\n"),
    ("private:", "---\nprivate:\n---\n"),
    ("private:", "---\nmeta:\n  private: true\n---\n"),
];

const UNCOVERED_TEXTS: &[(&str, &str)] = &[
    ("#private", "private"),
    ("#private", "#privately"),
    ("#private", "x#private"),
    ("#private", "# private"),
    ("#private", "---\ntitle: private\n---\n"),
    ("#private", "text\n---\ntags: private\n---\n"),
    ("#private", "---\ntags: [a]\n---\nprivate"),
    ("#private", "---\n\nA line above: and more, below a rule.\n"),
    ("#private", "---\n\n# Title\n\nA line above: and more, below a rule.\n"),
    ("#private", "---\n# Title\nWords below it\nand: more"),
    ("#private", "---\n\n![[photo.png]]\n"),
    ("#private", "---\nJust words\n---\nText: more"),
    ("#private", "---\n[[Home]]\n---\nText"),
    ("#private", "---\n- Yesterday\n- Tomorrow\n---\nText"),
    ("#private", "---\n\nAttendees: Ann\n"),
    ("#private", "---\n\n# Meeting\n\nDate: 2026-01-02\n"),
    ("#private", "{{date}} and frontmatter"),
    ("#private", "{% comment %} frontmatter {% endcomment %}"),
    ("#private", "---\nJust words,\nat 12:30, at https://example.org\n---\nText"),
    ("#private", "---\n# see: there\nJust words\n---\nText"),
    ("#private", "---\n~\n---\nText"),
    ("#private", "---\n# nothing: yet\n---\nText"),
    ("#private", "---\n{{title}}: x\ndate: {{date}}\nup: [[A|b]]\n---\n"),
    ("#private", "{\"nodes\":[{\"type\":\"file\",\"file\":\"a.md\"}]}"),
    ("status: secret", "---\nstatus: open\nother: secret\n---\n"),
    ("status: secret", "---\nstatus: open\n...\nstatus: secret\n"),
    ("status: secret", "status: secret"),
    ("level: 3", "---\nlevel: 30\n---\n"),
    ("private:", "---\nnot_private: x\n---\n"),
];

#[test]
fn every_spelling_of_a_tag_or_property_is_covered() {
    for (rule, text) in PLAIN_SPELLINGS.iter().chain(HIDDEN_SPELLINGS) {
        assert!(covers(rule, text.as_bytes()), "{rule}: {text:?}");
    }
    for (rule, text) in UNCOVERED_TEXTS {
        assert!(!covers(rule, text.as_bytes()), "{rule}: {text:?}");
    }
}

#[test]
fn letters_alone_tell_the_plain_spellings_and_no_hidden_one() {
    for (rule, text) in PLAIN_SPELLINGS {
        assert!(naive_covers(rule, text.as_bytes()), "{rule}: {text:?}");
    }
    let told = HIDDEN_SPELLINGS.iter().filter(|(rule, text)| naive_covers(rule, text.as_bytes()));
    assert_eq!(told.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

#[test]
fn a_note_in_another_encoding_is_read_or_counts_as_private() {
    let text = "\u{FEFF}---\nstatus: secret\n---\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(covers("status: secret", &wide));
    assert!(!covers("status: open", &wide));
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert!(covers("status: secret", &big));
    let wider: Vec<u8> = text.chars().flat_map(|sign| u32::from(sign).to_le_bytes()).collect();
    assert!(covers("status: secret", &wider));
    assert!(!covers("status: open", &wider));
    assert!(covers("status: open", &[&wider, &[0, 0xD8, 0, 0][..]].concat()), "no sign");
    assert!(covers("status: open", &[&wider, &[b'a'][..]].concat()), "cut off");
    let widest: Vec<u8> = text.chars().flat_map(|sign| u32::from(sign).to_be_bytes()).collect();
    assert!(covers("status: secret", &widest));
    assert!(!covers("status: open", &widest));
    let unmarked: Vec<u8> = "#private".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(covers("#private", &unmarked));
    assert!(covers("#private", b"caf\xe9"), "nobody knows what it says");
    assert!(!covers("Diary", b"caf\xe9"), "a rule by place does not look inside");
}

#[test]
fn frontmatter_of_too_many_values_is_unclear_and_takes_little_room() {
    let list = |count: usize| format!("---\na: [{}]\n---\n", "c, ".repeat(count));
    assert!(!covers("#private", list(100_000).as_bytes()), "the control: it is read");
    for text in [list(200_000), list(1_300_000), format!("---\n{}---\n", "a: 1\n".repeat(800_000))]
    {
        assert!(covers("#private", text.as_bytes()) && covers("a: other", text.as_bytes()));
        assert!(size_of_values(text.as_bytes()) <= text.len() + 100, "its text at most");
        let read = Properties::parse(&text);
        assert!(read.malformed().is_some_and(|wrong| wrong.reason.starts_with("it ")));
    }
}

#[test]
fn what_a_note_shows_as_a_property_is_covered_by_the_rule_that_is_spelled_so() {
    for text in [
        "---\nup: [[Secret]]\n---\n",
        "---\nup: [[a, b], [c]]\n---\n",
        "---\nup: {a: [b, {c: d}]}\n? [x, y]\n: z\n---\n",
        "---\nbase: &b {k: [[v]]}\n<<: *b\n---\n",
        "---\na: b: c\nup: [[x]]\n---\n",
    ] {
        let read = Properties::parse(text);
        assert!(!read.top_level().is_empty());
        for one in read.top_level() {
            assert!(covers(&format!("{}:", one.name), text.as_bytes()), "{one:?} in {text}");
            for value in &one.values {
                let rule = format!("{}: {value}", one.name);
                assert!(covers(&rule, text.as_bytes()), "{rule} in {text}");
            }
        }
    }
}

/// Maps that merge the one before `times` times each, which makes `times` to the power of `depth` merges of `innermost`.
fn nested_merges(depth: usize, times: usize, innermost: &str) -> String {
    let map = |n: usize| {
        let merged = vec![format!("*a{}", n - 1); times].join(",");
        format!(", &a{n} {{<<: [{merged}]}}")
    };
    let maps: String = (1..=depth).map(map).collect();
    format!("---\n<<: [&a0 {innermost}{maps}]\n---\n")
}

#[test]
fn aliases_that_make_too_much_are_unclear_and_take_no_time() {
    let line = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
    let laughs: String = (1..12).map(line).collect();
    let text = format!("---\na0: &a0 [lol]\n{laughs}---\n");
    let started = std::time::Instant::now();
    assert!(covers("#private", text.as_bytes()));
    let chain = |n: usize| format!("a{n}: &a{n} [*a{}]\n", n - 1);
    let deep: String = (1..5_000).map(chain).collect();
    assert!(covers("#private", format!("---\na0: &a0 [x]\n{deep}---\n").as_bytes()));
    let nested = format!("---\na: {}\n---\n", "[".repeat(50_000));
    assert!(covers("#private", nested.as_bytes()));
    assert!(covers("#private", nested_merges(29, 9, "{}").as_bytes()));
    let empty_merges = format!("{{{}}}", "<<: [], ".repeat(50_000));
    assert!(covers("#private", nested_merges(20, 2, &empty_merges).as_bytes()));
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn the_time_to_read_grows_with_the_size_alone() {
    let tags: Vec<String> = (0..20_000).map(|n| format!("t{n}")).collect();
    let flow = format!("---\ntags: [{}]\n---\n", tags.join(", "));
    let block = format!("---\ntags:\n  - {}\n---\n", tags.join("\n  - "));
    let keys = format!("---\n{}: x\n---\n", tags.join(": x\n"));
    let inline = format!("#{}", tags.join(" #"));
    let plain = format!("---\na: {}\n---\n", "word ".repeat(100_000));
    let documents = "--- word\n".repeat(20_000);
    let documents = format!("---\n{documents}---\n");
    for text in [flow, block, keys, inline, plain, documents] {
        let started = std::time::Instant::now();
        assert!(!covers("#private", text.as_bytes()));
        assert!(started.elapsed().as_secs() < 3, "{:?}: {:.40}", started.elapsed(), text);
    }
}

/// How many bytes the values in the bytes of a note take.
fn size_of_values(bytes: &[u8]) -> usize {
    let found = metadata(bytes);
    let size = |text: &String| size_of::<String>() + text.len();
    let values = found.properties.iter().flat_map(|(name, values)| values.iter().chain([name]));
    values.chain(&found.tags).map(size).sum()
}

/// `inner` in so many maps, each the value of `name`.
fn nested(name: &str, depth: usize, inner: &str) -> String {
    format!("---\n{}{inner}{}\n---\n", format!("{{{name}: ").repeat(depth), "}".repeat(depth))
}

#[test]
fn values_take_a_small_multiple_of_the_note_or_are_unclear() {
    let list = |name: &str, count| {
        format!("[{}]", (0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(", "))
    };
    let names_by_values = format!("---\n? {}\n: {}\n---\n", list("a", 4_500), list("b", 4_500));
    let aliases =
        format!("---\na: &a {}\n{}---\n", "word ".repeat(6_000), "? *a\n: *a\n".repeat(3_000));
    let by_line = format!(
        "---\na: b: c\nk: {{x: &x {}, y: [{}]}}\n---\n",
        "w ".repeat(9_000),
        "*x, ".repeat(9_000)
    );
    let longer =
        format!("---\nx: 1\n...\n{}", nested("a", 60, &list("b", 9_000)).trim_start_matches("---"));
    for text in [names_by_values, nested("a", 60, &list("b", 9_000)), aliases, by_line, longer] {
        let started = std::time::Instant::now();
        assert!(covers("status: secret", text.as_bytes()), "{text:.40}");
        let size = size_of_values(text.as_bytes());
        assert!(size <= (4 << 20) + 32 * text.len(), "{} to {size}: {text:.40}", text.len());
        assert!(started.elapsed().as_secs() < 5, "{:?}: {text:.40}", started.elapsed());
    }
    // A text of tags stands in every map around it, and each tag is kept once.
    let tags = nested("tags", 60, &format!("\"{}\"", "word ".repeat(20_000)));
    let bound = (4 << 20) + 32 * tags.len();
    assert!(size_of_values(tags.as_bytes()) < bound);
}

#[test]
fn maps_a_few_levels_deep_are_read_in_whole() {
    let list = vec!["word"; 2_000].join(", ");
    let text = nested("a", 12, &format!("{{status: [{list}, secret]}}"));
    assert!(covers("status: secret", text.as_bytes()));
    assert!(covers("a: secret", text.as_bytes()));
    assert!(!covers("status: other", text.as_bytes()));
    let lines: String = (0..60_000).map(|n| format!("{}: 1\n", n % 9)).collect();
    assert!(!covers("status: secret", format!("---\n{lines}---\n").as_bytes()));
    let two = "---\n? [state, status]\n: [open, secret]\n---\n";
    assert!(covers("status: secret", two.as_bytes()) && covers("state: open", two.as_bytes()));
}

#[test]
fn frontmatter_that_is_no_yaml_is_read_by_line_and_says_where_it_is_wrong() {
    let read = Properties::parse("---\nstatus: open\ntitle: a: b\ntags: [x, y]\n---\n");
    let named: Vec<_> =
        read.top_level().iter().map(|one| (one.name.as_str(), one.values.join("|"))).collect();
    assert_eq!(
        named,
        [("status", "open".into()), ("title", "a: b".into()), ("tags", "x|y".into())]
    );
    assert_eq!(read.malformed().map(|wrong| wrong.line), Some(3));
}

/// A value in one of the spellings that YAML has for it.
fn spelled(value: &'static str) -> impl Strategy<Value = String> {
    let escaped = proptest::collection::vec(0..4_u8, value.chars().count()).prop_map(move |ways| {
        let sign = |(sign, way): (char, u8)| match way {
            0 => sign.to_string(),
            1 => format!("\\u{:04x}", sign as u32),
            2 => format!("\\U{:08X}", sign as u32),
            _ => format!("\\x{:02x}", sign as u32),
        };
        format!("\"{}\"", value.chars().zip(ways).map(sign).collect::<String>())
    });
    let quoted = prop_oneof![
        Just(value.to_owned()),
        Just(format!("'{value}'")),
        Just(format!("\"{value}\"")),
        escaped
    ];
    let tagged = prop_oneof![Just(""), Just("!!str "), Just("&a "), Just("! ")];
    (tagged, quoted).prop_map(|(tag, quoted)| format!("{tag}{quoted}"))
}

fn note() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let around = (prop_oneof![Just(""), Just("\u{FEFF}")], prop_oneof![Just("---"), Just("...")]);
    let shape = 0..6_u8;
    (spelled("status"), spelled("secret"), shape, end, around).prop_map(
        |(key, value, shape, end, (mark, close))| {
            let key = key.replace('&', "&k");
            let entry = match shape {
                0 => format!("{key} : {value}"),
                1 => format!("{key} : [open, {value}]"),
                2 => format!("{key} :\n  - {value}\n  - open"),
                3 => format!("? {key}\n: {value}"),
                4 => format!("{{a: 1, {key} : {value}}}"),
                _ => format!("v: &v {}\n{key} : *v", value.replace("&a ", "")),
            };
            format!("{mark}---\n{entry}\n{close}\nText\n").replace('\n', end)
        },
    )
}

proptest! {
    #[test]
    fn rule_and_index_agree_about_every_spelling_of_a_property(text in note()) {
        let read = Properties::parse(&text);
        prop_assert_eq!(read.malformed(), None, "{:?}", text);
        let finds = |value: &str| {
            let own = read.top_level().iter().filter(|one| one.name == "status");
            own.flat_map(|one| &one.values).any(|found| found == value)
        };
        prop_assert!(finds("secret"), "{text:?}: {:?}", read.top_level());
        prop_assert!(covers("status: secret", text.as_bytes()), "{text:?}");
        prop_assert!(covers("status:", text.as_bytes()), "{text:?}");
        prop_assert!(!covers("status: other", text.as_bytes()), "{text:?}");
        prop_assert!(!covers("#secret", text.as_bytes()), "{text:?}");
    }

    #[test]
    fn no_text_is_too_odd(text in "(---\n)?[-a&*!?:,#|>%@`'\"\\[\\]{}\\\\ \t\r\n.\u{200B}]{0,60}(\n---)?") {
        let read = Properties::parse(&text);
        for tag in read.tags() {
            prop_assert!(!tag.is_empty());
        }
        covers("#private", text.as_bytes());
    }
}
