//! What every backend promises. Each test runs once per backend, in a process of its own: who adopts orphans adopts those
//! of all tests.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{BufRead, BufReader},
    os::fd::AsFd,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, WaitOptions, getsid, waitpid},
};

use super::*;
use crate::process::{
    Leftovers, Spec,
    guardian::{self, MARK_VARIABLE, RUN_VARIABLE},
    mark::Mark,
    sweep::sweep,
    table,
};

/// Says in which process of its own a test runs.
const INSIDE: &str = "RALPH_TEST_CONTRACT";
/// Far more than anything takes here.
const TEST_TIMEOUT: Duration = Duration::from_mins(2);

/// Runs a test once with each backend.
fn with_each(name: &str, test: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    for backend in ["usual", "portable"] {
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        again.args(["--exact", &format!("process::backend::contract_tests::{name}"), "--nocapture"]);
        again.env(INSIDE, "1").env("RALPH_PROCESS", backend);
        let output = again.output().expect("this program");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{backend}: {said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("1 passed"), "{backend}: {said}");
    }
}

fn launch(backend: &mut dyn Backend, script: &str, mark: Option<&Mark>) -> io::Result<Pid> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let set = |name: &str, value: Option<&str>| (OsString::from(name), value.map(OsString::from));
    let env = [
        set("RALPH_TEST", Some("first")),
        set("RALPH_TEST", Some("a=b c")),
        set("PWD", None),
        set("HOME", Some("/")),
        set("HOME", None),
        set(RUN_VARIABLE, mark.map(Mark::run)),
        set(MARK_VARIABLE, mark.map(Mark::value)),
    ];
    let args = ["-c".into(), script.into()];
    let (program, dir) = (OsStr::new("sh"), Path::new("/"));
    backend.start(&Launch { program, args: &args, dir, env: &env, stdio: [null.as_fd(); 3] })
}

fn reap(pid: Pid) -> Option<i32> {
    let (_, status) = waitpid(Some(pid), WaitOptions::empty()).expect("it is a child").expect("it has ended");
    status.exit_status()
}

fn has_ended(handle: &OwnedFd, patience: Duration) -> bool {
    let timeout = Timespec::try_from(patience).ok();
    let mut handles = [PollFd::new(handle, PollFlags::IN)];
    poll(&mut handles, timeout.as_ref()).expect("a handle");
    !handles[0].revents().is_empty()
}

#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TEST_TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The numbers that a script wrote into files of these names; it writes each whole.
fn pids(folder: &Path, names: &[&str]) -> Vec<i32> {
    let read = |name: &&str| {
        let text = fs_err::read_to_string(folder.join(name)).unwrap_or_default();
        text.strip_suffix('\n').and_then(|number| number.parse().ok())
    };
    eventually("they start", || names.iter().all(|name| read(name).is_some()));
    names.iter().filter_map(read).collect()
}

