//! Matches of a rule, and near misses.

use super::*;
use crate::notes::invisible::is_invisible;

fn rules(never: &[&str], local: &[&str]) -> PrivateRules {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let settings =
        PrivateSettings { never: owned(never), local: owned(local), ..Default::default() };
    PrivateRules::parse(&settings).unwrap()
}

fn by_path(rule: &str, path: &str) -> bool {
    rules(&[rule], &[]).by_path(&NotePath::parse(path).unwrap()) == Privacy::Never
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
        ("ΣΤΟΧΟΣ", "ΣΤΟΧΟΣ.md"),
        ("στόχος", "ΣΤΌΧΟΣ (conflicted copy 1).md"),
    ] {
        assert!(by_path(rule, path), "{rule} covers {path}");
    }
    for (rule, path) in [("Diary", "Diary 2/a.md"), ("Diary", "Old/Diary/a.md"), ("#a", "a/b.md")] {
        assert!(!by_path(rule, path), "{rule} does not cover {path}");
    }
}

#[test]
fn a_folder_can_hold_what_a_rule_below_it_covers() {
    let below = |rule: &str, path: &str| {
        rules(&[], &[rule]).strictest_below(&NotePath::parse(path).unwrap())
    };
    for (rule, path) in [
        ("Areas/Home", "Areas"),
        ("areas/home/x", "AREAS/Home"),
        ("Areas", "Areas/b"),
        ("Areas/Home", "Areas (conflicted copy 2026-01-02)"),
        ("Areas/Home/x", "AREAS.bak/Home (conflicted copy 1)"),
        ("Areas.bak/Home", "Areas.bak"),
    ] {
        assert_eq!(below(rule, path), Privacy::Local, "{rule}, {path}");
    }
    for (rule, path) in [
        ("Areas 2/Home", "Areas"),
        ("Areas/Home", "Areas/Ho"),
        ("#a", "a"),
        ("Areas/Home", "Areas 2"),
        ("Areas/Home", "Work/Areas (conflicted copy 1)"),
        ("Areas (conflicted copy 1)/Home", "Areas"),
        ("Areas/Home", "Areas.bak/Work"),
    ] {
        assert_eq!(below(rule, path), Privacy::Open, "{rule}, {path}");
    }
}

#[test]
fn a_conflict_copy_is_as_private_as_the_note_it_is_a_copy_of() {
    for (rule, path) in [
        ("People/Ann", "People/Ann (conflicted copy 2026-01-02).md"),
        ("People/Ann.md", "people/ann (Bo's Conflicted Copy 2026-01-02).md"),
        ("Plan", "Plan.sync-conflict-20260102-030405-ABCDEFG.md"),
        ("Plan", "Plan_conflict-20260102-030405.md"),
        ("My_base_notes", "My_base_notes_LOCAL_1234.md"),
        ("Plan", "Plan (conflicted copy 1).sync-conflict-20260102-030405-ABCDEFG.md"),
        ("Diary", "Diary (conflicted copy 2)/a.md"),
        ("Plan (conflicted copy 1)", "Plan (conflicted copy 1).md"),
        ("Plan", "Plan.md.bak~"),
        ("Plan", "Plan.md.~1~"),
        ("Plan", "#Plan.md#"),
        ("Plan", "Plan_LOCAL_1.md"),
        ("Plan", "Plan~20260102-030405.md"),
        ("Plan.md", "Plan.bak.md"),
        ("Plan", "PLAN (In Konflikt stehende Kopie von Ann 2026-01-02).MD"),
        ("People/Ann", "People.old/Ann.md.bak1"),
        ("Diary", "Diary.bak/2026/a.md"),
        ("Diary (conflicted copy 2)/a", "Diary (conflicted copy 2)/a.md~"),
        ("Diary~/a", "Diary~/a.md.orig"),
        ("Caf\u{e9}", "Cafe\u{301}.md.tmp"),
    ] {
        assert!(by_path(rule, path), "{rule} covers {path}");
    }
    for (rule, path) in [
        ("Plan", "Plan (draft).md"),
        ("Plan", "Work/Plan (conflicted copy 1).md"),
        ("Plan", "Planner (conflicted copy 1).md"),
        ("Plan (conflicted copy 1)", "Plan.md"),
        ("Plan", "Plan (2).md"),
        ("Plan", "Plan~.md"),
        ("Plan", "Plan-HOST.md"),
        ("Plan.md.bak", "Plan.md"),
        ("Diary", "Diaries.bak/a.md"),
        ("Diary/a", "Diary.bak"),
        ("hash", "#hash.md"),
        ("C", "C# notes.md"),
    ] {
        assert!(!by_path(rule, path), "{rule} does not cover {path}");
    }
}

