//! Contacts in time, without Rapier: molecules in a small world of their own that
//! integrates momentum exactly, so that what is lost or gained is the solver's.

mod conservation;
mod exclusion;
mod response;
mod sleep;
