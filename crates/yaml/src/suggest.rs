/// The known name that `given` was probably meant to be, if one is near enough.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted = folded(given);
    // A third of the letters may be wrong; beyond that a suggestion misleads.
    let limit = (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let candidate = folded(name);
        let mut steps = distance(&wanted, &candidate);
        if extends(&wanted, &candidate) || extends(&candidate, &wanted) {
            steps = steps.min(limit);
        }
        let alike = steps <= limit && steps < wanted.len().max(candidate.len());
        if alike && best.is_none_or(|(least, _)| steps < least) {
            best = Some((steps, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Whether `long` begins with `short`, as `dimension` does with `dim`.
fn extends(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.starts_with(short)
}

/// The names in backticks with commas between them, for messages; of many the first sixteen.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const SHOWN: usize = 16;
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match names.len() {
        0 => text.push_str("none"),
        n if n > SHOWN => text.push_str(&format!(" and {} more", n - SHOWN)),
        _ => {}
    }
    text
}

/// Letter case and the choice of `-`, `_` or space are never what tells two keys apart.
fn folded(name: &str) -> Vec<char> {
    const LONGEST: usize = 64;
    name.chars()
        .take(LONGEST)
        .map(|c| match c {
            '-' | ' ' => '_',
            c => c.to_ascii_lowercase(),
        })
        .collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["build", "search", "ef_construction", "repetitions"];

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(nearest("serach", KEYS), Some("search"));
        assert_eq!(nearest("efConstruction", KEYS), Some("ef_construction"));
        assert_eq!(nearest("EF-construction", KEYS), Some("ef_construction"));
        assert_eq!(nearest("repetition", KEYS), Some("repetitions"));
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
        assert_eq!(nearest("n", ["m"]), None);
        assert_eq!(nearest("dimension", ["element", "dim"]), Some("dim"));
    }

    #[test]
    fn a_swap_of_neighbours_is_one_step() {
        let d = |a: &str, b: &str| distance(&folded(a), &folded(b));
        assert_eq!(d("ab", "ba"), 1);
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("kitten", "sitting"), 3);
    }
}
