//! Rendering on any available adapter: spheres against analytic ones, reference images, views of
//! every kind, and invalid input.
//!
//! Without an adapter, tests are skipped with a message; with `REQUIRE_GPU=1` in the environment
//! they fail instead.

mod device_poses;
mod invalid_input;
mod looks;
mod mesh_intersection;
mod offscreen;
mod physics_molecules;
mod picking;
mod reference_images;
pub mod render_app;
mod shader_layout;
mod sphere_silhouettes;
mod uploads;
mod views;
