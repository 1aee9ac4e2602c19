//! The parsed form of a note, with the bytes of each part.

use super::*;

/// The links of a text as `form target|subpath|alias`, with a `!` for embeds.
fn links(text: &str) -> Vec<String> {
    let document = Document::parse(text);
    let shown = document.links.iter().map(|link| {
        let form = match link.form {
            LinkForm::Wiki => "wiki",
            LinkForm::Inline => "inline",
            LinkForm::Definition => "definition",
            LinkForm::Property(_) => "property",
        };
        let embed = if link.is_embed { "!" } else { "" };
        let alias = link.alias.as_ref().map(|alias| document.slice(alias)).unwrap_or_default();
        format!("{embed}{form} {}|{}|{alias}", link.path(text), document.slice(&link.subpath))
    });
    shown.collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(links(text), expected, "{text:?}");
}

#[test]
fn wikilinks_are_read_with_all_their_parts() {
    check("[[Note]]", &["wiki Note||"]);
    check("see [[ Note ]].", &["wiki Note||"]);
    check("[[a/b#Head#Sub|shown]]", &["wiki a/b|#Head#Sub|shown"]);
    check("[[#^block]] [[#Head]]", &["wiki |#^block|", "wiki |#Head|"]);
    check("![[pic.png|100]]", &["!wiki pic.png||100"]);
    check("| a | [[b\\|c]] |\n|---|---|\n| x | [[d#e\\|f]] |", &["wiki b||c", "wiki d|#e|f"]);
    check("- [[a]]\n  > [[b]]\n", &["wiki a||", "wiki b||"]);
    check("> [!note] [[a]]\n> [[b]]", &["wiki a||", "wiki b||"]);
    check("# [[a]]\n**[[b]]** ~~[[c]]~~", &["wiki a||", "wiki b||", "wiki c||"]);
    check("%% [[a]] %%", &["wiki a||"]);
    check("[[[a]]]", &["wiki a||"]);
    check("[[a_b_c]] [[*x*]]", &["wiki a_b_c||", "wiki *x*||"]);
    check("[[a|`code`]]", &["wiki a||`code`"]);
    check("a[[b]]c", &["wiki b||"]);
    check("日本[[ノート]]語", &["wiki ノート||"]);
    check("\u{feff}[[a]]\r\n[[b]]\r\n", &["wiki a||", "wiki b||"]);
}

#[test]
fn what_only_looks_like_a_link_is_none() {
    for text in [
        "`[[a]]`",
        "```\n[[a]]\n```",
        "    [[a]]",
        "\\[[a]]",
        "[[a\nb]]",
        "[[]] [[|x]] [[#]]",
        "$[[a]]$",
        "<div>\n[[a]]\n</div>",
        "<!-- [[a]] -->",
        "[x](https://a.b/c.md) <https://a.b> [y](mailto:a@b.c) [z](//host/a)",
        "[x](obsidian://open?vault=v) [[a",
        "~~~\n[x](a.md)\n~~~",
        "`[x](a.md)`",
        "[x]: https://a.b",
        "[x]()",
        "- [ ] task\n- [x] done",
    ] {
        check(text, &[]);
    }
}

#[test]
fn markdown_links_are_read_with_all_their_parts() {
    check("[x](a%20b.md#h)", &["inline a b.md|#h|x"]);
    check("![x](<a b.png>)", &["!inline a b.png||x"]);
    check("[x]( ../a.md \"title\" )", &["inline ../a.md||x"]);
    check("[](a.md)", &["inline a.md||"]);
    check("[x](#head)", &["inline |#head|x"]);
    check("[x](a\\_b.md) [y](c&amp;d.md)", &["inline a_b.md||x", "inline c&d.md||y"]);
    check("[x](a(b)c.md)", &["inline a(b)c.md||x"]);
    check("[![i](p.png)](n.md)", &["inline n.md||![i](p.png)", "!inline p.png||i"]);
    check("[x [[y]]](a.md)", &["inline a.md||x [[y]]", "wiki y||"]);
    check("[ref]: <a b.md> \"t\"\n\n[ref] [x][ref]", &["definition a b.md||"]);
    check("> [x](\n> a.md)", &["inline a.md||x"]);
    check("[x](%e6%97%a5.md)", &["inline 日.md||x"]);
    check("[100%](100%.md)", &["inline 100%.md||100%"]);
    check("[`code`](a.md)", &["inline a.md||`code`"]);
}

#[test]
fn links_in_properties_are_read_and_those_in_comments_of_yaml_are_not() {
    check("---\nup: \"[[a]]\"\n---\n", &["property a||"]);
    check("---\nup: '[[it''s|x]]'\n---\n", &["property it's||x"]);
    check("---\nup: \"[[a \\\"b\\\"]]\"\n---\n", &["property a \"b\"||"]);
    check(
        "---\nall:\n  - \"[[a]]\"\n  - [[b]]\n---\n[[c]]",
        &["property a||", "property b||", "wiki c||"],
    );
    check(
        "---\nall: [\"[[a#h]]\", '[[b]]'] # [[no]]\n# [[no]]\n---",
        &["property a|#h|", "property b||"],
    );
    check("---\nno end: [[a]]\n", &["wiki a||"]);
}

