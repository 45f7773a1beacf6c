//! Recipes: readers and what they build.

mod bent_files;
mod bent_recipes;
mod rules;
mod sphere_trees;
