//! What is drawn, on whatever adapter there is: spheres against analytic ones, pictures
//! against references, views of every kind, and what happens when something fails.
//!
//! Without an adapter tests say that they are skipped; with `REQUIRE_GPU=1` in the
//! environment they fail instead.

mod device_poses;
mod faults;
mod layout;
mod meshes;
mod offscreen;
mod physics;
mod references;
mod spheres;
mod stage;
mod views;
