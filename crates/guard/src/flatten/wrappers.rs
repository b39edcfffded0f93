//! Programs that run other programs: what they are given is judged as if it were typed.

mod table;
mod texts;

use super::{
    Flattener, Output, Scope,
    simple::{invocation, quote},
};
use crate::{invocation::Invocation, text};
use table::{ELSEWHERE, TEXT_OPTIONS, WRAPPERS, Wrapper};

impl Flattener<'_> {
    /// Runs what a command was given to run, if it is one that does so.
    pub(super) fn wrapped(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let script = self.wrapped_script(one, scope);
        if let Some(output) = self.wrapped_text(one, scope).or(script) {
            return Some(output);
        }
        if one.program == "find" || one.program == "fd" || one.program == "fdfind" {
            return self.find(one, scope);
        }
        if one.program == "xargs" || one.program == "parallel" {
            return Some(self.xargs(one, scope));
        }
        if one.program == "setarch" {
            let rest = skip_options(&one.args, &[]);
            let has_name = rest.first().is_some_and(|name| is_architecture(name));
            return self.inner(skip_options(&rest[usize::from(has_name)..], &[]), one, scope);
        }
        if one.program.starts_with("ld-linux") || one.program.starts_with("ld-musl") || one.program == "ld.so"
        {
            return self.inner(
                skip_options(&one.args, &["--library-path", "--preload", "--argv0"]),
                one,
                scope,
            );
        }
        if one.program == "env" && (one.args.is_empty() || one.has("0", &["null"])) {
            return None;
        }
        if one.program == "command" && one.has("vV", &[]) {
            return None;
        }
        let found = WRAPPERS.iter().find_map(|wrapper| command_of(wrapper, one));
        if let Some(args) = found {
            let texts = own_texts(one, args);
            if texts.is_empty() {
                return self.inner(args, one, scope);
            }
            return Some(self.run_texts(texts, one, scope));
        }
        let args = ELSEWHERE.iter().find_map(|wrapper| command_of(wrapper, one))?;
        let mut inner = self.fork(scope);
        inner.is_elsewhere = true;
        if one.program == "ssh" && !args.is_empty() {
            return Some(self.unwrap(&args.join(" "), "ssh", &mut inner));
        }
        self.inner(args, one, &mut inner)
    }

    /// Runs arguments as a command. Assignments before it are taken as such.
    pub(super) fn inner(&mut self, args: &[String], one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let mut args = args;
        let mut env = Vec::new();
        while let Some((name, value)) = args.first().and_then(|arg| arg.split_once('=')) {
            if !is_name(name) {
                break;
            }
            env.push((name.to_owned(), value.to_owned()));
            args = &args[1..];
        }
        if args.is_empty() {
            return None;
        }
        if super::DEEPEST_UNWRAPPING <= scope.unwrapped {
            self.obstacle(super::Obstacle::TooDeep);
            return Some(Output::default());
        }
        scope.unwrapped += 1;
        scope.wrappers.push(one.program.clone());
        let base = Invocation { env, input: scope.input.clone(), ..invocation(scope) };
        let output = self.dispatch(args.to_vec(), base, scope);
        scope.wrappers.pop();
        scope.unwrapped -= 1;
        Some(output)
    }

    /// `find -exec`, `fd -x`: `{}` stands for something in the folders that are searched.
    fn find(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let listed = self.output(one, scope).text.unwrap_or_default();
        let found: Vec<&str> = listed.lines().collect();
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = &one.args[..];
        let mut ran = false;
        while let Some(at) = rest.iter().position(|arg| starts.contains(&arg.as_str())) {
            let command: Vec<String> =
                rest[at + 1..].iter().take_while(|arg| !matches!(arg.as_str(), ";" | "+")).cloned().collect();
            let has_place = command.iter().any(|arg| arg.contains("{}"));
            for path in &found {
                if !self.spend(1) {
                    break;
                }
                let mut args: Vec<String> = command.iter().map(|arg| arg.replace("{}", path)).collect();
                if !has_place && one.program != "find" {
                    args.push((*path).to_owned());
                }
                let mut inner = self.fork(scope);
                ran |= self.inner(&args, one, &mut inner).is_some();
            }
            rest = &rest[at + 1 + command.len()..];
        }
        ran.then(|| Output { text: None, programs: vec!["find".to_owned()] })
    }

    /// `xargs` and `parallel`: what is read becomes arguments.
    fn xargs(&mut self, one: &Invocation, scope: &mut Scope) -> Output {
        let valued = [
            "-n",
            "-P",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "-I",
            "-J",
            "-j",
            "--max-args",
            "--max-procs",
            "--delimiter",
        ];
        let command = skip_options(&one.args, &valued);
        let (command, given) = match command.iter().position(|arg| arg == ":::") {
            Some(at) => (&command[..at], command[at + 1..].to_vec()),
            None => (command, Vec::new()),
        };
        let input = &scope.input;
        let mut arguments = given;
        match &input.text {
            Some(text) => {
                arguments.extend(text::split(text, " \t\n\0").into_iter().take(32).map(str::to_owned));
            }
            None if arguments.is_empty() => {
                arguments.push(text::unknown(&format!("$({})", input.programs.join(" "))));
            }
            None => {}
        }
        let place = one.values("IJ", &["replace"]).first().map_or("{}", |place| *place).to_owned();
        let has_place = (one.has("IJi", &["replace"]) || one.program == "parallel")
            && command.iter().any(|arg| arg.contains(&place));
        let mut args: Vec<String> = Vec::new();
        if has_place {
            for value in arguments.iter().take(4) {
                let mut replaced: Vec<String> =
                    command.iter().map(|arg| arg.replace(&place, value)).collect();
                if one.program == "parallel" && command.len() == 1 {
                    replaced.splice(0..0, ["sh".to_owned(), "-c".to_owned()]);
                }
                let mut inner = self.fork(scope);
                self.inner(&replaced, one, &mut inner);
            }
            return Output { text: None, programs: vec!["xargs".to_owned()] };
        }
        args.extend(command.iter().cloned());
        if args.is_empty() {
            args.push("echo".to_owned());
        }
        args.extend(arguments);
        if one.program == "parallel" && command.len() == 1 && command[0].contains(' ') {
            args = vec!["sh".to_owned(), "-c".to_owned(), format!("{} {}", command[0], quote(&args[1..]))];
        }
        let mut inner = self.fork(scope);
        inner.input = super::Input::default();
        self.inner(&args, one, &mut inner);
        Output { text: None, programs: vec!["xargs".to_owned()] }
    }
}

