//! temporary
use std::time::{Duration, Instant};
fn main() {
    let v = vault::Vault::open(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let none = protocol::ChangeSet::default();
    for _ in 0..3 {
        let t = Instant::now();
        let l = v.list().unwrap();
        println!("list {:?} {} {}", t.elapsed(), l.entries.len(), l.problems.len());
        for p in l.problems.iter().take(5) { println!("  {p:?}"); }
        for pat in ["garden", "(?i)digital\\s+garden", "e"] {
            let t = Instant::now();
            let f = index::search(&v, &none, &index::Query { pattern: pat.into(), file_pattern: None, context_lines: 2, max_results: 10, case_sensitive: false }, Duration::from_secs(10)).unwrap();
            println!("search {pat} {:?} {} {} {:?}", t.elapsed(), f.total, f.files, f.cut);
        }
        for q in ["digital garden", "notes", "how to learn spaced repetition", "a", "the"] {
            let t = Instant::now();
            let f = index::find(&v, &none, q, 5, Duration::from_secs(10)).unwrap();
            println!("find {q} {:?} {} {} {:?}", t.elapsed(), f.total, f.notes, f.cut);
            for p in f.passages.iter().take(5) { println!("   {} {:?} [{:?}] {:?}", p.path, p.why, p.heading, p.text.chars().take(90).collect::<String>()); }
        }
        let t = Instant::now();
        let g = index::glob(&v, &none, "**/*.md", None, 10).unwrap();
        println!("glob {:?} {}", t.elapsed(), g.total);
        let t = Instant::now();
        println!("resolve {:?} {:?}", v.resolve("nothing like that").map_err(|e| e.to_string()), t.elapsed());
    }
}
