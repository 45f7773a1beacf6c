//! Recipes: readers and what they build.

mod bent_files;
mod bent_recipes;
mod in_memory;
mod sphere_trees;
