//! How much memory the machine has.

/// All of it, in bytes; nothing where the system does not say.
pub fn machine_memory() -> Option<u64> {
    // SAFETY: calls without pointers.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(size).ok()?)
}
