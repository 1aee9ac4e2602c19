//! Many notes with one name, each in a folder of its own, as a website keeps its posts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use index::links::{LinkGraph, LinkResolver, LinkRewrite};
use protocol::{ChangeSet, NotePath};

use crate::path;
use crate::sources_of_links::indexed;

/// Posts with three links each to two others.
fn posts(count: usize) -> BTreeMap<String, String> {
    let post = |n: usize| {
        let (next, far) = ((n + 1) % count, (n + count / 2) % count);
        let links = format!("[x](../{next}/index.md) [[{far}/index]] [[posts/{next}/index|y]]\n");
        (format!("posts/{n}/index.md"), links)
    };
    (0..count).map(post).collect()
}

/// The rewrites when the folder of the posts gets another name.
fn moved(posts: &BTreeMap<String, String>) -> LinkRewrite {
    let read = |at: &NotePath| posts.get(at.as_str()).map(|text| Cow::Borrowed(text.as_bytes()));
    let files: Vec<NotePath> = posts.keys().map(|file| path(file)).collect();
    let (from, to) = (path("posts"), path("blog"));
    let moves: Vec<_> = files
        .iter()
        .filter_map(|file| Some((file.clone(), file.after_move(&from, &to)?)))
        .collect();
    LinkGraph::new(files, read, None).after_moving(&moves)
}

/// The least time of several runs: other programs disturb.
fn least_time(run: impl Fn()) -> Duration {
    let timed = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    (0..6).map(timed).min().unwrap()
}

/// Four times the posts may cost eight times the time; the square would be sixteen times.
#[track_caller]
fn check_growth(few: Duration, many: Duration) {
    println!("{few:?} for some posts, {many:?} for four times as many");
    assert!(many < few * 8 + Duration::from_millis(100), "{many:?} after {few:?}");
}

#[test]
fn a_folder_with_notes_of_one_name_moves_at_a_cost_that_grows_with_their_number() {
    let (few, many) = (posts(500), posts(2_000));
    let rewriting = moved(&few);
    assert_eq!((rewriting.problems.len(), rewriting.files.len()), (0, 500));
    let seven = rewriting.files.iter().find(|file| file.path.as_str() == "posts/7/index.md");
    let after = seven.map(|file| String::from_utf8_lossy(&file.after).into_owned());
    let expected = "[x](../8/index.md) [[257/index]] [[blog/8/index|y]]\n";
    assert_eq!(after.as_deref(), Some(expected));
    let time = |posts| least_time(|| assert_eq!(moved(posts).problems, []));
    check_growth(time(&few), time(&many));
}

#[test]
fn a_note_with_links_to_many_notes_of_one_name_moves_at_a_cost_that_grows_with_their_number() {
    let linking = |count: usize| {
        let mut notes: BTreeMap<String, String> =
            (0..count).map(|n| (format!("{n}/i.md"), String::new())).collect();
        notes.insert("All.md".to_owned(), (0..count).map(|n| format!("[]({n}/i.md)\n")).collect());
        notes
    };
    let moved = |notes: &BTreeMap<String, String>| {
        let read =
            |at: &NotePath| notes.get(at.as_str()).map(|text| Cow::Borrowed(text.as_bytes()));
        let files = notes.keys().map(|file| path(file)).collect();
        let moves = [(path("All.md"), path("Lists/All.md"))];
        LinkGraph::new(files, read, None).after_moving(&moves)
    };
    let (few, many) = (linking(1_000), linking(4_000));
    let rewriting = moved(&few);
    assert_eq!(rewriting.problems, []);
    let [file] = rewriting.files.as_slice() else { panic!("{} files", rewriting.files.len()) };
    assert_eq!(file.links, 1_000);
    assert!(file.after.starts_with(b"[](../0/i.md)\n[](../1/i.md)\n"));
    let time = |notes| least_time(|| assert_eq!(moved(notes).files.len(), 1));
    check_growth(time(&few), time(&many));
}

/// Posts with a link each by the name that all have, which means the post itself, and as many notes in which the same link
/// means the first post.
fn linked_by_name(count: usize) -> BTreeMap<String, String> {
    let post = |n: usize| (format!("posts/{n}/index.md"), "[[index]]\n".to_owned());
    let note =
        |n: usize| (format!("notes/{n}.md"), "[[index]] [x](../posts/0/index.md)\n".to_owned());
    (0..count).flat_map(|n| [post(n), note(n)]).collect()
}

