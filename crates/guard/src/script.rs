//! What can be seen in the code of other languages without parsing them: calls and the texts they are given.

mod awk;
mod chained;
mod git_calls;
mod given;
mod language;
pub(crate) mod make;
mod names;
mod path_text;
mod place;
pub(crate) mod sed;

pub(crate) use given::Names;
pub(crate) use language::{EDITORS, framework_code, language_of, with_usual_calls};
pub(crate) use names::literals_of_receiver;
use names::run_aliases;
pub(crate) use path_text::{first_path, paths_of_variables};
pub(crate) use place::{HOMES, chosen_dir, uses_arguments};

/// Something that code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptCommand {
    /// By a shell.
    ShellText(String),
    /// Without one.
    Arguments(Vec<String>),
}

/// Functions that run commands, by the end of their names.
const RUN_FUNCTIONS: &[&str] = &[
    "system",
    "popen",
    "popen2",
    "popen3",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "run",
    "call",
    "check_call",
    "check_output",
    "Popen",
    "getoutput",
    "getstatusoutput",
    "shell_exec",
    "passthru",
    "proc_open",
    "execvp",
    "execv",
    "execl",
    "execlp",
    "execute",
    "posix_spawn",
    "$",
    "shell_command",
    "shell_command_to_string",
    "async_shell_command",
    "call_process",
    "start_process",
    "run_program",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "execa",
    "execaSync",
    "execaCommand",
    "execaCommandSync",
    "capture2",
    "capture2e",
    "capture3",
    "popen2e",
    "pcntl_exec",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "cmd",
    "shell",
    "exec_command",
    "Command",
    "CommandContext",
    "ProcessBuilder",
    "runSync",
    "startSync",
];

/// Functions that run the text behind them, in languages that need no brackets.
const RUN_BEFORE_TEXTS: [&str; 6] =
    ["command", "callCommand", "execShellCmd", "execCmd", "execCmdEx", "readProcess"];

/// How many characters are read to find what stands in brackets, brackets in brackets once for each.
const MAX_STEPS: usize = 1_000_000;

/// A call in code: the last part of its name, what stands before that, and the texts in its brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    pub(crate) receiver: String,
    pub(crate) texts: Vec<String>,
    /// All that stands in the brackets.
    pub(crate) inside: String,
}

/// The commands that code runs, unless there is too much of it to say.
pub(crate) fn commands_in_code(code: &str, program: &str) -> Option<Vec<ScriptCommand>> {
    let mut commands = Vec::new();
    let calls = function_calls(code)?;
    let aliases = run_aliases(code);
    let names = given::Names::new(code);
    for call in &calls {
        let is_run = RUN_FUNCTIONS.contains(&call.name.as_str()) || aliases.contains(&call.name.as_str());
        if is_run && !runs_nothing(call, code) {
            commands.extend(given::given(call, &names));
        }
    }
    if !matches!(program, "python" | "node" | "php" | "awk" | "perl" | "ruby") {
        let plain = calls_before_texts(code).into_iter();
        let runs = |call: &FunctionCall| {
            RUN_FUNCTIONS.contains(&call.name.as_str()) || RUN_BEFORE_TEXTS.contains(&call.name.as_str())
        };
        commands.extend(plain.filter(runs).flat_map(|call| call.texts).map(ScriptCommand::ShellText));
    }
    commands.extend(chained::chained_commands(code));
    commands.extend(git_calls::commands_by_git_library(&calls, code));
    // Templates that a shell runs: $`...`.
    let templates = code.split("$`").skip(1).filter_map(|rest| rest.split('`').next());
    commands.extend(templates.map(|text| ScriptCommand::ShellText(text.to_owned())));
    if matches!(program, "perl" | "ruby" | "php") {
        // Three of them are a fence of Markdown.
        let code = code.replace("```", "");
        let texts = texts_between(&code, '`').into_iter();
        commands.extend(texts.map(|text| ScriptCommand::ShellText(names.filled(&text.replace("#{", "${")))));
    }
    if program == "python" {
        // IPython runs such a line in a shell.
        let lines = code.lines().map(str::trim_start);
        let shell = lines.filter_map(|line| line.strip_prefix('!').or_else(|| line.strip_prefix("%sx ")));
        commands.extend(shell.map(|text| ScriptCommand::ShellText(text.trim_start_matches('!').to_owned())));
    }
    if program == "ruby" || program == "perl" {
        for open in ["%x(", "%x{", "%x[", "qx(", "qx{", "qx/"] {
            let texts = code.split(open).skip(1).filter_map(|rest| rest.split([')', '}', ']', '/']).next());
            commands.extend(texts.map(|text| ScriptCommand::ShellText(text.to_owned())));
        }
    }
    if program == "perl" || program == "ruby" {
        commands.extend(commands_without_brackets(code, &calls, &names));
    }
    if program == "awk" {
        commands.extend(awk::commands_in_awk(code).into_iter().map(ScriptCommand::ShellText));
    }
    if program == "expect" || program == "tclsh" {
        commands.extend(commands_of_tcl(code));
    }
    if program == "osascript" {
        let texts =
            code.split("do shell script").skip(1).filter_map(|rest| string_literals(rest).into_iter().next());
        commands.extend(texts.map(ScriptCommand::ShellText));
    }
    Some(commands)
}

