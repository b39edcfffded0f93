//! What a command writes to standard output, where that can be known.

use super::{Flattener, Output, Scope, listed::name_of_list};
use crate::{
    command::{Command, Stdin},
    file_access::search::{finds_the_rest, is_narrow_search, names_searched, operands_of_fd},
    text::{self, is_known},
};

/// Programs whose output is a selection of their input.
const FILTERS: [&str; 9] = ["grep", "sort", "head", "tail", "uniq", "shuf", "tee", "rg", "sponge"];

impl Flattener<'_> {
    /// The output of a program that was not unwrapped.
    pub(super) fn output_of(&self, command: &Command, scope: &Scope) -> Output {
        let text = self.known_output(command, scope);
        Output { text, programs: vec![name_of_list(command, &scope.stdin)] }
    }

    fn known_output(&self, command: &Command, scope: &Scope) -> Option<String> {
        let stdin = &scope.stdin;
        let line = |text: String| Some(text + "\n");
        let first = command.operands(&[]).first().map(|text| (*text).to_owned());
        match command.program.as_str() {
            "echo" => line(echo_output(&command.args)),
            "printf" => printf_output(&command.args),
            ":" | "true" | "false" | "cd" | "set" | "export" | "sleep" | "test" | "[" | "rm" | "mkdir"
            | "touch" => Some(String::new()),
            "pwd" => line(scope.cwd.clone()),
            "cat" | "tail" | "head" if self.reads_pipe(command, scope) => {
                Some(text::unknown(&format!("$({})", command.program)))
            }
            "cat" if command.operands(&[]).is_empty() => stdin.text.clone(),
            "mktemp" => line(format!("{}/{}", self.temporary_dir(command), text::unknown("mktemp"))),
            "basename" | "realpath" | "readlink" => first.and_then(line),
            "which" => first.map(located).and_then(line),
            "type" | "command" if command.has("pPvV", &[]) => first.map(located).and_then(line),
            "dirname" => first.map(|path| dirname_output(&path, &self.ctx.project) + "\n"),
            "seq" => Some(seq_output(&command.operands(&["-s", "-f"]))),
            "date" | "nproc" | "uuidgen" | "id" if command.args.len() < 4 => {
                line(text::unknown(&format!("$({})", command.program)))
            }
            "git" => self.git_output(command),
            "find" | "fd" | "ls" => Some(list_output(command)),
            "rg" | "ag" | "ack" | "grep" | "egrep" if !stdin.is_given() => Some(search_output(command)),
            "yes" => line(first.unwrap_or_else(|| "y".to_owned())),
            "rev" => known_text(stdin)
                .map(|text| text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect()),
            "tr" => known_text(stdin).and_then(|text| tr_output(&text, command)),
            "base64" if command.has("dD", &["decode"]) => {
                known_text(stdin).and_then(|text| decode_base64(&text))
            }
            "xxd" if command.has("r", &[]) => known_text(stdin).and_then(|text| decode_hex(&text)),
            "xargs" if command.operands(&["-n", "-d", "-L"]).is_empty() => stdin.text.clone(),
            program if FILTERS.contains(&program) => {
                let selects = stdin
                    .text
                    .clone()
                    .filter(|text| !is_known(text) || program == "tee" || program == "sort");
                let selects = selects.filter(|_| stdin.is_given());
                // All of a folder but what is left out.
                let keeps_rest = command.is(&["grep", "rg"]) && command.has("v", &["invert-match"]);
                let lists = stdin.programs.last().is_some_and(|program| program == "ls");
                selects.map(
                    |text| if keeps_rest && lists && text == listed_here() { text + "./*\n" } else { text },
                )
            }
            _ => None,
        }
    }

    /// Whether it passes on what another process writes into a named pipe.
    fn reads_pipe(&self, command: &Command, scope: &Scope) -> bool {
        let is_pipe = |path: &str| {
            (self.files.has_pipes() || path.starts_with('/'))
                && self.files.is_pipe(&scope.resolve_path(path, &self.ctx.home))
        };
        command.operands(&[]).into_iter().any(is_pipe)
            || scope.stdin.file.as_ref().is_some_and(|file| self.files.is_pipe(file))
    }

    fn temporary_dir(&self, command: &Command) -> String {
        command.values("p", &["tmpdir"]).first().map_or_else(
            || self.ctx.temporary_dirs.first().map_or("/tmp", String::as_str).to_owned(),
            |dir| (*dir).to_owned(),
        )
    }

    fn git_output(&self, command: &Command) -> Option<String> {
        match command.args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["rev-parse", "--show-toplevel"] => Some(self.ctx.project.clone() + "\n"),
            ["rev-parse", "--git-dir" | "--git-common-dir" | "--absolute-git-dir"] => {
                Some(format!("{}/.git\n", self.ctx.project))
            }
            ["rev-parse", "--git-path", path] => Some(format!("{}/.git/{path}\n", self.ctx.project)),
            [verb @ ("ls-files" | "diff" | "status" | "grep"), ref rest @ ..] => {
                // Files below the folders that it is told, or below the project.
                let is_folder = |word: &&&str| word.starts_with(['/', '~']) || word.starts_with("..");
                let folder = rest.iter().find(is_folder).map(|folder| command.resolve_path(folder, self.ctx));
                let folder = folder.unwrap_or_else(|| self.ctx.project.clone());
                Some(format!("{folder}/{}\n", text::unknown(&format!("$(git {verb})"))))
            }
            _ => None,
        }
    }
}

