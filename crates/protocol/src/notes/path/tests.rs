//! Tables of names: what is taken, what it becomes, what is refused.

use super::{NewNotePath, NewPathKind, NotePath};

fn parsed(text: &str) -> String {
    NotePath::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).to_string()
}

fn created(text: &str) -> String {
    let path = NewNotePath::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    path.path().to_string()
}

#[track_caller]
fn refused(text: &str, saying: &str) {
    let error = NotePath::parse(text).expect_err(text).to_string();
    assert!(error.contains(saying), "{text:?} said: {error}");
    assert!(!error.contains(char::is_control), "{error:?}");
    NewNotePath::parse(text).expect_err(text);
}

#[track_caller]
fn refused_as_new(text: &str, saying: &str) {
    let error = NewNotePath::parse(text).expect_err(text).to_string();
    assert!(error.contains(saying), "{text:?} said: {error}");
}

#[test]
fn slashes_and_dot_parts_fold() {
    assert_eq!(parsed("a.md"), "a.md");
    assert_eq!(parsed("./notes//./a.md"), "notes/a.md");
    assert_eq!(parsed("notes/"), "notes");
}

#[test]
fn a_path_is_recognized_in_the_spellings_that_mean_it_and_in_no_other() {
    let path = NotePath::parse("Garden.md").expect("a path");
    for text in ["Garden.md", "garden", " Garden.md ", "/Garden.md", "./Garden.md", "Garden/"] {
        assert!(path.matches_spelling(text), "{text:?}");
    }
    for text in ["Work/Garden.md", "../Garden.md", ".Garden.md", "Gardens"] {
        assert!(!path.matches_spelling(text), "{text:?}");
    }
}

#[test]
fn existing_names_keep_their_spelling_and_compare_as_nfc() {
    let (decomposed, composed) = ("cafe\u{301}.md", "caf\u{e9}.md");
    assert_eq!(parsed(decomposed), decomposed);
    assert_eq!(NotePath::parse(decomposed), NotePath::parse(composed));
    assert_ne!(NotePath::parse("A.md"), NotePath::parse("a.md"));
}

#[test]
fn existing_names_that_we_would_not_make_are_read() {
    for name in [
        "What is it?.md",
        "ab:c.md",
        "Q: why.md",
        "trail.",
        "x.url",
        "CON",
        "…and more.md",
        "no\u{200d}te.md",
        "node.js",
        "DRAFT~1.md",
        "NUL .md",
        "a*b.md",
    ] {
        assert_eq!(parsed(name), name);
    }
}

#[test]
fn nothing_leads_outside() {
    for text in ["../", "../etc/passwd", "notes/../../x", "notes//..//..//x", "a.md/../../x"] {
        refused(text, "without `..`");
    }
    for text in [".. /x", "..  ./x", " ", "...", "\u{2025}/x", "\u{2024}\u{2024}/x", "\u{ff0e}./x"]
    {
        refused(text, "consists of dots");
    }
    for text in ["/", "/.", "//etc/passwd", "/proc/self/environ", "C:/Windows/x", "C:secret.md"] {
        refused(text, "is absolute");
    }
    for text in ["file:///etc/passwd", "obsidian://open?vault=x&file=../y"] {
        refused(text, "is a URL");
    }
    for text in ["\\\\?\\C:\\x", "\\??\\C:\\x", "notes/..\\../x", "notes\\a.md"] {
        refused(text, "Write `/` between folders");
    }
    for text in ["", ".", "./", "./."] {
        refused(text, "names no note");
    }
    for text in ["a\0.md", "a\tb.md", "a\u{1}b.md", "a\nb.md", "a\u{85}.md"] {
        refused(text, "control character");
    }
}

#[test]
fn protected_names_are_refused_in_every_spelling() {
    for text in [
        ".obsidian/app.json",
        ".git",
        ".GIT/config",
        "notes/.git/config",
        ".obsidian./x",
        ".obsidian /x",
        "./.obsidian//x",
        ".trash/old.md",
        ".env",
        ".DS_Store",
        "notes/.md",
        ".obsidian::$INDEX_ALLOCATION/x",
        ".\u{200d}git/config",
        "\u{200d}.git/config",
        "\u{ff0e}git/config",
        ".obs\u{456}dian/x",
        "\u{2024}git/x",
        "OBSIDI~1/app.json",
        "obsidi~2",
        "GIT~1/config",
        "GI7EBA~1",
        "\u{ff27}IT~1",
        "TRASH~1/x.md",
    ] {
        refused(text, "protected");
    }
}

