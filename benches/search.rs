//! Benchmark of the pair search against brute force and other crates.
fn main() {}