/// Commands that Perl and Ruby run without brackets, by a list without a shell, or by opening a pipe.
fn commands_without_brackets(
    code: &str,
    calls: &[FunctionCall],
    names: &given::Names<'_>,
) -> Vec<ScriptCommand> {
    let mut commands = Vec::new();
    for word in ["system", "exec", "spawn", "popen"] {
        for rest in code.split(word).skip(1).filter(|rest| rest.starts_with([' ', '('])) {
            let rest = rest.trim_start_matches([' ', '(']);
            commands.extend(quoted_like_perl(rest).map(ScriptCommand::ShellText));
            let listed = rest.strip_prefix("qw").and_then(|rest| rest.split([')', ']', '}']).next());
            let texts = match listed.and_then(|words| words.get(1..)) {
                Some(words) => words.split_whitespace().map(str::to_owned).collect(),
                None => string_literals(first_statement(rest)),
            };
            match &texts[..] {
                [] => commands.extend(given::in_variable(first_statement(rest), names)),
                [text] => commands.push(ScriptCommand::ShellText(text.clone())),
                _ => commands.push(ScriptCommand::Arguments(texts)),
            }
        }
    }
    let plain = calls_without_brackets(code);
    let opened = calls.iter().chain(&plain).filter(|call| call.name == "open");
    let piped = opened.flat_map(|call| &call.texts).filter(|text| 1 < text.len() && opens_pipe(text));
    commands.extend(piped.map(|text| ScriptCommand::ShellText(text.trim_matches([' ', '|']).to_owned())));
    commands
}

/// The text of `q(...)` or `qq{...}`.
fn quoted_like_perl(code: &str) -> Option<String> {
    let rest = code.strip_prefix("qq").or_else(|| code.strip_prefix('q'))?;
    let end = match rest.chars().next()? {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        mark @ ('/' | '|' | '!') => mark,
        _ => return None,
    };
    rest[1..].split(end).next().map(str::to_owned)
}

fn opens_pipe(text: &str) -> bool {
    text.trim().starts_with('|') || text.trim().ends_with('|')
}

/// The code before the end of a statement.
fn first_statement(code: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, next) in code.char_indices() {
        match (quote, next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), other) if mark == other => quote = None,
            (None, mark @ ('"' | '\'')) => quote = Some(mark),
            (None, ';' | '\n' | '}') => return &code[..at],
            _ => {}
        }
    }
    code
}

/// The commands that Tcl starts, whose words are much like those of a shell.
fn commands_of_tcl(code: &str) -> Vec<ScriptCommand> {
    let mut commands = Vec::new();
    for part in code.split([';', '\n', '[', ']', '{', '}']).map(str::trim) {
        let command = ["spawn ", "exec ", "system "].iter().find_map(|word| part.strip_prefix(word));
        let Some(command) = command else { continue };
        let mut command = command.trim_start();
        while let Some((_, rest)) = command.split_once(' ').filter(|_| command.starts_with('-')) {
            command = rest.trim_start();
        }
        if !command.starts_with('$') {
            commands.push(ScriptCommand::ShellText(command.to_owned()));
        }
    }
    commands
}

/// Calls that share a name with one that runs commands: `re.exec("x")`, `db.run("select")`.
fn runs_nothing(call: &FunctionCall, code: &str) -> bool {
    let is_process =
        ["process", "child", "cp", "os", "sub", "shell", "proc", "Kernel", "IO", "Open3", "pexpect", "$"];
    let generic = ["run", "call", "exec", "execute", "spawn", "$"].contains(&call.name.as_str());
    let is_shell = is_process.iter().any(|name| call.receiver.contains(name));
    generic && !call.receiver.is_empty() && !is_shell && !place::is_alias_of_runner(&call.receiver, code)
}