#[test]
fn long_and_deep_paths_are_refused() {
    refused(&format!("{}.md", "a".repeat(253)), "255 bytes");
    refused(&format!("{}.md", "é".repeat(127)), "255 bytes");
    refused(&format!("{}x.md", "d/".repeat(64)), "64 folders");
    assert_eq!(parsed(&"d/".repeat(64)).len(), 127);
    assert_eq!(created(&"a".repeat(252)).len(), 255);
    refused_as_new(&"a".repeat(253), "255 bytes");
}

#[test]
fn new_names_get_an_extension_when_they_have_none() {
    for (text, path) in [
        ("Plan", "Plan.md"),
        ("Plan.md", "Plan.md"),
        ("UPPER.MD", "UPPER.MD"),
        ("Board.canvas", "Board.canvas"),
        ("Dr. Smith", "Dr. Smith.md"),
        ("v1.2.3", "v1.2.3.md"),
        ("a/b", "a/b.md"),
    ] {
        assert_eq!(created(text), path);
    }
    for text in ["node.js", "x.url", "x.scf", "x.library-ms", "settings.ini", "a.txt"] {
        refused_as_new(text, "`.md`");
    }
}

#[test]
fn ordinary_names_of_all_languages_may_be_made() {
    for name in [
        "日本語/メモ.md",
        "émoji 🎉.md",
        "👩\u{200d}👩\u{200d}👧.md",
        "👍🏽.md",
        "❤\u{fe0f}.md",
        "👩🏽\u{200d}💻.md",
        "1\u{fe0f}\u{20e3}.md",
        "foo..bar.md",
        "a+b=c.md",
        "(draft) [1].md",
        "#tag.md",
        "a&b.md",
        "@home.md",
        "CONTRACT.md",
        "nullable.md",
        "lpt.md",
        "Prn-list.md",
        "हिन्दी.md",
        "ﺎﻠﻋﺮﺒﻳﺓ.md",
        "~backup.md",
        "$price.md",
        "a…b.md",
        "price ¥100.md",
        "标题：一.md",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}.md",
    ] {
        assert_eq!(created(name), name);
    }
    assert_eq!(created("cafe\u{301}"), "caf\u{e9}.md");
    assert_eq!(created("\u{212b}ngstrom.md"), "\u{c5}ngstrom.md");
}

#[test]
fn names_of_old_devices_and_system_files_may_not_be_made() {
    for text in ["KEYBD$.md", "screen$", "$idle$.md", "Config$/x.md"] {
        refused_as_new(text, "device name");
    }
    for text in ["$Extend/x.md", "$mft/x.md", "$LogFile/x.md", "Thumbs.db/x.md", "autorun.inf/x.md"]
    {
        refused_as_new(text, "system file");
    }
    let stacked = |marks: usize| format!("Z{}al.md", "\u{301}".repeat(marks));
    refused_as_new(&stacked(10), "many marks");
    for text in [&stacked(8), "LST.md", "$MFT explained.md", "Việt.md", "thumbs.md"] {
        NewNotePath::parse(text).expect(text);
    }
}

