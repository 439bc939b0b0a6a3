/// Whether `text` matches `pattern` as a whole: `*` stands for any run of characters, `?` for one.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to resume when a guess about the last `*` fails: it then takes one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                None => return false,
                Some((after, taken)) => {
                    retry = Some((after, taken + 1));
                    p = after;
                    t = taken + 1;
                }
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("gist-960-*", "gist-960-euclidean", true),
            ("gist-960-*", "gist-960", false),
            ("*-angular", "glove-100-angular", true),
            ("*-100-*", "glove-100-angular", true),
            ("siftimg-?0k-*", "siftimg-50k-128-euclidean", true),
            ("siftimg-?k-*", "siftimg-50k-128-euclidean", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            Some((&c, rest)) => text
                .split_first()
                .is_some_and(|(&first, tail)| (c == '?' || c == first) && naive(rest, tail)),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_definition(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), naive(&chars(&pattern), &chars(&text)));
        }
    }
}
