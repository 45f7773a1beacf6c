//! Files of recipes.

mod sphere_trees;
