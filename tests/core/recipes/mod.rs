//! Recipes: readers and what they build.

mod bent_files;
mod bent_recipes;
mod live_edits;
mod live_files;
mod live_scene;
mod sphere_trees;
