//! What proxies owe: every atom is inside of its own, the seed decides and nothing else,
//! and what is bad is refused by name.

mod containment;
mod fixtures;
mod proxy_files;
mod quality;
