use annbench_core::ParamValue;
use annbench_yaml::{Data, Diagnostic, ErrorKind, Node, Source, Value, shortened};

const EXPECTED: &str = "an integer, a number, true, false or text, or a list of those";

/// A parameter's value: a boolean, a finite number or text. Unquoted text that YAML 1.1 reads as
/// something else is refused: taken as text it would measure another point than the one meant.
pub(crate) fn param_value(
    source: &Source,
    node: &Node,
    what: &str,
) -> Result<ParamValue, Diagnostic> {
    let Data::Scalar(scalar) = &node.data else {
        return Err(source
            .wrong_type(node, what, EXPECTED)
            .next("lists do not nest, and a parameter takes no mapping"));
    };
    match scalar.value {
        Value::Bool(value) => Ok(ParamValue::Bool(value)),
        Value::Int(value) => Ok(ParamValue::Int(value)),
        Value::Float(value) => Ok(ParamValue::Float(value)),
        Value::Text { .. } => match scalar.in_yaml_1_1() {
            None => Ok(ParamValue::Text(scalar.raw.clone())),
            Some(older) => Err(source
                .error(
                    ErrorKind::Type,
                    node.span,
                    format!(
                        "{what}: YAML 1.1 reads `{}` as {}, YAML 1.2 as text",
                        shortened(&scalar.raw),
                        older.what()
                    ),
                )
                .expected(EXPECTED)
                .found(format!("{}, unquoted", node.found()))
                .next(older.next(&scalar.raw))),
        },
        Value::Null => Err(source
            .wrong_type(node, what, EXPECTED)
            .next("give a value, or remove the parameter to leave it to the library")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FORM;

    fn read(text: &str) -> Result<ParamValue, Diagnostic> {
        let source = Source::new("f", text, &FORM);
        param_value(&source, &source.compose()?, "`m`")
    }

    #[test]
    fn text_of_libraries_and_quoted_text_is_taken_as_it_is() {
        for text in ["IVF447,Flat", "OPQ16_64,IVF1024,PQ16x4fs", "0.2s", "SQ8"] {
            assert_eq!(read(text), Ok(ParamValue::Text(text.to_owned())));
        }
        for text in ["1_000", "0b11", "12:30:45", "0o10", "no", "010"] {
            let quoted = read(&format!("\"{text}\""));
            assert_eq!(quoted, Ok(ParamValue::Text(text.to_owned())));
            assert!(read(text).is_err(), "{text}");
        }
    }
}
