//! Files that are run as scripts: what is known of their contents is judged.

use std::{collections::BTreeMap, rc::Rc};

use super::{Flattener, Obstacle, Output, Scope};
use crate::{
    command::{Command, FileRedirect},
    programs,
    shell::{List, RedirectKind},
    text::{self, is_known},
};

/// Programs whose output is meant to be evaluated by a shell.
const INITIALIZERS: [&str; 24] = [
    "ssh-agent",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "jenv",
    "mise",
    "rtx",
    "asdf",
    "fnm",
    "conda",
    "micromamba",
    "opam",
    "brew",
    "starship",
    "zoxide",
    "luarocks",
    "dircolors",
    "minikube",
    "docker-machine",
    "kubectl",
    "ralph",
    "register-python-argcomplete",
    "resize",
];

/// Programs that take statements for a database from files.
const QUERY_CLIENTS: [&str; 12] = [
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "duckdb",
    "mongosh",
    "mongo",
    "cqlsh",
    "clickhouse-client",
    "sqlcmd",
    "snowsql",
    "cypher-shell",
];

/// Whether text from this source is meant to be evaluated.
pub(super) fn is_initializer(source: &str) -> bool {
    let mut words = programs::programs_in(source).peekable();
    // What is read from nowhere else, `$()`, is typed later.
    words.peek().is_some() && words.all(|word| INITIALIZERS.contains(&word))
}

/// How much of a file that is written is remembered. A longer script is as unknown as one that was there before.
const MAX_SCRIPT_LEN: usize = 4096;

/// What is known of the contents of files. They outlive the shell that wrote them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FileContents {
    /// Every text that a file may hold, by its path. Process substitutions go by how they are marked.
    texts: BTreeMap<String, Vec<Rc<str>>>,
    /// The scripts that are being run.
    running: Vec<String>,
    /// Named pipes that were made.
    pipes: Vec<String>,
}

impl FileContents {
    /// Another text that a file may hold.
    fn add(&mut self, path: &str, text: &str) {
        let texts = self.texts.entry(path.to_owned()).or_default();
        if texts.len() < 16 && !texts.iter().any(|known| **known == *text) {
            texts.push(Rc::from(text));
        }
    }

    /// A named pipe is made.
    pub(super) fn add_pipe(&mut self, path: String) {
        if self.pipes.len() < 16 {
            self.pipes.push(path);
        }
    }

    /// Whether any named pipe was made.
    pub(super) fn has_pipes(&self) -> bool {
        !self.pipes.is_empty()
    }

    /// Whether what is read from a path comes from another process, now or later.
    pub(super) fn is_pipe(&self, path: &str) -> bool {
        let is_open = path.starts_with("/dev/fd/") || path.starts_with("/proc/") && path.contains("/fd/");
        let is_network = path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
        (is_open || is_network || self.pipes.iter().any(|pipe| pipe == path))
            && !programs::TYPED.contains(&path)
            && !self.texts.contains_key(path)
    }

    /// A file is written.
    pub(super) fn write(&mut self, path: &str, text: &str, appends: bool) {
        let is_blank = text::known_parts(text).trim().is_empty();
        if path.starts_with("/dev/") || MAX_SCRIPT_LEN < text.len() || is_blank {
            return;
        }
        let before = self.texts.get_mut(path).filter(|_| appends).and_then(|texts| texts.last_mut());
        match before {
            Some(before) if before.len() + text.len() <= MAX_SCRIPT_LEN => {
                *before = Rc::from(format!("{before}{text}"));
            }
            _ => self.add(path, text),
        }
    }
}

