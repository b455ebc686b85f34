//! The largest allocation that a piece of code asks for, on its thread: a length of gigabytes in a file of ten
//! bytes must not become a vector of gigabytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Watched;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // While a thread ends there is no thread local any more.
    let _ended = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Size of the largest allocation during the call, in bytes.
pub fn largest_during<T>(call: impl FnOnce() -> T) -> (usize, T) {
    LARGEST.set(0);
    let done = call();
    (LARGEST.get(), done)
}

#[test]
fn allocations_are_seen() {
    let (largest, vector) = largest_during(|| vec![1u8; 1 << 20]);
    assert!(largest >= vector.len());
    assert!(largest_during(|| 1).0 < 1 << 20);
}
