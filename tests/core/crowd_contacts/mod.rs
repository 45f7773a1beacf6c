//! Crowd contacts without Rapier, in a minimal world that integrates momentum in double
//! precision: any drift comes from the contact solver.

mod conservation;
mod continuous;
mod exclusion;
mod fallback;
mod material;
mod member_changes;
mod pair_grouper;
mod response;
mod sleep;