#[test]
fn names_that_break_on_some_system_may_not_be_made() {
    for text in [
        "a>b.md",
        "a\"b.md",
        "a*b.md",
        "note.md:hidden",
        "notes::$INDEX_ALLOCATION/x.md",
        "$i30:$bitmap",
        "note.md:",
        "what?.md",
    ] {
        refused_as_new(text, "`<>:\"|?*`");
    }
    for text in ["note.md.", "note.md ", "note.md. . .", "trail./x.md", "a /b.md", "a .md"] {
        refused_as_new(text, "at its end");
    }
    for text in [
        "CON",
        "con.md",
        "PRN",
        "AUX",
        "NUL",
        "COM0",
        "lpt9.md",
        "COM\u{b9}",
        "LPT\u{b3}.md",
        "CONIN$",
        "CONOUT$",
        "CLOCK$",
        "NUL\u{a0}.md",
        "nul/x.md",
        "con.tar.md",
    ] {
        refused_as_new(text, "device name");
    }
    for text in ["NUL .md", "con .txt", "COM1 .md"] {
        NewNotePath::parse(text).expect_err(text);
    }
    for text in [
        "note\u{202e}gpj.md",
        "no\u{200b}te.md",
        "no\u{200d}te.md",
        "note\u{fe00}.md",
        "a\u{fe0f}.md",
        "👩\u{200d}.md",
        "a\u{e0067}.md",
        "so\u{ad}ft.md",
        "\u{feff}x.md",
    ] {
        refused_as_new(text, "invisible character");
    }
    refused_as_new("bad\u{fffd}.md", "replacement character");
    for text in ["a\u{ff0f}b.md", "a\u{ff3c}b.md", "\u{2100}.md"] {
        refused_as_new(text, "looks like `/`");
    }
    for text in ["PROGRA~1", "a~1.md", "MYNOTE~2/x.md"] {
        refused_as_new(text, "short name");
    }
}

#[test]
fn an_existing_folder_keeps_a_name_that_we_would_not_make() {
    let folder = NotePath::parse("Cafe\u{301} ?").expect("a path");
    let made =
        NewNotePath::parse_in(Some(&folder), "sub/New", NewPathKind::Note).expect("a new note");
    assert_eq!(made.path().as_str(), "Cafe\u{301} ?/sub/New.md");
    NewNotePath::parse_in(Some(&folder), "../x", NewPathKind::Note).expect_err("outside");
    NewNotePath::parse_in(Some(&folder), "a?.md", NewPathKind::Note)
        .expect_err("the new part is judged");
}

#[test]
fn a_path_knows_its_pieces() {
    let path = NotePath::parse("Projects/Work/Plan.v2.MD").expect("a path");
    assert_eq!(path.parts().collect::<Vec<_>>(), ["Projects", "Work", "Plan.v2.MD"]);
    assert_eq!((path.name(), path.title()), ("Plan.v2.MD", "Plan.v2"));
    assert_eq!((path.folder(), path.extension()), (Some("Projects/Work"), Some("MD")));
    assert!(path.is_markdown());
    let board = NotePath::parse("Board.canvas").expect("a path");
    assert_eq!((board.title(), board.folder(), board.is_markdown()), ("Board.canvas", None, false));
}

#[test]
fn what_moves_keeps_its_extension_and_a_folder_needs_none() {
    let check = |text: &str, naming: NewPathKind<'_>, expected: Option<&str>| {
        let made = NewNotePath::parse_in(None, text, naming).ok();
        assert_eq!(made.as_ref().map(|made| made.path().as_str()), expected, "{text}");
    };
    let (note, image) = (NotePath::parse("a/N.md").unwrap(), NotePath::parse("pic.PNG").unwrap());
    check("b/M", NewPathKind::Moved(&note), Some("b/M.md"));
    check("b/M.md", NewPathKind::Moved(&note), Some("b/M.md"));
    check("b/M.txt", NewPathKind::Moved(&note), None);
    check("pics/new", NewPathKind::Moved(&image), Some("pics/new.PNG"));
    check("pics/new.png", NewPathKind::Moved(&image), Some("pics/new.png"));
    check("pics/new.md", NewPathKind::Moved(&image), None);
    check("Archive 2026", NewPathKind::Folder, Some("Archive 2026"));
    check("v1.beta", NewPathKind::Folder, Some("v1.beta"));
    check("aux", NewPathKind::Folder, None);
    check("../up", NewPathKind::Folder, None);
}

#[test]
fn a_folder_that_systems_would_open_by_themselves_is_not_made() {
    for name in ["desktop.ini", "x.url", "x.scf", "x.library-ms", "X.LNK", "tool.app"] {
        assert!(NewNotePath::parse_in(None, name, NewPathKind::Folder).is_err(), "{name}");
    }
    for name in ["v1.2", "Node.js", "Dr. Smith", "2026.01"] {
        assert!(NewNotePath::parse_in(None, name, NewPathKind::Folder).is_ok(), "{name}");
    }
}
