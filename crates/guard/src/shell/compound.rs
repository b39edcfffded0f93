//! Compound commands, functions and assignments.

use std::rc::Rc;

use super::{
    Assignment, List, ParseError, SimpleCommand, Stage, StageKind, Word, WordPart,
    parse::{Parser, is_separator},
};

impl Parser {
    /// The compound command that comes next, if one does.
    pub(super) fn compound(&mut self) -> Result<Option<StageKind>, ParseError> {
        if self.peek() == Some('(') {
            return self.bracket().map(Some);
        }
        let Some(word) = self.reserved() else { return Ok(None) };
        let read: fn(&mut Self) -> Result<StageKind, ParseError> = match word.as_str() {
            "{" => Self::group,
            "if" => Self::if_clause,
            "while" | "until" => Self::loop_clause,
            "for" | "select" => Self::for_clause,
            "case" => Self::case_clause,
            "function" => Self::function_clause,
            "[[" => Self::test,
            _ => return Ok(None),
        };
        self.at += word.len();
        read(self).map(Some)
    }

    /// `( ... )` or `(( ... ))`.
    fn bracket(&mut self) -> Result<StageKind, ParseError> {
        if self.looks_at("((")
            && let Some(word) = self.arithmetic(2)?
        {
            return Ok(StageKind::Test(vec![word]));
        }
        self.expect("(")?;
        let list = self.list(&[])?;
        self.expect(")")?;
        Ok(StageKind::Subshell(list))
    }

    fn group(&mut self) -> Result<StageKind, ParseError> {
        let list = self.list(&["}"])?;
        self.expect_word("}")?;
        Ok(StageKind::Group(list))
    }

    fn if_clause(&mut self) -> Result<StageKind, ParseError> {
        let (mut conditions, mut branches) = (vec![self.list(&["then"])?], Vec::new());
        self.expect_word("then")?;
        loop {
            branches.push(self.list(&["elif", "else", "fi"])?);
            match self.reserved().as_deref() {
                Some("elif") => {
                    self.at += 4;
                    conditions.push(self.list(&["then"])?);
                    self.expect_word("then")?;
                }
                Some("else") => {
                    self.at += 4;
                    branches.push(self.list(&["fi"])?);
                    break;
                }
                _ => break,
            }
        }
        self.expect_word("fi")?;
        Ok(StageKind::If { conditions, branches })
    }

    fn loop_clause(&mut self) -> Result<StageKind, ParseError> {
        let condition = self.list(&["do"])?;
        Ok(StageKind::Loop { condition, body: self.do_group()? })
    }

    fn do_group(&mut self) -> Result<List, ParseError> {
        self.skip_lines();
        let (begin, end) = if self.reserved().as_deref() == Some("{") { ("{", "}") } else { ("do", "done") };
        self.expect_word(begin)?;
        let body = self.list(&[end])?;
        self.expect_word(end)?;
        Ok(body)
    }

    fn for_clause(&mut self) -> Result<StageKind, ParseError> {
        self.skip_blanks();
        if self.looks_at("((") {
            let word = self.arithmetic(2)?.ok_or(ParseError::Syntax("))"))?;
            self.skip_blanks();
            let _ = self.eat(";");
            // Without a condition it goes on for ever, like `while true`.
            let is_endless = word.as_literal().is_some_and(|text| text.replace(' ', "").contains(";;"));
            let simple = SimpleCommand { words: vec![Word::literal("true")], ..SimpleCommand::default() };
            let kind = if is_endless { StageKind::Simple(simple) } else { StageKind::Test(vec![word]) };
            let stages = vec![Stage { kind, redirects: Vec::new() }];
            let condition = vec![super::Pipeline { stages, in_background: false }];
            return Ok(StageKind::Loop { condition, body: self.do_group()? });
        }
        let name = self.word()?.as_literal().ok_or(ParseError::Syntax("a name"))?;
        self.skip_lines();
        let mut words = None;
        if self.reserved().as_deref() == Some("in") {
            self.at += 2;
            words = Some(self.words_of_line()?);
        }
        self.skip_blanks();
        let _ = self.eat(";");
        Ok(StageKind::For { name, words, body: self.do_group()? })
    }

    fn words_of_line(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(next) if !is_separator(next) || self.at_process() => words.push(self.word()?),
                _ => return Ok(words),
            }
        }
    }

    fn case_clause(&mut self) -> Result<StageKind, ParseError> {
        self.skip_lines();
        let word = self.word()?;
        self.expect_word("in")?;
        let mut branches = Vec::new();
        loop {
            self.skip_lines();
            if self.reserved().as_deref() == Some("esac") {
                self.at += 4;
                return Ok(StageKind::Case { word, branches });
            }
            self.case_patterns()?;
            branches.push(self.list(&["esac"])?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    fn case_patterns(&mut self) -> Result<(), ParseError> {
        let _ = self.eat("(");
        loop {
            self.skip_blanks();
            if self.peek().is_none_or(|next| is_separator(next) && !matches!(next, '<' | '>')) {
                return Err(ParseError::Syntax("a pattern"));
            }
            self.word()?;
            self.skip_blanks();
            if !self.eat("|") {
                return self.expect(")");
            }
        }
    }

    fn function_clause(&mut self) -> Result<StageKind, ParseError> {
        self.skip_blanks();
        let name = self.word()?.as_literal().ok_or(ParseError::Syntax("a name"))?;
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines();
        Ok(StageKind::Function { name, body: Rc::new(self.stage()?) })
    }

    /// `name() command`, where the name has been read.
    pub(super) fn function(&mut self, simple: &SimpleCommand) -> Result<Stage, ParseError> {
        let name = match (&simple.words[..], &simple.assignments[..]) {
            ([name], []) => name.as_literal(),
            _ => None,
        };
        let name = name.ok_or(ParseError::Syntax("a separator"))?;
        self.expect("(")?;
        self.skip_blanks();
        self.expect(")")?;
        self.skip_lines();
        let body = Rc::new(self.deeper(Self::stage)?);
        Ok(Stage { kind: StageKind::Function { name, body }, redirects: Vec::new() })
    }

    /// `[[ ... ]]`: operators are passed over, words are kept.
    fn test(&mut self) -> Result<StageKind, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.peek() {
                None => return Err(ParseError::Syntax("]]")),
                Some(_) if self.reserved().as_deref() == Some("]]") => {
                    self.at += 2;
                    return Ok(StageKind::Test(words));
                }
                Some(next) if is_separator(next) => self.at += 1,
                Some(_) => words.push(self.word()?),
            }
        }
    }

    /// `name=value`, `name+=value`, `name[index]=value`, `name=( ... )`.
    pub(super) fn assignment(&mut self) -> Result<Option<Assignment>, ParseError> {
        let start = self.at;
        let name = self.name();
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
            self.deeper(Self::array)?
        } else {
            vec![self.value()?]
        };
        Ok(Some(Assignment { name, values, appends }))
    }

    /// What is assigned; a tilde begins it as it begins a word.
    fn value(&mut self) -> Result<Word, ParseError> {
        match self.peek() {
            Some(next) if !is_separator(next) || self.at_process() => self.word(),
            _ => Ok(Word { parts: vec![WordPart::Quoted(String::new())] }),
        }
    }

    pub(super) fn name(&mut self) -> String {
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
