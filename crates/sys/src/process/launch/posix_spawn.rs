//! Starts a program in a session of its own without copying ralph first.
//!
//! The standard library makes a session only by way of `fork(2)`, which copies the page tables of all of
//! ralph; `posix_spawn(3)` borrows them until the program starts, in a fraction of the time.

use std::{
    borrow::Cow,
    env,
    ffi::{CStr, CString, OsStr, OsString, c_char, c_int},
    io,
    mem::MaybeUninit,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    ptr,
    sync::LazyLock,
};

use rustix::process::Pid;

use super::Launch;

impl Launch<'_> {
    /// Starts the program as the leader of a new session.
    pub(in crate::process) fn spawn(&self) -> io::Result<Pid> {
        let mut actions = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: both are initialized before they are used and destroyed once, whatever happens between.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let pid = self.spawn_with(actions.assume_init_mut(), attributes.assume_init_mut());
            libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            pid
        }
    }

    fn spawn_with(
        &self,
        actions: &mut libc::posix_spawn_file_actions_t,
        attributes: &mut libc::posix_spawnattr_t,
    ) -> io::Result<Pid> {
        let dir = c_string(self.dir.as_os_str())?;
        let program = c_string(self.program)?;
        let words = std::iter::once(self.program).chain(self.args.iter().map(OsString::as_os_str));
        let words = words.map(c_string).collect::<io::Result<Vec<_>>>()?;
        let variables = self.environment()?;
        let (mut argv, mut envp) = (pointers(&words), pointers(&variables));
        let mut pid = 0;
        // SAFETY: the caller has initialized both structures; all strings and lists outlive the calls, and the
        // lists end with a null pointer.
        unsafe {
            check(libc::posix_spawn_file_actions_addchdir_np(actions, dir.as_ptr()))?;
            for (number, stdio) in (0..).zip(&self.stdio) {
                check(libc::posix_spawn_file_actions_adddup2(actions, stdio.as_raw_fd(), number))?;
            }
            // As the standard library does: ralph ignores these, others should not.
            let mut signals = MaybeUninit::uninit();
            libc::sigemptyset(signals.as_mut_ptr());
            let signals = signals.assume_init_mut();
            check(libc::posix_spawnattr_setsigmask(attributes, signals))?;
            libc::sigaddset(signals, libc::SIGPIPE);
            libc::sigaddset(signals, libc::SIGXFSZ);
            check(libc::posix_spawnattr_setsigdefault(attributes, signals))?;
            let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
            let flags = flags | c_int::from(libc::POSIX_SPAWN_SETSID);
            check(libc::posix_spawnattr_setflags(attributes, i16::try_from(flags).unwrap_or_default()))?;
            let (argv, envp) = (argv.as_mut_ptr(), envp.as_mut_ptr());
            check(libc::posix_spawnp(&raw mut pid, program.as_ptr(), actions, attributes, argv, envp))?;
        }
        Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::Other.into())
    }

    /// Ralph's own environment with the changes, as `NAME=value`.
    fn environment(&self) -> io::Result<Vec<Cow<'static, CStr>>> {
        // Nothing in ralph changes its own environment, so it is read once.
        static OWN: LazyLock<Vec<(OsString, CString)>> = LazyLock::new(|| {
            let own = env::vars_os();
            own.filter_map(|(name, value)| variable(&name, &value).ok().map(|line| (name, line))).collect()
        });
        let is_changed = |changes: &[(OsString, Option<OsString>)], name: &OsStr| {
            changes.iter().any(|(changed, _)| changed == name)
        };
        let own = OWN.iter().filter(|(name, _)| !is_changed(self.env, name));
        let mut variables: Vec<_> = own.map(|(_, line)| Cow::Borrowed(line.as_c_str())).collect();
        for (index, (name, value)) in self.env.iter().enumerate() {
            // The last word on a variable counts.
            if let Some(value) = value
                && !is_changed(&self.env[index + 1..], name)
            {
                variables.push(Cow::Owned(variable(name, value)?));
            }
        }
        Ok(variables)
    }
}

/// `NAME=value`.
fn variable(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    // With room for the mark between them and for the end.
    let mut line = Vec::with_capacity(name.len() + value.len() + 2);
    line.extend_from_slice(name.as_bytes());
    line.push(b'=');
    line.extend_from_slice(value.as_bytes());
    line.push(0);
    CString::from_vec_with_nul(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

fn pointers<T: AsRef<CStr>>(strings: &[T]) -> Vec<*mut c_char> {
    strings.iter().map(|string| string.as_ref().as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
