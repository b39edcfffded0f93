//! Cuts a script into simple commands: a program and its words, without what stands around them.

/// A program and its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

/// Programs that run the program after them, with how many words of their own come before it.
const WRAPPERS: [(&str, usize); 22] = [
    ("env", 0),
    ("time", 0),
    ("nice", 0),
    ("exec", 0),
    ("command", 0),
    ("sudo", 0),
    ("npx", 0),
    ("bunx", 0),
    ("xvfb-run", 0),
    ("nohup", 0),
    ("timeout", 1),
    ("uv", 1),
    ("poetry", 1),
    ("pipenv", 1),
    ("hatch", 1),
    ("pdm", 1),
    ("rye", 1),
    ("bundle", 1),
    ("coverage", 1),
    ("dotenv", 0),
    ("cross-env", 0),
    ("stdbuf", 0),
];

/// Interpreters whose first word is the script.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "ruby", "perl", "php", "source"];

/// Words that stand before a command.
const KEYWORDS: [&str; 10] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "("];

/// The simple commands of a script, in order.
pub(super) fn simple_commands(script: &str) -> Vec<Simple> {
    pieces(script).iter().filter_map(|piece| simple(piece)).collect()
}

/// A script cut at what separates commands, outside of quotes and comments.
fn pieces(script: &str) -> Vec<String> {
    // Make's own name for itself would look like a substitution.
    let script = script.replace("\\\n", " ").replace("$(MAKE)", "make").replace("${MAKE}", "make");
    let (mut pieces, mut piece, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None | Some('"'), '\\') => {
                piece.push(letter);
                piece.extend(letters.next());
            }
            (Some(open), _) => {
                quote = Some(open).filter(|open| *open != letter);
                piece.push(letter);
            }
            (None, '"' | '\'') => {
                quote = Some(letter);
                piece.push(letter);
            }
            (None, '#') if piece.is_empty() || piece.ends_with(char::is_whitespace) => {
                while letters.peek().is_some_and(|next| *next != '\n') {
                    letters.next();
                }
            }
            // `2>&1` and `&>` separate nothing.
            (None, '&') if piece.ends_with('>') || letters.peek() == Some(&'>') => piece.push(letter),
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => pieces.push(std::mem::take(&mut piece)),
            (None, _) => piece.push(letter),
        }
    }
    pieces.push(piece);
    pieces
}

fn simple(piece: &str) -> Option<Simple> {
    let words =
        shell_words::split(piece).unwrap_or_else(|_| piece.split_whitespace().map(str::to_owned).collect());
    let mut words = words.into_iter().peekable();
    let mut program = loop {
        let word = words.next()?;
        let bare = word.trim_start_matches(['@', '-', '+']);
        let is_before = bare.is_empty() || KEYWORDS.contains(&bare) || is_assignment(bare);
        let wrapper = WRAPPERS.iter().find(|(name, _)| *name == bare);
        if let Some((_, own)) = wrapper {
            while words.peek().is_some_and(|word| word.starts_with('-')) {
                words.next();
            }
            words.by_ref().take(*own).for_each(drop);
            continue;
        }
        if !is_before {
            break bare.to_owned();
        }
    };
    let mut args: Vec<String> = words.take_while(|word| !word.starts_with(['>', '<'])).collect();
    if program == "." {
        "source".clone_into(&mut program);
    }
    if INTERPRETERS.contains(&program.as_str()) && args.first().is_some_and(|arg| arg == "-m") {
        args.drain(..1);
    }
    Some(Simple { program, args })
}

/// The first word of a command that is no assignment.
pub(super) fn first_word(command: &str) -> Option<String> {
    let words = shell_words::split(command).ok()?;
    words.into_iter().find(|word| !is_assignment(word))
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}
