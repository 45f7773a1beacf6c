//! Fibers: links, paths, joints and what remains of them after a relaxation.

mod avoiding_walks;
mod fixtures;
mod joints;
mod links_and_paths;
#[cfg(feature = "recipe")]
mod recipes;
mod relaxed_fibers;
mod walks;
