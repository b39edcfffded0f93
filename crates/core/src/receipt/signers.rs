//! Files of allowed signers, as `ssh-keygen -Y verify` reads them. What counts is what that says; this only finds the line
//! that is meant, so that it need not be asked twice.

/// A line for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// Who it is, as the line names them: the first pattern that is no exception.
    pub principal: String,
    /// What the key may sign; nothing where that is not limited.
    pub namespaces: Option<Vec<String>>,
}

/// The lines for a key, in base64.
pub fn lines_for(text: &str, key: &str) -> Vec<Signer> {
    text.lines().filter_map(|line| signer(line, key)).collect()
}

fn signer(line: &str, key: &str) -> Option<Signer> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let words = words(line);
    let at = words.iter().position(|word| word == key)?;
    // Before the key there is its type, before that perhaps options, and before that who it is.
    let principal = words.first().filter(|_| (2..=3).contains(&at))?;
    let principal = principal.split(',').find(|pattern| !pattern.starts_with('!') && !pattern.is_empty())?;
    let options = if at == 3 { words[1].as_str() } else { "" };
    let namespaces = namespaces(options);
    Some(Signer { principal: principal.to_owned(), namespaces })
}

fn namespaces(options: &str) -> Option<Vec<String>> {
    const KEY: &str = "namespaces=";
    let at = options.to_ascii_lowercase().find(KEY)?;
    let value = &options[at + KEY.len()..];
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split(',').next()?,
    };
    Some(value.split(',').map(|name| name.trim().to_owned()).collect())
}

/// The words of a line; quotes hold spaces together, and stay where they are no more than a part of a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.push(character);
            }
            space if space.is_whitespace() && !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            other => word.push(other),
        }
    }
    words.push(word);
    let whole = |word: String| match word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
        Some(inner) if !inner.contains('"') => inner.to_owned(),
        _ => word,
    };
    words.into_iter().filter(|word| !word.is_empty()).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, principal: Option<&str>, namespaces: Option<&[&str]>) {
        let found = lines_for(line, "AAAA").into_iter().next();
        assert_eq!(found.as_ref().map(|it| it.principal.as_str()), principal, "{line}");
        let limited = found.and_then(|it| it.namespaces);
        assert_eq!(
            limited,
            namespaces.map(|names| names.iter().map(ToString::to_string).collect()),
            "{line}"
        );
    }

    #[test]
    fn the_line_of_a_key_is_found() {
        check("ann@example.com ssh-ed25519 AAAA a comment", Some("ann@example.com"), None);
        check("  ann@example.com,bob ssh-ed25519 AAAA", Some("ann@example.com"), None);
        check("!eve,*@example.com ssh-ed25519 AAAA", Some("*@example.com"), None);
        check("\"ann b\" ssh-ed25519 AAAA", Some("ann b"), None);
        check("a namespaces=\"git\" ssh-ed25519 AAAA", Some("a"), Some(&["git"]));
        check(
            "a valid-after=\"20200101\",namespaces=\"git, x\" ssh-ed25519 AAAA",
            Some("a"),
            Some(&["git", "x"]),
        );
        check("# ann ssh-ed25519 AAAA", None, None);
        check("ann ssh-ed25519 AAAB", None, None);
        check("ssh-ed25519 AAAA", None, None);
        check("", None, None);
    }

    #[test]
    fn quotes_go_where_they_hold_one_word_together() {
        assert_eq!(words("\"ann b\" c"), ["ann b", "c"]);
        // More than one pair of quotes is part of the word.
        assert_eq!(words("\"a\"b\"c\" d"), ["\"a\"b\"c\"", "d"]);
    }
}
