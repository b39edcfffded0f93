//! Every other kind of loop than `run`.

use super::*;

#[test]
fn plan_and_build_want_changes() {
    const PLAN: &str = "look +plan.md";
    let build = presets::build("plan.md", every(&["test"]));
    check(&build, &["look"], "Unready=2");
    check(&build, &[PLAN, "turn a", "turn claim"], "Work1.1 g0 c Work2.1 g0 g1 c Done=0");
    check(
        &build,
        &[PLAN, "turn a", "gate red"],
        "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0! GaveUp(Gate)=3",
    );
    check(
        &limited(1, build.clone()),
        &[PLAN, "gate red", "gate red", "gate red", "gate ok"],
        "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0 c Exhausted(MaxIterations)=0",
    );
    check(
        &build,
        &[PLAN, "turn a", "commit none"],
        "Work1.1 g0 c Work1.2 g0 c Work1.3 g0 c Work1.4 g0 c GaveUp(NoChange)=4",
    );
    check(&build, &[PLAN, "turn claim", "commit none"], "Work1.1 g0 g1 c Done=0");
    check(
        &limited(1, presets::plan()),
        &["turn a", "commit already"],
        "Work1.1 c Exhausted(MaxIterations)=0",
    );
}

#[test]
fn prompt_runs_once() {
    check(&presets::prompt(), &["turn a", "commit none"], "Work1.1 c Done=0");
    check(&presets::prompt(), &["turn fail"], "Work1.1 GaveUp(Agent)=4");
    check(&presets::prompt(), &["turn a", "commit fail"], "Work1.1 c GaveUp(Commit)=5");
    let guarded = presets::prompt().guarded(every(&["test"]));
    check(&guarded, &["turn a", "gate red"], "Work1.1 g0! GaveUp(Gate)=3");
    check(&guarded, &["turn a"], "Work1.1 g0 c Done=0");
}

#[test]
fn build_goes_by_its_own_count() {
    let build = presets::build("plan.md", every(&["test"]));
    // A claim that the plan does not bear out is refused; the work is kept.
    let early = [
        "look +plan.md",
        "turn claim +plan.md +open",
        "turn claim +plan.md",
        "gate ok",
        "gate left",
        "gate ok",
        "gate ok",
    ];
    check(&build, &early, "Work1.1 g0 g1! c Work2.1<You> g0 g1 c Done=0");
    // Who only claims has changed nothing.
    let idle =
        ["look +plan.md", "turn claim +open", "gate ok", "gate left", "gate ok", "gate left", "commit none"];
    let once = Plan { failures: build.failures.with_retries(1), ..build.clone() };
    check(&once, &idle, "Work1.1 g0 g1! c Work1.2<You> g0 g1! c GaveUp(NoChange)=4");
    // What changes between the gates and the commit is judged again, and told once.
    let changed = [
        "look +plan.md",
        "turn claim +open",
        "gate ok",
        "gate left",
        "gate ok",
        "gate left",
        "gate ok",
        "commit changed",
        "commit",
    ];
    check(&build, &changed, "Work1.1 g0 g1! c g0 g1! c Work2.1<You> g0 g1 c Done=0");
    // A plan that cannot be read is no work to keep.
    let gone = ["look +plan.md", "turn claim", "gate ok", "gate gone", "gate ok"];
    check(&build, &gone, "Work1.1 g0 g1! Work1.2<gone|You> g0 g1 c Done=0");
}

#[test]
fn a_settled_plan_needs_no_words_but_green_gates() {
    let build = presets::build("plan.md", every(&["test"]));
    check(&build, &["look +plan.md", "turn a +plan.md +settled"], "Work1.1 g0 g1 c Done=0");
    check(&build, &["look +plan.md +settled"], "g0 g1 Done=0");
    check(
        &build,
        &["look +plan.md +settled", "gate red", "gate ok", "turn a +settled"],
        "g0! Work1.1<red|You> g0 g1 c Done=0",
    );
    // What a turn noted that failed, or could not be committed, is not judged without it.
    let fails = ["look +plan.md", "look +plan.md +settled", "turn fail +settled", "turn a +settled"];
    check(&build, &fails, "Work1.1 (Retry 1000) Work1.2 g0 g1 c Done=0");
    let unkept = ["look +plan.md", "look +plan.md +settled", "turn a +settled", "commit fail", "commit"];
    check(&build, &unkept, "Work1.1 g0 g1 c Work1.2<The> g0 g1 c Done=0");
    // A check that opens a task again has refuted the plan, and there is no work yet.
    check(
        &build,
        &["look +plan.md +settled", "gate ok", "gate left", "gate ok", "turn a +settled"],
        "g0 g1! Work1.1<You|You> g0 g1 c Done=0",
    );
    check(
        &Plan { failures: build.failures.with_retries(1), ..build },
        &["look +plan.md", "turn a +plan.md +settled", "gate red"],
        "Work1.1 g0! Work1.2<red|You> g0! GaveUp(Gate)=3",
    );
}

