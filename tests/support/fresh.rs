//! How soon a save is found: the real application over a real folder, in a process of its own; other
//! programs that save; and a poller that asks until the word is there.

mod asked;
mod bare;
mod building;
mod cases;
mod figure;
mod flood;
mod kills;
mod program;
mod saving;

use std::fs;
use std::path::Path;

pub use asked::Asked;
pub use building::{Building, Known, building};
pub use cases::{BAR, Extent, Figure, WHOLE, cases};
pub use figure::Times;
pub use flood::Flooded;
pub use kills::Sweep;
pub use program::{answer, answer_careless};

/// Writes `many` short notes with links, tags and words of their own below `notes`.
pub fn fill(notes: &Path, many: usize) {
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
    copy(vault, &notes);
    fs::create_dir_all(&data).expect("a folder");
    let known = [
        ("literal", "harbour", ""),
        ("find", "harbour", ""),
        ("names", "note", ""),
        ("tags", "", ""),
    ];
    let (mut asked, seen) = building(program, &data, &notes, &known);
    for (door, times) in &seen.answers {
        println!("fresh building door={door} {times}");
    }
    println!("fresh building told={} of={}", seen.done.len(), seen.all);
    ranked(&mut asked, &data);
    let figures = cases(&mut asked, &notes, Extent { saves: 400, checkouts: 10 });
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
fn ranked(asked: &mut Asked, data: &Path) {
    asked.until("the ranking", |_| {
        kills::index(data)?.join("ranked/seal.json").exists().then_some(())
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}
