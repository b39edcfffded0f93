//! Fills in the variables of a prompt template.

/// Replaces `${NAME}` and `{{NAME}}` by their values, with or without `RALPH_` before the name, and the two
/// bare forms that older prompts use, `$RALPH_ITERATION` and `$RALPH_MAX_ITERATIONS`. Names that are not known
/// stay as they are: a prompt may speak of shell variables.
pub fn fill(template: &str, variables: &[(&str, String)]) -> String {
    let value = |name: &str| {
        let name = name.trim();
        let name = name.strip_prefix("RALPH_").filter(|rest| known(variables, rest)).unwrap_or(name);
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    };
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['$', '{']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = enclosed(rest, "${", "}")
            .or_else(|| enclosed(rest, "{{", "}}"))
            .or_else(|| bare(rest))
            .and_then(|(name, after)| Some((value(name)?, after)));
        if let Some((text, after)) = found {
            filled.push_str(text);
            rest = after;
        } else {
            filled.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    filled.push_str(rest);
    filled
}

fn known(variables: &[(&str, String)], name: &str) -> bool {
    variables.iter().any(|(known, _)| *known == name)
}

/// What stands between the marks at the beginning of a text, and what comes after.
fn enclosed<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    // No name is longer, and looking further would make a text of nothing but marks slow.
    const MAX_NAME_LEN: usize = 64;
    let inner = text.strip_prefix(open)?;
    let end = inner[..inner.floor_char_boundary(MAX_NAME_LEN)].find(close)?;
    Some((&inner[..end], &inner[end + close.len()..]))
}

fn bare(text: &str) -> Option<(&str, &str)> {
    // The longer name first: it does not begin with the shorter one, but a reader should not have to check.
    ["RALPH_MAX_ITERATIONS", "RALPH_ITERATION"].into_iter().find_map(|name| {
        let after = text.strip_prefix('$')?.strip_prefix(name)?;
        let ends = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        ends.then_some((name, after))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variables() -> Vec<(&'static str, String)> {
        vec![
            ("MODE", "build".to_owned()),
            ("ITERATION", "3".to_owned()),
            ("MAX_ITERATIONS", "10".to_owned()),
            ("RALPH_DIR", "ralph".to_owned()),
            ("TASK_DESCRIPTION", "${MODE} {{MODE}}".to_owned()),
        ]
    }

    #[track_caller]
    fn check(template: &str, expected: &str) {
        assert_eq!(fill(template, &variables()), expected);
    }

    #[test]
    fn both_forms_with_and_without_the_prefix() {
        check("${MODE} {{MODE}} ${RALPH_MODE} {{ RALPH_MODE }}", "build build build build");
        check("${RALPH_DIR} {{DIR}}", "ralph {{DIR}}");
        check("$RALPH_ITERATION/$RALPH_MAX_ITERATIONS", "3/10");
    }

    #[test]
    fn what_is_not_known_stays() {
        check(
            "${HOME} $PATH {{name}} $RALPH_ITERATIONS ${ {{ $ {",
            "${HOME} $PATH {{name}} $RALPH_ITERATIONS ${ {{ $ {",
        );
        check("ä${MODE}ö", "äbuildö");
    }

    #[test]
    fn values_are_not_filled_in_again() {
        check("{{TASK_DESCRIPTION}}", "${MODE} {{MODE}}");
    }

    proptest! {
        #[test]
        fn text_without_marks_is_left_alone(text in "[^${]*") {
            prop_assert_eq!(fill(&text, &variables()), text);
        }

        #[test]
        fn anything_is_survived(text in "([${}A-Zé]|MODE|RALPH_){0,30}") {
            fill(&text, &variables());
        }
    }
}