/// The command in the arguments of a wrapper.
fn command_of<'a>(wrapper: &Wrapper, one: &'a Invocation) -> Option<&'a [String]> {
    if wrapper.name != one.program {
        return None;
    }
    let mut rest = skip_options(&one.args, wrapper.valued);
    if !wrapper.verb.is_empty() {
        if rest.first().is_some_and(|word| word == "compose") {
            rest = skip_options(&rest[1..], wrapper.valued);
        }
        if !wrapper.verb.split('|').any(|verb| rest.first().is_some_and(|word| word == verb)) {
            return None;
        }
        rest = skip_options(&rest[1..], wrapper.valued);
    }
    for _ in 0..wrapper.skip {
        rest = skip_options(rest.get(1..)?, wrapper.valued);
    }
    Some(rest)
}

/// The shell text in the options that stand before the command of a wrapper. What comes later are options of the command.
fn own_texts(one: &Invocation, command: &[String]) -> Vec<String> {
    let Some((_, letters, names)) = TEXT_OPTIONS.iter().find(|(name, ..)| *name == one.program) else {
        return Vec::new();
    };
    let own = one.args.len().saturating_sub(command.len());
    let own = Invocation { args: one.args[..own].to_vec(), ..Invocation::default() };
    own.values(letters, names).into_iter().map(str::to_owned).collect()
}

/// The arguments after the options at their start.
fn skip_options<'a>(args: &'a [String], valued: &[&str]) -> &'a [String] {
    let mut rest = args;
    while let Some(arg) = rest.first() {
        if arg == "--" {
            return &rest[1..];
        }
        if !arg.starts_with('-') || arg == "-" {
            return rest;
        }
        let takes_next = valued.contains(&arg.as_str());
        rest = rest.get(if takes_next { 2 } else { 1 }..).unwrap_or_default();
    }
    rest
}

/// What `setarch` may name before the command.
fn is_architecture(name: &str) -> bool {
    let families = ["linux", "uname", "i386", "i486", "i586", "i686", "x86", "arm", "aarch", "ppc", "riscv"];
    families.iter().any(|family| name.starts_with(family))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|next| next == '_' || next.is_ascii_alphanumeric())
        && !text.starts_with(|next: char| next.is_ascii_digit())
}
