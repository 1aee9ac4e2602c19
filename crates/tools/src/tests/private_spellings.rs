//! Notes that are private by a tag or property in an unusual spelling: no tool tells of them.

use serde_json::json;

use super::fixture::ToolFixture;

/// A rule, and a note or canvas that it covers.
const CASES: &[(&str, &str, &str)] = &[
    ("#private", "Zebra.md", "#pri\u{200B}vate canary [[Open]]"),
    ("#private", "Zebra.md", "---\ntags: [pri\u{2060}vate]\n---\ncanary [[Open]]"),
    ("#private", "Zebra.md", "---\nx: &a private\ntags: *a\n---\ncanary [[Open]]"),
    ("#private", "Zebra.md", "---\ntags: \"\\x70rivate\"\n---\ncanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\nstatus: !!binary c2VjcmV0\n---\ncanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\nstatus: >-\n  secret\n---\ncanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\rstatus: secret\r---\rcanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\na: 1\n...\nstatus: secret\n---\ncanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\ntitle: a: b\n---\ncanary [[Open]]"),
    ("status: secret", "Zebra.md", "---\nstatus: \u{FF53}ecret\n---\ncanary [[Open]]"),
    (
        "#private",
        "Zebra.canvas",
        r#"{"nodes":[{"type":"text","text":"\u0023private canary [[Open]]"},
           {"type":"file","file":"Open.md"}]}"#,
    ),
    (
        "#private",
        "Zebra.canvas",
        r#"{"nodes":[{"type":"text","text":"canary\n#private [[Open]]"}]}"#,
    ),
];

#[tokio::test]
async fn no_tool_tells_of_a_note_that_is_private_in_an_unusual_spelling() {
    for (rule, path, text) in CASES {
        let open = b"# Open\n\nwords\n".as_slice();
        let mut bench =
            ToolFixture::with_private(&[rule], &[(path, text.as_bytes()), ("Open.md", open)]);
        for (tool, call) in [
            ("read_file", json!({ "path": path })),
            ("read_file", json!({ "path": "Zebra" })),
            ("get_file_info", json!({ "path": path })),
            ("search_files", json!({ "pattern": "canary" })),
            ("find_notes", json!({ "query": "canary" })),
            ("list_files", json!({})),
            ("list_files", json!({ "pattern": "**/*" })),
            ("get_links", json!({ "path": "Open", "direction": "in" })),
            ("get_file_info", json!({ "path": "Open" })),
            ("list_tags", json!({})),
        ] {
            let asked = call.to_string();
            let answer = bench.call(tool, call).await.text.replace(path, "").replace("“Zebra”", "");
            let tells = answer.contains("canary ") || answer.contains("Zebra");
            assert!(!tells, "{rule} {text:?}: {tool} {asked}: {answer}");
        }
        assert!(bench.call_ok("list_files", json!({})).await.text.contains("Open.md"));
    }
}
