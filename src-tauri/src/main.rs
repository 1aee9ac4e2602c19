//! vaultmate
fn main() {}
