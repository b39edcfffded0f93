//! Commands that hide what they do, or that cannot be read.

use super::{Category, Check, RULE, Rule, RuleInput, Tier};
use crate::{
    command::FileRedirect,
    flatten::Obstacle,
    programs::{SHELLS, TYPED},
    shell::RedirectKind,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "unknown-tool",
        category: Category::Obfuscation,
        tier: Tier::Warn,
        finds: "calls a tool that the guard does not know",
        instead: "Use the tools for files and for the shell.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::UnknownTool(tool) => Some(format!("the tool `{tool}` is not known")),
            _ => None,
        }),
        matches: &["tool: mcp__x__frobnicate"],
        passes: &["tool: WebSearch", "tool: mcp__x__list_tables"],
        ..RULE
    },
    Rule {
        id: "interactive-shell",
        category: Category::Obfuscation,
        finds: "starts a shell or an interpreter that waits for later input",
        instead: "Give it the commands: `bash -c '...'`, or a script in the project.",
        check: Check::Command(interactive_shell),
        matches: &[
            "bash",
            "bash -i",
            "python3",
            "node -i",
            "sh -l",
            "exec zsh",
            "env bash --norc",
            "sh -s",
            "sh < /dev/stdin",
            "cat | sh",
            "python3 -",
            "script -q /dev/null",
        ],
        passes: &[
            "bash -c ls",
            "echo ls | bash",
            "python3 x.py",
            "node --version",
            "bash < a.sh",
            "bash -n x.sh",
            "cat a.sh | sh",
            "sh -s < a.sh",
            "bash --version",
            "script -qc 'npm test' /dev/null",
            "php -i",
        ],
        ..RULE
    },
    Rule {
        id: "unknown-program",
        category: Category::Obfuscation,
        finds: "runs a program whose name is only known when it runs",
        instead: "Write out the name of the program.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::DynamicProgram(what) => Some(format!("the program `{what}` is not known")),
            _ => None,
        }),
        matches: &["$CMD -rf x", "$(cat name.txt) x", "/bin/r? -rf x", "${a}${b} x"],
        passes: &["X=ls; $X src", "$(which ls) src", "\"$(npm bin)/eslint\" .", "$SHELL -c 'ls'"],
        ..RULE
    },
    Rule {
        id: "unknown-code",
        category: Category::Obfuscation,
        finds: "gives a shell or interpreter code that is only known when it runs",
        instead: "Write out the commands, or put them into a script in the project and run that.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::DynamicCode(what) => Some(format!("the code in `{what}` is not known")),
            _ => None,
        }),
        matches: &[
            "bash -c \"$CODE\"",
            "base64 -d x | sh",
            "eval \"$X\"",
            "xxd -r -p x | bash",
            "gunzip -c x | sh",
            "mkfifo /tmp/p && bash < /tmp/p &",
            "mkfifo p; tail -f p | sh",
            "mkfifo p; python3 < p",
            "mkfifo p; ruby p",
            "bash /proc/1234/fd/3",
        ],
        passes: &[
            "bash -c 'ls'",
            "eval \"$(ssh-agent -s)\"",
            "echo 'echo hi' | bash",
            "cat script.sh | bash",
            "mkfifo p; node app.js < p",
            "mkfifo p; cat p > out.txt & npm test > p",
            "mkfifo p; echo 'ls -l' > p & bash < p",
        ],
        ..RULE
    },
    Rule {
        id: "decoded-code",
        category: Category::Obfuscation,
        finds: "decodes something in a one-liner and runs it",
        instead: "Write out the code.",
        code: &[
            &[
                "b64decode",
                "base64.decode",
                "fromhex",
                "unhexlify",
                "decompress(",
                "atob(",
                "'base64')",
                "\"base64\")",
                "base64_decode",
                "gzinflate",
                "rot13",
                "rot_13",
                "decode64",
                "pack(\"H",
                "pack('H",
                "unpack('m",
                "unpack(\"m",
                "unpack(\"u",
                "unpack('u",
                "chr(",
                "getattr(",
                "fromCharCode",
            ],
            &[
                "exec(",
                "exec ",
                "eval(",
                "eval ",
                "system(",
                "compile(",
                "Function(",
                "assert(",
                "popen",
                "spawn",
                "__import__",
                "getattr(os",
            ],
        ],
        matches: &[
            "python3 -c \"import os; getattr(os, 'sys' + 'tem')('ls')\"",
            "python3 -c \"exec(__import__('base64').b64decode('eA=='))\"",
            "node -e \"eval(atob('eA=='))\"",
            "php -r 'eval(base64_decode(\"eA==\"));'",
        ],
        passes: &[
            "python3 -c \"import base64; print(base64.b64decode('eA=='))\"",
            "node -e \"console.log(atob('eA=='))\"",
        ],
        ..RULE
    },
    Rule {
        id: "unreadable",
        category: Category::Obfuscation,
        finds: "cannot be read as a command line",
        instead: "Close every quote and bracket, and put long scripts into a file.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::Unreadable(expected) => {
                Some(format!("the command line cannot be read: expected {expected}"))
            }
            _ => None,
        }),
        matches: &["echo 'x", "if true; then ls", "ls )", "echo \"$(ls\""],
        passes: &["echo \"it's\"", "if true; then ls; fi", "case x in a) ls;; esac"],
        ..RULE
    },
    Rule {
        id: "too-deep",
        category: Category::Obfuscation,
        finds: "nests brackets, or shells in shells, deeper than the guard can follow",
        instead: "Put the steps into a script in the project, one per line.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::TooDeep => Some("the command line is nested too deep".to_owned()),
            _ => None,
        }),
        matches: &["eval eval eval eval eval eval eval eval eval ls"],
        passes: &["bash -c 'bash -c ls'", "echo $(echo $(echo x))"],
        ..RULE
    },
    Rule {
        id: "too-much",
        category: Category::Obfuscation,
        finds: "is longer than 64 KiB, or would run more than the guard can follow",
        instead: "Write the content with the file tool, and put long scripts into a file.",
        check: Check::Obstacle(|obstacle| match obstacle {
            Obstacle::TooMuch => Some("the command line is too long, or would run too much".to_owned()),
            _ => None,
        }),
        matches: &[
            "for a in {a..z}; do for b in {a..z}; do for c in {a..z}; do echo $a$b$c; done; done; done",
        ],
        passes: &["echo {1..10}", "for i in {1..50}; do echo $i; done"],
        ..RULE
    },
];

