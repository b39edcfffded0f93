//! Processes as the library of a Mac shows them.
//!
//! The environment of programs that belong to the system (`/bin/sh` among them) is not shown to anyone, so the mark of a
//! run finds others only. What such a program starts is found by session and by descent.

use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_void},
    mem::{MaybeUninit, size_of},
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr,
};

use rustix::process::{Pid, getsid};

use super::Process;

/// The library's flag for a process that is on its way out.
const EXITING: u32 = 0x20;
/// Room for processes that start between the question how many there are and the next one.
const SPARE_PIDS: usize = 64;

/// All processes that can be seen.
pub(super) fn all() -> Vec<Process> {
    pids().into_iter().filter_map(look).collect()
}

/// One process, if it is there. The library does not show what waits to be reaped.
pub(super) fn look(pid: i32) -> Option<Process> {
    let info: libc::proc_bsdinfo = info(pid, libc::PROC_PIDTBSDINFO)?;
    let session = getsid(Some(Pid::from_raw(pid)?)).map_or(0, |session| session.as_raw_nonzero().get());
    Some(Process {
        pid,
        parent: info.pbi_ppid.cast_signed(),
        session,
        is_zombie: info.pbi_status == libc::SZOMB,
        is_leaving: info.pbi_flags & EXITING != 0,
        started: info.pbi_start_tvsec,
        shown: None,
    })
}

/// The value of a variable in the environment that a process was started with.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    let (_, environment) = arguments(pid)?;
    let value = environment.iter().find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The words that a process was started with.
pub(super) fn command_line(pid: i32) -> String {
    let (words, _) = arguments(pid).unwrap_or_default();
    String::from_utf8_lossy(&words.join(&b' ')).into_owned()
}

/// When a process started, in microseconds; nothing if it has gone or ended.
pub(super) fn start_time(pid: i32) -> Option<u64> {
    let info: libc::proc_bsdinfo = info(pid, libc::PROC_PIDTBSDINFO)?;
    let is_alive = info.pbi_status != libc::SZOMB;
    is_alive.then_some(info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec)
}

/// Whether any process of this program has its working directory in this folder, as far as that can be seen.
pub(super) fn is_at_work(program: &str, folder: &Path) -> bool {
    pids().into_iter().any(|pid| {
        let has_name = info::<libc::proc_bsdinfo>(pid, libc::PROC_PIDTBSDINFO)
            .is_some_and(|info| text(&info.pbi_comm) == program.as_bytes());
        has_name
            && info::<libc::proc_vnodepathinfo>(pid, libc::PROC_PIDVNODEPATHINFO).is_some_and(|info| {
                let dir = text(info.pvi_cdir.vip_path.as_flattened());
                Path::new(OsStr::from_bytes(&dir)).starts_with(folder)
            })
    })
}

fn pids() -> Vec<i32> {
    // SAFETY: without a buffer it only says how many there are.
    let count = unsafe { libc::proc_listallpids(ptr::null_mut(), 0) };
    let mut pids = vec![0_i32; usize::try_from(count).unwrap_or(0) + SPARE_PIDS];
    let size = c_int::try_from(pids.len() * size_of::<i32>()).unwrap_or(c_int::MAX);
    // SAFETY: the buffer has the size that is said.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids.retain(|pid| 0 < *pid);
    pids
}

/// One of the plain structures that the library fills.
fn info<T: Copy>(pid: i32, flavor: c_int) -> Option<T> {
    let mut info = MaybeUninit::<T>::zeroed();
    let size = c_int::try_from(size_of::<T>()).ok()?;
    // SAFETY: the buffer has the size that is said.
    let filled = unsafe { libc::proc_pidinfo(pid, flavor, 0, info.as_mut_ptr().cast::<c_void>(), size) };
    // SAFETY: all of it was filled, and every bit pattern of its numbers is valid.
    (filled == size).then(|| unsafe { info.assume_init() })
}

/// The text before the null byte.
fn text(chars: &[c_char]) -> Vec<u8> {
    let bytes: Vec<u8> = chars.iter().map(|char| char.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes).map_or(bytes.clone(), |text| text.to_bytes().to_owned())
}

/// The arguments of a process and its environment.
type Arguments = (Vec<Vec<u8>>, Vec<Vec<u8>>);

fn arguments(pid: i32) -> Option<Arguments> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut size = 0;
    // SAFETY: without a buffer it only says how much there is.
    let code =
        unsafe { libc::sysctl(name.as_mut_ptr(), 3, ptr::null_mut(), &raw mut size, ptr::null_mut(), 0) };
    if code != 0 {
        return None;
    }
    let mut bytes = vec![0_u8; size];
    let buffer = bytes.as_mut_ptr().cast();
    // SAFETY: the buffer has the size that is said.
    let code = unsafe { libc::sysctl(name.as_mut_ptr(), 3, buffer, &raw mut size, ptr::null_mut(), 0) };
    if code != 0 {
        return None;
    }
    bytes.truncate(size);
    split(&bytes)
}

/// How many arguments, the path of the program, padding, the arguments, the environment: each ends with a null byte.
fn split(bytes: &[u8]) -> Option<Arguments> {
    let count = usize::try_from(i32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let after_path = bytes[4..].iter().position(|byte| *byte == 0)? + 4;
    let padding = bytes[after_path..].iter().position(|byte| *byte != 0)?;
    let mut lines = bytes[after_path + padding..].split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let words = lines.by_ref().take(count).collect();
    Some((words, lines.take_while(|line| !line.is_empty()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let mut bytes = 2_i32.to_ne_bytes().to_vec();
        bytes.extend_from_slice(b"/bin/sh\0\0\0\0sh\0-c\0A=1\0B=2\0\0junk\0");
        let (words, environment) = split(&bytes).expect("both");
        assert_eq!(words, [b"sh".to_vec(), b"-c".to_vec()]);
        assert_eq!(environment, [b"A=1".to_vec(), b"B=2".to_vec()]);
        assert!(split(&[]).is_none());
    }
}
