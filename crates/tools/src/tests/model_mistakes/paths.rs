//! Mistakes about where things are: what to move, delete, make, list and look at.

use serde_json::{Value, json};

use super::{Mistake, one};

pub(super) fn places() -> Vec<Mistake> {
    [moves(), deletions(), folders(), links_and_facts(), lists_and_appends()].concat()
}

fn moves() -> Vec<Mistake> {
    let moved = |source: &str, destination: &str, comes_to| {
        one("move_file", json!({ "source": source, "destination": destination }), comes_to)
    };
    let filed = "Applied: move `House/Boiler.md` to `Archive/Boiler.md`";
    vec![
        moved("Boiler", "Archive/Boiler", filed),
        moved("Boilr", "Archive/Boiler.md", filed),
        moved("house/boiler.md", "Archive/Boiler.md", filed),
        moved("/House/Boiler.md", "Archive/Boiler.md", filed),
        moved("My vault/House/Boiler.md", "Archive/Boiler.md", filed),
        moved("House\\Boiler.md", "Archive\\Boiler.md", filed),
        moved("[[Boiler]]", "Archive/Boiler.md", filed),
        moved("Boiler", "/Archive/Boiler.md", filed),
        moved("Boiler", "../Archive/Boiler.md", filed),
        moved("Boiler", "Archive/Boiler.txt", filed),
        moved("Boiler", "Archive/Boiler?.md", filed),
        moved("Boiler", "Archive/Boiler .md", filed),
        moved("Boiler", "Archive /Boiler.md", filed),
        moved("Plan", "Archive/Plan.md", "Applied: move `Garden/Plan.md`"),
        moved("Quotes", "Windows.md", "Applied: move `Quotes.md` to `Windows 2.md`"),
        moved("Quotes", "garden/PLAN", "Applied: move `Quotes.md` to `Garden/Plan 2.md`"),
        moved("Quotes", "Garden", "Applied: move `Quotes.md` to `Garden/Quotes.md`"),
        moved("Quotes", "garden", "Applied: move `Quotes.md` to `Garden/Quotes.md`"),
        moved("Boiler", "/", "Applied: move `House/Boiler.md` to `Boiler.md`"),
        moved("Quotes", "Windows.md/Quotes.md", "Applied: move `Quotes.md` to `Windows/Quotes.md`"),
        moved("Quotes", "CON.md", "Applied: move `Quotes.md` to `CON 2.md`"),
        moved("Hause/", "Archive/", "Applied: move `House` to `Archive/House`"),
        moved("/House", "Archive/", "Applied: move `House` to `Archive/House`"),
        moved("House/", "Garden", "Applied: move `House` to `Garden/House`"),
        moved("House/", "House/Old/", "Applied: move `House` to `Old/House`"),
        moved("House", "House/Old", "Applied: move `House` to `Old`"),
        one("move_file", json!({ "from": "Boiler", "to": "Archive/Boiler.md" }), filed),
        one("move", json!({ "source": "Boiler", "destination": "Archive/Boiler.md" }), filed),
        one(
            "move_file",
            json!({ "source": "Boiler", "destination": "Archive/Boiler.md", "overwrite": true }),
            filed,
        ),
        one(
            "move_file",
            json!({ "source": ["Boiler"], "destination": "Archive/Boiler.md" }),
            filed,
        ),
    ]
}

fn deletions() -> Vec<Mistake> {
    let deleted = |path: Value, comes_to| one("delete_file", json!({ "path": path }), comes_to);
    let quotes = "Applied: put `Quotes.md` into the trash";
    vec![
        deleted(json!("Quote"), quotes),
        deleted(json!("/Quotes.md"), quotes),
        deleted(json!("quotes.MD"), quotes),
        deleted(json!("Quotes.txt"), quotes),
        deleted(json!(["Quotes"]), quotes),
        deleted(json!("Plan"), "Applied: put `Garden/Plan.md`"),
        deleted(json!("Hause/"), "Applied: put the folder `House`"),
        deleted(json!("Hause"), "Applied: put the folder `House`"),
        deleted(json!("/House/"), "Applied: put the folder `House`"),
        deleted(json!("House/*"), "Applied: put the folder `House`"),
        deleted(json!("Quotes.md/"), quotes),
        one("delete_note", json!({ "path": "Quotes" }), quotes),
        one("delete_file", json!({ "path": "Quotes", "permanent": true }), quotes),
        one("delete_file", json!({ "file": "Quotes" }), quotes),
        one("delete_folder", json!({ "path": "House" }), "Applied: put the folder `House`"),
    ]
}

