//! Counts what the current thread allocates.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// What this thread has allocated and not freed, and the most of it at any time.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: isize) {
    // Not when the thread is on its way out.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now.wrapping_add(bytes);
        held.set((now, most.max(now)));
    });
}

// SAFETY: all the work is the system's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both exist for a moment.
        count(size.cast_signed());
        count(-layout.size().cast_signed());
        // SAFETY: as promised to this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The most that a call holds at any time, in bytes.
pub(crate) fn peak(call: impl FnOnce()) -> usize {
    let before = HELD.get().0;
    HELD.set((before, before));
    call();
    (HELD.get().1 - before).unsigned_abs()
}

#[test]
fn what_is_held_is_counted() {
    let held = peak(|| drop(vec![0_u8; 100_000]));
    assert!((100_000..110_000).contains(&held), "{held}");
    assert!(peak(|| (0..100).for_each(|_| drop(vec![0_u8; 1000]))) < 5000);
}