/// Where a program lies, as far as its name matters.
fn located(program: String) -> String {
    if program.contains('/') || !is_known(&program) { program } else { format!("/usr/bin/{program}") }
}

fn known_text(stdin: &Stdin) -> Option<String> {
    stdin.text.clone().filter(|text| is_known(text))
}

fn echo_output(args: &[String]) -> String {
    let is_option = |arg: &&String| matches!(arg.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E");
    let escapes = args.iter().take_while(is_option).any(|arg| arg.contains('e'));
    let text = args.iter().skip_while(is_option).cloned().collect::<Vec<_>>().join(" ");
    if escapes { unescape(&text) } else { text }
}

pub(super) fn printf_output(args: &[String]) -> Option<String> {
    let args = if args.first().is_some_and(|arg| arg == "--") { &args[1..] } else { args };
    let (format, values) = args.split_first()?;
    if format == "-v" {
        return Some(String::new());
    }
    let format = unescape(format);
    if !format.contains('%') {
        return Some(format);
    }
    let mut text = String::new();
    let mut values = values.iter();
    // The format is used again until the values are used up.
    for _ in 0..64 {
        let mut rest = format.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            text.push_str(before);
            let at = after.find(|next: char| next.is_ascii_alphabetic() || next == '%')?;
            match &after[at..=at] {
                "%" => text.push('%'),
                "b" => text.push_str(&unescape(values.next().map_or("", String::as_str))),
                _ => text.push_str(values.next().map_or("", String::as_str)),
            }
            rest = &after[at + 1..];
        }
        text.push_str(rest);
        if values.len() == 0 {
            break;
        }
    }
    Some(text)
}

/// Backslash escapes as `printf` and `echo -e` know them.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(next) = rest.next() {
        if next != b'\\' {
            bytes.push(next);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'x') => bytes.push(take_digits(&mut rest, 16, 2, 0)),
            Some(b'0') => bytes.push(take_digits(&mut rest, 8, 3, 0)),
            Some(digit @ b'1'..=b'7') => bytes.push(take_digits(&mut rest, 8, 2, digit - b'0')),
            Some(other) => bytes.push(other),
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn take_digits(rest: &mut std::iter::Peekable<std::str::Bytes<'_>>, radix: u32, max: usize, first: u8) -> u8 {
    let mut number = u32::from(first);
    for _ in 0..max {
        let Some(digit) = rest.peek().and_then(|next| char::from(*next).to_digit(radix)) else { break };
        number = number * radix + digit;
        rest.next();
    }
    u8::try_from(number & 0xff).unwrap_or_default()
}

/// `seq`: so many numbers that a loop over them can be told from a short one.
fn seq_output(ends: &[&str]) -> String {
    let number = |text: &str| text.parse::<u32>().ok();
    let count = match ends {
        [last] => number(last),
        [first, last] => number(first).zip(number(last)).map(|(first, last)| last.saturating_sub(first) + 1),
        [first, step, last] => number(first)
            .zip(number(step))
            .zip(number(last))
            .map(|((first, step), last)| last.saturating_sub(first) / step.max(1) + 1),
        _ => None,
    };
    let line = |_| text::unknown("a number") + "\n";
    (0..count.unwrap_or(1).min(128)).map(line).collect()
}

fn dirname_output(path: &str, project: &str) -> String {
    // A script knows where it lies: in the project, as far as anyone can tell.
    if !is_known(path) || path == "bash" {
        return format!("{project}/{}", text::unknown("dirname"));
    }
    path.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder }).to_owned()
}

