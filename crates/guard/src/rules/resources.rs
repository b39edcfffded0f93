//! Processes, memory and space without end.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{command::Command, flatten::Obstacle, shell::RedirectKind};

/// More than this is not test data.
const MAX_FILE_SIZE: u64 = 5 << 30;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "fork-bomb",
        category: Category::Resources,
        finds: "starts itself again and again",
        instead: "Start a fixed number of processes and wait for them.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::ForkBomb(name) => {
                Some(format!("`{name}` starts itself in a pipeline or in the background"))
            }
            _ => None,
        }),
        matches: &[
            ":(){ :|:& };:",
            "b() { b & b; }; b",
            "f(){ f | f; }; f",
            "printf '#!/bin/sh\\n./x & ./x\\n' > x && chmod +x x && ./x",
            "echo 'sh b.sh | sh b.sh' > b.sh; sh b.sh",
            "echo '$0 & $0 &' > x && chmod +x x && nohup ./x &",
        ],
        passes: &[
            "f() { echo hi; }; f",
            "echo ':(){ :|:& };:' > bomb.txt",
            "retry() { cmd || retry; }; retry",
            "printf 'work || sh retry.sh\\n' > retry.sh && sh retry.sh &",
            "printf '#!/bin/sh\\n./server & wait\\n' > run.sh && chmod +x run.sh && ./run.sh",
        ],
        ..RULE
    },
    Rule {
        id: "fork-bomb-code",
        category: Category::Resources,
        finds: "forks in a loop in a one-liner",
        instead: "Start a fixed number of processes and wait for them.",
        check: Check::Command(fork_bomb_code),
        matches: &[
            "perl -e 'fork while fork'",
            "python3 -c 'import os\nwhile 1: os.fork()'",
            "ruby -e 'loop { fork }'",
            "node -e \"const {fork}=require('child_process');for(;;)fork('x.js')\"",
        ],
        passes: &["python3 -c 'import os; print(os.fork)'", "python3 -c 'while True: break'"],
        ..RULE
    },
    Rule {
        id: "endless-processes",
        category: Category::Resources,
        finds: "starts processes in the background in a loop that nothing ends",
        instead: "Loop over a fixed list and `wait`.",
        check: Check::Command(|input| {
            input.found_if(input.command.is_endless && input.command.in_background)
        }),
        matches: &[
            "while true; do sleep 100 & done",
            "for ((;;)); do curl -s http://localhost & done",
            "for i in {1..5000}; do ./work & done",
        ],
        passes: &[
            "while true; do sleep 1; done",
            "for i in 1 2 3; do ./work & done; wait",
            "for ((i=0;i<4;i++)); do ./work $i & done; wait",
        ],
        ..RULE
    },
    Rule {
        id: "endless-output",
        category: Category::Resources,
        finds: "writes without end, or far more than a test needs",
        instead: "Give a small size: `head -c 1M /dev/zero`, `dd ... count=1`.",
        patterns: Patterns::new(&[
            "yes >tr?*>?*|cat*>?*|sed?*>?*|nl*>?*|base64*>?*|tee?*",
            "cat ~/dev/zero|/dev/urandom|/dev/random >tr?*>?*|sed?*>?*|nl*>?*|base64*>?*|gzip*>?*|xz*>?*|tee?*",
            "truncate -s=*T|-s=*P|--size=*T|--size=*P",
        ]),
        unless: Patterns::new(&["* >head*"]),
        check: Check::Command(endless_output),
        matches: &[
            "dd if=/dev/zero of=fill",
            "dd if=/dev/urandom of=x bs=1G count=500",
            "cat /dev/zero > big",
            "yes > /tmp/x",
            "fallocate -l 500G x",
            "tail /dev/zero",
            "od -An -tu4 /dev/urandom",
            "hexdump -n 900G /dev/zero > x",
            "cat < /dev/zero > big",
        ],
        passes: &[
            "dd if=/dev/zero of=x bs=1M count=10",
            "yes | npm init",
            "head -c 1M /dev/urandom > x",
            "cat /dev/urandom | head -c 9",
            "fallocate -l 10M x",
            "od -An -N4 -tu4 /dev/urandom",
            "hexdump -C -n 64 /dev/zero",
            "xxd -l 16 -p /dev/urandom",
            "timeout 2 cat /dev/urandom > /dev/null",
            "grep -a -m 1 x /dev/urandom",
            "read -r -N 8 x < /dev/urandom",
        ],
        ..RULE
    },
    Rule {
        id: "stress",
        category: Category::Resources,
        finds: "puts the machine or another one under load",
        instead: "Measure with a short benchmark against a service on this machine.",
        patterns: Patterns::new(&[
            "dnsperf|tsung|slowhttptest|oha|h2load|ddosify !~*localhost*|*127.0.0.1*|*::1*",
            "stress|stress-ng|hping3|slowloris|goldeneye|t50|memtester|bonnie++",
            "ab|wrk|hey|siege|vegeta|bombardier|boom|autocannon|artillery !~*localhost*|*127.0.0.1*|*::1*",
        ]),
        check: Check::Command(stress),
        matches: &[
            "stress-ng --vm 8",
            "seq 1 100000 | xargs -P0 -I{} sh -c 'sleep 999'",
            "ab -n 1000000 https://example.com/",
            "hping3 --flood 203.0.113.9",
            "while true; do mkdir x; cd x; done",
            "python3 -c 'x = \"a\" * 10**10'",
        ],
        passes: &["ab -n 100 http://localhost:3000/", "ls | xargs -P 4 gzip", "stress --version"],
        ..RULE
    },
];

