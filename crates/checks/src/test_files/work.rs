//! Counts the steps of the readers in tests, so that their cost can be compared without a clock.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// One step was taken.
#[inline]
pub(super) fn step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// Returns how many steps this takes.
#[cfg(test)]
pub(super) fn of(what: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    what();
    STEPS.with(std::cell::Cell::get) - before
}
