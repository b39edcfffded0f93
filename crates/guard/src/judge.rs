//! The verdict on a tool call: what it would run and touch, held against every rule.

use std::borrow::Cow;

use super::{
    command::Command,
    context::Context,
    file_access::{self, Access, FileAccess},
    flatten::{self, Flattened, Obstacle},
    rules::{self, Category, Check, Rule, RuleInput, Tier},
    shell::MAX_COMMAND_LINE_LEN,
    text,
    tool_call::ToolCall,
    verdict::{Decision, Finding, Verdict},
};

/// Of a command line that would run too much, this many words are judged.
const MAX_WORDS_OF_TOO_MUCH: usize = 256;

/// A verdict names at most this many commands.
const MAX_COMMANDS_SHOWN: usize = 64;

/// A verdict has at most this many findings.
const MAX_FINDINGS: usize = 33;

/// Judges a tool call before it runs.
///
/// Nothing is run and nothing is looked up: the verdict depends on the arguments alone. It takes some microseconds for
/// what people and agents type, and at most a few milliseconds for anything; it does not panic.
pub fn judge(call: &ToolCall, ctx: &Context) -> Verdict {
    let mut findings = Findings { ctx, list: Vec::new(), commands: Vec::new() };
    findings.judge_call(call);
    findings.into_verdict()
}

/// Gathers what speaks against a call.
struct Findings<'a> {
    ctx: &'a Context,
    list: Vec<Finding>,
    commands: Vec<String>,
}

impl Findings<'_> {
    fn judge_call(&mut self, call: &ToolCall) {
        match call {
            ToolCall::Shell { command_line } if MAX_COMMAND_LINE_LEN < command_line.len() => {
                self.judge_obstacle(&Obstacle::TooMuch);
            }
            ToolCall::Shell { command_line } => {
                self.judge_flattened(&flatten::flatten(command_line, self.ctx));
            }
            ToolCall::Arguments { words } if MAX_COMMAND_LINE_LEN < words.iter().map(String::len).sum() => {
                self.judge_obstacle(&Obstacle::TooMuch);
            }
            ToolCall::Arguments { words } => {
                self.judge_flattened(&flatten::flatten_arguments(words, self.ctx));
            }
            ToolCall::Write { paths } => self.judge_files(paths, Access::Write),
            ToolCall::Read { paths } => self.judge_files(paths, Access::Read),
            ToolCall::Code { text } if MAX_COMMAND_LINE_LEN < text.len() => {
                self.judge_obstacle(&Obstacle::TooMuch);
            }
            ToolCall::Code { text } => self.judge_code(text),
            ToolCall::Unknown { tool } => self.judge_obstacle(&Obstacle::UnknownTool(tool.clone())),
            // They do not nest: an input is looked through once.
            ToolCall::Several { calls } => calls.iter().for_each(|call| self.judge_call(call)),
            ToolCall::Other => {}
        }
    }

    fn judge_flattened(&mut self, flattened: &Flattened) {
        for obstacle in &flattened.obstacles {
            self.judge_obstacle(obstacle);
        }
        // Too much is refused whatever it is; the first commands are enough to say what it was about.
        let is_too_much = flattened.obstacles.contains(&Obstacle::TooMuch);
        let mut words_left = if is_too_much { MAX_WORDS_OF_TOO_MUCH } else { usize::MAX };
        for command in &flattened.commands {
            words_left = words_left.saturating_sub(1 + command.args.len());
            if words_left == 0 {
                break;
            }
            if self.commands.len() < MAX_COMMANDS_SHOWN {
                self.commands.push(command.as_typed());
            }
            let files = file_access::accessed_files(command, self.ctx);
            self.judge_command(&RuleInput::new(command, &files, self.ctx));
        }
    }

    /// Code whose language is not known is judged as what it most often is. Text that no shell could read is no shell's.
    fn judge_code(&mut self, text: &str) {
        for program in [["python3", "-c"], ["node", "-e"]] {
            let words: Vec<String> = program.into_iter().chain([text]).map(str::to_owned).collect();
            self.judge_flattened(&flatten::flatten_arguments(&words, self.ctx));
        }
        let as_shell = flatten::flatten(text, self.ctx);
        if as_shell.obstacles.is_empty() {
            self.judge_flattened(&as_shell);
        }
    }

    fn judge_files(&mut self, paths: &[String], access: Access) {
        let command = Command { cwd: self.ctx.cwd.clone(), ..Command::default() };
        let whole = |path: &String| FileAccess {
            path: command.resolve_path(&text::without_marks(path), self.ctx),
            access,
        };
        let files: Vec<FileAccess> = paths.iter().map(whole).collect();
        self.judge_command(&RuleInput::new(&command, &files, self.ctx));
    }

    fn judge_command(&mut self, input: &RuleInput<'_>) {
        for rule in rules::all() {
            if let Some(found) = rule.find(input) {
                self.add(rule, &found);
            }
        }
        for rule in &self.ctx.own_rules {
            if let Some(found) = rules::own::find(rule, input) {
                let (id, instead) = (rule.id.clone().into(), rule.instead.clone().into());
                self.add_finding((id, Category::Own, rule.tier), &found, instead);
            }
        }
    }

    fn judge_obstacle(&mut self, obstacle: &Obstacle) {
        for rule in rules::all() {
            if let Check::Obstacle(check) = rule.check
                && let Some(found) = check(obstacle)
            {
                self.add(rule, &found);
            }
        }
    }

    fn add(&mut self, rule: &'static Rule, found: &str) {
        self.add_finding((rule.id.into(), rule.category, rule.tier), found, rule.instead.into());
    }

    fn add_finding(
        &mut self,
        rule: (Cow<'static, str>, Category, Tier),
        found: &str,
        instead: Cow<'static, str>,
    ) {
        let found = text::for_display(found);
        let (rule, category, tier) = rule;
        if MAX_FINDINGS <= self.list.len()
            || self.list.iter().any(|finding| finding.rule == rule && finding.found == found)
        {
            return;
        }
        let is_allowed = self.ctx.allowed_rules.iter().any(|id| *id == rule);
        self.list.push(Finding { rule, category, tier, found, instead, is_allowed });
    }

    fn into_verdict(mut self) -> Verdict {
        self.list.sort_by_key(|finding| (finding.is_allowed, finding.tier == Tier::Warn));
        let decision = match self.list.first() {
            Some(Finding { is_allowed: false, tier: Tier::Block, .. }) => Decision::Block,
            Some(Finding { is_allowed: false, tier: Tier::Warn, .. }) => Decision::Warn,
            _ => Decision::Allow,
        };
        Verdict { decision, findings: self.list, commands: self.commands }
    }
}