#[test]
fn a_plan_is_complete_when_a_turn_changes_nothing() {
    let plan = presets::plan();
    check(&plan, &["turn a +open", "commit", "commit none"], "Work1.1 c Work2.1 c Done=0");
    check(&plan, &["turn a", "commit none"], "Work1.1 c Work1.2 c Work1.3 c Work1.4 c GaveUp(NoChange)=4");
    check(&plan, &["turn stumped +open", "commit none"], "Work1.1 c Blocked=6");
    let guarded = plan.guarded(every(&["test"]));
    check(
        &guarded,
        &["turn a +open", "gate red", "commit none"],
        "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0! GaveUp(Gate)=3",
    );
}

#[test]
fn task_goes_on_until_the_file_is_there() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(&task, &["look +DONE"], "g0 Done=0");
    check(
        &task,
        &["look", "turn fail", "turn a", "turn fail +DONE"],
        "Work1.1 (Rest 1000) Work2.1 (Rest 1000) Work3.1 g0 Done=0",
    );
    check(&task, &["turn a", "turn pause"], "Work1.1 (Rest 1000) Work2.1 AgentWaits=6");
    let two = limited(2, task.clone());
    check(&two, &["turn fail"], "Work1.1 (Rest 1000) Work2.1 (Rest 1000) Exhausted(MaxIterations)=1");
    // A file that does not hold up costs a turn, it does not spin.
    check(
        &two,
        &["look +DONE", "turn a +DONE", "gate busy"],
        "g0! DONE> Work1.1<busy|You> g0! DONE> (Rest 1000) Work2.1<busy|You> g0! DONE> (Rest 1000) \
         Exhausted(MaxIterations)=1",
    );
    // It is put aside before anything else, and the agent is told what it is called since.
    check(
        &two,
        &["look +DONE", "look", "aside DONE.1", "turn a", "turn ^C +DONE", "gate busy"],
        "g0! DONE>DONE.1 Work1.1<busy|You|Ralph> (Rest 1000) Work2.1 Interrupted=130",
    );
    check(
        &two,
        &["turn +DONE", "turn a", "aside DONE.1", "gate ^C busy"],
        "Work1.1 g0! DONE>DONE.1 Interrupted=130",
    );
    check(&task, &["turn bad key"], "Work1.1 GaveUp(Agent)=4");
}

#[test]
fn a_task_that_waits_for_someone_is_not_started_again() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(&task, &["turn a +WAIT"], "Work1.1 AgentWaits=6");
    check(&task, &["turn fail +WAIT"], "Work1.1 AgentWaits=6");
    check(&task, &["look +WAIT"], "AgentWaits=6");
    // An agent that is done waits for no one.
    check(&task, &["look +WAIT +DONE"], "g0 Done=0");
    check(&task, &["turn pause +DONE"], "Work1.1 g0 Done=0");
    check(&task, &["turn fail +WAIT +DONE"], "Work1.1 g0 Done=0");
    // A folder is no answer, before a turn nor after it.
    check(&task, &["look +folder"], "Unready=2");
    check(&task, &["turn a", "turn a +folder"], "Work1.1 (Rest 1000) Work2.1 Unready=2");
    // Where no such file is agreed on it is a file like any other.
    check(&presets::job(), &["turn a +WAIT +folder"], "Work1.1 Done=0");
}

#[test]
fn what_endangers_the_run_outweighs_every_claim() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    let run = presets::run("DONE", every(&["test"]));
    let files = ["tasks.json".to_owned()];
    let stories = presets::stories(&files, &[], When::Claimed);
    for (word, stop) in [("tampered", "Tampered"), ("unguarded", "Unguarded")] {
        check(&task, &[&format!("turn {word} +DONE")], &format!("Work1.1 {stop}=6"));
        check(&task, &[&format!("turn {word} +WAIT")], &format!("Work1.1 {stop}=6"));
        check(&task, &[&format!("turn {word} +folder")], &format!("Work1.1 {stop}=6"));
        check(&run, &[&format!("turn {word} claim")], &format!("Work1.1 {stop}=6"));
        check(
            &stories,
            &["look +tasks.json", &format!("turn {word} +tasks.json +approved")],
            &format!("Implement1.1 j {stop}=6"),
        );
        check(&presets::job(), &[&format!("turn {word}")], &format!("Work1.1 {stop}=6"));
    }
}

#[test]
fn a_task_waits_for_others_before_its_first_turn() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    let task = Plan { awaits: vec!["other".to_owned(), "plan.md".to_owned()], ..limited(2, task) };
    check(
        &task,
        &["look", "look +other", "look +other +plan.md", "look", "turn a"],
        "(other plan.md) (plan.md) Work1.1 (Rest 1000) Work2.1 (Rest 1000) Exhausted(MaxIterations)=1",
    );
    // What is done already need not wait.
    check(&task, &["look +DONE"], "g0 Done=0");
}

#[test]
fn a_job_runs_once() {
    check(&presets::job(), &["turn a"], "Work1.1 Done=0");
    check(&presets::job(), &["turn fail"], "Work1.1 GaveUp(Agent)=4");
    check(&presets::job(), &["turn pause"], "Work1.1 AgentWaits=6");
}

