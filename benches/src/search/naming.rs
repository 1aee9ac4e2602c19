//! Finding notes by name, beside the search by name of a plugged-in server.

use std::error::Error;

use super::Taken;
use super::ground::Ground;
use super::line::Line;
use crate::mcp::Server;
use crate::pairs::measure;
use crate::ranking::notes;

/// How many pairs are taken, over a small vault and over a large one.
const PAIRS: [usize; 2] = [10, 4];

/// How many names a person is shown.
const SHOWN: usize = 50;

/// Looks for beginnings of names that are there, a different one each time.
pub(super) async fn take(ground: &Ground) -> Result<Taken, Box<dyn Error>> {
    let standing = ground.standing()?;
    let asked = parts_of_names(ground)?;
    let mut server = Server::start(&ground.folder)?;
    let (mut ours_asked, mut server_asked) = (asked.iter().cycle(), asked.iter().cycle());
    let ours = async || {
        let part = ours_asked.next().ok_or("no note has a name")?;
        match standing.index.names(&standing.vault, part, &[], SHOWN)?.is_empty() {
            true => Err(format!("no note is found by `{part}`").into()),
            false => Ok(()),
        }
    };
    let theirs = async || {
        let part = server_asked.next().ok_or("no note has a name")?;
        server.search(&ground.folder, part)
    };
    let [small, large] = PAIRS;
    let ratio = measure::<Box<dyn Error>>(ground.either(small, large), ours, theirs).await?;
    let millis = ratio.ours.as_secs_f64() * 1e3;
    let rival = ratio.rival.as_secs_f64() * 1e3;
    let details = format!("ours_ms={millis:.2} server_ms={rival:.0}");
    let line = Line::new("find_by_name", ratio.value(), 1.0 / 200.0, details);
    Ok(Taken { lines: vec![line], costs: vec![("find_by_name", millis)] })
}

/// Words of names, spread over the vault.
fn parts_of_names(ground: &Ground) -> Result<Vec<String>, Box<dyn Error>> {
    let paths = notes::paths(&ground.folder)?;
    let names = paths.iter().step_by(paths.len() / 40 + 1);
    let stems = names.filter_map(|path| path.file_stem()?.to_str());
    let words = stems.filter_map(|stem| {
        stem.split(|c: char| !c.is_ascii_alphabetic()).find(|word| word.len() > 3)
    });
    Ok(words.map(str::to_owned).collect())
}
