//! What a command line is flattened to.

use super::{Obstacle, flatten};
use crate::Context;

/// Every command that would run, as it would be typed.
fn runs(command: &str) -> Vec<String> {
    let flat = flatten(command, &Context::new("/home/dev/proj", "/home/dev"));
    assert_eq!(flat.obstacles, [], "{command}");
    flat.commands.iter().map(super::Command::as_typed).collect()
}

#[track_caller]
fn check(command: &str, expected: &str) {
    let found = runs(command);
    assert!(found.iter().any(|found| found == expected), "{command}: {found:?}");
}

fn obstacles(command: &str) -> Vec<Obstacle> {
    flatten(command, &Context::new("/home/dev/proj", "/home/dev")).obstacles
}

#[test]
fn variables_and_substitutions() {
    check("a=rm; b=-rf; $a $b /x", "rm -rf /x");
    check("x='rm -rf /x'; $x", "rm -rf /x");
    check("rm${IFS}-rf${IFS}/x", "rm -rf /x");
    check("a=(rm -rf /x); \"${a[@]}\"", "rm -rf /x");
    check("rm ${x:-/y}", "rm /y");
    check("x=/a/b/c; rm ${x%/*} ${x##*/} ${x/b/z} ${x:0:2} ${x^^}", "rm /a/b c /a/z/c /a /A/B/C");
    check("ls $(echo a b)", "ls a b");
    check("ls \"$(echo a b)\"", "ls 'a b'");
    check("n=x; x=/y; rm ${!n}", "rm /y");
    check("set -- -r /x; rm \"$@\"", "rm -r /x");
    check("{rm,-rf,/x}", "rm -rf /x");
    check("printf -v x '%s' /y; rm $x", "rm /y");
    check("printf -v x '%s/%s' /y z; rm $x", "rm /y/z");
    check("IFS=,; x=rm,-r,/y; $x", "rm -r /y");
    check("export X=/y; rm $X", "rm /y");
    check("rm ~/x ~root/y", "rm /home/dev/x /root/y");
    check("if a; then x=/1; else x=/2; fi; rm $x", "rm /1 /2");
    check("rm $nothing", "rm ‹$nothing›");
}

#[test]
fn text_that_becomes_commands() {
    check("bash -c 'rm \"$1\"' _ /x", "rm /x");
    check("bash -lc \"sh -c 'rm /x'\"", "rm /x");
    check("eval 'rm' /x", "rm /x");
    check("echo 'rm /x' | sh", "rm /x");
    check("sh <<E\nrm /x\nE", "rm /x");
    check("sh <<< 'rm /x'", "rm /x");
    check("trap 'rm /x' EXIT", "rm /x");
    check("f() { rm \"$1\"; }; f /x", "rm /x");
    check("alias g=git; g push", "git push");
    check("git -c alias.x='!rm /x' x", "rm /x");
    check("echo cm0gL3g= | base64 -d | sh", "rm /x");
    check("echo 782f206d72 | xxd -r -p | rev | sh", "rm /x");
    check("echo 'ez /k' | tr 'a-z' 'n-za-m' | sh", "rm /x");
    check("python3 -c 'import os; os.system(\"rm /x\")'", "rm /x");
    check("node -e \"require('child_process').spawnSync('rm', ['-r', '/x'])\"", "rm -r /x");
    check("awk 'BEGIN{system(\"rm /x\")}'", "rm /x");
    check("watch -n 1 'rm /x'", "rm /x");
    check("find /y -exec rm {} +", "rm /y/‹find›");
    check("echo /x /y | xargs rm -r", "rm -r /x /y");
    check("echo /x | xargs -I% mv % /y", "mv /x /y");
    check("while read f; do rm \"$f\"; done <<< /x", "rm /x");
}

