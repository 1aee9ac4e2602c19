//! Names of conflict copies, and the names of their originals.

use super::*;

#[track_caller]
fn check(names: &[&str], of: &str) {
    for name in names {
        assert!(originals(name).iter().any(|original| original == of), "{name} is of {of}");
    }
}

#[test]
fn a_copy_that_a_sync_program_made_tells_what_it_is_a_copy_of() {
    for name in [
        "Plan (conflicted copy 2026-01-02).md",
        "Plan (Ann's conflicted copy 2026-01-02).md",
        "Plan (Ann's conflicted copy (laptop) 2026-01-02).md",
        "Plan (In Konflikt stehende Kopie von Ann 2026-01-02).md",
        "Plan (Anns in Konflikt stehende Kopie 2026-01-02).md",
        "Plan (Copie en conflit de Ann 2026-01-02).md",
        "Plan (Copia en conflicto de Ann 2026-01-02).md",
        "Plan (SFConflict ann@x.org 2026-01-02-03-04-05).md",
        "Plan (Case Conflict).md",
        "Plan (Case Conflict 1).md",
        "Plan (Unicode Encoding Conflict).md",
        "Plan (Selective Sync Conflict).md",
        "Plan (copia in conflitto di Ann 2026-01-02).md",
        "Plan (Cópia em conflito de Ann 2026-01-02).md",
        "Plan (conflicterende kopie van Ann 2026-01-02).md",
        "Plan (конфликтующая копия с компьютера Ann 2026-01-02).md",
        "Plan (Annの競合コピー 2026-01-02).md",
        "Plan (Ann 的冲突副本 2026-01-02).md",
        "Plan.sync-conflict-20260102-030405-ABCDEFG.md",
        "Plan_conflict-20260102-030405.md",
    ] {
        assert_eq!(original(name).as_deref(), Some("plan.md"), "{name}");
    }
    assert_eq!(original("Diary (conflicted copy 1)").as_deref(), Some("diary"));
    for name in [
        "The conflicted copy.md",
        "Plan (draft).md",
        "(conflicted copy).md",
        "Plan",
        "Plan.bak.md",
        "Plan_LOCAL_1.md",
    ] {
        assert_eq!(original(name), None, "{name}");
    }
}

#[test]
fn what_an_editor_kept_tells_what_it_is_of() {
    check(
        &[
            "Plan.md~",
            "Plan.md.bak",
            "plan.md.ORIG",
            "Plan.md.save",
            "Plan.md.~1~",
            "Plan.md.~12~",
            "#Plan.md#",
            "Plan.md~HEAD",
            "Plan.md~feature_x",
            "Plan.md.swp",
            ".Plan.md.swp",
            "Plan.md.bak1",
            "Plan.md.backup1",
            "Plan.md.save.1",
            "Plan.md.orig.1",
            "Plan.md.tmp",
            "Plan.md.part",
            "Plan.md.mine",
            "Plan.md.LOCAL",
            "Plan.bak.md",
            "Plan_BACKUP_1.md",
            "Plan_LOCAL_1.md",
            "Plan_REMOTE_12345.md",
            "Plan_BASE_1.md",
            "Plan~20260102-030405.md",
        ],
        "plan.md",
    );
    check(&["C# notes.md~", "#C# notes.md#"], "c# notes.md");
    check(&["Diary.old", "Diary~", "Diary.sync-conflict-20260102-030405-ABCDEFG"], "diary");
}

#[test]
fn a_copy_of_a_copy_is_of_both() {
    check(
        &[
            "Plan.md.bak~",
            "Plan.md~~",
            "Plan.md.orig~",
            "Plan.md.bak.bak",
            "Plan.md.old.bak",
            "#Plan.md~#",
            "Plan.bak.md.~3~",
            "Plan.md.sync-conflict-20260102-030405-ABCDEFG.bak",
            "Plan.md.sync-conflict-20260102-030405-ABCDEFG~",
            "Plan.md (conflicted copy 2026-01-02).bak",
            "Plan (conflicted copy 2026-01-02).md.bak~",
            "Plan.md_conflict-20260102-030405.bak",
            "Plan.md_conflict-20260102-030405~",
            "Plan (conflicted copy 1).sync-conflict-20260102-030405-ABCDEFG.md",
        ],
        "plan.md",
    );
    check(&["Plan.canvas.bak~"], "plan.canvas");
    check(&["Plan.md.bak~", "Plan.md.bak (conflicted copy 1)"], "plan.md.bak");
}

#[test]
fn an_ordinary_name_is_no_copy() {
    for name in [
        "Plan.md",
        "Plan (2).md",
        "Plan (draft).md",
        "Plan copy.md",
        "Plan-HOST.md",
        "Plan~.md",
        "Plan~2.md",
        "Plan 2026-01-02.md",
        "C# notes.md",
        "#hash.md",
        "#hash",
        "Old.md",
        "Novel.part1.md",
        "Local.md",
        "Plan_backup.md",
        "Plan_backup_of.md",
        "The conflicted copy.md",
        "Tasks.base",
        "photo.jpg",
        "~",
        "~~",
        "#",
        "##",
        ".bak",
        "_local_1.md",
        "",
    ] {
        let found = originals(name);
        let found: Vec<_> =
            found.iter().filter(|found| !found.trim_matches('~').is_empty()).collect();
        assert!(found.is_empty(), "{name} is of {found:?}");
    }
}

#[test]
fn the_longest_pile_of_marks_is_taken_off() {
    let name = format!("a{}.b{}", "_conflict-20260102".repeat(7), "~".repeat(120));
    assert!(originals(&name).contains(&"a.b".to_owned()));
}