impl Flattener<'_> {
    /// Every text that a file may hold, as far as any is known.
    pub(super) fn known_texts(&self, file: &str, scope: &Scope) -> Vec<Rc<str>> {
        let all = &self.files.texts;
        all.get(file)
            .or_else(|| all.get(&scope.resolve_path(file, &self.ctx.home)))
            .cloned()
            .unwrap_or_default()
    }

    /// Remembers what a command wrote to a file instead of its output.
    pub(super) fn remember_output(&mut self, output: Output, file: Option<FileRedirect>) -> Output {
        let Some(file) = file else { return output };
        if let Some(text) = output.text {
            self.files.write(&file.path, &text, file.kind == RedirectKind::Append);
        }
        Output { text: Some(String::new()), programs: output.programs }
    }

    /// `<(...)`: a file that holds what the commands write. `>(...)` is one that they read.
    pub(super) fn follow_process(&mut self, list: &List, is_output: bool, scope: &Scope) -> String {
        let start = self.flattened.commands.len();
        let mut inner = self.fork(scope);
        let output = self.follow_list(list, &mut inner);
        let mark = text::unknown(&format!("<({})", output.programs.join(" ")));
        let ran = self.flattened.commands.get(start..).unwrap_or_default();
        let is_completion = !ran.is_empty() && ran.iter().all(prints_completions);
        let text = output.text.or_else(|| is_completion.then(String::new));
        if let Some(text) = text.filter(|_| !is_output) {
            self.files.add(&mark, &text);
        }
        mark
    }

    /// A file with statements for a database that was just written counts as what the client reads.
    pub(super) fn read_queries(&self, command: &mut Command, scope: &Scope) {
        if command.stdin.text.is_some() || !QUERY_CLIENTS.contains(&command.program.as_str()) {
            return;
        }
        let named = command.values("fi", &["file", "init", "input-file", "queries-file"]);
        let scripts = command.args.iter().map(String::as_str).filter(|arg| arg.strip_suffix(".js").is_some());
        let read = command.stdin.file.as_deref();
        let texts =
            named.into_iter().chain(scripts).chain(read).flat_map(|file| self.known_texts(file, scope));
        let text = texts.map(|text| text.to_string()).collect::<Vec<_>>().join("\n");
        command.stdin.text = Some(text).filter(|text| !text.is_empty());
    }

    /// How a file that was just written is run by its name: by the program that its first line names, or else by a shell.
    pub(super) fn script_words(&self, command: &Command, scope: &Scope) -> Option<Vec<String>> {
        let texts = if command.spelled.contains('/') {
            self.known_texts(&command.spelled, scope)
        } else {
            Vec::new()
        };
        let first = texts.last()?.lines().next().unwrap_or_default();
        let named = first.strip_prefix("#!").map(|line| line.split_whitespace().map(str::to_owned).collect());
        let mut words: Vec<String> = named.unwrap_or_else(|| vec!["sh".to_owned()]);
        words.push(command.spelled.clone());
        words.extend(command.args.iter().cloned());
        Some(words)
    }

    /// A file is run as a script.
    pub(super) fn follow_file(&mut self, file: &str, command: &Command, scope: &mut Scope) -> Output {
        let unknown = Output { text: None, programs: vec![command.program.clone()] };
        let path = scope.resolve_path(file, &self.ctx.home);
        if text::sources(file).any(programs::is_fetched) || scope.downloads.contains(&path) {
            self.add_obstacle(Obstacle::FetchedCode(text::for_display(file)));
            return unknown;
        }
        let texts = self.known_texts(file, scope);
        if self.files.running.contains(&path) {
            if scope.in_background || scope.in_pipe {
                self.add_obstacle(Obstacle::ForkBomb(text::for_display(file)));
            }
            return unknown;
        }
        self.files.running.push(path.clone());
        // What counts is how the script starts itself, not how it was started.
        let was = (scope.in_background, scope.in_pipe);
        (scope.in_background, scope.in_pipe) = (false, false);
        let mut outputs: Vec<Output> =
            texts.iter().map(|text| self.follow_if_known(text, &command.program, scope)).collect();
        (scope.in_background, scope.in_pipe) = was;
        self.files.running.pop();
        if texts.is_empty() && (self.files.is_pipe(&path) || text::sources(file).any(is_unknown_code)) {
            self.add_obstacle(Obstacle::DynamicCode(text::for_display(&command.as_typed())));
        }
        outputs.pop().filter(|_| outputs.is_empty()).unwrap_or(unknown)
    }
}

/// Whether text from this source is code that no one has seen: it was decoded, or a command made it up.
fn is_unknown_code(source: &str) -> bool {
    let mut made = programs::programs_in(source).filter(|word| *word != "cat");
    programs::is_decoded(source)
        || (source.starts_with("<(") && made.next().is_some() && !is_initializer(source))
}

/// `gh completion bash`, `just --completions bash`: programs that print what a shell is to know about them.
fn prints_completions(command: &Command) -> bool {
    !programs::is_fetched(&command.program)
        && !programs::is_decoded(&command.program)
        && command
            .args
            .iter()
            .any(|arg| arg.trim_start_matches('-').starts_with("completion") && is_known(arg))
}
