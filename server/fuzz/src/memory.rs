//! The bound of memory for one input. libFuzzer's own looks at the process once a second, and needs a sanitizer for more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What reading one input may take at once.
const BYTES_MAX: usize = 256 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);
static HELD_BEFORE: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which ends the process where an input takes more than [`BYTES_MAX`].
pub(crate) struct Bounded;

/// Another input is read.
pub(crate) fn begin() {
    HELD_BEFORE.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
}

// SAFETY: every call is handed on to the system's allocator with what it was given.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        if held.saturating_sub(HELD_BEFORE.load(Ordering::Relaxed)) > BYTES_MAX {
            std::process::abort();
        }
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}