#[test]
fn links_by_the_name_of_many_notes_follow_a_move_at_a_cost_that_grows_with_their_number() {
    let (few, many) = (linked_by_name(500), linked_by_name(2_000));
    let rewriting = moved(&few);
    assert_eq!((rewriting.problems.len(), rewriting.files.len()), (0, 500));
    let after = rewriting.files.iter().map(|file| String::from_utf8_lossy(&file.after));
    let expected = "[[index]] [x](../blog/0/index.md)\n";
    assert!(after.clone().all(|text| text == expected), "{:?}", after.clone().next());
    let time = |posts| least_time(|| assert_eq!(moved(posts).problems, []));
    check_growth(time(&few), time(&many));
}

#[test]
fn each_link_by_the_name_of_many_notes_is_rewritten_at_a_cost_that_grows_with_their_number() {
    // The post that the notes mean becomes one whose path is longer than those of others.
    let moved = |notes: &BTreeMap<String, String>| {
        let read =
            |at: &NotePath| notes.get(at.as_str()).map(|text| Cow::Borrowed(text.as_bytes()));
        let files = notes.keys().map(|file| path(file)).collect();
        let moves = [(path("posts/0/index.md"), path("archive/first/index.md"))];
        LinkGraph::new(files, read, None).after_moving(&moves)
    };
    let (few, many) = (linked_by_name(500), linked_by_name(2_000));
    let rewriting = moved(&few);
    assert_eq!((rewriting.problems.len(), rewriting.files.len()), (0, 500));
    let after = rewriting.files.iter().map(|file| String::from_utf8_lossy(&file.after));
    let expected = "[[first/index]] [x](../archive/first/index.md)\n";
    assert!(after.clone().all(|text| text == expected), "{:?}", after.clone().next());
    let time = |notes| least_time(|| assert_eq!(moved(notes).problems, []));
    check_growth(time(&few), time(&many));
}

#[test]
fn links_by_name_are_answered_by_the_index_at_a_cost_that_grows_with_their_number() {
    let times = |count| {
        let desk = indexed(&linked_by_name(count));
        let index = desk.index.for_models();
        let first = path("posts/0/index.md");
        let broken = least_time(|| {
            assert_eq!(index.broken_links(&desk.vault).map(|all| all.len()), Some(0));
        });
        let backlinks = least_time(|| {
            let found = index.backlinks(&desk.vault, &ChangeSet::default(), &first);
            assert_eq!(found.map(|all| all.len()), Some(2 * count));
        });
        // A search by name asks for the link to each note that it found.
        let links = least_time(|| {
            for n in 0..count {
                let post = format!("posts/{n}/index");
                assert_eq!(desk.index.link_to(&path(&format!("{post}.md"))), post);
            }
        });
        [broken, backlinks, links]
    };
    for (few, many) in times(300).into_iter().zip(times(1_200)) {
        check_growth(few, many);
    }
}

#[test]
fn broken_links_among_notes_of_one_name_are_found_at_a_cost_that_grows_with_their_number() {
    let time = |count| {
        let desk = indexed(&posts(count));
        let index = desk.index.for_models();
        least_time(|| assert_eq!(index.broken_links(&desk.vault).map(|all| all.len()), Some(0)))
    };
    check_growth(time(300), time(1_200));
}

#[test]
fn the_index_and_the_files_agree_about_links_to_notes_of_one_name() {
    let names = ["n.md", "a/n.md", "xa/n.md", "A b/n.md", "a/b/n.md", "b/n.md", "b/m.md"];
    let notes = names.map(|file| (file.to_owned(), String::new()));
    let desk = indexed(&BTreeMap::from(notes));
    let index = desk.index.for_models();
    // Some files come and go after the snapshot.
    let changed = ["c/n.md", "a/c/n.md", "b/n.md"].map(path);
    for made in ["c/n.md", "a/c/n.md"] {
        let made = desk.folder.path().join(made);
        fs::create_dir_all(made.parent().unwrap()).unwrap();
        fs::write(made, "").unwrap();
    }
    fs::remove_file(desk.folder.path().join("b/n.md")).unwrap();
    index.refresh(&changed);
    let present = names.iter().filter(|file| **file != "b/n.md").chain(&["c/n.md", "a/c/n.md"]);
    let resolver: LinkResolver = present.map(|file| path(file)).collect();
    for source in ["x.md", "a/x.md", "a/b/x.md", "b/x.md", "c/x.md", "z/x.md"].map(path) {
        for link in [
            "n", "N.md", "a/n", "b/n", "c/n", "a/c/n", "/n", "/b/n", "/a/c/n", "./n", "../n",
            "/c/n.md", "../b/n", "b/m", "q/n", "/q/n", "A b/n",
        ] {
            let found = index.resolve_link(&desk.vault, link, Some(&source));
            assert_eq!(found, Some(resolver.resolve(link, &source)), "[[{link}]] in {source}");
        }
    }
}
