//! The shapes.

/// A kind of note, by what there is much of in it.
#[derive(Clone, Copy)]
pub struct NoteShape {
    /// The name in the report, unique among the shapes.
    pub name: &'static str,
    /// Its text, of about so many bytes.
    pub text: fn(usize) -> String,
    /// Other files beside it: how many for so many bytes, and the path of each.
    pub others: fn(usize) -> Vec<String>,
}

const fn single_note(name: &'static str, text: fn(usize) -> String) -> NoteShape {
    NoteShape { name, text, others: |_| Vec::new() }
}

/// `piece` as often as it fits.
fn repeat_to_size(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

/// The text that `piece` makes of 0, 1, 2 and so on, until it is long enough.
fn generate_to_size(size: usize, piece: impl Fn(usize) -> String) -> String {
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
fn frontmatter(lines: &str) -> String {
    format!("---\n{lines}---\nText.\n")
}

/// Every shape, in the order of the report.
pub const SHAPES: &[NoteShape] = &[
    single_note("tags", |size| generate_to_size(size, |n| format!("#tag{n}\n"))),
    single_note("tags-in-one-line", |size| generate_to_size(size, |n| format!("#tag{n} "))),
    single_note("tag-nested", |size| format!("#{}\n", repeat_to_size("a/", size))),
    single_note("tags-nested", |size| {
        generate_to_size(size, |n| format!("#t{n}/a/b/c/d/e/f/g/h\n"))
    }),
    single_note("tags-listed", |size| {
        frontmatter(&format!("tags:\n{}", generate_to_size(size, |n| format!("  - tag{n}\n"))))
    }),
    single_note("tags-in-brackets", |size| {
        frontmatter(&format!("tags: [{}a]\n", generate_to_size(size, |n| format!("tag{n}, "))))
    }),
    single_note("aliases", |size| {
        frontmatter(&format!("aliases:\n{}", generate_to_size(size, |n| format!("  - Name {n}\n"))))
    }),
    single_note("properties", |size| {
        frontmatter(&generate_to_size(size, |n| format!("key{n}: value\n")))
    }),
    single_note("properties-in-one-line", |size| {
        frontmatter(&format!("{}\n", repeat_to_size("tags: ", size)))
    }),
    single_note("properties-nested", |size| {
        frontmatter(&format!("a:\n{}", repeat_to_size("  tags: a\n", size)))
    }),
    single_note("properties-unclosed", |size| {
        format!("---\n{}", repeat_to_size("tags: a\n  status: b\n", size))
    }),
    single_note("quotes-in-properties", |size| {
        let half = size / 2;
        frontmatter(&format!("a: [{}{}]\n", " ".repeat(half), "''".repeat(half / 2)))
    }),
    single_note("yaml-aliases", |size| {
        let line = |n: usize| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}]\n", n + 1, n + 1);
        frontmatter(&format!("a0: &a0 [x]\n{}", generate_to_size(size, line)))
    }),
    single_note("yaml-merges", |size| {
        // As deep as a file may be nested: three to the power of 28 merges.
        let map = |n: usize| match n % 29 {
            0 => format!("k{n}: &b0 {{}}\n"),
            of => format!("k{n}: &b{of} {{<<: [*b{0}, *b{0}, *b{0}]}}\n", of - 1),
        };
        frontmatter(&format!("{}<<: *b28\n", generate_to_size(size, map)))
    }),
    single_note("links", |size| repeat_to_size("[[Other]]\n", size)),
    single_note("links-spelled-variously", |size| {
        generate_to_size(size, |n| format!("[[Other {n}|o]] "))
    }),
    single_note("links-opened", |size| format!("{}]]\n", repeat_to_size("[[ a ", size))),
    single_note("links-broken", |size| format!("{}]]\n", repeat_to_size("[[a\n", size))),
    single_note("brackets", |size| repeat_to_size("[", size)),
    single_note("images-in-images", |size| {
        let depth = size / 7;
        format!("{}a{}\n", "![".repeat(depth), "](b)".repeat(depth))
    }),
    single_note("definitions", |size| generate_to_size(size, |n| format!("[l{n}]: Other.md\n"))),
    single_note("footnotes", |size| {
        generate_to_size(size, |n| format!("a[^{n}]\n\n[^{n}]: b\n\n"))
    }),
    NoteShape {
        name: "one-name",
        text: |size| repeat_to_size("[[Same]]\n", size),
        others: |size| (0..size / 512).map(|n| format!("Folder {n}/Same.md")).collect(),
    },
    NoteShape {
        name: "one-name-in-many-folders",
        text: |size| generate_to_size(size, |n| format!("[[{n}/Same]]\n")),
        others: |size| (0..size / 512).map(|n| format!("{n}/Same.md")).collect(),
    },
    single_note("headings", |size| repeat_to_size("# Same\n\na\n\n", size)),
    single_note("headings-of-mac", |size| repeat_to_size("# Same\ra\r", size)),
    single_note("heading-long", |size| {
        format!("# {}\n\n{}", repeat_to_size("tea ", size / 2), repeat_to_size("a\n\n", size / 2))
    }),
    single_note("headings-in-html", |size| repeat_to_size("<h2>Same</h2>\n", size)),
    single_note("block-ids", |size| generate_to_size(size, |n| format!("text ^id{n}\n\n"))),
    single_note("block-ids-alone", |size| {
        generate_to_size(size, |n| format!("text\n\n^id{n}\n\n"))
    }),
    single_note("tasks", |size| repeat_to_size("- [ ] tea\n", size)),
    single_note("quote-deep", |size| format!("{}a\n", repeat_to_size("> ", size))),
    single_note("quote-deep-then-lines", |size| {
        format!("{}a\n{}", repeat_to_size(">", size / 2), repeat_to_size("b\n", size / 2))
    }),
    single_note("callouts", |size| repeat_to_size("> [!note] Tea\n> a\n\n", size)),
    single_note("list-deep", |size| format!("{}a\n", repeat_to_size("- ", size))),
    single_note("list-deep-then-lines", |size| {
        format!("{}a\n{}", repeat_to_size("- ", size / 2), repeat_to_size("b\n", size / 2))
    }),
    single_note("list-indented-then-lines", |size| {
        let item = |depth: usize| format!("{}- a\n", "  ".repeat(depth));
        format!("{}{}", generate_to_size(size / 2, item), repeat_to_size("b\n", size / 2))
    }),
    single_note("table-wide", |size| {
        let columns = size / 8;
        format!("|{}\n|{}\n|{}\n", "a|".repeat(columns), "-|".repeat(columns), "b|".repeat(columns))
    }),
    single_note("table-long", |size| {
        format!("|a|b|\n|-|-|\n{}", repeat_to_size("|tea|[[Other]]|\n", size))
    }),
    single_note("code-fences", |size| repeat_to_size("```\n#a [[b]]\n", size)),
    single_note("ticks", |size| {
        generate_to_size(size, |n| format!("{}a ", "`".repeat(n % 64 + 1)))
    }),
    single_note("emphasis", |size| repeat_to_size("*a **b _c ", size)),
    single_note("comments", |size| repeat_to_size("%%a%% % ", size)),
    single_note("math", |size| repeat_to_size("$a $$b ", size)),
    single_note("html", |size| repeat_to_size("<a <!-- <b> ", size)),
    single_note("escapes", |size| repeat_to_size("\\", size)),
    single_note("one-line", |size| repeat_to_size("tea and more of it ", size)),
    single_note("one-word", |size| repeat_to_size("a", size)),
    single_note("lines", |size| repeat_to_size("a\n", size)),
    single_note("lines-of-windows", |size| repeat_to_size("a\r\n", size)),
    single_note("empty-lines", |size| repeat_to_size("\n", size)),
    single_note("blanks", |size| repeat_to_size(" ", size)),
    single_note("hashes", |size| repeat_to_size("# ", size)),
    single_note("combining", |size| format!("a{}\n", repeat_to_size("\u{301}", size))),
    single_note("invisible", |size| repeat_to_size("a\u{200b}", size)),
    single_note("invisible-alone", |size| repeat_to_size("#\u{200b}", size)),
    single_note("rules-drawn", |size| repeat_to_size("─", size)),
    single_note("signs", |size| repeat_to_size("茶の湯、", size)),
    single_note("zeros", |size| repeat_to_size("a\0\n", size)),
];
