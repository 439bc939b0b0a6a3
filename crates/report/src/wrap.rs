/// Breaks `text` at blanks into lines of at most `width`, as `measure` tells; a word that is wider
/// by itself is broken between characters, so that nothing is cut off. Blanks within a line stay
/// as they are.
pub(crate) fn wrap(text: &str, width: f64, measure: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if measure(&longer) <= width {
            line = longer;
            continue;
        }
        if !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
        }
        line.clear();
        for c in word.chars() {
            line.push(c);
            if measure(&line) > width && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.to_string()));
            }
        }
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, width: f64) -> Vec<String> {
        wrap(text, width, |t| t.chars().count() as f64)
    }

    #[test]
    fn breaks_at_blanks_and_inside_long_words() {
        assert_eq!(wrapped("a bc def", 4.0), ["a bc", "def"]);
        assert_eq!(wrapped("abcdefgh", 3.0), ["abc", "def", "gh"]);
        assert!(wrapped("  ", 3.0).is_empty());
        assert_eq!(wrapped("ab", 0.0), ["a", "b"]);
        assert_eq!(wrapped("a  b c", 4.0), ["a  b", "c"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_wider(text in ".{0,80}", width in 1u8..20) {
            let lines = wrapped(&text, f64::from(width));
            let kept: String = lines.concat().chars().filter(|c| !c.is_whitespace()).collect();
            let given: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert_eq!(kept, given);
            prop_assert!(lines.iter().all(|l| l.chars().count() <= usize::from(width)));
        }
    }
}
