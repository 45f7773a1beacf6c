//! What proxies owe: every atom is inside of its own, the seed decides and nothing else,
//! and what is bad is refused by name.

mod containment;
mod files;
mod fixtures;
mod quality;
