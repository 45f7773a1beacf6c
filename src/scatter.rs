//! Parallel writes to scattered places of one slice.
//!
//! Rayon splits slices into contiguous pieces; a counting sort writes each task's
//! results to places all over the target. This is the one room that does so.

use std::marker::PhantomData;

/// A mutable slice that many threads write to, each at places of its own.
pub(crate) struct ScatterTarget<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the only access is `write`, whose caller promises that no place is
// written twice, so sharing is as safe as splitting the slice.
unsafe impl<T: Send> Sync for ScatterTarget<'_, T> {}
// SAFETY: the pointer stands for a `&mut [T]`, which is `Send` if `T` is.
unsafe impl<T: Send> Send for ScatterTarget<'_, T> {}

impl<'a, T: Copy> ScatterTarget<'a, T> {
    /// Borrows `slice` for scattered writes.
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// Writes `value` to place `at`.
    ///
    /// # Safety
    /// `at` is inside the slice, and no other thread writes to it during the borrow.
    #[inline]
    pub(crate) unsafe fn write(&self, at: usize, value: T) {
        debug_assert!(at < self.len);
        // SAFETY: in bounds and unshared, as the caller promises.
        unsafe { self.start.add(at).write(value) };
    }
}
