//! Runs programs and takes their time and memory.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, Command},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use super::table::seconds;

/// What one run of a program took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(super) seconds: f64,
    /// Of the processor, by the program and the children that it waited for.
    pub(super) cpu: f64,
    /// The most memory that it had at any time, in bytes. Memory of this program counts too, as its children
    /// have it until they start another one; so this program must stay small.
    pub(super) peak: f64,
}

/// Runs a program that must end with this code.
pub(super) fn run(command: &mut Command, code: i32) -> Result<Sample> {
    let started = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    wait_for(&child, code, started).with_context(|| format!("{command:?}"))
}

/// Waits for a program that must end with this code.
pub(super) fn wait_for(child: &Child, code: i32, started: Instant) -> Result<Sample> {
    let (status, usage) = wait(i32::try_from(child.id())?)?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(status.code() == Some(code), "ended with {status}, not with code {code}");
    // The kernel counts in 1024 bytes.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 bytes")]
    let peak = usage.ru_maxrss as f64 * 1024.0;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 seconds")]
    let time = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    Ok(Sample { seconds, cpu, peak })
}

/// What takes part in a measurement: measures itself once.
pub(super) type Runner<'a> = (&'a str, Box<dyn FnMut() -> Result<Sample> + 'a>);

/// Lets all runners take turns for so many rounds; returns the medians in their order, and a note on them.
pub(super) fn interleave<const N: usize>(
    rounds: usize,
    mut runners: [Runner<'_>; N],
) -> Result<([Sample; N], String)> {
    let mut samples = [const { Vec::new() }; N];
    // The first round warms the caches.
    for round in 0..=rounds {
        for ((_, runner), samples) in runners.iter_mut().zip(&mut samples) {
            let sample = runner()?;
            if 0 < round {
                samples.push(sample);
            }
        }
    }
    let medians = samples.each_ref().map(|samples| Sample {
        seconds: median(samples.iter().map(|sample| sample.seconds)),
        cpu: median(samples.iter().map(|sample| sample.cpu)),
        peak: median(samples.iter().map(|sample| sample.peak)),
    });
    let parts = runners.iter().zip(&medians).map(|((name, _), sample)| {
        let time = seconds(sample.seconds);
        format!("{name} {time}")
    });
    Ok((medians, format!("{rounds} rounds: {}", parts.collect::<Vec<_>>().join(", "))))
}

/// The middle one.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Waits for a child; returns how it ended and what it used.
fn wait(pid: i32) -> Result<(std::process::ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to memory of this function, large enough for what is written there.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if waited == pid {
            break;
        }
        let error = std::io::Error::last_os_error();
        ensure!(error.kind() == std::io::ErrorKind::Interrupted, "wait4: {error}");
    }
    // SAFETY: an rusage of zeros is valid, and the kernel has filled it.
    let usage = unsafe { usage.assume_init() };
    Ok((std::process::ExitStatus::from_raw(status), usage))
}
