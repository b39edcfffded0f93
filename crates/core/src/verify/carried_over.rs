//! What became of one text carried over to another: a person's edit of a file that an agent had changed, without the agent's
//! part of it.

/// So many pairs of lines are compared.
const MAX_PAIRS: usize = 16_000_000;

/// The base with what became of `left` in `now`. Lines of the base that `left` no longer has stay, and lines that only `left`
/// has do not come; nothing if the texts are too long.
pub fn carried_over(base: &str, left: &str, now: &str) -> Option<String> {
    let [base, left, now] = [base, left, now].map(lines);
    let kept_in_now = pairs(&left, &now)?;
    let of_base = pairs(&base, &left)?;
    let mut is_kept = vec![false; left.len()];
    let mut is_old = vec![false; now.len()];
    for (old, new) in &kept_in_now {
        (is_kept[*old], is_old[*new]) = (true, true);
    }
    let mut made = String::new();
    let mut came = Came { now: &now, is_old: &is_old, next: 0 };
    let mut of_base = of_base.into_iter().peekable();
    for (at, line) in base.iter().enumerate() {
        let place = of_base.next_if(|(old, _)| *old == at).map(|(_, place)| place);
        if let Some(place) = place {
            // What came stands before the first line that both know and that follows it.
            let until = kept_in_now.iter().find(|(old, _)| place <= *old).map_or(now.len(), |(_, new)| *new);
            came.write_until(until, &mut made);
        }
        if place.is_none_or(|place| is_kept[place]) {
            made.push_str(line);
        }
    }
    came.write_until(now.len(), &mut made);
    Some(made)
}

/// The lines that a person added.
struct Came<'a> {
    now: &'a [&'a str],
    is_old: &'a [bool],
    next: usize,
}

impl Came<'_> {
    fn write_until(&mut self, until: usize, made: &mut String) {
        for at in self.next..until.max(self.next) {
            if !self.is_old[at] {
                made.push_str(self.now[at]);
            }
        }
        self.next = self.next.max(until);
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The longest common sequence of lines, as pairs of places.
fn pairs(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = |text: &[&str]| text.len() - head;
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (height, width) = (rest(old) - tail, rest(new) - tail);
    if MAX_PAIRS < height.checked_mul(width)? {
        return None;
    }
    let (a, b) = (&old[head..head + height], &new[head..head + width]);
    // How long the longest is from each pair of places on.
    let row = width + 1;
    let mut longest = vec![0_u32; (height + 1) * row];
    for i in (0..height).rev() {
        for j in (0..width).rev() {
            longest[i * row + j] = if a[i] == b[j] {
                longest[(i + 1) * row + j + 1] + 1
            } else {
                longest[(i + 1) * row + j].max(longest[i * row + j + 1])
            };
        }
    }
    let mut all: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let (mut i, mut j) = (0, 0);
    while i < height && j < width {
        if a[i] == b[j] {
            all.push((head + i, head + j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i * row + j + 1] <= longest[(i + 1) * row + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    all.extend((0..tail).map(|at| (old.len() - tail + at, new.len() - tail + at)));
    Some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words stand for lines.
    #[track_caller]
    fn check(base: &str, left: &str, now: &str, expected: &str) {
        let text = |words: &str| -> String {
            words.split_whitespace().flat_map(|word| [word.to_owned(), "\n".to_owned()]).collect()
        };
        let made = carried_over(&text(base), &text(left), &text(now)).expect("short texts");
        assert_eq!(made, text(expected), "{base} | {left} | {now}");
    }

    #[test]
    fn only_what_the_person_did_is_done_to_the_base() {
        check("a b c", "a b c", "a c", "a c");
        check("a b c", "a b c", "x a y b c z", "x a y b c z");
        // What the agent removed stays, what it added does not come.
        check("a b c d", "a c d", "a c", "a b c");
        check("a b c", "a b skip c", "a skip c", "a c");
        check("a b c", "a b skip c", "skip c", "c");
        check("a b c", "a b skip c", "a b c", "a b c");
        check("a b c", "a B c", "a B c d", "a b c d");
        // The person rewrites a line that the agent wrote.
        check("a b c", "a B c", "a X c", "a b X c");
        check("a b", "", "x", "a b x");
        check("a b", "a b", "", "");
        check("", "a", "a b", "b");
    }

    proptest! {
        #[test]
        fn without_the_agent_it_is_what_the_person_wrote(a in "([abc]\n){0,8}", b in "([abc]\n){0,8}") {
            prop_assert_eq!(carried_over(&a, &a, &b), Some(b.clone()));
            prop_assert_eq!(carried_over(&a, &b, &b), Some(a));
        }
    }

    /// How many lines two texts have in common, in order: tried in every way.
    fn in_common(old: &[&str], new: &[&str]) -> usize {
        match (old, new) {
            ([a, old_rest @ ..], [b, new_rest @ ..]) if a == b => 1 + in_common(old_rest, new_rest),
            ([_, old_rest @ ..], [_, new_rest @ ..]) => {
                in_common(old_rest, new).max(in_common(old, new_rest))
            }
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn pairs_are_equal_in_order_and_as_many_as_there_can_be(a in "([abcd]\n){0,8}", b in "([abcd]\n){0,8}") {
            let (old, new) = (lines(&a), lines(&b));
            let all = pairs(&old, &new).expect("short texts");
            prop_assert!(all.iter().all(|(i, j)| old[*i] == new[*j]));
            prop_assert!(all.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{all:?}");
            prop_assert_eq!(all.len(), in_common(&old, &new));
        }
    }

    #[test]
    fn texts_that_are_too_long_are_not_compared() {
        let text = |word: &str, count: usize| format!("{word}\n").repeat(count);
        assert_eq!(carried_over(&text("a", 4_001), &text("b", 4_001), ""), None);
        // What is the same at both ends need not be compared.
        let long = text("a", 10_000);
        assert_eq!(carried_over(&long, &long, &format!("{long}b\n")), Some(format!("{long}b\n")));
    }
}
