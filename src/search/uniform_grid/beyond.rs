//! Whom spheres meet that are in none of the cells around them.

use super::scan::{Columns, Comparison, Query};
use super::walk::Sink;

/// Whom a sphere meets beyond the cells around it.
pub(in crate::search) trait Beyond: Sync {
    /// Passes the hits of `query`, which has index `own` in the set, to `sink`.
    ///
    /// # Safety
    /// As [`Comparison::hits`] for all spheres of `columns`.
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        columns: &Columns<'_>,
        query: &Query,
        own: u32,
        sink: &mut S,
    );
}

/// There is nobody beyond.
pub(in crate::search) struct Nobody;

impl Beyond for Nobody {
    #[inline(always)]
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        _columns: &Columns<'_>,
        _query: &Query,
        _own: u32,
        _sink: &mut S,
    ) {
    }
}
