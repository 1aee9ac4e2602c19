//! How soon a save is found: `fresh VAULT PLACE` measures over a copy of it in PLACE and prints a line
//! a case; 0 says that all are found in time.
//!
//! `fresh answer DATA VAULT` is the application that is asked, `fresh careless CACHE VAULT` the
//! control.

use std::path::Path;
use std::process::ExitCode;

use testkit::search_freshness;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [_, "answer", data, notes] => search_freshness::serve(Path::new(data), Path::new(notes)),
        [_, "careless", cache, notes] => {
            search_freshness::serve_without_rescan(Path::new(cache), Path::new(notes));
        }
        [program, vault, place] => {
            if !search_freshness::bench(Path::new(program), Path::new(vault), Path::new(place)) {
                return ExitCode::FAILURE;
            }
        }
        _ => {
            eprintln!("usage: fresh VAULT PLACE");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
