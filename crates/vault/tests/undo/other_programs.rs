//! Actions of the user and of other programs: edits, renames, copies and deletions.

use protocol::{FileReplacement, NotePath};

use crate::random_histories::{any_path, changeable_path, edited};
use crate::simulation::{SimulatedNote, SimulatedVault};

/// In place, or as programs do that write a new file and rename it over the old one.
pub(crate) fn user_edits(world: &mut SimulatedVault, random: &mut fastrand::Rng) {
    let Some(at) = any_path(world, random) else { return };
    let lines = edited(world, &world.notes[&at].lines.clone(), random);
    let file = world.new_file();
    let how = random.u8(0..8);
    if how <= 3 {
        world.notes.get_mut(&at).unwrap().lines = lines;
        return;
    }
    let old = world.notes[&at].clone();
    // A file that another one has followed is a copy that nobody follows.
    let is_copy = world.successions.iter().any(|succession| succession.from == old.file);
    let is_seen = how <= 6 && !world.is_watch_off && !is_copy;
    if old.link.is_some() && !is_seen {
        // The file that the ledger knows has its second name alone, and another note the first one.
        world.notes.remove(&at);
        world.put_at_link(old);
        return world.add_note(&at, lines);
    }
    let note = world.notes.get_mut(&at).unwrap();
    (note.lines, note.file, note.link) = (lines, file, None);
    if is_seen {
        world.successions.push(FileReplacement { from: old.file, to: file });
        let identity = world.number();
        world.put_at_link(SimulatedNote { identity, ..old });
    } else {
        note.unseen += 1;
    }
}

/// A backup by a hard link.
pub(crate) fn others_link(world: &mut SimulatedVault, random: &mut fastrand::Rng) -> usize {
    let Some(at) = changeable_path(world, random) else { return 0 };
    let link = world.free_path("Backup");
    world.notes.get_mut(&at).unwrap().link = Some(link);
    1
}

/// Renames the folder of a note, with all notes in it.
pub(crate) fn user_moves_folder(world: &mut SimulatedVault, random: &mut fastrand::Rng) -> usize {
    let Some(at) = any_path(world, random) else { return 0 };
    let folder = at.folder().unwrap().to_owned();
    let number = world.number();
    let inside = world.notes.keys().filter(|path| path.folder() == Some(folder.as_str()));
    let inside: Vec<NotePath> = inside.cloned().collect();
    for path in &inside {
        let note = world.notes.remove(path).unwrap();
        let to = crate::simulation::path(&format!("Folder {number}/{}", path.name()));
        world.put_moved(to, note);
    }
    if let Some(file) = world.folders.remove(&crate::simulation::path(&folder)) {
        world.folders.insert(crate::simulation::path(&format!("Folder {number}")), file);
    }
    inside.len()
}

/// Copies, deletions, and other notes under the names of those that went.
pub(crate) fn others_copy_and_delete(
    world: &mut SimulatedVault,
    random: &mut fastrand::Rng,
) -> usize {
    let Some(at) = any_path(world, random) else { return 0 };
    let note = world.notes[&at].clone();
    let elsewhere = match random.bool() {
        true => world.free_path("Copies"),
        false => {
            let folder = world.number();
            crate::simulation::path(&format!("Copies {folder}/{}", at.name()))
        }
    };
    match random.u8(0..6) {
        // A copy that stays, under a different name or under the same one.
        0 | 1 => world.add_note(&elsewhere, note.lines),
        _ if note.link.is_some() => {
            world.notes.remove(&at);
            world.put_at_link(note);
        }
        2 => drop(world.notes.remove(&at)),
        // Another note in its place, while it went elsewhere or for good.
        kind => {
            world.notes.remove(&at);
            let lines = match random.bool() {
                true => note.lines.clone(),
                false => edited(world, &note.lines, random),
            };
            world.add_note(&at, lines);
            if kind == 3 {
                // A number is given again as soon as its file is gone.
                world.notes.get_mut(&at).unwrap().file.inode = note.file.inode;
            } else {
                world.put_moved(elsewhere, note);
            }
        }
    }
    1
}

/// To a different name, or to a different folder.
pub(crate) fn user_renames(world: &mut SimulatedVault, random: &mut fastrand::Rng) -> usize {
    let Some(at) = any_path(world, random) else { return 0 };
    let to = if random.bool() {
        world.free_path("Hand")
    } else {
        let folder = world.number();
        crate::simulation::path(&format!("Hand {folder}/{}", at.name()))
    };
    let note = world.notes.remove(&at).unwrap();
    world.put_moved(to, note);
    1
}
