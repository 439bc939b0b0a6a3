//! Laws of reading, over texts that nobody wrote.

use annbench_yaml::{Data, Diagnostic, Form, Node, Source, Value, decode, nearest, number};
use proptest::prelude::*;

const FORM: Form = Form {
    what: "a test",
    outline: "a test (`a`)",
    manual: "no manual",
    in_place_of_merges: "write the keys out",
};

fn compose(text: &str) -> Result<Node, Diagnostic> {
    Source::new("f", text, &FORM).compose()
}

/// The screen has a place within the text and a caret under it, and says what to do next.
fn check(text: &str, error: &Diagnostic) {
    let (file, line, column) = error.place().expect("a place");
    assert!(file == "f" && line >= 1 && column >= 1);
    let breaks = text.chars().filter(|c| matches!(c, '\n' | '\r')).count();
    assert!(line <= breaks + 2, "line {line} of {text:?}");
    let screen = error.to_string();
    assert!(
        screen.lines().nth(3).expect("a caret").contains('^'),
        "{screen}"
    );
    assert!(screen.contains("\n  next      "), "{screen}");
}

/// Every key and value lies in the text.
fn placed(text: &str, node: &Node) {
    let spans = match &node.data {
        Data::Scalar(_) => vec![node.span],
        Data::List(items) => {
            items.iter().for_each(|item| placed(text, item));
            vec![node.span]
        }
        Data::Map(entries) => {
            entries.iter().for_each(|(_, value)| placed(text, value));
            entries.iter().map(|(key, _)| key.span).collect()
        }
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    for span in spans {
        assert!(span.line >= 1 && span.column >= 1, "{span:?} of {text:?}");
        // What is nothing (`a:` at the end) stands behind the last line.
        let line = lines.get(span.line - 1).copied().unwrap_or_default();
        assert!(span.line <= lines.len() + 1, "{span:?} of {text:?}");
        assert!(
            span.column <= line.chars().count() + 1,
            "{span:?} of {text:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_composed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match decode("f", &bytes) {
            Err(error) => check(&String::from_utf8_lossy(&bytes), &error),
            Ok(text) => match compose(text) {
                Ok(root) => placed(text, &root),
                Err(error) => check(text, &error),
            },
        }
    }

    #[test]
    fn any_heap_of_marks_is_composed_or_refused(text in "[-a1_:0ob.{}\\[\\],&*!|>'\"#%?~ \\n\\r\\t]{0,80}") {
        match compose(&text) {
            Ok(root) => placed(&text, &root),
            Err(error) => check(&text, &error),
        }
    }

    #[test]
    fn integers_are_read_back(value in any::<i64>()) {
        prop_assert_eq!(number(&value.to_string()), Some(Ok(Value::Int(value))));
    }

    #[test]
    fn floats_are_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
        let read = number(&format!("{value:e}"));
        prop_assert_eq!(read, Some(Ok(Value::Float(value + 0.0))));
    }

    /// Factory strings and names begin with a letter; no version of YAML takes them as numbers.
    #[test]
    fn what_begins_with_a_letter_is_text(text in "[A-Za-z][A-Za-z0-9_,x.]{3,30}") {
        let root = compose(&text).expect("a scalar");
        let Data::Scalar(scalar) = &root.data else { panic!("{text}") };
        let word = matches!(scalar.value, Value::Null | Value::Bool(_));
        prop_assert!(word || scalar.in_yaml_1_1().is_none(), "{}", text);
    }

    /// Digits with `_` between them never pass as text, and the advice is the number itself.
    #[test]
    fn separated_digits_come_with_their_number(value in 1u32.., at in 1usize..9) {
        let digits = value.to_string();
        prop_assume!(at < digits.len());
        let text = format!("{}_{}", &digits[..at], &digits[at..]);
        let root = compose(&text).expect("a scalar");
        let Data::Scalar(scalar) = &root.data else { panic!("{text}") };
        let older = scalar.in_yaml_1_1().expect("a number of YAML 1.1");
        let advice = format!("write {value}, ");
        prop_assert!(older.next(&text).starts_with(&advice), "{}", text);
    }

    #[test]
    fn a_name_that_differs_in_one_letter_is_suggested(name in "[a-z]{4,20}", at in 0usize..20) {
        let at = at % name.len();
        let misspelt = format!("{}{}", &name[..at], &name[at + 1..]);
        prop_assert_eq!(nearest(&misspelt, [name.as_str()]), Some(name.as_str()));
    }
}
