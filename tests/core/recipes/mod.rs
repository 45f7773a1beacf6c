//! Recipes: readers and what they build.

mod additions;
mod bent_files;
mod bent_recipes;
mod bundled_recipes;
mod concentrations;
mod determinism;
mod examples_of_cellpack;
mod gradients;
mod in_memory;
mod live_edits;
mod live_files;
mod live_joints;
mod live_scene;
mod malformed_recipes;
mod packed_spheres;
mod partners;
mod rules;
mod spellings;
mod sphere_trees;
mod triangle_mesh;
mod unknown_keys_and_inheritance;
mod vesicles;