#[test]
fn the_text_of_a_copy_decides_as_that_of_a_note_does() {
    let (inside, by_name) = (rules(&["#private"], &[]), rules(&["Plan"], &[]));
    for name in [
        "N.md",
        "N.canvas",
        "N.md~",
        "N.md.bak~",
        "N.md~~",
        "N.md.orig~",
        "N.md.bak.bak",
        "N.md.old.bak",
        "N.canvas.bak~",
        "#N.md#",
        "N.md.~1~",
        "N.md.swp",
        "N.md.sync-conflict-20260102-030405-ABCDEFG.bak",
        "N.md (conflicted copy 2026-01-02).bak",
        "N.md_conflict-20260102-030405.bak",
    ] {
        let path = NotePath::parse(name).unwrap();
        assert!(inside.depend_on_content_of(&path), "{name}");
        assert!(!by_name.depend_on_content_of(&path), "{name}");
    }
    for name in ["N.txt", "N.txt~", "photo.png", "N.markdown", "N"] {
        assert!(!inside.depend_on_content_of(&NotePath::parse(name).unwrap()), "{name}");
    }
}

#[test]
fn names_that_look_alike_are_one() {
    for (one, other) in [
        ("private", "PRIVATE"),
        ("private", "pri\u{200B}va\u{AD}te"),
        ("private", "\u{FF50}rivate"),
        ("caf\u{e9}", "CAFE\u{301}"),
        ("caf\u{e9}", "cafe\u{200D}\u{301}"),
        ("stra\u{df}e", "STRASSE"),
        ("\u{3c3}\u{3bf}\u{3c2}", "\u{3a3}\u{39f}\u{3a3}"),
        ("very secret", " very\n\tsecret "),
        ("private", "pri\u{0}vate"),
    ] {
        assert_eq!(fold_name(one), fold_name(other), "{one:?} {other:?}");
    }
    assert_eq!(fold_name("STRA\u{1e9e}E"), "strasse");
    for (one, other) in [("private", "privat"), ("a b", "ab"), ("a/b", "a-b")] {
        assert_ne!(fold_name(one), fold_name(other), "{one:?} {other:?}");
    }
}

/// Whether a sign has another case or form, or is not seen. All others are left as they are by folding.
fn is_folded(sign: char) -> bool {
    !sign.to_lowercase().eq([sign])
        || !sign.to_uppercase().eq([sign])
        || !std::iter::once(sign).nfkc().eq([sign])
        || is_invisible(sign)
        || sign.is_control()
        || sign.is_whitespace()
}

#[test]
fn a_rule_covers_a_note_that_is_spelled_as_it_is_whatever_the_sign() {
    let (folds, stays): (Vec<char>, Vec<char>) =
        ('\0'..=char::MAX).partition(|sign| is_folded(*sign));
    assert!(folds.contains(&'\u{1e9e}') && stays.len() > 1_000_000);
    // One in so many of those that stay: each costs as much as one that does not.
    for sign in folds.into_iter().chain(stays.into_iter().step_by(500)) {
        let spelled = format!("x{sign}y");
        let said = PrivacyMetadata {
            tags: vec![spelled.clone()],
            properties: vec![("status".to_owned(), vec![spelled.clone()])],
            is_unclear: false,
        };
        for rule in [format!("#{spelled}"), format!("status: {spelled}")] {
            let settings = PrivateSettings { never: vec![rule.clone()], ..Default::default() };
            // One that is refused keeps everything.
            if let Ok(rules) = PrivateRules::parse(&settings) {
                assert_eq!(
                    rules.by_metadata(&said),
                    Privacy::Never,
                    "{rule:?} U+{:X}",
                    sign as u32
                );
            }
        }
        let folded = fold_name(&spelled);
        assert_eq!(fold_name(&folded), folded, "{spelled:?}");
    }
}

#[test]
fn what_is_unclear_counts_as_every_tag_and_property() {
    let unclear = PrivacyMetadata { is_unclear: true, ..PrivacyMetadata::default() };
    for rule in ["#private", "status: secret", "private:"] {
        assert_eq!(rules(&[rule], &[]).by_metadata(&unclear), Privacy::Never, "{rule}");
        assert_eq!(
            rules(&[rule], &[]).by_metadata(&PrivacyMetadata::default()),
            Privacy::Open,
            "{rule}"
        );
    }
    assert_eq!(rules(&["Diary"], &[]).by_metadata(&unclear), Privacy::Open);
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
