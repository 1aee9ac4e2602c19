//! The bytes of an answer, on each wire.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::properties::an_answer(bytes));
