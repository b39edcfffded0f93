//! What a command line would really run: every command with its arguments, redirections and input, however it is
//! wrapped, quoted, stored in variables or passed to another shell.
//!
//! Branches are all taken, loops are gone through once for every known value, functions are entered where they are called.
//! What cannot be known is marked as such in the text and left to the rules.

mod brace;
mod builtins;
mod code;
mod expand;
mod files;
mod listed;
mod output;
mod parameter;
mod scope;
mod simple;
#[cfg(test)]
mod tests;
mod wrappers;

use super::{
    command::{Command, Stdin},
    context::Context,
    shell::{self, List, MAX_NESTING, ParseError, Pipeline, Stage, StageKind},
    text,
};
pub(crate) use builtins::is_loopback;
use files::FileContents;
pub(crate) use listed::OF_OTHERS;
use scope::Scope;
use simple::command_in;

/// How often text may become commands: `sh -c` in `eval` in `xargs` ...
const MAX_UNWRAPPINGS: usize = 8;

/// How much work one judgement may be. A command line that people or agents write takes some hundreds.
const MAX_WORK: usize = 1_000;

/// No value and no inline code may be longer than this, however often variables are put into each other.
const MAX_VALUE_LEN: usize = 16 * 1024;

/// A loop over so many values is judged by the first ones, and is as good as endless.
const MAX_LOOP_VALUES: usize = 64;

/// A loop over so many numbers counts: if two rounds leave the shell as it was, so does each.
const MIN_COUNTED: usize = 9;

/// Everything that would run.
#[derive(Debug, Default)]
pub(crate) struct Flattened {
    pub(crate) commands: Vec<Command>,
    /// What stands against judging it at all.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// Why a part of a command line cannot be judged, or what its shape alone says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The reader gave up; with what it expected.
    Unreadable(&'static str),
    /// Brackets nest too deep, or text became commands too often.
    TooDeep,
    /// Too much would run to follow it.
    TooMuch,
    /// A function or a script starts itself in a pipeline or in the background.
    ForkBomb(String),
    /// A program whose name is not known; with what it is.
    DynamicProgram(String),
    /// A shell or interpreter gets code that is not known; with where it comes from.
    DynamicCode(String),
    /// A shell or interpreter gets code from the network.
    FetchedCode(String),
    /// A tool of which no one knows what it does.
    UnknownTool(String),
}

/// Flattens a command line that is typed in the working directory of `ctx`.
pub(crate) fn flatten(command_line: &str, ctx: &Context) -> Flattened {
    let mut flattener = Flattener {
        ctx,
        flattened: Flattened::default(),
        work_left: MAX_WORK,
        traps: Vec::new(),
        files: FileContents::default(),
    };
    let mut scope = Scope { cwd: ctx.cwd.clone(), ..Scope::default() };
    flattener.follow_text(&text::without_marks(command_line), &mut scope);
    for code in std::mem::take(&mut flattener.traps) {
        flattener.follow_unwrapped(&code, "trap", &mut scope);
    }
    flattener.flattened
}

/// Flattens a command that is given as its arguments.
pub(crate) fn flatten_arguments(words: &[String], ctx: &Context) -> Flattened {
    let mut flattener = Flattener {
        ctx,
        flattened: Flattened::default(),
        work_left: MAX_WORK,
        traps: Vec::new(),
        files: FileContents::default(),
    };
    let mut scope = Scope { cwd: ctx.cwd.clone(), ..Scope::default() };
    let words = words.iter().map(|word| text::without_marks(word)).collect();
    flattener.follow_words(words, Command::default(), &mut scope);
    flattener.flattened
}

/// What commands write to standard output.
#[derive(Clone, Debug, Default)]
struct Output {
    /// What is known of it.
    text: Option<String>,
    /// The programs it went through.
    programs: Vec<String>,
}

struct Flattener<'a> {
    ctx: &'a Context,
    flattened: Flattened,
    work_left: usize,
    /// What runs when the shell ends, with the variables that are set then.
    traps: Vec<String>,
    files: FileContents,
}

