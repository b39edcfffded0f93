//! Files that are run as scripts: what is known of their contents is judged.

use std::rc::Rc;

use super::{Flattener, Obstacle, Output, Scope};
use crate::guard::{
    invocation::Invocation,
    programs,
    shell::List,
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

/// Whether text from this source is meant to be evaluated.
pub(super) fn is_initializer(source: &str) -> bool {
    programs::words(source).all(|word| INITIALIZERS.contains(&word))
}

impl Flattener<'_> {
    /// `<(...)`: a file that holds what the commands write. `>(...)` is one that they read.
    pub(super) fn process(&mut self, list: &List, is_output: bool, scope: &mut Scope) -> String {
        let start = self.flat.invocations.len();
        let mut inner = self.fork(scope);
        let output = self.list(list, &mut inner);
        let mark = text::unknown(&format!("<({})", output.programs.join(" ")));
        let ran = self.flat.invocations.get(start..).unwrap_or_default();
        let is_completion = !ran.is_empty() && ran.iter().all(prints_completions);
        let text = output.text.or_else(|| is_completion.then(String::new));
        if let Some(text) = text.filter(|_| !is_output) {
            scope.add_file(&mark, Rc::from(text));
        }
        mark
    }

    /// A file is run as a script.
    pub(super) fn run_file(&mut self, file: &str, one: &Invocation, scope: &mut Scope) -> Output {
        let unknown = Output { text: None, programs: vec![one.program.clone()] };
        let path = scope.path(file, &self.ctx.home);
        if text::sources(file).any(programs::is_fetched) || scope.downloads.contains(&path) {
            self.obstacle(Obstacle::FetchedCode(text::shown(file)));
            return unknown;
        }
        let texts = scope.texts(file, &self.ctx.home);
        if let [text] = &texts[..] {
            return self.text_to_run(text, &one.program, scope);
        }
        for text in &texts {
            self.text_to_run(text, &one.program, scope);
        }
        if texts.is_empty() && text::sources(file).any(is_unknown_code) {
            self.obstacle(Obstacle::DynamicCode(text::shown(&one.shown())));
        }
        unknown
    }
}

/// Whether text from this source is code that nobody has seen: it was decoded, or a command made it up.
fn is_unknown_code(source: &str) -> bool {
    let mut made = programs::words(source).filter(|word| *word != "cat");
    programs::is_decoded(source)
        || (source.starts_with("<(") && made.next().is_some() && !is_initializer(source))
}

/// `gh completion bash`, `just --completions bash`: programs that print what a shell is to know about them.
fn prints_completions(one: &Invocation) -> bool {
    !programs::is_fetched(&one.program)
        && !programs::is_decoded(&one.program)
        && one.args.iter().any(|arg| arg.trim_start_matches('-').starts_with("completion") && is_known(arg))
}