#[test]
fn stories_fix_before_they_review_before_they_implement() {
    let files = ["tasks.json".to_owned()];
    let stories = presets::stories(&files, &[], When::Claimed);
    check(
        &stories,
        &[
            "look +tasks.json",
            "look +tasks.json +review",
            "look +tasks.json +fix",
            "look +tasks.json +review",
            "turn a",
            "turn b",
            "turn c",
            "turn d +approved",
        ],
        "Implement1.1 g0 g1 Review2.1 g0 g1 Fix3.1 g0 g1 Review4.1 g0 g1 g2 Done=0",
    );
    check(
        &limited(2, stories.clone()),
        &["look +tasks.json", "turn claim", "gate ok", "gate ok", "gate open"],
        "Implement1.1 g0 g1 g2! Implement2.1<open|You> g0! g1! Exhausted(MaxIterations)=1",
    );
    check(&stories, &["look +tasks.json +blocked"], "NoStory=6");
    check(&stories, &["look"], "Unready=2");
}

#[test]
fn stories_are_verified_at_the_end_or_after_each_change() {
    let (files, test) = (["tasks.json".to_owned()], ["test".to_owned()]);
    let script = ["look +tasks.json", "look +tasks.json +review", "turn a", "turn b +approved"];
    let at_the_end = presets::stories(&files, &test, When::Claimed);
    check(&at_the_end, &script, "Implement1.1 g0 g1 Review2.1 g0 g1 g2 g3 Done=0");
    let after_each = presets::stories(&files, &test, When::ChangedOrClaimed);
    check(&after_each, &script, "Implement1.1 g0 g1 g3 Review2.1 g0 g1 g2 g3 Done=0");
    let when_submitted = presets::stories(&files, &test, When::SubmittedOrClaimed);
    check(&when_submitted, &script, "Implement1.1 g0 g1 Review2.1 g0 g1 g2 g3 Done=0");
    let script = [script[0], script[1], "turn a +submitted", script[3], "gate ok", "gate ok", "gate", "gate"];
    check(&when_submitted, &script, "Implement1.1 g0 g1 g3 Review2.1 g0 g1 g2 g3 Done=0");
    // One that is handed over is verified before a claim that everything is done, which may be wrong.
    let script = [
        "look +tasks.json",
        "turn claim +submitted",
        "turn bad key",
        "gate ok",
        "gate ok",
        "gate ok",
        "gate open",
    ];
    check(&when_submitted, &script, "Implement1.1 g0 g1 g3 g2! Implement2.1<open|You> j GaveUp(Agent)=4");
    let script = ["look +tasks.json", "turn a +submitted", "turn bad key", "gate open"];
    check(&when_submitted, &script, "Implement1.1 g0! g1! Implement2.1<open|open> j GaveUp(Agent)=4");
    // A claim by a turn that changed code is verified once.
    check(&after_each, &["look +tasks.json", "turn claim"], "Implement1.1 g0 g1 g3 g2 Done=0");
}

#[test]
fn no_turn_follows_one_that_no_one_judged() {
    let stories = limited(2, presets::stories(&["tasks.json".to_owned()], &[], When::Claimed));
    let look = "look +tasks.json";
    // Whatever becomes of a turn, what it did to the list is judged, and what was undone is told.
    check(
        &stories,
        &[look, "turn fail", "turn a", "judge no approval", "judge"],
        "Implement1.1 j (Retry 1000) Implement1.2<The> g0 g1 Implement2.1 g0 g1 Exhausted(MaxIterations)=1",
    );
    check(&stories, &[look, "turn bad key"], "Implement1.1 j GaveUp(Agent)=4");
    check(&stories, &[look, "turn cut ^C"], "Implement1.1 j Interrupted=130");
    check(&stories, &[look, "turn a ^C"], "Implement1.1 j Interrupted=130");
    // What is broken refutes a claim.
    check(
        &stories,
        &[look, "turn claim", "turn a", "judge no approval", "judge"],
        "Implement1.1 g0 g1! Implement2.1<The|You> g0 g1 Exhausted(MaxIterations)=1",
    );
}

#[test]
fn what_was_broken_is_told_after_a_crash_too() {
    let stories = presets::stories(&["tasks.json".to_owned()], &[], When::Claimed);
    let started =
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, mode: Mode::Review, ..Turn::default() });
    let mut state = State::default();
    let resumed = Event::RunResumed { pid: 1, limits: stories.limits };
    for event in [started, ended(TurnEnd::Finished, "claim"), judged("no approval"), resumed] {
        state.apply(&stories, &event);
    }
    // Every gate decides again, and the one of the rules knows what it knew.
    assert_eq!(decide(&stories, &state), Action::RunGate(0));
    assert!(state.broken().is_some_and(|broken| broken.contains("no approval")));
}

#[test]
fn session_counts_turns() {
    let session = presets::session("DONE", 3, vec![gate("work", When::Claimed)]);
    check(&session, &["turn a"], "Work1.1 Work2.1 Work3.1 Exhausted(MaxIterations)=1");
    check(&session, &["turn claim", "gate idle", "gate ok"], "Work1.1 g0! Work2.1<idle|You> g0 Done=0");
}
