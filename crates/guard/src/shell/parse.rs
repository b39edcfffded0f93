//! Lists, pipelines and simple commands.

use super::{
    List, MAX_COMMAND_LINE_LEN, MAX_NESTING, MAX_NODES, ParseError, Pipeline, Redirect, SimpleCommand, Stage,
    StageKind, Word, WordPart, heredoc::PendingHeredoc,
};

/// Reads a script. `depth` is how deep it is nested in what is around it.
pub(crate) fn parse(text: &str, depth: usize) -> Result<List, ParseError> {
    let mut parser = Parser::new(text, depth);
    let list = parser.parse_list(&[])?;
    if parser.peek().is_some() {
        return Err(ParseError::Syntax("a command"));
    }
    Ok(list)
}

/// Words that begin or end compound commands where a command is expected.
const CLOSING_WORDS: [&str; 7] = ["then", "elif", "else", "fi", "do", "done", "esac"];

/// Where the reader is.
pub(super) struct Parser {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    /// How many words, commands, redirections and substitutions may still come.
    nodes_left: usize,
    /// How many characters may still be looked at ahead of reading them.
    pub(super) lookahead_left: usize,
    /// Here-documents whose lines are still to come.
    pub(super) pending: Vec<PendingHeredoc>,
}

impl Parser {
    pub(super) fn new(text: &str, depth: usize) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            depth,
            nodes_left: MAX_NODES,
            lookahead_left: MAX_COMMAND_LINE_LEN,
            pending: Vec::new(),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn is_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, expected)| self.peek_at(ahead) == Some(expected))
    }

    /// Goes over this text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &'static str) -> Result<(), ParseError> {
        if self.eat(text) { Ok(()) } else { Err(ParseError::Syntax(text)) }
    }

    /// Reads something that is nested one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if MAX_NESTING <= self.depth {
            return Err(ParseError::TooDeep);
        }
        self.count_node()?;
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Counts something that has been read.
    pub(super) fn count_node(&mut self) -> Result<(), ParseError> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(ParseError::TooMuch)?;
        Ok(())
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|next| next != '\n') {
            self.at += 1;
        }
    }

    /// Goes over white space, newlines and the here-documents that follow them.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some('\n') {
                return;
            }
            self.at += 1;
            self.parse_heredocs();
        }
    }

    /// The word of the grammar that comes next, such as `then`, without going over it.
    pub(super) fn reserved_word(&self) -> Option<String> {
        let word: String = self.text[self.at..]
            .iter()
            .take(9)
            .take_while(|next| next.is_ascii_lowercase() || "!{}[]".contains(**next))
            .collect();
        let after = self.text.get(self.at + word.len()).copied();
        let ends = after.is_none_or(is_separator);
        (!word.is_empty() && ends).then_some(word)
    }

    pub(super) fn expect_reserved(&mut self, word: &'static str) -> Result<(), ParseError> {
        self.skip_lines();
        if self.reserved_word().as_deref() == Some(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(ParseError::Syntax(word))
    }

    /// Reads commands until the text, a bracket or one of these words ends them.
    pub(super) fn parse_list(&mut self, ends: &[&str]) -> Result<List, ParseError> {
        let mut list = List::new();
        loop {
            self.skip_lines();
            if self.is_at_end_of_list(ends) {
                return Ok(list);
            }
            let mut pipeline = self.parse_pipeline()?;
            self.skip_blanks();
            let connects = self.eat("&&") || self.eat("||");
            if connects {
                self.skip_lines();
                if self.is_at_end_of_list(ends) {
                    return Err(ParseError::Syntax("a command"));
                }
            } else if !self.is_at(";;") && !self.is_at(";&") {
                pipeline.in_background = self.peek() == Some('&');
                let _ = self.eat(";") || self.eat("&");
            }
            list.push(pipeline);
        }
    }

    fn is_at_end_of_list(&self, ends: &[&str]) -> bool {
        if self.peek().is_none_or(|next| next == ')') || self.is_at(";;") || self.is_at(";&") {
            return true;
        }
        self.reserved_word().is_some_and(|word| ends.contains(&word.as_str()))
    }

    fn parse_pipeline(&mut self) -> Result<Pipeline, ParseError> {
        let mut pipeline = Pipeline::default();
        loop {
            self.skip_prefixes();
            pipeline.stages.push(self.parse_stage()?);
            self.skip_blanks();
            if self.is_at("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(pipeline);
            }
            self.skip_lines();
        }
    }

    /// `!` and `time`, which do not change what runs.
    fn skip_prefixes(&mut self) {
        loop {
            self.skip_blanks();
            match self.reserved_word().as_deref() {
                Some("!") => self.at += 1,
                Some("time") => {
                    self.at += 4;
                    self.skip_blanks();
                    let _ = self.eat("-p ");
                }
                Some("coproc") => self.skip_coproc(),
                _ => return,
            }
        }
    }

    /// `coproc`, and the name that may stand between it and a group.
    fn skip_coproc(&mut self) {
        self.at += 6;
        self.skip_blanks();
        let start = self.at;
        let _ = self.parse_name();
        self.skip_blanks();
        if !matches!(self.peek(), Some('{' | '(')) {
            self.at = start;
        }
    }

    /// A command with its redirections.
    pub(super) fn parse_stage(&mut self) -> Result<Stage, ParseError> {
        let Some(kind) = self.nested(Self::parse_compound)? else { return self.parse_simple() };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Stage { kind, redirects }),
            }
        }
    }

    fn parse_simple(&mut self) -> Result<Stage, ParseError> {
        if self.reserved_word().is_some_and(|word| CLOSING_WORDS.contains(&word.as_str()) || word == "}") {
            return Err(ParseError::Syntax("a command"));
        }
        let (mut simple, mut redirects) = (SimpleCommand::default(), Vec::<Redirect>::new());
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.parse_redirect()? {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                Some('(') => return self.parse_function(&simple),
                Some(next) if !is_separator(next) || self.is_at_process() => {}
                _ => break,
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.parse_assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            simple.words.push(self.parse_argument()?);
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(ParseError::Syntax("a command"));
        }
        Ok(Stage { kind: StageKind::Simple(simple), redirects })
    }

    /// A word; `name=( ... )` too, as `declare` takes it.
    fn parse_argument(&mut self) -> Result<Word, ParseError> {
        let mut word = self.parse_word()?;
        if self.peek() == Some('(')
            && matches!(word.parts.last(), Some(WordPart::Plain(text)) if text.ends_with('='))
        {
            self.at += 1;
            word.parts.push(WordPart::Array(self.nested(Self::parse_array)?));
        }
        Ok(word)
    }

    /// The values of an array, and the bracket after them.
    pub(super) fn parse_array(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(next) if !is_separator(next) => words.push(self.parse_word()?),
                _ => return Err(ParseError::Syntax(")")),
            }
        }
    }
}

/// What ends a word.
pub(super) fn is_separator(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
