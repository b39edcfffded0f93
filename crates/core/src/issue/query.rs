//! Which issues are meant: numbers, or words such as `label:ready`.

/// Which issues of a repository are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueQuery {
    /// These.
    Numbers(Vec<u64>),
    /// Those that are open and have all of it, as words of an address: `labels=ready`.
    Matching(String),
}

impl IssueQuery {
    /// Reads what a person typed: `12`, `12,15`, or `label:ready assignee:ann milestone:3`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut numbers, mut labels, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for word in split(text)? {
            match word.split_once(':') {
                Some(("label", label)) if !label.is_empty() => labels.push(encoded(label)),
                Some((key @ ("assignee" | "milestone" | "creator"), value)) if !value.is_empty() => {
                    words.push(format!("{key}={}", encoded(value)));
                }
                Some(_) => {
                    return Err(format!(
                        "`{word}`: expected label:, assignee:, creator: or milestone: with a value"
                    ));
                }
                None => numbers.push(number(&word)?),
            }
        }
        if !labels.is_empty() {
            words.insert(0, format!("labels={}", labels.join(",")));
        }
        match (numbers.is_empty(), words.is_empty()) {
            (true, true) => Err("expected numbers of issues, or words such as label:ready".to_owned()),
            (false, true) => Ok(Self::Numbers(numbers)),
            (true, false) => Ok(Self::Matching(words.join("&"))),
            (false, false) => {
                Err("expected numbers of issues or words such as label:ready, not both".to_owned())
            }
        }
    }
}

/// The number of an issue, with or without the sign before it.
pub fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = digits.parse::<u64>().ok().filter(|number| 0 < *number);
    number
        .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| format!("`{text}` is not the number of an issue, such as 12"))
}

/// Words, which spaces or commas part; quotes keep a word with spaces together.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for char in text.chars() {
        match char {
            '"' => quoted = !quoted,
            char if !quoted && (char.is_whitespace() || char == ',') => words.push(std::mem::take(&mut word)),
            char => word.push(char),
        }
    }
    if quoted {
        return Err("a quote is missing".to_owned());
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Ok(words)
}

/// A value as a part of an address.
fn encoded(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'*' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_name_issues_by_number_or_by_words() {
        #[track_caller]
        fn numbers(text: &str, expected: &[u64]) {
            assert_eq!(IssueQuery::parse(text), Ok(IssueQuery::Numbers(expected.to_vec())));
        }
        #[track_caller]
        fn matching(text: &str, expected: &str) {
            assert_eq!(IssueQuery::parse(text), Ok(IssueQuery::Matching(expected.to_owned())));
        }
        #[track_caller]
        fn wrong(text: &str, expected: &str) {
            let error = IssueQuery::parse(text).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
        numbers("12", &[12]);
        numbers("#12, 15  7", &[12, 15, 7]);
        matching("label:ready", "labels=ready");
        matching("label:ready label:\"good first issue\"", "labels=ready,good%20first%20issue");
        matching(
            "assignee:ann label:a&state=all milestone:*",
            "labels=a%26state%3Dall&assignee=ann&milestone=*",
        );
        wrong("", "expected numbers");
        wrong("label:", "expected label:");
        wrong("state:closed", "expected label:");
        wrong("ready", "is not the number of an issue");
        wrong("0", "is not the number of an issue");
        wrong("+3", "is not the number of an issue");
        wrong("12 label:x", "not both");
        wrong("label:\"x", "quote");
    }

    #[test]
    fn a_word_without_a_value_is_refused() {
        for text in ["label:", "assignee:", "milestone:", "creator:", "author:ann"] {
            assert!(IssueQuery::parse(text).is_err(), "{text}");
        }
    }
}
