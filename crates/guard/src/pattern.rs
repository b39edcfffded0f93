//! Patterns of commands: what rules are written in, ours and the user's.
//!
//! `git push -f|--force !-n` is a program and, after it, what must be true of its arguments, each with alternatives:
//!
//! | part | is true when |
//! |---|---|
//! | `push\|send-pack` | the next word (no option) is one of these |
//! | `-f\|--force` | an option is given: a letter alone or in a cluster, a name, shortened or not |
//! | `--pid=host` | an option is given with this value |
//! | `~*.sock` | an argument is this, anywhere |
//! | `@xargs` | the command came out of this wrapper |
//! | `>*kill*` | a command further down the pipe is this, as it would be typed |
//! | `<*flush*` | it reads this, as far as that is known |
//! | `!...` | the part is not true |
//!
//! `*`, `?` and `[a-z]` are wildcards; `?*` is any word. Only options are told apart by upper and lower case.

use serde::{Serialize, Serializer};

use super::{command::Command, paths::glob_matches};

/// The patterns of a rule of ours.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    /// Of the programs: most rules are about others, and this says so at once.
    programs: Sums,
    /// Of the first words after them: most rules about `git` are about other commands of it.
    words: Sums,
    /// Those of programs of many names, a bit for each: the others need no look if the program is none of theirs.
    wild: u128,
    /// Those about no word, or about any.
    wordless: u128,
    all: &'static [&'static str],
}

/// The sums of a command, which every rule asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandSums {
    program: u16,
    word: u16,
}

impl CommandSums {
    pub(crate) fn of(command: &Command) -> Self {
        Self { program: sum_of(&command.program), word: sum_of(command.first_word().unwrap_or_default()) }
    }
}

impl Patterns {
    /// Of no command.
    pub(crate) const NONE: Self = Self::new(&[]);

    /// Of all that one of these means.
    pub(crate) const fn new(all: &'static [&'static str]) -> Self {
        let (mut programs, mut words, mut at) = (Sums::NONE, Sums::NONE, 0);
        let (mut wild, mut wordless) = (0, 0);
        assert!(all.len() <= u128::BITS as usize, "a bit for each");
        while at < all.len() {
            let pattern = all[at].as_bytes();
            // Of a program only the end may be anything; `[` is one.
            let with = programs.with_choices(pattern, 0, b"*");
            if with.is_any {
                wild |= 1 << at;
            } else {
                programs = with;
            }
            let with = with_words(words, pattern);
            if with.is_any {
                wordless |= 1 << at;
            } else {
                words = with;
            }
            at += 1;
        }
        Self { programs, words, wild, wordless, all }
    }

    /// Whether one of them means this command, which has these sums.
    pub(crate) fn mean(&self, command: &Command, sums: CommandSums) -> bool {
        let named = if self.programs.has(sums.program) { u128::MAX } else { self.wild };
        let meant = if self.words.has(sums.word) { u128::MAX } else { self.wordless };
        let mut left = named & meant;
        if self.all.len() < u128::BITS as usize {
            left &= (1 << self.all.len()) - 1;
        }
        if left == 0 {
            return false;
        }
        let patterns = std::iter::from_fn(|| {
            let at = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            self.all.get(at).copied()
        });
        is_meant_by(patterns, command)
    }

    /// Whether there is one for programs of any name.
    pub(crate) fn are_for_any_program(&self) -> bool {
        self.wild != 0
    }
}

impl Serialize for Patterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

/// A set of texts, as a bit for a sum over the letters of each: it may have one that no one put there, and lacks none.
#[derive(Clone, Copy, Debug)]
struct Sums {
    bits: [u64; 16],
    /// One of them has a wildcard.
    is_any: bool,
}

impl Sums {
    const NONE: Self = Self { bits: [0; 16], is_any: false };
    const ANY: Self = Self { bits: [0; 16], is_any: true };