fn folders() -> Vec<Mistake> {
    let made = |path: Value, comes_to| one("create_folder", json!({ "path": path }), comes_to);
    let archive = "Applied: create the folder `Archive`";
    vec![
        made(json!("House"), "match `House/*`"),
        made(json!("house/"), "`House/Boiler.md`"),
        made(json!("Garden/Plan.md"), "Applied: create the folder `Garden/Plan`"),
        made(json!("Quotes.md/Old"), "Applied: create the folder `Quotes/Old`"),
        made(json!("/Archive"), archive),
        made(json!("../Archive"), archive),
        made(json!("Archive?"), archive),
        made(json!("Archive."), archive),
        made(json!("Archive\\2026"), "Applied: create the folder `Archive/2026`"),
        made(json!("NUL"), "Applied: create the folder `NUL"),
        made(json!(["Archive"]), archive),
        one("create_folder", json!({ "name": "Archive" }), archive),
        one("create_folder", json!({ "path": "Archive", "parents": true }), archive),
        one("make_folder", json!({ "path": "Archive" }), archive),
        one("create_directory", json!({ "path": "Archive" }), archive),
    ]
}

fn links_and_facts() -> Vec<Mistake> {
    let links = |fields: Value, comes_to| one("get_links", fields, comes_to);
    let info = |path: Value, comes_to| one("get_file_info", json!({ "path": path }), comes_to);
    let into = "No note links to `Quotes.md`";
    let boiler = "`House/Boiler.md` ·";
    vec![
        links(json!({ "path": "Quotes", "direction": "incoming" }), into),
        links(json!({ "path": "Quotes", "direction": "inbound" }), into),
        links(json!({ "path": "Quotes", "direction": "IN" }), into),
        links(json!({ "path": "Quotes", "direction": "outgoing" }), "`Quotes.md` links to nothing"),
        links(json!({ "path": "Quotes", "direction": "all" }), into),
        links(json!({ "path": "Quotes", "direction": ["in"] }), into),
        links(json!({ "path": "Quote" }), into),
        links(json!({ "note": "Quotes" }), into),
        links(json!({ "path": "[[Quotes]]" }), into),
        links(json!({ "path": "Quotes#Words" }), into),
        links(json!({ "path": "House" }), "match `House/*`"),
        one("get_backlinks", json!({ "path": "Quotes" }), into),
        info(json!("Boilr"), boiler),
        info(json!("/House/Boiler.md"), boiler),
        info(json!("House"), "match `House/*`"),
        info(json!("House/"), "match `House/*`"),
        info(json!("Plan"), "`Garden/Plan.md` ·"),
        info(json!(["Boiler"]), boiler),
        one("file_info", json!({ "path": "Boiler" }), boiler),
        one("get_file_info", json!({ "filename": "Boiler" }), boiler),
    ]
}

fn lists_and_appends() -> Vec<Mistake> {
    let list = |fields: Value, comes_to| one("list_files", fields, comes_to);
    let append = |fields: Value, comes_to| one("append_file", fields, comes_to);
    let house = "match `House/*`";
    let added = "Applied: append 1 line to `Quotes.md`";
    vec![
        list(json!({ "path": "/" }), "`House`"),
        list(json!({ "path": "." }), "`House`"),
        list(json!({ "path": "house" }), "`House/Boiler.md`"),
        list(json!({ "path": "/House" }), house),
        list(json!({ "path": "House\\" }), house),
        list(json!({ "path": ".." }), "`House`"),
        list(json!({ "folder": "House" }), "`House"),
        list(json!({ "path": "House", "recursive": true }), house),
        list(json!({ "path": "House", "max_results": "all" }), house),
        list(json!({ "path": "House", "max_results": 100_000 }), house),
        list(json!({ "path": "House", "max_results": -1 }), house),
        list(json!({ "path": "House", "pattern": "[*.md" }), "`House/Boiler.md`"),
        list(json!({ "pattern": "/House/*.md" }), "`House/Boiler.md`"),
        one("list_notes", json!({ "path": "House" }), house),
        append(json!({ "path": "Quotes", "text": "x" }), added),
        append(json!({ "path": "/Quotes.md", "content": "x" }), added),
        append(json!({ "path": "quotes", "content": "x" }), added),
        append(json!({ "path": "Quotes.md/", "content": "x" }), added),
        append(json!({ "path": "Quotes.txt", "content": "x" }), added),
        append(json!({ "path": "Plan", "content": "x" }), "to `Garden/Plan.md`"),
        append(json!({ "path": "Quotes", "content": ["x"] }), added),
        append(json!({ "path": "Quotes", "content": "x", "position": "end" }), added),
        one("append_to_file", json!({ "path": "Quotes", "content": "x" }), added),
        one("append_note", json!({ "path": "Quotes", "content": "x" }), added),
    ]
}
