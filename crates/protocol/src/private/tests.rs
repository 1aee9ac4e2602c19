//! What a rule covers, and what it does not.

use super::*;

fn rules(never: &[&str], local: &[&str]) -> PrivateRules {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let settings =
        PrivateSettings { never: owned(never), local: owned(local), ..Default::default() };
    PrivateRules::parse(&settings).unwrap()
}

fn by_path(rule: &str, path: &str) -> bool {
    rules(&[rule], &[]).by_path(&NotePath::parse(path).unwrap()) == Privacy::Never
}

fn by_text(rule: &str, text: &str) -> bool {
    rules(&[rule], &[]).by_text(text.as_bytes()) == Privacy::Never
}

#[test]
fn a_place_covers_itself_and_all_below_in_any_spelling() {
    for (rule, path) in [
        ("Diary", "Diary/2026/a.md"),
        ("diary/", "DIARY/a.md"),
        ("Diary", "Diary"),
        ("People/Ann", "People/Ann.md"),
        ("People/Ann.md", "people/ann.MD"),
        ("Caf\u{e9}", "Cafe\u{301}/menu.md"),
    ] {
        assert!(by_path(rule, path), "{rule} covers {path}");
    }
    for (rule, path) in [("Diary", "Diary 2/a.md"), ("Diary", "Old/Diary/a.md"), ("#a", "a/b.md")] {
        assert!(!by_path(rule, path), "{rule} does not cover {path}");
    }
}

#[test]
fn a_tag_is_found_wherever_it_may_stand() {
    for text in [
        "about #private things",
        "#Private",
        "#private/health",
        "(#private)",
        "```\n#private\n```",
        "---\ntags: [a, private]\n---\n",
        "---\ntags:\n  - a\n  - \"#private/x\"\n---\n",
        "---\ntags:\n- private\ntitle: x\n---\n",
        "\u{FEFF}---\r\nTags: private, b\r\n---\r\n",
        "---\ntag: b private\n---\n",
        "---\n{tags: [private]}\n---\n",
        "---\n\"tags\" : 'private'\n---\n",
        "---\ntags: private\nno end of the fence",
    ] {
        assert!(by_text("#private", text), "{text:?}");
    }
    for text in [
        "private",
        "#privately",
        "x#private",
        "# private",
        "---\ntitle: private\n---\n",
        "text\n---\ntags: private\n---\n",
        "---\ntags: [a]\n---\nprivate",
    ] {
        assert!(!by_text("#private", text), "{text:?}");
    }
}

#[test]
fn a_property_is_matched_by_name_and_value_or_by_name_alone() {
    for (rule, text) in [
        ("status: secret", "---\nstatus: Secret\n---\n"),
        ("status: secret", "---\nstatus: \"secret\" # really\n---\n"),
        ("status: secret", "---\nstatus:\n  - open\n  - secret\n---\n"),
        ("private:", "---\nprivate: no\n---\n"),
        ("private:", "---\nmeta:\n  private: true\n---\n"),
    ] {
        assert!(by_text(rule, text), "{rule}: {text:?}");
    }
    for (rule, text) in [
        ("status: secret", "---\nstatus: open\nother: secret\n---\n"),
        ("status: secret", "status: secret"),
        ("private:", "---\nnot_private: x\n---\n"),
    ] {
        assert!(!by_text(rule, text), "{rule}: {text:?}");
    }
}

#[test]
fn the_stricter_of_two_rules_holds_and_an_unclear_one_fails_them_all() {
    let both = rules(&["Diary/Health"], &["Diary"]);
    let of = |path: &str| both.by_path(&NotePath::parse(path).unwrap());
    assert_eq!((of("Diary/a.md"), of("Diary/Health/b.md")), (Privacy::Local, Privacy::Never));
    assert_eq!(of("c.md"), Privacy::Open);
    for unclear in ["../x", "#", "# a", ".obsidian", ": x", "a/b: c"] {
        let settings = PrivateSettings { never: vec![unclear.to_owned()], ..Default::default() };
        assert_eq!(PrivateRules::parse(&settings), Err(RuleError(unclear.to_owned())));
    }
    assert!(rules(&["", "  "], &[]).is_empty());
    let everything = PrivateRules::everything();
    assert_eq!(everything.by_path(&NotePath::parse("a.md").unwrap()), Privacy::Never);
}
