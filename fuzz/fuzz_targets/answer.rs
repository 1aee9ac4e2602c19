//! The bytes of an answer, on each wire.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzz_invariants::check_answer(bytes));
