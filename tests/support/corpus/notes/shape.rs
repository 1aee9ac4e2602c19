//! The shapes.

/// A kind of note, by what there is much of in it.
#[derive(Clone, Copy)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    /// Its text, of about so many bytes.
    pub text: fn(usize) -> String,
    /// Other files beside it: how many for so many bytes, and the path of each.
    pub others: fn(usize) -> Vec<String>,
}

const fn alone(name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape { name, text, others: |_| Vec::new() }
}

/// `piece` as often as it fits.
fn often(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

/// What `piece` makes of 0, 1, 2 and so on, until that is enough.
fn each(size: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(size + 64);
    for n in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&piece(n));
    }
    text
}

/// Properties with these lines.
fn properties(lines: &str) -> String {
    format!("---\n{lines}---\nText.\n")
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    alone("tags", |size| each(size, |n| format!("#tag{n}\n"))),
    alone("tags-in-one-line", |size| each(size, |n| format!("#tag{n} "))),
    alone("tag-nested", |size| format!("#{}\n", often("a/", size))),
    alone("tags-nested", |size| each(size, |n| format!("#t{n}/a/b/c/d/e/f/g/h\n"))),
    alone("tags-listed", |size| {
        properties(&format!("tags:\n{}", each(size, |n| format!("  - tag{n}\n"))))
    }),
    alone("tags-in-brackets", |size| {
        properties(&format!("tags: [{}a]\n", each(size, |n| format!("tag{n}, "))))
    }),
    alone("aliases", |size| {
        properties(&format!("aliases:\n{}", each(size, |n| format!("  - Name {n}\n"))))
    }),
    alone("properties", |size| properties(&each(size, |n| format!("key{n}: value\n")))),
    alone("properties-in-one-line", |size| properties(&format!("{}\n", often("tags: ", size)))),
    alone("properties-nested", |size| properties(&format!("a:\n{}", often("  tags: a\n", size)))),
    alone("properties-unclosed", |size| format!("---\n{}", often("tags: a\n  status: b\n", size))),
    alone("quotes-in-properties", |size| {
        let half = size / 2;
        properties(&format!("a: [{}{}]\n", " ".repeat(half), "''".repeat(half / 2)))
    }),
    alone("yaml-aliases", |size| {
        let line = |n: usize| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}]\n", n + 1, n + 1);
        properties(&format!("a0: &a0 [x]\n{}", each(size, line)))
    }),
    alone("links", |size| often("[[Other]]\n", size)),
    alone("links-spelled-variously", |size| each(size, |n| format!("[[Other {n}|o]] "))),
    alone("links-opened", |size| format!("{}]]\n", often("[[ a ", size))),
    alone("links-broken", |size| format!("{}]]\n", often("[[a\n", size))),
    alone("brackets", |size| often("[", size)),
    alone("images-in-images", |size| {
        let depth = size / 7;
        format!("{}a{}\n", "![".repeat(depth), "](b)".repeat(depth))
    }),
    alone("definitions", |size| each(size, |n| format!("[l{n}]: Other.md\n"))),
    alone("footnotes", |size| each(size, |n| format!("a[^{n}]\n\n[^{n}]: b\n\n"))),
    Shape {
        name: "one-name",
        text: |size| often("[[Same]]\n", size),
        others: |size| (0..size / 512).map(|n| format!("Folder {n}/Same.md")).collect(),
    },
    alone("headings", |size| often("# Same\n\na\n\n", size)),
    alone("heading-long", |size| {
        format!("# {}\n\n{}", often("tea ", size / 2), often("a\n\n", size / 2))
    }),
    alone("headings-in-html", |size| often("<h2>Same</h2>\n", size)),
    alone("block-ids", |size| each(size, |n| format!("text ^id{n}\n\n"))),
    alone("block-ids-alone", |size| each(size, |n| format!("text\n\n^id{n}\n\n"))),
    alone("tasks", |size| often("- [ ] tea\n", size)),
    alone("quote-deep", |size| format!("{}a\n", often("> ", size))),
    alone("callouts", |size| often("> [!note] Tea\n> a\n\n", size)),
    alone("list-deep", |size| format!("{}a\n", often("- ", size))),
    alone("table-wide", |size| {
        let columns = size / 8;
        format!("|{}\n|{}\n|{}\n", "a|".repeat(columns), "-|".repeat(columns), "b|".repeat(columns))
    }),
    alone("table-long", |size| format!("|a|b|\n|-|-|\n{}", often("|tea|[[Other]]|\n", size))),
    alone("code-fences", |size| often("```\n#a [[b]]\n", size)),
    alone("ticks", |size| each(size, |n| format!("{}a ", "`".repeat(n % 64 + 1)))),
    alone("emphasis", |size| often("*a **b _c ", size)),
    alone("comments", |size| often("%%a%% % ", size)),
    alone("math", |size| often("$a $$b ", size)),
    alone("html", |size| often("<a <!-- <b> ", size)),
    alone("escapes", |size| often("\\", size)),
    alone("one-line", |size| often("tea and more of it ", size)),
    alone("one-word", |size| often("a", size)),
    alone("lines", |size| often("a\n", size)),
    alone("lines-of-windows", |size| often("a\r\n", size)),
    alone("empty-lines", |size| often("\n", size)),
    alone("blanks", |size| often(" ", size)),
    alone("hashes", |size| often("# ", size)),
    alone("combining", |size| format!("a{}\n", often("\u{301}", size))),
    alone("invisible", |size| often("a\u{200b}", size)),
    alone("invisible-alone", |size| often("#\u{200b}", size)),
    alone("rules-drawn", |size| often("─", size)),
    alone("signs", |size| often("茶の湯、", size)),
    alone("zeros", |size| often("a\0\n", size)),
];
