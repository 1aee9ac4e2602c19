//! Actions of the user and of other programs: edits, renames, copies and deletions.

use protocol::FileReplacement;

use crate::random_histories::{any_path, edited};
use crate::simulation::SimulatedVault;

/// In place, or as programs do that write a new file and rename it over the old one.
pub(crate) fn user_edits(world: &mut SimulatedVault, random: &mut fastrand::Rng) {
    let Some(at) = any_path(world, random) else { return };
    let lines = edited(world, &world.notes[&at].lines.clone(), random);
    let file = world.new_file();
    let note = world.notes.get_mut(&at).unwrap();
    note.lines = lines;
    match random.u8(0..8) {
        0..=3 => {}
        4..=6 => {
            world.successions.push(FileReplacement { from: note.file, to: file });
            note.file = file;
        }
        _ => {
            note.unseen += 1;
            note.file = file;
        }
    }
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
                world.notes.insert(elsewhere, note);
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
    world.notes.insert(to, note);
    1
}