/// What `find` and `ls` list: the folders they look in, with something unknown in them.
fn list_output(command: &Command) -> String {
    let paths: Vec<&str> = if command.program == "find" {
        command.args.iter().map(String::as_str).take_while(|arg| !arg.starts_with(['-', '(', '!'])).collect()
    } else if command.program == "fd" {
        operands_of_fd(command).into_iter().skip(1).collect()
    } else {
        command.operands(&["-I", "--ignore"])
    };
    let paths = if paths.is_empty() { vec!["."] } else { paths };
    let names_only = command.program == "ls" && !command.has("d", &["directory"]);
    let mut text = String::new();
    for path in paths {
        // `ls` prints names without the folder they are in, unless they were patterns.
        if names_only && !path.contains('*') {
            text.push_str("./");
        } else {
            text.push_str(path);
            text.push('/');
        }
        text.push_str(&text::unknown(&command.program));
        text.push('\n');
        let hidden = lists_hidden(command, path).then(|| ".git".to_owned());
        let rest = finds_the_rest(command).then(|| "*".to_owned());
        for name in names_searched(command).into_iter().chain(hidden).chain(rest) {
            for piece in [path, "/", &name, "\n"] {
                text.push_str(piece);
            }
        }
    }
    text
}

/// What `ls` prints of the working folder.
fn listed_here() -> String {
    format!("./{}\n", text::unknown("ls"))
}

/// Whether the repository of the working folder is among what is listed.
fn lists_hidden(command: &Command, path: &str) -> bool {
    let leaves_out = ["!", "-not", "-prune", "-maxdepth", "-regex", "-perm", "-user"];
    let is_all = match command.program.as_str() {
        "ls" => command.has("aA", &["all", "almost-all"]) && !command.has("I", &["ignore"]),
        "find" => {
            !is_narrow_search(command) && !command.args.iter().any(|arg| leaves_out.contains(&arg.as_str()))
        }
        _ => false,
    };
    is_all && [".", "./"].contains(&path)
}

/// What a search in files prints: names of files below those it was given, or lines of them.
fn search_output(command: &Command) -> String {
    let operands =
        command.operands(&["-e", "-g", "--glob", "-t", "-A", "-B", "-C", "-m", "--include", "--exclude"]);
    let paths: Vec<&str> = operands.into_iter().skip(usize::from(!command.has("", &["files"]))).collect();
    let paths = if paths.is_empty() { vec!["."] } else { paths };
    let found = text::unknown(&command.program);
    paths.into_iter().flat_map(|path| [path, "/", &found, "\n"]).collect()
}

fn tr_output(text: &str, command: &Command) -> Option<String> {
    let sets = command.operands(&[]);
    if command.has("d", &["delete"]) {
        let unwanted = characters_of_set(sets.first()?);
        return Some(text.chars().filter(|next| !unwanted.contains(next)).collect());
    }
    let (from, to) = (characters_of_set(sets.first()?), characters_of_set(sets.get(1)?));
    let last = *to.last()?;
    let swap = |next: char| {
        let at = from.iter().position(|known| *known == next);
        at.map_or(next, |at| to.get(at).copied().unwrap_or(last))
    };
    Some(text.chars().map(swap).collect())
}

/// The characters of a set such as `a-zA-Z`.
fn characters_of_set(set: &str) -> Vec<char> {
    let set = set.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("[:space:]", " \t\n");
    let set: Vec<char> = unescape(&set).chars().take(200).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < set.len() {
        match set.get(at + 1..at + 3) {
            Some(['-', last]) if set[at] <= *last && u32::from(*last) < 0x250 => {
                all.extend(set[at]..=*last);
                at += 3;
            }
            _ => {
                all.push(set[at]);
                at += 1;
            }
        }
    }
    all
}

fn decode_base64(text: &str) -> Option<String> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for next in text.bytes().filter(|next| !next.is_ascii_whitespace() && *next != b'=') {
        let value = match next {
            b'A'..=b'Z' => next - b'A',
            b'a'..=b'z' => next - b'a' + 26,
            b'0'..=b'9' => next - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if 8 <= count {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap_or_default());
        }
    }
    String::from_utf8(bytes).ok()
}

fn decode_hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text.chars().filter_map(|next| next.to_digit(16)).collect();
    let bytes: Vec<u8> =
        digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap_or_default()).collect();
    String::from_utf8(bytes).ok()
}
