//! The arguments of a call.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzz_invariants::check_arguments(bytes));
