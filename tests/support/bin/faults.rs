//! Runs the fault classes: `faults [--quick | --only WORD]`. The last line is the sum; 0 says that all holds.
//!
//! `faults child act|careless|recover|look FOLDER SCENE` is a process of a run, and so is
//! `faults deed prepare|act|careless|look|settle FOLDER DEED`.

use std::path::Path;
use std::process::ExitCode;

use testkit::fault_injection;
use testkit::fault_injection::FaultExtent;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let holds = match words.as_slice() {
        [_, "child", what, folder, scene] => {
            fault_injection::child(what, Path::new(folder), scene);
            true
        }
        [_, "deed", what, folder, deed] => {
            fault_injection::deed(what, Path::new(folder), deed);
            true
        }
        [program] => fault_injection::run(FaultExtent::Full, None, Path::new(program)),
        [program, "--quick"] => fault_injection::run(FaultExtent::Quick, None, Path::new(program)),
        [program, "--only", word] => {
            fault_injection::run(FaultExtent::Full, Some(word), Path::new(program))
        }
        _ => {
            eprintln!("usage: faults [--quick | --only WORD]");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(!holds))
}