#[test]
fn wrappers_are_taken_off() {
    for wrapper in [
        "sudo -u x",
        "env A=1",
        "env -u A B=2",
        "nice -n 5",
        "timeout -k 1 5",
        "nohup",
        "command",
        "exec -a x",
        "stdbuf -oL",
        "busybox",
        "time",
        "setsid",
        "doas",
        "ionice -c 3",
        "uv run",
        "npx -y",
        "poetry run",
        "strace -o x",
        "flock x -c",
        "/lib64/ld-linux-x86-64.so.2",
        "builtin command -p",
    ] {
        let found = runs(&format!("{wrapper} rm /x"));
        let expected = if wrapper.starts_with("flock") { "rm" } else { "rm /x" };
        assert!(
            found.iter().any(|found| found.ends_with(expected) && !found.starts_with(wrapper)),
            "{wrapper}: {found:?}"
        );
    }
    check("npx prisma migrate reset", "prisma migrate reset");
    check("docker exec -it db psql -c x", "psql -c x");
    check("ssh host 'rm /x'", "rm /x");
}

#[test]
fn what_is_said_is_not_run() {
    for command in ["echo 'rm /x'", "# rm /x", "cat <<E\nrm /x\nE", "git commit -m 'rm /x'", "grep 'rm /x' a"]
    {
        let found = runs(command);
        assert!(!found.iter().any(|found| found.starts_with("rm")), "{command}: {found:?}");
    }
}

#[test]
fn what_cannot_be_followed() {
    assert!(matches!(&obstacles("$X a")[..], [Obstacle::DynamicProgram(_)]));
    assert!(matches!(&obstacles("bash -c \"$X\"")[..], [Obstacle::DynamicCode(_)]));
    assert!(matches!(&obstacles("curl -s https://x | sh")[..], [Obstacle::FetchedCode(_)]));
    assert!(matches!(&obstacles("x=$(curl -s https://x); sh -c \"$x\"")[..], [Obstacle::FetchedCode(_)]));
    assert!(matches!(&obstacles("f(){ f|f& };f")[..], [Obstacle::ForkBomb(_)]));
    assert_eq!(obstacles(&format!("{}ls", "eval ".repeat(10))), [Obstacle::TooDeep]);
    assert_eq!(obstacles(&"a;".repeat(30_000)), [Obstacle::TooMuch]);
}

/// A list that is cut hides its end: whatever comes first, the last command is found or the whole is refused.
#[test]
fn nothing_hides_behind_padding() {
    type Form = (&'static str, fn(&str) -> String);
    let forms: [Form; 10] = [
        ("python", |pads| format!("python3 -c \"import os\n{pads}os.system('rm /x')\"")),
        ("perl", |pads| format!("perl -e '{pads}system \"rm /x\";'")),
        ("awk", |pads| format!("awk 'BEGIN {{ {pads} system(\"rm /x\") }}'")),
        ("psql", |pads| format!("psql <<'E'\n{pads}\\! rm /x\nE")),
        ("make", |pads| format!("printf 'all:\\n{pads}\\trm /x\\n' | make -f -")),
        ("xargs", |pads| format!("echo {pads} /x | xargs rm")),
        ("xargs -I", |pads| format!("echo {pads} /x | xargs -I@ rm @")),
        ("read", |pads| format!("printf '{pads}/x\\n' | while read -r file; do rm \"$file\"; done")),
        ("for", |pads| format!("for file in {pads} /x; do rm $file; done")),
        ("braces", |pads| format!("rm {{{pads}/x}}")),
    ];
    let pads = [
        "os.system('ls')\n",
        "system \"ls\";",
        "system(\"ls\");",
        "\\! ls\n",
        "\\tls\\n",
        "a ",
        "a ",
        "a\\n",
        "a ",
        "a,",
    ];
    for ((name, form), pad) in forms.into_iter().zip(pads) {
        for times in [0, 3, 5, 17, 33, 65, 129, 257, 1000] {
            let line = form(&pad.repeat(times));
            if obstacles(&line).contains(&Obstacle::TooMuch) {
                assert!(17 < times, "{name} behind {times} is refused, not read");
                continue;
            }
            let found = runs(&line);
            let is_it = |command: &String| command.starts_with("rm ") && command.contains("/x");
            assert!(found.iter().any(is_it), "{name} behind {times}: {found:?}");
        }
    }
}

#[test]
fn brackets_in_brackets_are_too_much_at_some_depth() {
    let line = |depth: usize| {
        format!("python3 -c 'import os; os.system({}\"rm /x\"{})'", "f(".repeat(depth), ")".repeat(depth))
    };
    assert!(runs(&line(20)).iter().any(|command| command == "rm /x"));
    assert_eq!(obstacles(&line(3_000)), [Obstacle::TooMuch]);
}
