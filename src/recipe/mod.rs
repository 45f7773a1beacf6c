//! Recipes: files that say which molecules a scene has, and where.

pub mod bent;
