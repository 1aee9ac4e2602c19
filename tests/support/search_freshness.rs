//! How soon a save is found: the real application over a real folder, in a process of its own; other
//! programs that save; and a poller that asks until the word is there.

mod bare_watch;
mod cases;
mod index_build;
mod index_kills;
mod query_client;
mod query_server;
mod queue_overflow;
mod timings;
mod writers;

use std::fs;
use std::path::Path;

pub use cases::{FreshnessExtent, FreshnessFigure, MAX_DELAY, WHOLE_CHECKOUT, measure_cases};
pub use index_build::{IndexBuildReport, KnownQuestion, query_during_build};
pub use index_kills::IndexKillSweep;
pub use query_client::QueryProcess;
pub use query_server::{serve, serve_without_rescan};
pub use queue_overflow::OverflowedWatch;
pub use timings::Timings;

/// Writes `many` short notes with links, tags and words of their own below `notes`.
pub fn write_sample_notes(notes: &Path, many: usize) {
    for number in 0..many {
        let folder = notes.join(format!("Shelf {}", number / 200));
        if number % 200 == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        let text = format!(
            "# Note {number}\n\nAbout the thing called own{number}word, after [[Note {}]].\n\n#shelf/{}\n",
            number / 2,
            number % 50
        );
        fs::write(folder.join(format!("Note {number}.md")), text).expect("written");
    }
}

/// Measures every case over a copy of `vault`, made in `place`, prints a line for each, and says
/// whether all are found in time.
#[must_use]
pub fn bench(program: &Path, vault: &Path, place: &Path) -> bool {
    let (notes, data) = (place.join("notes"), place.join("data"));
    copy_folder(vault, &notes);
    fs::create_dir_all(&data).expect("a folder");
    let known = [
        ("literal", "harbour", ""),
        ("find", "harbour", ""),
        ("names", "note", ""),
        ("tags", "", ""),
    ];
    let (mut asked, seen) = query_during_build(program, &data, &notes, &known);
    for (kind, times) in &seen.answers {
        println!("fresh building kind={kind} {times}");
    }
    println!("fresh building told={} of={}", seen.progress.len(), seen.all);
    wait_for_fulltext_index(&mut asked, &data);
    let figures = measure_cases(&mut asked, &notes, FreshnessExtent { saves: 400, checkouts: 10 });
    asked.close();
    let mut met = true;
    for figure in &figures {
        match figure.is_met() {
            Some(true) => println!("{figure} bar=25ms ok"),
            Some(false) => println!("{figure} bar=25ms MISSED"),
            None => println!("{figure}"),
        }
        met &= figure.is_met() != Some(false);
    }
    met
}

/// Waits until the ranking is sealed.
fn wait_for_fulltext_index(process: &mut QueryProcess, data: &Path) {
    process.poll_until("the ranking", |_| {
        index_kills::index_dir(data)?.join("ranked/seal.json").exists().then_some(())
    });
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}