#[test]
fn programs_lead_a_session_and_get_what_they_are_told() {
    with_each("programs_lead_a_session_and_get_what_they_are_told", || {
        let mut backend = chosen();
        let mut run = |script: &str| {
            let pid = launch(&mut *backend, script, None).expect("there is a shell");
            (getsid(Some(pid)) == Ok(pid), reap(pid))
        };
        assert_eq!(run("exit 7"), (true, Some(7)));
        let (_, code) = run(r#"[ "$RALPH_TEST" = "a=b c" ] && [ -z "${HOME+set}" ] && [ "$(pwd)" = / ]"#);
        assert_eq!(code, Some(0));
        for signal in ["PIPE", "XFSZ"] {
            assert_eq!(run(&format!("kill -{signal} $$")).1, None, "SIG{signal} ends it");
        }
    });
}

#[test]
fn missing_programs_are_errors() {
    with_each("missing_programs_are_errors", || {
        let null = File::open("/dev/null").expect("there is nothing");
        let (program, dir) = (OsStr::new("/no/such/program"), Path::new("/"));
        let launch = Launch { program, args: &[], dir, env: &[], stdio: [null.as_fd(); 3] };
        let error = chosen().start(&launch).expect_err("there is none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    });
}

#[test]
fn the_end_of_a_process_is_noticed_before_it_is_reaped() {
    with_each("the_end_of_a_process_is_noticed_before_it_is_reaped", || {
        let mut backend = chosen();
        let pid = launch(&mut *backend, "exec sleep 600", None).expect("there is a shell");
        let handle = backend.watch_exit(pid).expect("a handle");
        assert!(!has_ended(&handle, Duration::ZERO));
        signal(pid.as_raw_nonzero().get(), Signal::KILL);
        assert!(has_ended(&handle, TEST_TIMEOUT));
        assert_eq!(reap(pid), None, "the signal ended it");
        // One that has ended before anyone looks.
        let pid = launch(&mut *backend, "exit 3", None).expect("there is a shell");
        let number = pid.as_raw_nonzero().get();
        eventually("it ends", || !table::is_alive(number));
        assert!(has_ended(&backend.watch_exit(pid).expect("a handle"), TEST_TIMEOUT));
        assert_eq!(reap(pid), Some(3));
    });
}

/// A Mac has no program of this name.
fn with_sessions(script: &str) -> String {
    let setsid = "perl -MPOSIX -e 'POSIX::setsid() or die; exec @ARGV' -- ";
    if cfg!(target_os = "macos") { script.replace("setsid ", setsid) } else { script.to_owned() }
}

/// What stays in the session, what leaves it, and what leaves it with an orphaned parent.
const LEAVES: &str = r#"
    sleep 600 & echo $! > "$0/stays"
    setsid sh -c 'echo $$ > "$0/leaves"; exec sleep 600' "$0" &
    (setsid sh -c 'trap "" TERM; echo $$ > "$0/refuses"; while :; do sleep 600; done' "$0" &)
    until [ -s "$0/leaves" ] && [ -s "$0/refuses" ]; do sleep 0.01; done
"#;

fn start_leaving(backend: &mut dyn Backend, mark: &Mark, folder: &Path) {
    let script = with_sessions(LEAVES).replace("$0", &folder.display().to_string());
    let pid = launch(backend, &script, Some(mark)).expect("there is a shell");
    assert_eq!(reap(pid), Some(0));
}

#[test]
fn what_a_process_left_behind_is_found_and_ended() {
    with_each("what_a_process_left_behind_is_found_and_ended", || {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = Mark::new("r1", folder.path());
        let (guardian, _told) = Guardian::test(mark.clone()).expect("a pipe");
        let mut backend = chosen();
        let mut kept = backend.present();
        backend.guard(&guardian);
        start_leaving(&mut *backend, &mark, folder.path());
        let left = pids(folder.path(), &["stays", "leaves", "refuses"]);
        // Someone else's stays, with what it starts, and is not named.
        let spared = left[1];
        let found = sweep(&mut *backend, Leftovers::Kill, &mut kept, &|pid| pid == spared);
        let named = |pid: &i32| found.iter().any(|line| line.starts_with(&format!("{pid} ")));
        assert!(named(&left[0]) && !named(&left[1]) && named(&left[2]), "{left:?}: {found:?}");
        assert!(!table::is_alive(left[0]) && !table::is_alive(left[2]), "{found:?}");
        assert!(table::is_alive(spared), "{found:?}");
        signal(spared, Signal::KILL);
        eventually("it ends", || !table::is_alive(spared));
    });
}

#[test]
fn what_is_kept_is_named_once() {
    with_each("what_is_kept_is_named_once", || {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = Mark::new("r1", folder.path());
        let (guardian, _told) = Guardian::test(mark.clone()).expect("a pipe");
        let mut backend = chosen();
        let mut kept = backend.present();
        backend.guard(&guardian);
        start_leaving(&mut *backend, &mark, folder.path());
        let left = pids(folder.path(), &["stays", "leaves", "refuses"]);
        let found = sweep(&mut *backend, Leftovers::Keep, &mut kept, &|_| false);
        assert!(left.iter().all(|pid| kept.contains(pid)), "{left:?}: {found:?}");
        for policy in [Leftovers::Keep, Leftovers::Kill] {
            let pid = launch(&mut *backend, "exit 0", Some(&mark)).expect("there is a shell");
            assert_eq!(reap(pid), Some(0));
            assert_eq!(sweep(&mut *backend, policy, &mut kept, &|_| false), [""; 0]);
        }
        assert!(left.iter().all(|pid| table::is_alive(*pid)));
        guardian::end_run(&mark, guardian::Looks::Twice);
        assert!(left.iter().all(|pid| !table::is_alive(*pid)), "the guardian ends them");
    });
}

#[test]
fn who_hides_is_found_by_descent() {
    with_each("who_hides_is_found_by_descent", || {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = Mark::new("r1", folder.path());
        let (guardian, told) = Guardian::test(mark.clone()).expect("a pipe");
        let mut backend = chosen();
        let mut kept = backend.present();
        backend.guard(&guardian);
        // Neither the session nor the environment shows where it comes from.
        let hides = r#"env -i PATH="$PATH" setsid sh -c 'echo $$ > "$0/hides"; exec sleep 600' "$0" &
            read -r line < "$0/go""#;
        let script = with_sessions(hides).replace("$0", &folder.path().display().to_string());
        let go = folder.path().join("go");
        crate::files::make_pipe(&go).expect("a pipe");
        let pid = launch(&mut *backend, &script, Some(&mark)).expect("there is a shell");
        let hidden = pids(folder.path(), &["hides"])[0];
        if backend.source() == Source::Portable {
            // It has been seen when the guardian is told.
            let is_it = |line: String| line.starts_with(&format!("+{hidden} "));
            assert!(BufReader::new(told).lines().map_while(Result::ok).any(is_it));
        }
        fs_err::write(&go, "\n").expect("a pipe");
        assert_eq!(reap(pid), Some(0));
        let found = sweep(&mut *backend, Leftovers::Kill, &mut kept, &|_| false);
        assert!(found.iter().any(|line| line.starts_with(&format!("{hidden} "))), "{found:?}");
        assert!(!table::is_alive(hidden));
    });
}

#[test]
fn a_supervisor_watches_and_sweeps() {
    with_each("a_supervisor_watches_and_sweeps", || {
        let folder = tempfile::tempdir().expect("a folder");
        let mut supervisor = crate::process::Supervisor::new().expect("signals");
        let mark = Mark::new("r1", folder.path());
        let (guardian, _told) = Guardian::test(mark).expect("a pipe");
        supervisor.guarded(guardian);
        let captured = supervisor.capture(Spec::shell("echo out; sleep 600 & exit 5", folder.path()), 100);
        let captured = captured.expect("there is a shell");
        assert_eq!(captured.ended.status.and_then(|status| status.code()), Some(5));
        assert_eq!(captured.out, b"out\n");
        assert_eq!(captured.ended.leftovers.len(), 1, "{:?}", captured.ended.leftovers);
        let spec = Spec::shell("sleep 600", folder.path()).within(Duration::from_millis(50));
        let ended = supervisor.capture(spec, 100).expect("there is a shell").ended;
        assert_eq!((ended.cause, ended.leftovers), (Some(crate::watch::Cause::Timeout), Vec::new()));
    });
}
