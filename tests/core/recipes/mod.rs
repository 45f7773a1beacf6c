//! Recipes: readers and what they build.

mod bent_files;
mod sphere_trees;