/// The calls in code, from left to right, unless there is too much of it: code that is read only in part would hide
/// behind its beginning what it does at its end.
pub(crate) fn function_calls(code: &str) -> Option<Vec<FunctionCall>> {
    let characters: Vec<char> = code.chars().collect();
    let mut calls = Vec::new();
    let mut steps_left = MAX_STEPS;
    for (at, next) in characters.iter().enumerate() {
        let follows_name =
            0 < at && (characters[at - 1].is_alphanumeric() || "_$!?".contains(characters[at - 1]));
        if *next != '(' || !follows_name {
            continue;
        }
        let is_part = |next: &&char| next.is_alphanumeric() || "_.$:!?'\"()/~*-".contains(**next);
        let whole: Vec<char> = characters[..at].iter().rev().take(120).take_while(is_part).copied().collect();
        let whole: String = whole.into_iter().rev().collect();
        let is_name = |next: char| next.is_alphanumeric() || "_$!?".contains(next);
        let name = whole.rsplit(|next: char| !is_name(next)).next().unwrap_or_default().to_owned();
        if name.is_empty() {
            continue;
        }
        let receiver = whole[..whole.len() - name.len()].to_owned();
        let inside = text_in_brackets(&characters[at..]);
        steps_left = steps_left.checked_sub(inside.len())?;
        let texts = string_literals(&inside);
        calls.push(FunctionCall { name, receiver, texts, inside });
    }
    Some(calls)
}

/// Calls without brackets, as Perl and Ruby have them: `unlink "x"`.
pub(crate) fn calls_without_brackets(code: &str) -> Vec<FunctionCall> {
    let mut calls = Vec::new();
    for name in [
        "unlink",
        "rmdir",
        "rmtree",
        "remove_tree",
        "truncate",
        "rename",
        "open",
        "chmod",
        "chmod_R",
        "chown",
        "chown_R",
        "rm_rf",
        "rm_r",
        "delete",
        "read",
    ] {
        for rest in code.split(name).skip(1).filter(|rest| rest.starts_with(' ')) {
            let inside = rest.split([';', '\n']).next().unwrap_or_default().to_owned();
            let mut texts = string_literals(&inside);
            // Perl lists files by `</x/*.log>`.
            let listed = inside.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            texts.extend(listed.filter(|(path, _)| path.contains('/')).map(|(path, _)| path.to_owned()));
            calls.push(FunctionCall { name: name.to_owned(), receiver: String::new(), texts, inside });
        }
    }
    calls
}

/// Calls that have a text for their only argument and no brackets, as Haskell, OCaml and Tcl have them: `removeFile "x"`.
pub(crate) fn calls_before_texts(code: &str) -> Vec<FunctionCall> {
    let is_name = |next: char| next.is_alphanumeric() || "_!?".contains(next);
    let mut calls = Vec::new();
    for (at, _) in code.match_indices(['"', '\'']) {
        let before = code[..at].trim_end_matches(' ');
        let name = before.rsplit(|next| !is_name(next)).next().unwrap_or_default();
        if name.is_empty() || before.len() == at || 64 < calls.len() {
            continue;
        }
        let texts: Vec<String> = string_literals(&code[at..]).into_iter().take(1).collect();
        let inside = texts.concat();
        calls.push(FunctionCall { name: name.to_owned(), receiver: String::new(), texts, inside });
    }
    calls
}

/// What stands in the brackets that begin here.
fn text_in_brackets(characters: &[char]) -> String {
    let (mut level, mut quote, mut escaped) = (0, None, false);
    for (at, next) in characters.iter().enumerate() {
        match (quote, *next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), other) if mark == other => quote = None,
            (None, mark @ ('"' | '\'' | '`')) => quote = Some(mark),
            (None, '(') => level += 1,
            (None, ')') => {
                level -= 1;
                if level == 0 {
                    return characters[1..at].iter().collect();
                }
            }
            _ => {}
        }
    }
    characters.iter().skip(1).collect()
}

/// The texts between quotes.
pub(crate) fn string_literals(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = code.chars();
    while let Some(next) = rest.next() {
        if !matches!(next, '"' | '\'' | '`') {
            continue;
        }
        let mut text = String::new();
        loop {
            match rest.next() {
                None => return texts,
                Some('\\') => match rest.next() {
                    Some('n') => text.push('\n'),
                    Some(other) => text.push(other),
                    None => return texts,
                },
                Some(end) if end == next => break,
                Some(other) => text.push(other),
            }
        }
        texts.push(text);
        if 128 < texts.len() {
            break;
        }
    }
    texts
}

fn texts_between(code: &str, mark: char) -> Vec<String> {
    code.split(mark).skip(1).step_by(2).map(str::to_owned).collect()
}
