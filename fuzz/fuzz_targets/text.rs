//! Text of a model that takes no tools.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| llm::fuzz_invariants::check_text(text));
