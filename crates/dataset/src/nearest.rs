/// The name that differs from `word` in the fewest letters, if it is near enough to be a slip.
pub(crate) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    names
        .into_iter()
        .map(|name| (edits(word, name), name))
        .filter(|(edits, name)| *edits <= 1 + name.len() / 5)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Levenshtein distance in characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["element", "metric", "dim"];
        assert_eq!(nearest("elment", names), Some("element"));
        assert_eq!(nearest("din", names), Some("dim"));
        assert_eq!(nearest("licence", names), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