fn fork_bomb_code(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let forks = code.contains("fork()") || (code.contains("fork") && input.command.is(&["perl", "ruby"]));
    let spawns = code.contains("spawn(process.argv") || code.contains("spawn(process.execPath");
    let loops = ["while", "for", "loop", "until", "setInterval"].iter().any(|word| code.contains(word));
    let is_endless = ["for(;;)", "while(true)", "while(1)"].iter().any(|word| code.contains(word));
    let forks_node = is_endless && code.contains("child_process") && code.contains("fork(");
    input.found_if((forks && loops && !code.contains("print(os.fork)")) || spawns || forks_node)
}

/// Devices that never end.
const ENDLESS: [&str; 4] = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

fn endless_output(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let reads_endless = command.args.iter().any(|arg| ENDLESS.contains(&arg.trim_start_matches("if=")))
        || command.stdin.file.as_deref().is_some_and(|file| ENDLESS.contains(&file));
    let writes = command.redirects.iter().any(|redirect| {
        matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) && redirect.path != "/dev/null"
    });
    let is_timed = command.wrappers.iter().any(|wrapper| wrapper == "timeout");
    let found = match command.program.as_str() {
        "dd" => reads_endless && dd_size(input).is_none_or(|size| MAX_FILE_SIZE < size),
        "cat" | "cp" | "base64" | "xxd" | "od" | "hexdump" | "hd" | "tee" => {
            let runs_on = writes || !command.is_piped && !is_timed;
            reads_endless && read_size(command).map_or(runs_on, |size| MAX_FILE_SIZE < size)
        }
        "tail" | "sort" | "tac" | "grep" | "wc" | "md5sum" | "sha256sum" | "less" | "gzip" | "xz" => {
            let stops = command.has("c", &["bytes"])
                || command.is(&["grep"]) && command.has("mq", &["max-count", "quiet"]);
            reads_endless && !stops
        }
        "yes" => !command.is_piped && !command.asks_for_help() && !is_timed,
        "head" => {
            let sizes = command.values("c", &["bytes"]);
            sizes.iter().any(|value| size(value).is_some_and(|size| MAX_FILE_SIZE < size))
        }
        "fallocate" | "mkfile" | "xfs_mkfile" => {
            let values = command.values("l", &["length"]);
            let given = values.into_iter().chain(command.operands(&["-l"]));
            given.filter_map(size).any(|size| MAX_FILE_SIZE < size)
        }
        _ => false,
    };
    input.found_if(found)
}

/// How many bytes a program that shows bytes is told to read.
fn read_size(command: &Command) -> Option<u64> {
    let given = match command.program.as_str() {
        "od" => command.values("N", &["read-bytes"]),
        "hexdump" | "hd" => command.values("n", &["length"]),
        "xxd" => command.values("l", &["l", "len"]),
        _ => Vec::new(),
    };
    given.into_iter().find_map(size)
}

/// How much `dd` writes; nothing if it does not end by itself.
fn dd_size(input: &RuleInput<'_>) -> Option<u64> {
    let value = |key: &str| input.command.args.iter().find_map(|arg| arg.strip_prefix(key));
    let count = size(value("count=")?)?;
    Some(count.saturating_mul(value("bs=").map_or(Some(512), size).unwrap_or(512)))
}

/// `10M`, `1G`, `64k`, `100`.
fn size(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let factor = match text[digits.len()..].chars().next().map(|unit| unit.to_ascii_uppercase()) {
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some('G') => 1 << 30,
        Some('T' | 'P' | 'E') => 1_u64 << 40,
        Some('X') => return None,
        _ => 1,
    };
    digits.parse::<u64>().ok().map(|number| number.saturating_mul(factor))
}

fn stress(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let grows = command.is_endless && command.is(&["mkdir", "cp", "dd", "fallocate", "tar", "mkfifo"]);
    let is_huge = |code: &str| {
        let code: String = code.split_whitespace().collect();
        let sizes = ["10**9", "10**10", "10**11", "10**12", "1<<40", "2**40", "1e10", "1e11"];
        let grows = ["append(", "push(", "push@", "+=", "alloc("].iter().any(|word| code.contains(word));
        let is_endless = ["whileTrue", "while1", "while(1)", "while(true)", "for(;;)", "loop{"]
            .iter()
            .any(|word| code.contains(word));
        sizes.iter().any(|size| code.contains(&format!("*{size}")) || code.contains(&format!("alloc({size}")))
            || (is_endless
                && grows
                && ["*10**", "(10**", "*1024", "\'*", "\"*", "alloc(", "fill(", "Array(", "x1e"]
                    .iter()
                    .any(|word| code.contains(word)))
    };
    let is_many = |count: &&str| *count == "0" || count.parse::<u32>().is_ok_and(|count| 64 < count);
    let is_fed = |program: &String| program == "seq" || program == "yes";
    let parallel = command.is(&["xargs"])
        && command.values("P", &["max-procs"]).iter().any(is_many)
        && command.stdin.programs.iter().any(is_fed);
    input.found_if(grows || parallel || command.code.as_deref().is_some_and(is_huge))
}