    fn has(&self, sum: u16) -> bool {
        self.is_any || self.bits[usize::from(sum >> 6)] & 1 << (sum & 63) != 0
    }

    /// Adds what stands between bars from this place to the next space.
    const fn with_choices(mut self, pattern: &[u8], mut at: usize, wildcards: &[u8]) -> Self {
        if self.is_any {
            return self;
        }
        let mut sum = 0;
        loop {
            let is_end = at == pattern.len() || pattern[at] == b' ';
            if is_end || pattern[at] == b'|' {
                self.bits[(sum >> 6) as usize] |= 1 << (sum & 63);
                sum = 0;
            } else if contains(wildcards, pattern[at]) {
                return Self::ANY;
            } else {
                sum = add_letter(sum, pattern[at]);
            }
            if is_end {
                return self;
            }
            at += 1;
        }
    }
}

fn sum_of(text: &str) -> u16 {
    text.bytes().fold(0, add_letter)
}

/// Below 1024. Upper and lower case make no difference: where they do elsewhere, this only says less.
const fn add_letter(sum: u16, letter: u8) -> u16 {
    sum.wrapping_mul(31).wrapping_add(letter.to_ascii_lowercase() as u16) % 1024
}

/// Adds the words that the first part of a pattern names that is about a word. Where there is none, it may be any.
const fn with_words(words: Sums, pattern: &[u8]) -> Sums {
    let mut at = 0;
    while at < pattern.len() {
        at += 1;
        if pattern[at - 1] != b' ' {
            continue;
        }
        let next = if at + 1 < pattern.len() { pattern[at + 1] } else { b' ' };
        match pattern[at] {
            b'~' | b'@' | b'<' | b'>' => {}
            // A dash alone is a word.
            b'-' if next != b' ' => {}
            b'!' if matches!(next, b'~' | b'@' | b'<' | b'>') => {}
            b'!' | b'-' => return Sums::ANY,
            _ => return words.with_choices(pattern, at, b"*?["),
        }
    }
    Sums::ANY
}

const fn contains(bytes: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != byte {
        at += 1;
    }
    at < bytes.len()
}

/// Whether one of these patterns means this command.
pub(crate) fn any_means(patterns: &[impl AsRef<str>], command: &Command) -> bool {
    is_meant_by(patterns.iter().map(AsRef::as_ref), command)
}

fn is_meant_by<'a>(patterns: impl Iterator<Item = &'a str>, command: &Command) -> bool {
    let mut words = None;
    patterns.filter(|pattern| names_program(pattern, command)).any(|pattern| {
        let words: &Vec<&str> = words.get_or_insert_with(|| command.words());
        let mut words = words.iter().copied();
        split_at(pattern, b' ').skip(1).all(|part| is_true(part, command, &mut words))
    })
}

