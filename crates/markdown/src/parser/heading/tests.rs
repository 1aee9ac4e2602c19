//! Headings where Markdown has them, and where the text under them ends.

use super::*;

fn check(text: &str, expected: &[(usize, &str, usize)]) {
    let found = headings(text);
    let short: Vec<_> = found.iter().map(|h| (h.level, h.title.as_str(), h.line)).collect();
    assert_eq!(short, expected, "{text:?}");
}

#[test]
fn headings_are_found_where_markdown_has_them() {
    check("# A\ntext\n## B ##\n", &[(1, "A", 1), (2, "B", 3)]);
    check("# C#\r\n###### F\r\n", &[(1, "C#", 1), (6, "F", 2)]);
    check("   # Indented\n    # Code\n", &[(1, "Indented", 1)]);
    check("#tag\n####### seven\n", &[]);
    check("```sh\n# comment\n```\n# Real\n", &[(1, "Real", 4)]);
    check("```inline``` text\n# Real\n", &[(1, "Real", 2)]);
    check("````\n```\n# still code\n````\n# Real\n", &[(1, "Real", 5)]);
    check("---\n# yaml: comment\n---\n# Real\n", &[(1, "Real", 4)]);
    check("text\n\n---\n# Real\n", &[(1, "Real", 4)]);
    check("\u{feff}# Behind a mark\n", &[(1, "Behind a mark", 1)]);
    check("#\n##\t\n# 🌱 Seeds **now**", &[(1, "", 1), (2, "", 2), (1, "🌱 Seeds **now**", 3)]);
    check("> # Quoted\n\n- # In a list\n", &[]);
    check("<!--\n# hidden\n-->\n# Real\n", &[(1, "Real", 4)]);
}

#[test]
fn underlined_and_html_headings_are_headings() {
    check("One\n===\ntext\n\nTwo\nlines\n---\n", &[(1, "One", 1), (2, "Two lines", 5)]);
    check("<h2 id=\"a\">The <b>end</b></h2>\n", &[(2, "The end", 1)]);
    check("- item\n---\n> quote\n---\n| a |\n---\n1. one\n---\n", &[]);
    check("<hr>\n<h7>x</h7>\n<h1x>y</h1>\n", &[]);
    check("```\nOne\n===\n```\n", &[]);
    let text = "# A\none\n\nB\n---\ntwo\n";
    let ends: Vec<_> = headings(text).iter().map(|h| &text[h.start..h.end]).collect();
    assert_eq!(ends, ["# A\none\n", "B\n---\ntwo\n"]);
}

#[test]
fn text_under_a_heading_ends_before_the_next_one_of_any_level() {
    let text = "# A\none\n\ntwo\n\n## B\n\n# C";
    let ends: Vec<_> = headings(text).iter().map(|h| h.end).collect();
    assert_eq!(ends, [13, 19, 23]);
    assert_eq!(&text[..13], "# A\none\n\ntwo\n");
    assert_eq!(&text[..19], "# A\none\n\ntwo\n\n## B\n");
}

#[test]
fn a_heading_and_the_text_under_it_end_at_line_ends_of_every_kind() {
    for line_end in ["\n", "\r\n", "\r"] {
        let parts = [
            "# A\none\n\n",
            "Two\nlines\n---\ntwo\nmore\n\n",
            "####### seven\n===\n",
            "## B ##\n\n",
            "<h3>C</h3>\nthree\n",
        ];
        let parts = parts.map(|part| part.replace('\n', line_end));
        let text = parts.concat();
        let found = headings(&text);
        let titles: Vec<_> = found.iter().map(|h| (h.level, h.title.as_str())).collect();
        let expected = [(1, "A"), (2, "Two lines"), (1, "####### seven"), (2, "B"), (3, "C")];
        assert_eq!(titles, expected, "{text:?}");
        let starts: Vec<_> = parts.iter().map(|part| text.find(part.as_str()).unwrap()).collect();
        assert_eq!(found.iter().map(|h| h.start).collect::<Vec<_>>(), starts, "{text:?}");
        let below: Vec<_> =
            found.iter().map(|h| text[h.body..h.end].replace(line_end, "|")).collect();
        assert_eq!(below, ["one|", "two|more|", "", "", "three|"], "{text:?}");
    }
}
