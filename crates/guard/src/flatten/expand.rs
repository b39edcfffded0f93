//! Words to the arguments they become.

use super::{Flattener, MAX_VALUE_LEN, Obstacle, Output, Scope, brace};
use crate::{
    shell::{List, Word, WordPart},
    text,
};

/// No word becomes more arguments than this.
const MAX_FIELDS: usize = 256;

impl Flattener<'_> {
    /// The arguments that a word becomes.
    pub(super) fn expand(&mut self, word: &Word, scope: &mut Scope) -> Vec<String> {
        let mut fields = Vec::new();
        if self.work_left == 0 {
            // It is too much already.
            return fields;
        }
        let Some(words) = brace::expand_braces(word) else {
            self.add_obstacle(Obstacle::TooMuch);
            return fields;
        };
        for word in words {
            if self.spend(1) {
                fields.extend(self.expand_one(&word, scope));
            }
        }
        if MAX_FIELDS < fields.len() {
            self.add_obstacle(Obstacle::TooMuch);
        }
        fields
    }

    /// The one text that a word becomes where it is not split, such as a value or the target of a redirection.
    pub(super) fn expand_whole(&mut self, word: &Word, scope: &mut Scope) -> String {
        let mut fields = Fields::new(false);
        for (at, part) in word.parts.iter().enumerate() {
            self.expand_part(part, at == 0, &mut fields, scope);
        }
        self.finish_fields(fields).join(" ")
    }

    fn expand_one(&mut self, word: &Word, scope: &mut Scope) -> Vec<String> {
        let mut fields = Fields::new(true);
        if let Some(values) = scope.variables.get("IFS")
            && let [separators] = &values[..]
        {
            fields.separators.clone_from(separators);
        }
        for (at, part) in word.parts.iter().enumerate() {
            self.expand_part(part, at == 0, &mut fields, scope);
        }
        self.finish_fields(fields)
    }

    fn finish_fields(&mut self, fields: Fields) -> Vec<String> {
        let is_too_long = fields.is_too_long;
        let fields = fields.finish();
        if is_too_long || MAX_FIELDS < fields.len() {
            self.add_obstacle(Obstacle::TooMuch);
        }
        self.spend(fields.iter().map(String::len).sum::<usize>() / 512);
        fields
    }

    fn expand_part(&mut self, part: &WordPart, is_first: bool, fields: &mut Fields, scope: &mut Scope) {
        match part {
            WordPart::Plain(text) if is_first => fields.push(&self.expand_tilde(text, scope)),
            WordPart::Plain(text) => fields.push(text),
            WordPart::Quoted(text) => {
                fields.is_quoted = true;
                fields.push(text);
            }
            WordPart::Parameter(parameter) => {
                let values = self.expand_parameter(parameter, scope);
                fields.push_values(&values, parameter.quoted);
            }
            WordPart::Substitution { list, quoted } => {
                let value = self.expand_substitution(list, scope);
                fields.push_values(&[value], *quoted);
            }
            WordPart::Backquoted { text, quoted } => {
                let mut inner = self.fork(scope);
                let output = self.follow_unwrapped(text, "`...`", &mut inner);
                fields.push_values(&[substituted_text(output)], *quoted);
            }
            WordPart::Process { list, is_output } => {
                fields.is_quoted = true;
                fields.push(&self.follow_process(list, *is_output, scope));
            }
            WordPart::Arithmetic(word) => {
                self.expand_whole(word, scope);
                fields.push(&text::unknown("a number"));
            }
            WordPart::Array(words) => {
                let values = words.iter().flat_map(|word| self.expand(word, scope)).collect::<Vec<_>>();
                fields.push(&values.join(" "));
            }
        }
    }

    fn expand_substitution(&mut self, list: &List, scope: &Scope) -> String {
        let mut inner = self.fork(scope);
        substituted_text(self.follow_list(list, &mut inner))
    }

    /// `~`, `~/...`, `~name`, `~+`.
    fn expand_tilde(&self, text: &str, scope: &Scope) -> String {
        let Some(rest) = text.strip_prefix('~') else { return text.to_owned() };
        let (name, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        match name {
            "" => format!("{}{path}", self.ctx.home),
            "+" => format!("{}{path}", scope.cwd),
            "-" => format!("{}{path}", text::unknown("$OLDPWD")),
            "root" => format!("/root{path}"),
            _ if name.chars().all(|next| next.is_ascii_alphanumeric() || "-_.".contains(next)) => {
                format!("/home/{name}{path}")
            }
            _ => text.to_owned(),
        }
    }
}

/// What a substitution is replaced with.
fn substituted_text(output: Output) -> String {
    match output.text {
        Some(text) => text.trim_end_matches('\n').to_owned(),
        None => text::unknown(&format!("$({})", output.programs.join(" "))),
    }
}

/// Arguments in the making.
struct Fields {
    done: Vec<String>,
    /// Every text that the argument in the making may have.
    open: Vec<String>,
    is_quoted: bool,
    is_too_long: bool,
    splits: bool,
    separators: String,
}

impl Fields {
    fn new(splits: bool) -> Self {
        Self {
            done: Vec::new(),
            open: vec![String::new()],
            is_quoted: false,
            is_too_long: false,
            splits,
            separators: " \t\n".to_owned(),
        }
    }

    fn push(&mut self, text: &str) {
        for open in &mut self.open {
            if MAX_VALUE_LEN.max(text.len()) < open.len() + text.len() {
                self.is_too_long = true;
            } else {
                open.push_str(text);
            }
        }
    }

    fn push_values(&mut self, values: &[String], quoted: bool) {
        self.is_quoted |= quoted && !values.is_empty();
        if quoted || !self.splits {
            let mut open = Vec::new();
            self.is_too_long |= MAX_FIELDS < self.open.len().saturating_mul(values.len());
            for start in &self.open {
                for value in values.iter().take(MAX_FIELDS.saturating_sub(open.len())) {
                    if MAX_VALUE_LEN < start.len() + value.len() && !start.is_empty() {
                        self.is_too_long = true;
                    } else {
                        open.push(format!("{start}{value}"));
                    }
                }
            }
            if !open.is_empty() {
                self.open = open;
            }
            return;
        }
        let starts = std::mem::take(&mut self.open);
        for start in &starts {
            for value in values {
                if self.open.len() <= MAX_FIELDS {
                    self.push_split(start, value);
                }
            }
        }
        self.is_too_long |= MAX_FIELDS < self.open.len();
        if self.open.is_empty() {
            self.open = starts;
        }
    }

    fn push_split(&mut self, start: &str, value: &str) {
        if MAX_VALUE_LEN < start.len() + value.len() && !start.is_empty() {
            self.is_too_long = true;
            return;
        }
        let pieces = text::split(value, &self.separators);
        let begins = value.starts_with(|next| self.separators.contains(next));
        let ends = value.ends_with(|next| self.separators.contains(next));
        let mut current = start.to_owned();
        if begins && !current.is_empty() {
            self.done.push(std::mem::take(&mut current));
        }
        for (at, piece) in pieces.iter().enumerate() {
            if MAX_FIELDS < self.done.len() {
                self.is_too_long = true;
                return;
            }
            if 0 < at {
                self.done.push(std::mem::take(&mut current));
            }
            current.push_str(piece);
        }
        if ends && !current.is_empty() {
            self.done.push(std::mem::take(&mut current));
        }
        self.open.push(current);
    }

    fn finish(mut self) -> Vec<String> {
        let keeps_empty = self.is_quoted && self.done.is_empty();
        self.done.extend(self.open.into_iter().filter(|text| keeps_empty || !text.is_empty()));
        self.done
    }
}
