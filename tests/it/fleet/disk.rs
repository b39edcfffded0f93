//! What lanes take on the disk: they are used again, shown, limited and removed.

use serde_json::json;

use super::{after, commit, limits::priced, project, status};
use crate::{env::Env, stories::story};

/// More than the limit that is set here.
const FILL: &str = "head -c 3000000 /dev/urandom";

/// Two stories, one after the other in one lane. Each says which lane it is in and what it finds there of the one before, and
/// leaves something in these folders.
fn two(folders: &[&str]) -> Env {
    let work = |name: &str| {
        let leave = folders.iter().map(|it| format!("mkdir -p {it}; {FILL} >{it}/large; sync {it}/large\n"));
        format!(
            "echo \"{name} $(stat -c %i ../store.git/HEAD)\" >>\"$FLEET_RECORD.lanes\"\n\
             ls -d cache junk >>\"$FLEET_RECORD.found\" 2>/dev/null\n{}echo 1 >{name}.txt\n",
            leave.collect::<String>()
        )
    };
    let (one, other) = (work("A"), work("B"));
    let env = project(&[(story("A"), &one), (after("B", &["A"]), &other)], "sh check.sh");
    let env = env.settings(json!({"verify": {"keep": ["cache/"]}}));
    env.write(".gitignore", ".ralph/\ncache/\njunk/\n");
    commit(&env);
    env
}

fn said(env: &Env, name: &str) -> String {
    std::fs::read_to_string(env.root().join(format!("record.{name}"))).unwrap_or_default()
}

/// What the only lane takes.
#[track_caller]
fn disk(env: &Env) -> u64 {
    status(env)["lanes"][0]["disk"].as_u64().expect("bytes")
}

#[test]
fn a_lane_is_used_again_shown_and_removed_when_it_is_old() {
    let env = two(&["cache", "junk"]);
    env.ralph(&["fleet", "--lanes", "1"]).exits(0);
    let lanes = said(&env, "lanes");
    let clones: Vec<&str> = lanes.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert!(clones.len() == 2 && clones[0] == clones[1], "{lanes}");
    assert_eq!(said(&env, "found"), "cache\n", "what is kept, and nothing else");
    assert!(3_000_000 < disk(&env));
    let text = env.ralph(&["fleet", "status"]).exits(0).stdout;
    assert!(text.contains("lane-1: 6 MB in ") || text.contains("lane-1: 7 MB in "), "{text}");
    env.ralph(&["status", "--all"]).exits(0).prints("1 judge and 1 lane, ");

    let folder = status(&env)["lanes"][0]["folder"].as_str().expect("a folder").to_owned();
    env.ralph(&["clean", "--dry-run", "--older-than", "0"]).exits(0).prints(" and 1 lane (");
    assert!(std::path::Path::new(&folder).exists());
    env.ralph(&["clean", "--older-than", "0"]).exits(0).prints(" and 1 lane (");
    assert!(!std::path::Path::new(&folder).exists());
    assert_eq!(disk(&env), 0);
}

#[test]
fn a_lane_is_prepared_as_the_judge_is() {
    let work =
        |name: &str| format!("cat cache/prepared .env >{name}.txt; echo {name} >>\"$FLEET_RECORD.turns\"\n");
    let (one, other) = (work("A"), work("B"));
    let env = project(&[(story("A"), &one), (after("B", &["A"]), &other)], "sh check.sh");
    let record = env.root().join("record.prepared").display().to_string();
    let prepare = format!("mkdir -p cache; echo yes >cache/prepared; pwd >>{record}");
    let env = env.settings(json!({"verify": {"prepare": [prepare], "keep": ["cache/"], "carry": [".env"]}}));
    env.write(".gitignore", ".ralph/\ncache/\n.env\n");
    commit(&env);
    env.write(".env", "KEY=1\n");
    env.ralph(&["fleet", "--lanes", "1"]).exits(0);
    assert_eq!(
        (env.read("A.txt"), env.read("B.txt")),
        ("yes\nKEY=1\n".to_owned(), "yes\nKEY=1\n".to_owned())
    );
    // Once in the lane, which keeps it for the second story, and once in the judge.
    let places = said(&env, "prepared");
    assert_eq!(places.lines().filter(|it| it.contains("/lanes/lane-1/tree")).count(), 1, "{places}");
}

#[test]
fn a_lane_whose_objects_were_changed_is_made_anew() {
    // One byte of a pack is another, and everything that can be set back is.
    let spoil = "pack=$(ls ../store.git/objects/pack/*.pack); touch -r $pack ../time; mode=$(stat -c %a $pack); chmod +w $pack\n\
                 printf X | dd of=$pack bs=1 seek=$(($(stat -c %s $pack) - 24)) conv=notrunc 2>/dev/null; chmod $mode $pack; touch -r ../time $pack\n";
    let clone = "stat -c %i ../store.git/HEAD >>\"$FLEET_RECORD.lanes\"\n";
    let one = format!("{clone}echo 1 >A.txt; git add -A; git commit --quiet -m A\n{spoil}");
    let other = format!("{clone}echo 1 >B.txt\n");
    let env = project(&[(story("A"), &one), (after("B", &["A"]), &other)], "sh check.sh");
    env.ralph(&["fleet", "--lanes", "1"]).exits(0);
    let lanes = said(&env, "lanes");
    let clones: Vec<&str> = lanes.lines().collect();
    assert!(clones.len() == 2 && clones[0] != clones[1], "{lanes}");
    assert_eq!((env.read("A.txt"), env.read("B.txt")), ("1\n".to_owned(), "1\n".to_owned()));
}

#[test]
fn a_lane_takes_no_more_than_its_limit() {
    for folders in [&["cache"][..], &["junk"], &["cache", "junk"]] {
        let env = two(folders).settings(json!({"judge": {"maxDisk": "2MB"}}));
        env.ralph(&["fleet", "--lanes", "1"]).exits(0);
        assert_eq!(said(&env, "found"), "", "{folders:?}");
        assert!(disk(&env) < 2_000_000, "{folders:?}: {}", disk(&env));
        assert!(env.path("A.txt").exists() && env.path("B.txt").exists());
        env.nothing_left();
    }
}

#[test]
fn what_is_continued_keeps_its_files_whatever_they_take() {
    // Two turns, of which the budget allows one.
    let work = format!(
        "if grep -q 1 half.txt; then ls cache/large >found.txt; echo 2 >>half.txt; else\n\
         later=1; echo 1 >>half.txt; mkdir -p cache; {FILL} >cache/large; sync cache/large; fi\n"
    );
    let env = priced(&[(story("A"), &work)], "0.6")
        .settings(json!({"verify": {"keep": ["cache/"]}, "judge": {"maxDisk": "2MB"}}));
    env.write(".gitignore", ".ralph/\ncache/\n");
    env.write("half.txt", "0\n");
    commit(&env);
    env.ralph(&["fleet", "--lanes", "1", "--max-cost", "0.5"]).exits(1).says("Maximum cost reached");
    assert!(2_000_000 < disk(&env));
    // Nor does it go with its age: the fleet can be resumed.
    env.ralph(&["clean", "--older-than", "0"]).exits(0).prints_not("lane");
    env.ralph(&["fleet", "resume", "--max-cost", "2"]).exits(0);
    assert_eq!(env.read("half.txt"), "0\n1\n2\n");
    assert_eq!(env.read("found.txt"), "cache/large\n");
    assert!(disk(&env) < 2_000_000);
    env.nothing_left();
}