/// What is typed into it later is seen by no one.
fn interactive_shell(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_shell = SHELLS.contains(&command.program.as_str());
    let reads = is_shell
        || command.is(&["python", "node", "ruby", "irb", "perl", "php", "deno", "bun", "lua", "R", "ghci"]);
    // `cat | sh`: nothing stands before it that says what comes.
    let passes_on = input.runs(&["cat|tee !?* >sh|bash|zsh|dash|ksh|python*|node|perl|ruby|php"]);
    if passes_on && !command.stdin.is_given() && command.redirects.is_empty() {
        return input.found_if(true);
    }
    if !reads && command.program != "script" || command.asks_for_help() {
        return None;
    }
    // An option of a shell that neither holds commands nor only checks or says something.
    let waits_with = |arg: &str| match arg.strip_prefix("--") {
        Some(name) => !["version", "help", "dump-strings", "dump-po-strings", "rpm-requires"].contains(&name),
        None => arg.starts_with('-') && !arg.contains(['c', 'n', 'D', 'v']),
    };
    let is_plain = |arg: &String| {
        ["-i", "-l", "--login", "-il", "-li", "--interactive", "-q", "-u", "-B"].contains(&arg.as_str())
            && !(arg == "-i" && command.is(&["php"]))
            || TYPED.contains(&arg.as_str())
            || is_shell && waits_with(arg)
    };
    // `python -i x.py` goes on when the script has ended.
    let mut own = command.args.iter().take_while(|arg| arg.starts_with('-'));
    let stays = command.is(&["python", "node"])
        && own.any(|arg| ["-i", "--interactive"].contains(&arg.as_str()))
        || command.is(&["php"]) && command.args.first().is_some_and(|arg| arg == "-a");
    let waits = stays
        || command.args.iter().all(is_plain) && (!command.args.is_empty() || !command.is(&["deno", "bun"]));
    let is_typescript = command.program == "script" && !command.has("c", &["command"]);
    let is_typed = |redirect: &FileRedirect| {
        redirect.kind == RedirectKind::Read && TYPED.contains(&redirect.path.as_str())
    };
    let reads_typed = command.redirects.iter().any(is_typed);
    let is_given = command.stdin.is_given() || command.is_piped;
    let is_left_open =
        reads_typed || !is_given && command.redirects.iter().all(|it| it.kind != RedirectKind::Read);
    input.found_if((waits || is_typescript) && is_left_open)
}
