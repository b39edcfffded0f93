//! Compound commands, functions and assignments.

use std::rc::Rc;

use super::{
    Assignment, List, ParseError, SimpleCommand, Stage, StageKind, Word, WordPart,
    parse::{Parser, is_separator},
};

impl Parser {
    /// The compound command that comes next, if one does.
    pub(super) fn parse_compound(&mut self) -> Result<Option<StageKind>, ParseError> {
        if self.peek() == Some('(') {
            return self.parse_bracket().map(Some);
        }
        let Some(word) = self.reserved_word() else { return Ok(None) };
        let read: fn(&mut Self) -> Result<StageKind, ParseError> = match word.as_str() {
            "{" => Self::parse_group,
            "if" => Self::parse_if,
            "while" | "until" => Self::parse_loop,
            "for" | "select" => Self::parse_for,
            "case" => Self::parse_case,
            "function" => Self::parse_function_keyword,
            "[[" => Self::parse_test,
            _ => return Ok(None),
        };
        self.at += word.len();
        read(self).map(Some)
    }

    /// `( ... )` or `(( ... ))`.
    fn parse_bracket(&mut self) -> Result<StageKind, ParseError> {
        if self.is_at("((")
            && let Some(word) = self.parse_arithmetic(2)?
        {
            return Ok(StageKind::Test(vec![word]));
        }
        self.expect("(")?;
        let list = self.parse_list(&[])?;
        self.expect(")")?;
        Ok(StageKind::Subshell(list))
    }

    fn parse_group(&mut self) -> Result<StageKind, ParseError> {
        let list = self.parse_list(&["}"])?;
        self.expect_reserved("}")?;
        Ok(StageKind::Group(list))
    }

    fn parse_if(&mut self) -> Result<StageKind, ParseError> {
        let (mut conditions, mut branches) = (vec![self.parse_list(&["then"])?], Vec::new());
        self.expect_reserved("then")?;
        loop {
            branches.push(self.parse_list(&["elif", "else", "fi"])?);
            match self.reserved_word().as_deref() {
                Some("elif") => {
                    self.at += 4;
                    conditions.push(self.parse_list(&["then"])?);
                    self.expect_reserved("then")?;
                }
                Some("else") => {
                    self.at += 4;
                    branches.push(self.parse_list(&["fi"])?);
                    break;
                }
                _ => break,
            }
        }
        self.expect_reserved("fi")?;
        Ok(StageKind::If { conditions, branches })
    }

    fn parse_loop(&mut self) -> Result<StageKind, ParseError> {
        let condition = self.parse_list(&["do"])?;
        Ok(StageKind::Loop { condition, body: self.parse_do_group()? })
    }

    fn parse_do_group(&mut self) -> Result<List, ParseError> {
        self.skip_lines();
        let (begin, end) =
            if self.reserved_word().as_deref() == Some("{") { ("{", "}") } else { ("do", "done") };
        self.expect_reserved(begin)?;
        let body = self.parse_list(&[end])?;
        self.expect_reserved(end)?;
        Ok(body)
    }

    fn parse_for(&mut self) -> Result<StageKind, ParseError> {
        self.skip_blanks();
        if self.is_at("((") {
            let word = self.parse_arithmetic(2)?.ok_or(ParseError::Syntax("))"))?;
            self.skip_blanks();
            let _ = self.eat(";");
            // Without a condition it goes on for ever, like `while true`.
            let is_endless = word.as_literal().is_some_and(|text| text.replace(' ', "").contains(";;"));
            let simple = SimpleCommand { words: vec![Word::literal("true")], ..SimpleCommand::default() };
            let kind = if is_endless { StageKind::Simple(simple) } else { StageKind::Test(vec![word]) };
            let stages = vec![Stage { kind, redirects: Vec::new() }];
            let condition = vec![super::Pipeline { stages, in_background: false }];
            return Ok(StageKind::Loop { condition, body: self.parse_do_group()? });
        }
        let name = self.parse_word()?.as_literal().ok_or(ParseError::Syntax("a name"))?;
        self.skip_lines();
        let mut words = None;
        if self.reserved_word().as_deref() == Some("in") {
            self.at += 2;
            words = Some(self.parse_words_of_line()?);
        }
        self.skip_blanks();
        let _ = self.eat(";");
        Ok(StageKind::For { name, words, body: self.parse_do_group()? })
    }