#[test]
fn properties_are_names_and_values() {
    let text = "---\ntitle: \"A: b\"\ntags: [x, 'y z']\nlist:\n  - one # first\n  - two\nempty:\n\"q k\": 5\nup: [[n]]\n---\n";
    let read: Vec<_> = Document::parse(text)
        .properties
        .into_iter()
        .map(|property| format!("{}={}", property.name, property.values.join("|")))
        .collect();
    assert_eq!(read, ["title=A: b", "tags=x|y z", "list=one|two", "empty=", "q k=5", "up=[[n]]"]);
}

#[test]
fn tags_tasks_callouts_comments_and_block_ids_have_their_bytes() {
    let text = "#a/b text#no #1 #2x `#no` [[n#no]] #ü, %%#no%% [l](x.md#no)\n\n- [ ] open ^t1\n- [x] done\n1. [/] half\n- [] none\n\n> [!tip]- Title #in\n> text\n\nParagraph\nof two ^p-2\n\n| a |\n|---|\n\n^tbl\n";
    let document = Document::parse(text);
    let all = |ranges: Vec<Range<usize>>| -> Vec<&str> {
        ranges.iter().map(|range| document.slice(range)).collect()
    };
    let of = |ranges: Vec<Range<usize>>| all(ranges);
    assert_eq!(
        of(document.tags.iter().map(|t| t.name.clone()).collect()),
        ["a/b", "2x", "ü", "in"]
    );
    assert_eq!(of(document.tasks.iter().map(|t| t.mark.clone()).collect()), [" ", "x", "/"]);
    let callout = &document.callouts[0];
    assert_eq!(of(vec![callout.kind.clone(), callout.title.clone()]), ["tip", "Title #in"]);
    assert_eq!(of(document.comments.clone()), ["%%#no%%"]);
    let ids: Vec<_> = document
        .block_ids
        .iter()
        .map(|b| (document.slice(&b.id), document.slice(&b.block).trim_end()))
        .collect();
    assert_eq!(
        ids,
        [("t1", "- [ ] open ^t1"), ("p-2", "Paragraph\nof two ^p-2"), ("tbl", "| a |\n|---|")]
    );
}

#[test]
fn tags_are_named_once_whether_in_the_text_or_in_the_properties() {
    let names = |text: &str| Document::parse(text).tag_names();
    assert_eq!(names("---\ntags: [a/b, '#c']\n---\n#A/b #d"), ["a/b", "c", "d"]);
    assert_eq!(names("---\ntag: one, two three\n---\n"), ["one", "two", "three"]);
    assert_eq!(names("---\nTags:\n- x\n- y\n---\n"), ["x", "y"]);
}

#[test]
fn a_fence_that_is_not_closed_is_no_frontmatter() {
    assert_eq!(Document::parse("---\na: 1\n").frontmatter, None);
    assert_eq!(Document::parse(" ---\na: 1\n---\n").frontmatter, None);
    let text = "\u{feff}---\r\na: 1\r\n---\r\n# H";
    let document = Document::parse(text);
    let matter = document.frontmatter.clone().unwrap();
    assert_eq!(document.slice(&matter.span), "---\r\na: 1\r\n---\r\n");
    assert_eq!(document.slice(&matter.yaml), "a: 1\r\n");
    assert_eq!(document.headings[0].line, 4);
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    assert_eq!(Document::decode(b"caf\xe9 [[a]]"), Err(NotText { at: 3 }));
}

#[test]
fn a_target_is_spelled_in_the_manner_of_the_one_that_stood_there() {
    let spell = |form: LinkForm, path: &str, like: &str| form.encode_target(path, like);
    assert_eq!(spell(LinkForm::Inline, "a b.md", "x.md").as_deref(), Some("a%20b.md"));
    assert_eq!(spell(LinkForm::Inline, "a b.md", "x y.md").as_deref(), Some("a b.md"));
    assert_eq!(spell(LinkForm::Inline, "日.md", "x.md").as_deref(), Some("日.md"));
    assert_eq!(spell(LinkForm::Inline, "日.md", "%e6%97%a5.md").as_deref(), Some("%E6%97%A5.md"));
    assert_eq!(spell(LinkForm::Wiki, "a#b", "x"), None);
    let single = LinkForm::Property(Quoting::Single);
    assert_eq!(spell(single, "it's", "x").as_deref(), Some("it''s"));
    for path in ["a b.md", "100% (x).md", "a#b?c.md", "Re: x/y.md", "日本 &amp;.md", "q\"'`$[1].md"]
    {
        for like in ["x.md", "x y.md", "%e6.md"] {
            let spelled = LinkForm::Inline.encode_target(path, like).unwrap();
            let text = if like.contains(' ') {
                format!("[x](<{spelled}>)")
            } else {
                format!("[x]({spelled})")
            };
            assert_eq!(links(&text), [format!("inline {path}||x")], "{text}");
        }
    }
}
