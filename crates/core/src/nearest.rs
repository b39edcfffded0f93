//! What a person who mistyped a name may have meant.

/// Below this two names have little to do with each other.
const LIKENESS: f64 = 0.8;

/// The name that is the most like this one, if any is.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &str| strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase());
    let known = known.into_iter().map(|name| (likeness(name), name));
    let (likeness, name) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (LIKENESS < likeness).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known() {
        let known = ["US-1", "US-12", "EX-1"];
        assert_eq!(nearest("us-1", known), Some("US-1"));
        assert_eq!(nearest("US-13", known), Some("US-1"));
        assert_eq!(nearest("greeting", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