    fn parse_words_of_line(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(next) if !is_separator(next) || self.is_at_process() => words.push(self.parse_word()?),
                _ => return Ok(words),
            }
        }
    }

    fn parse_case(&mut self) -> Result<StageKind, ParseError> {
        self.skip_lines();
        let word = self.parse_word()?;
        self.expect_reserved("in")?;
        let mut branches = Vec::new();
        loop {
            self.skip_lines();
            if self.reserved_word().as_deref() == Some("esac") {
                self.at += 4;
                return Ok(StageKind::Case { word, branches });
            }
            self.parse_case_patterns()?;
            branches.push(self.parse_list(&["esac"])?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    fn parse_case_patterns(&mut self) -> Result<(), ParseError> {
        let _ = self.eat("(");
        loop {
            self.skip_blanks();
            if self.peek().is_none_or(|next| is_separator(next) && !matches!(next, '<' | '>')) {
                return Err(ParseError::Syntax("a pattern"));
            }
            self.parse_word()?;
            self.skip_blanks();
            if !self.eat("|") {
                return self.expect(")");
            }
        }
    }

    fn parse_function_keyword(&mut self) -> Result<StageKind, ParseError> {
        self.skip_blanks();
        let name = self.parse_word()?.as_literal().ok_or(ParseError::Syntax("a name"))?;
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines();
        Ok(StageKind::Function { name, body: Rc::new(self.parse_stage()?) })
    }

    /// `name() command`, where the name has been read.
    pub(super) fn parse_function(&mut self, simple: &SimpleCommand) -> Result<Stage, ParseError> {
        let name = match (&simple.words[..], &simple.assignments[..]) {
            ([name], []) => name.as_literal(),
            _ => None,
        };
        let name = name.ok_or(ParseError::Syntax("a separator"))?;
        self.expect("(")?;
        self.skip_blanks();
        self.expect(")")?;
        self.skip_lines();
        let body = Rc::new(self.nested(Self::parse_stage)?);
        Ok(Stage { kind: StageKind::Function { name, body }, redirects: Vec::new() })
    }

    /// `[[ ... ]]`: operators are passed over, words are kept.
    fn parse_test(&mut self) -> Result<StageKind, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.peek() {
                None => return Err(ParseError::Syntax("]]")),
                Some(_) if self.reserved_word().as_deref() == Some("]]") => {
                    self.at += 2;
                    return Ok(StageKind::Test(words));
                }
                Some(next) if is_separator(next) => self.at += 1,
                Some(_) => words.push(self.parse_word()?),
            }
        }
    }

    /// `name=value`, `name+=value`, `name[index]=value`, `name=( ... )`.
    pub(super) fn parse_assignment(&mut self) -> Result<Option<Assignment>, ParseError> {
        let start = self.at;
        let name = self.parse_name();
        if name.is_empty() {
            return Ok(None);
        }
        if self.peek() == Some('[') {
            self.skip_index();
        }
        let appends = self.eat("+=");
        if !appends && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let values = if self.peek() == Some('(') {
            self.at += 1;
            self.nested(Self::parse_array)?
        } else {
            vec![self.parse_value()?]
        };
        Ok(Some(Assignment { name, values, appends }))
    }

    /// What is assigned; a tilde begins it as it begins a word.
    fn parse_value(&mut self) -> Result<Word, ParseError> {
        match self.peek() {
            Some(next) if !is_separator(next) || self.is_at_process() => self.parse_word(),
            _ => Ok(Word { parts: vec![WordPart::Quoted(String::new())] }),
        }
    }

    pub(super) fn parse_name(&mut self) -> String {
        let is_name = |(at, next): &(usize, &char)| {
            *next == &'_' || next.is_ascii_alphabetic() || (0 < *at && next.is_ascii_digit())
        };
        let name: String =
            self.text[self.at..].iter().enumerate().take_while(is_name).map(|(_, next)| *next).collect();
        self.at += name.len();
        name
    }

    fn skip_index(&mut self) {
        let end = self.text[self.at..].iter().take(80).position(|next| *next == ']');
        self.at += end.map_or(0, |end| end + 1);
    }
}
