//! What few large spheres save: searches of spheres of many sizes, contacts of molecules at
//! several levels of detail, relaxation from coarse to fine.
//!
//! Contestants take turns, and of each the best turn counts. Arguments choose the tables:
//! `mixed`, `sizes`, `crowd`, `relax`; all by default.
#![allow(clippy::print_stdout, reason = "the tables are the purpose")]

mod crowd;
mod mixed;
mod relax;
mod sizes;
mod turns;

fn main() {
    let tables: [(&str, fn()); 4] = [
        ("mixed", mixed::run),
        ("sizes", sizes::run),
        ("crowd", crowd::run),
        ("relax", relax::run),
    ];
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, run) in tables {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            run();
        }
    }
}
