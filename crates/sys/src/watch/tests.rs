//! Scripts of what a process does, and the orders that follow.

use super::*;

/// Replays `(milliseconds, input)` pairs and renders every order that is not a wait.
#[track_caller]
fn check(script: &[(u64, &str)], expected: &str) {
    check_within(None, script, expected);
}

/// The same, with this many seconds to begin.
#[track_caller]
fn check_within(begin: Option<u64>, script: &[(u64, &str)], expected: &str) {
    let limits = Limits {
        total: Some(Duration::from_secs(100)),
        idle: Some(Duration::from_secs(40)),
        start: begin.map(Duration::from_secs),
        until: None,
    };
    let start = Instant::now();
    let mut watch = Watch::new(limits, 2, start);
    let mut seen = Vec::new();
    for &(ms, input) in script {
        let now = start + Duration::from_millis(ms);
        match input {
            "out" => watch.output(now),
            "begin" => {
                watch.output(now);
                watch.begun();
            }
            "result" => {
                watch.output(now);
                watch.result();
            }
            "eof" => watch.pipe_closed(),
            "exit" => watch.exited(now),
            _ => {}
        }
        let order = match input {
            "^C" => watch.interrupt(now),
            "enough" => watch.enough(now),
            _ => watch.tick(now),
        };
        if !matches!(order, Order::Wait | Order::WaitUntil(_)) {
            seen.push(format!("{ms}:{order:?}"));
        }
    }
    if let Some(cause) = watch.cause() {
        seen.push(format!("{cause:?}"));
    }
    assert_eq!(seen.join(" "), expected);
}

#[test]
fn ends_by_itself() {
    check(&[(1000, "out"), (2000, "exit"), (2000, "eof"), (2000, "eof")], "2000:Done");
    check(&[(1000, "eof"), (1000, "eof"), (2000, "exit")], "2000:Done");
}

#[test]
fn deaf_process_is_killed_once() {
    check(
        &[
            (30_000, "out"),
            (60_000, "out"),
            (90_000, "out"),
            (100_000, ""),
            (101_000, ""),
            (105_000, ""),
            (106_000, ""),
        ],
        "100000:Terminate 105000:Kill Timeout",
    );
}

#[test]
fn unkillable_process_is_given_up() {
    check(&[(40_000, ""), (45_000, ""), (55_000, "")], "40000:Terminate 45000:Kill 55000:Done Idle");
}

#[test]
fn silence_ends_a_process_and_output_saves_it() {
    check(&[(1000, "out"), (41_000, "")], "41000:Terminate Idle");
    check(&[(39_000, "out"), (78_000, "out")], "");
}

#[test]
fn a_process_that_does_not_begin_is_ended_whatever_it_prints() {
    check_within(Some(20), &[(1000, "out"), (19_000, "out"), (20_000, "")], "20000:Terminate NoStart");
    check_within(
        Some(20),
        &[(19_000, "begin"), (20_000, ""), (58_000, ""), (59_000, "")],
        "59000:Terminate Idle",
    );
    // Time in which ralph was stopped does not count.
    check_within(Some(20), &[(1000, "out"), (30_000, ""), (31_000, "begin")], "");
}

#[test]
fn time_in_which_ralph_was_stopped_does_not_count() {
    check(&[(1000, "out"), (60_000, ""), (99_000, ""), (100_000, "")], "100000:Terminate Idle");
    // Neither for the limit of the whole: 29 seconds were slept through.
    let printing = [(70_000, "out"), (100_000, "out"), (128_000, "out"), (129_000, "out")];
    check(&[&[(1000, "out"), (70_000, "")], &printing[..]].concat(), "129000:Terminate Timeout");
}

#[test]
fn result_without_exit_is_reaped() {
    check(&[(1000, "result"), (20_000, "out"), (49_000, ""), (50_000, "")], "50000:Terminate Lingered");
    check(&[(1000, "result"), (2000, "exit"), (2000, "eof"), (2000, "eof")], "2000:Done");
}

#[test]
fn a_process_that_has_used_enough_is_ended_once() {
    check(
        &[
            (1000, "enough"),
            (2000, "enough"),
            (3000, "out"),
            (6000, ""),
            (6000, "exit"),
            (6000, "eof"),
            (6000, "eof"),
        ],
        "1000:Terminate 6000:Kill 6000:Done Enough",
    );
}

#[test]
fn a_process_ends_when_the_clock_on_the_wall_says_so() {
    let (start, noon) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_hours(12));
    let seconds = Duration::from_secs;
    let check = |looks: &[(u64, u64)], expected: Order| {
        let limits = Limits { until: Some(noon + seconds(100)), ..Limits::default() };
        let mut watch = Watch::new(limits, 0, start);
        let mut order = Order::Wait;
        for &(after, shown) in looks {
            watch.clock(start + seconds(after), noon + seconds(shown));
            order = watch.tick(start + seconds(after));
        }
        assert_eq!(order, expected, "{looks:?}");
        watch.cause()
    };
    let wait = |until| Order::WaitUntil(start + seconds(until));
    assert_eq!(check(&[(0, 0)], wait(30)), None);
    assert_eq!(check(&[(0, 0), (80, 80)], wait(100)), None);
    assert_eq!(check(&[(0, 0), (100, 100)], Order::Terminate), Some(Cause::Until));
    // The machine slept: the one clock shows ten seconds, the other one an hour.
    assert_eq!(check(&[(0, 0), (10, 3600)], Order::Terminate), Some(Cause::Until));
    // It was put back, or on.
    assert_eq!(check(&[(0, 0), (99, 50)], wait(129)), None);
    assert_eq!(check(&[(0, 0), (20, 110)], Order::Terminate), Some(Cause::Until));
    // It had passed before.
    assert_eq!(check(&[(0, 101)], Order::Terminate), Some(Cause::Until));
}

#[test]
fn second_interrupt_kills() {
    check(
        &[(1000, "^C"), (2000, "^C"), (2000, "exit"), (2000, "eof"), (2000, "eof")],
        "1000:Terminate 2000:Kill 2000:Done Interrupt",
    );
}

#[test]
fn open_pipe_does_not_hold_the_iteration() {
    check(&[(1000, "exit"), (1000, "eof"), (1400, "out"), (1600, ""), (1900, "")], "1900:Done");
    let chatty: Vec<_> =
        (10..50).map(|tenth| (tenth * 100, if tenth == 10 { "exit" } else { "out" })).collect();
    check(&chatty[..32], "4000:Done 4100:Done");
}

#[test]
fn no_limits_means_waiting_for_ever() {
    let start = Instant::now();
    let mut watch = Watch::new(Limits::default(), 0, start);
    assert_eq!(watch.tick(start + Duration::from_secs(1_000_000)), Order::Wait);
}
