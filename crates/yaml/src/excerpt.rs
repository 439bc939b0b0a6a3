use crate::source::Span;

/// Longest stretch of a source line that a message shows, in characters.
const EXCERPT_WIDTH: usize = 100;

/// The line of `text` at `span` and a caret line under it, both cut to a readable width.
pub(crate) fn excerpt(text: &str, span: Span) -> (String, String) {
    let line: Vec<char> = line_of(text, span.line)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let at = span.column.saturating_sub(1).min(line.len());
    let width = match span.width {
        0 => line.len() - at,
        width => width.min(line.len() - at),
    }
    .max(1);
    let from = if at < EXCERPT_WIDTH * 3 / 4 {
        0
    } else {
        at - EXCERPT_WIDTH / 2
    };
    let to = line.len().min(from + EXCERPT_WIDTH);
    let (head, tail) = (
        if from > 0 { "…" } else { "" },
        if to < line.len() { "…" } else { "" },
    );
    let shown: String = line[from..to].iter().collect();
    let indent = at - from + head.chars().count();
    let width = width.min((from + EXCERPT_WIDTH).saturating_sub(at)).max(1);
    (
        format!("{head}{}{tail}", shown.trim_end()),
        format!("{}{}", " ".repeat(indent), "^".repeat(width)),
    )
}

/// Line `number` (from 1) of `text`; YAML's line breaks are LF, CR LF and a lone CR.
fn line_of(text: &str, number: usize) -> &str {
    let mut rest = text;
    for _ in 1..number {
        match rest.find(['\n', '\r']) {
            None => return "",
            Some(at) => {
                let broken = &rest[at..];
                rest = broken
                    .strip_prefix("\r\n")
                    .or_else(|| broken.get(1..))
                    .unwrap_or("");
            }
        }
    }
    rest.split(['\n', '\r']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, line: usize, column: usize, width: usize) -> (String, String) {
        let span = Span {
            line,
            column,
            width,
        };
        excerpt(text, span)
    }

    #[test]
    fn lines_end_at_every_yaml_break() {
        assert_eq!(at("a\r\nbc\rd\n", 2, 2, 1), ("bc".into(), " ^".into()));
        assert_eq!(at("a\r\nbc\rd\n", 3, 1, 0), ("d".into(), "^".into()));
    }

    #[test]
    fn a_place_beyond_the_text_still_has_a_caret() {
        assert_eq!(at("ab", 9, 4, 7), (String::new(), "^".into()));
        assert_eq!(at("ab", 1, 9, 7), ("ab".into(), "  ^".into()));
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let (line, caret) = at(&text, 1, 501, 1);
        assert_eq!(line.chars().count(), EXCERPT_WIDTH + 2);
        assert_eq!(line.chars().nth(caret.len() - 1), Some('X'));
    }
}