/// What stands between separators of one byte: quicker than to look for a character, and asked of every pattern.
fn split_at(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(|byte| byte == separator);
        rest = end.map(|at| &text[at + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Whether a pattern begins with this program. Asked of many patterns for every command, so in one pass and without
/// allocation.
fn names_program(pattern: &str, command: &Command) -> bool {
    let program = command.program.as_bytes();
    let mut choices = pattern.as_bytes();
    loop {
        // As far as they agree.
        let agreed = choices.iter().zip(program).take_while(|(choice, own)| choice == own).count();
        match choices.get(agreed) {
            None | Some(b' ' | b'|') if agreed == program.len() => return true,
            Some(b'*') => return true,
            _ => {}
        }
        let end = choices[agreed..].iter().position(|byte| matches!(byte, b' ' | b'|'));
        match end.map(|end| agreed + end) {
            Some(at) if choices[at] == b'|' => choices = &choices[at + 1..],
            Some(_) | None => return false,
        }
    }
}

fn is_true<'a>(part: &str, command: &Command, words: &mut impl Iterator<Item = &'a str>) -> bool {
    let (is_wanted, part) = match part.strip_prefix('!') {
        Some(part) => (false, part),
        None => (true, part),
    };
    let rest = part.get(1..).unwrap_or_default();
    let is_found = match part.as_bytes().first() {
        Some(b'~') => command.args.iter().any(|arg| is_one_of(rest, arg)),
        Some(b'@') => command.wrappers.iter().any(|wrapper| is_one_of(rest, wrapper)),
        Some(b'>') => command.feeds.iter().any(|next| is_one_of(rest, next)),
        Some(b'<') => command.stdin.text.as_ref().is_some_and(|text| is_one_of(rest, text)),
        Some(b'-') if rest.is_empty() => words.next() == Some("-"),
        Some(b'-') => split_at(part, b'|').any(|option| is_given(option, command)),
        _ => {
            let word = words.next().unwrap_or_default();
            if word.is_empty() {
                split_at(part, b'|').any(|choice| choice == "*")
            } else {
                is_one_of(part, word)
            }
        }
    };
    is_found == is_wanted
}

/// Whether a text is one of these, which may be patterns; upper or lower case does not matter.
pub(crate) fn is_one_of(choices: &str, text: &str) -> bool {
    if is_exactly_one_of(choices, text) {
        return true;
    }
    text.bytes().any(|byte| byte.is_ascii_uppercase())
        && is_exactly_one_of(choices, &text.to_ascii_lowercase())
}

/// Most choices differ in the first letter, which says so without reading them as patterns.
fn is_exactly_one_of(choices: &str, text: &str) -> bool {
    let first = text.as_bytes().first();
    split_at(choices, b'|').any(|choice| {
        let may_mean = match choice.as_bytes().first() {
            Some(b'*' | b'?' | b'[') | None => true,
            begin => begin == first,
        };
        may_mean && glob_matches(choice, text)
    })
}

/// Whether an option is given, and with a value if it names one.
fn is_given(option: &str, command: &Command) -> bool {
    let at = option.bytes().position(|byte| byte == b'=');
    let (option, value) = at.map_or((option, None), |at| (&option[..at], Some(&option[at + 1..])));
    let name = option.trim_start_matches('-');
    let is_letter = name.len() == 1 && !option.starts_with("--");
    let (letters, names) = if is_letter { (name, &[][..]) } else { ("", &[name][..]) };
    match value {
        Some(value) => command.values(letters, names).iter().any(|given| is_one_of(value, given)),
        None => command.has(letters, names),
    }
}

/// Whether a variable has this name and value: `LD_PRELOAD|LD_AUDIT=?*`. After `=!` stand the values that are fine.
pub(crate) fn means_variable(pattern: &str, name: &str, value: &str) -> bool {
    let Some((names, values)) = pattern.split_once('=') else { return false };
    let is_named = names.split('|').any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known.eq_ignore_ascii_case(name),
    });
    is_named
        && match values.strip_prefix('!') {
            Some(fine) => !is_one_of(fine, value),
            None => is_one_of(values, value),
        }
}

/// What is wrong with a pattern, if anything is.
pub(crate) fn fault(pattern: &str) -> Option<&'static str> {
    let mut parts = pattern.split(' ');
    let program = parts.next().unwrap_or_default();
    if pattern.split(' ').any(str::is_empty) {
        return Some("words are separated by one space each, and there must be one");
    }
    if program.starts_with(['-', '!', '~', '@', '<', '>']) || program.contains(['/', '=']) {
        return Some("it must begin with the name of a program, without its folder");
    }
    if program.split('|').any(str::is_empty) {
        return Some("the name of a program is empty");
    }
    let is_empty = |part: &str| part.trim_start_matches(['!', '~', '@', '<', '>']).is_empty();
    parts.any(is_empty).then_some("a sign such as `!` or `~` must be followed by a word")
}

#[cfg(test)]
mod tests;
