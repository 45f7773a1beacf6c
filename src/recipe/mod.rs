//! Recipes: files that say which molecules a scene has, and where.

mod sphere_tree;

pub use sphere_tree::{SphereTree, SphereTreeError, SphereTreeProblem};