impl Flattener<'_> {
    fn add_obstacle(&mut self, obstacle: Obstacle) {
        if obstacle == Obstacle::TooMuch {
            self.work_left = 0;
        }
        if !self.flattened.obstacles.contains(&obstacle) {
            self.flattened.obstacles.push(obstacle);
        }
    }

    /// Uses up a part of the budget; says whether anything is left.
    fn spend(&mut self, amount: usize) -> bool {
        self.work_left = self.work_left.saturating_sub(amount);
        if self.work_left == 0 {
            self.add_obstacle(Obstacle::TooMuch);
        }
        0 < self.work_left
    }

    /// A copy for a subshell.
    fn fork(&mut self, scope: &Scope) -> Scope {
        self.spend(1 + (scope.variables.len() + scope.links.len() + scope.positional.len()) / 8);
        scope.clone()
    }

    /// Reads text as commands.
    fn follow_text(&mut self, text: &str, scope: &mut Scope) -> Output {
        if !self.spend(1 + text.len() / 64) {
            return Output::default();
        }
        match shell::parse(text, scope.nesting) {
            Ok(list) => self.follow_list(&list, scope),
            Err(ParseError::TooDeep) => {
                self.add_obstacle(Obstacle::TooDeep);
                Output::default()
            }
            Err(ParseError::TooMuch) => {
                self.add_obstacle(Obstacle::TooMuch);
                Output::default()
            }
            Err(ParseError::Syntax(expected)) => {
                self.add_obstacle(Obstacle::Unreadable(expected));
                Output::default()
            }
        }
    }

    /// Reads text as commands where another command was told to.
    fn follow_unwrapped(&mut self, code: &str, wrapper: &str, scope: &mut Scope) -> Output {
        if MAX_UNWRAPPINGS <= scope.unwrappings {
            self.add_obstacle(Obstacle::TooDeep);
            return Output::default();
        }
        scope.unwrappings += 1;
        scope.wrappers.push(wrapper.to_owned());
        let output = self.follow_text(code, scope);
        scope.wrappers.pop();
        scope.unwrappings -= 1;
        output
    }

    fn follow_list(&mut self, list: &List, scope: &mut Scope) -> Output {
        if MAX_NESTING <= scope.nesting {
            self.add_obstacle(Obstacle::TooDeep);
            return Output::default();
        }
        scope.nesting += 1;
        let mut all = Output { text: Some(String::new()), programs: Vec::new() };
        for pipeline in list {
            if !self.spend(1) {
                break;
            }
            let output = self.follow_pipeline(pipeline, scope);
            all.programs.extend(output.programs);
            all.text = match (all.text, output.text) {
                (Some(before), Some(after)) if before.len() < 4096 => Some(before + &after),
                _ => None,
            };
        }
        scope.nesting -= 1;
        all
    }

    fn follow_pipeline(&mut self, pipeline: &Pipeline, scope: &mut Scope) -> Output {
        let was = scope.in_background;
        scope.in_background |= pipeline.in_background;
        let output = match &pipeline.stages[..] {
            [stage] if !pipeline.in_background => self.follow_stage(stage, scope),
            [stage] => {
                let mut inner = self.fork(scope);
                self.follow_stage(stage, &mut inner)
            }
            stages => self.follow_stages(stages, scope),
        };
        scope.in_background = was;
        if pipeline.in_background { Output { text: Some(String::new()), ..output } } else { output }
    }

    /// Each stage reads what the one before it wrote. Each has a shell of its own.
    fn follow_stages(&mut self, stages: &[Stage], scope: &Scope) -> Output {
        let start = self.flattened.commands.len();
        let mut starts = Vec::new();
        let mut output = Output::default();
        for (index, stage) in stages.iter().enumerate() {
            if !self.spend(1) {
                break;
            }
            let mut inner = self.fork(scope);
            inner.in_pipe = true;
            starts.push(self.flattened.commands.len());
            if 0 < index {
                inner.stdin = Stdin { text: output.text, programs: output.programs.clone(), file: None };
            }
            let mut next = self.follow_stage(stage, &mut inner);
            if 0 < index {
                let mut programs = output.programs;
                programs.append(&mut next.programs);
                next.programs = programs;
            }
            output = next;
        }
        self.connect(start, &starts);
        output
    }

    /// Tells the commands of a pipeline what comes after them.
    fn connect(&mut self, start: usize, starts: &[usize]) {
        let next: Vec<String> = starts
            .iter()
            .map(|at| self.flattened.commands.get(*at).map(Command::as_typed).unwrap_or_default())
            .collect();
        for (at, command) in self.flattened.commands.iter_mut().enumerate().skip(start) {
            command.is_piped = true;
            let stage = starts.iter().filter(|start| **start <= at).count();
            if command.feeds.is_empty() {
                command.feeds = next.get(stage..).unwrap_or_default().to_vec();
            }
        }
    }

    fn follow_stage(&mut self, stage: &Stage, scope: &mut Scope) -> Output {
        if let StageKind::Simple(simple) = &stage.kind {
            return self.follow_simple(simple, &stage.redirects, scope);
        }
        let outer = scope.stdin.clone();
        let redirects = self.resolve_redirects(&stage.redirects, scope);
        if let Some(stdin) = redirects.stdin {
            scope.stdin = stdin;
        }
        if !redirects.files.is_empty() {
            let command = Command { redirects: redirects.files, ..command_in(scope) };
            self.flattened.commands.push(command);
        }
        let output = self.follow_compound(&stage.kind, scope);
        scope.stdin = outer;
        self.remember_output(output, redirects.output)
    }

    fn follow_compound(&mut self, kind: &StageKind, scope: &mut Scope) -> Output {
        match kind {
            StageKind::Simple(simple) => self.follow_simple(simple, &[], scope),
            StageKind::Group(list) => self.follow_list(list, scope),
            StageKind::Subshell(list) => {
                let mut inner = self.fork(scope);
                self.follow_list(list, &mut inner)
            }
            StageKind::For { name, words, body } => self.follow_for(name, words.as_deref(), body, scope),
            StageKind::Loop { condition, body } => self.follow_while(condition, body, scope),
            StageKind::If { conditions, branches } => {
                for condition in conditions {
                    self.follow_list(condition, scope);
                }
                self.follow_branches(branches, scope)
            }
            StageKind::Case { word, branches } => {
                self.expand(word, scope);
                self.follow_branches(branches, scope)
            }
            StageKind::Function { name, body } => {
                scope.functions.insert(name.clone(), std::rc::Rc::clone(body));
                Output { text: Some(String::new()), ..Output::default() }
            }
            StageKind::Test(words) => {
                for word in words {
                    self.expand(word, scope);
                }
                Output { text: Some(String::new()), ..Output::default() }
            }
        }
    }

    /// Takes every branch from the same start and joins what they leave behind.
    fn follow_branches(&mut self, branches: &[List], scope: &mut Scope) -> Output {
        let before = self.fork(scope);
        let mut programs = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let mut inner = self.fork(&before);
            programs.extend(self.follow_list(branch, &mut inner).programs);
            if index == 0 && 1 < branches.len() {
                *scope = inner;
            } else {
                scope.merge(inner);
            }
        }
        Output { text: None, programs }
    }

    fn follow_for(
        &mut self,
        name: &str,
        words: Option<&[shell::Word]>,
        body: &List,
        scope: &mut Scope,
    ) -> Output {
        let values: Vec<String> = match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word, scope)).collect(),
            None => scope.positional.clone(),
        };
        let mut all = Output::default();
        let mut texts = Some(String::new());
        let was = scope.is_endless;
        scope.is_endless |= MAX_LOOP_VALUES <= values.len();
        let is_counted =
            MIN_COUNTED <= values.len() && values.iter().all(|value| is_number(value) || *value == values[0]);
        let count = values.len();
        let mut values = values.into_iter();
        // The last round is for all that are left at once: any of them may be the one that counts.
        let rounds = values.by_ref().take(MAX_LOOP_VALUES).map(|value| vec![value]).collect::<Vec<_>>();
        let rest = values.collect::<Vec<_>>();
        let mut last = None;
        for (round, values) in rounds.into_iter().chain((!rest.is_empty()).then_some(rest)).enumerate() {
            scope.variables.insert(name.to_owned(), values);
            let before = (is_counted && round == 1).then(|| (scope.clone(), self.files.clone()));
            let output = self.follow_list(body, scope);
            all.programs.extend(output.programs);
            let is_same = before.is_some_and(|(shell, files)| scope.is_as(&shell) && self.files == files)
                && (output.text == last || !scope.in_pipe);
            if is_same {
                let once = output.text.filter(|text| Some(text) == last.as_ref());
                texts = once.filter(|text| text.len() < 64).map(|text| text.repeat(count));
                break;
            }
            last.clone_from(&output.text);
            texts = texts.zip(output.text).map(|(before, after)| before + &after);
        }
        scope.is_endless = was;
        Output { text: texts, ..all }
    }

    fn follow_while(&mut self, condition: &List, body: &List, scope: &mut Scope) -> Output {
        let start = self.flattened.commands.len();
        self.follow_list(condition, scope);
        let condition = &self.flattened.commands[start..];
        let is_endless = !condition.is_empty() && condition.iter().all(Command::is_always_true);
        let was = scope.is_endless;
        scope.is_endless |= is_endless;
        let output = self.follow_list(body, scope);
        scope.is_endless = was;
        Output { text: None, programs: output.programs }
    }
}

fn is_number(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit())
}
