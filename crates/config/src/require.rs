use crate::axes::{Axis, Grid};
use annbench_core::{ParamValue, Params};
use annbench_yaml::{Diagnostic, ErrorKind, Source, Span, listed, nearest, shortened};
use std::cmp::Ordering;

/// Names that a requirement may use besides parameters.
const FACTS: [&str; 4] = ["k", "dim", "n", "threads"];

/// `operand op operand`, to hold at a point or the point is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Requirement {
    /// As written.
    text: String,
    span: Span,
    left: Operand,
    op: Op,
    right: Operand,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Number(Number),
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i128),
    Float(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

/// What a requirement sees of a point besides its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) k: usize,
    pub(crate) dim: usize,
    pub(crate) n: usize,
    pub(crate) threads: usize,
}

impl Requirement {
    /// Reads `text`, which stands at `span` of `source`.
    pub(crate) fn read(source: &Source, text: &str, span: Span) -> Result<Self, Diagnostic> {
        const EXPECTED: &str = "`operand op operand`: parameters, k, dim, n, threads or numbers; one of < <= > >= == !=";
        let refused = |problem: &str, next: &str| {
            source
                .error(ErrorKind::Value, span, problem)
                .expected(EXPECTED)
                .found(format!("`{}`", shortened(text)))
                .next(next)
        };
        let Some(at) = text.find(['<', '>', '=', '!']) else {
            return Err(refused(
                "a requirement without a comparison",
                "write a comparison such as \"ef >= k\"",
            ));
        };
        let (left, rest) = text.split_at(at);
        let end = rest
            .find(|c| !matches!(c, '<' | '>' | '=' | '!'))
            .unwrap_or(rest.len());
        let (symbol, right) = rest.split_at(end);
        let op = match symbol {
            "<" => Op::Less,
            "<=" => Op::AtMost,
            ">" => Op::More,
            ">=" => Op::AtLeast,
            "==" => Op::Equal,
            "!=" => Op::Unequal,
            "=" => return Err(refused("`=` is no comparison", "did you mean `==`?")),
            "=>" => return Err(refused("`=>` is no comparison", "did you mean `>=`?")),
            "=<" => return Err(refused("`=<` is no comparison", "did you mean `<=`?")),
            "<>" => return Err(refused("`<>` is no comparison", "did you mean `!=`?")),
            _ => {
                return Err(refused(
                    &format!("`{symbol}` is no comparison"),
                    "use one of < <= > >= == !=",
                ));
            }
        };
        let operand = |text: &str| {
            Operand::read(text.trim()).ok_or_else(|| {
                refused(
                    &format!("`{}` is no operand", shortened(text.trim())),
                    "compare two names, or a name and a number; put a second comparison into an entry of its own",
                )
            })
        };
        let (left, right) = (operand(left)?, operand(right)?);
        if matches!((&left, &right), (Operand::Number(_), Operand::Number(_))) {
            return Err(refused(
                "a requirement that names nothing",
                "name a parameter, k, dim, n or threads on one side",
            ));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            span,
            left,
            op,
            right,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.left, &self.right]
            .into_iter()
            .filter_map(|operand| match operand {
                Operand::Name(name) => Some(name.as_str()),
                Operand::Number(_) => None,
            })
    }

    /// Refuses names that are unknown, ambiguous or no numbers in `grid` of `group`.
    pub(crate) fn check(
        &self,
        source: &Source,
        group: &str,
        grid: &Grid,
    ) -> Result<(), Diagnostic> {
        for name in self.names() {
            let (build, search) = (grid.build.get(name), grid.search.get(name));
            let meanings: Vec<&str> = [
                ("a build parameter", build.is_some()),
                ("a search parameter", search.is_some()),
                ("a fact of the run", FACTS.contains(&name)),
            ]
            .into_iter()
            .filter_map(|(meaning, holds)| holds.then_some(meaning))
            .collect();
            if meanings.len() > 1 {
                return Err(source
                    .error(
                        ErrorKind::Conflict,
                        self.span,
                        format!(
                            "`{name}` in require `{}` of group `{group}` is ambiguous",
                            self.text
                        ),
                    )
                    .expected("a name with one meaning")
                    .found(format!("`{name}` is {}", meanings.join(" and ")))
                    .next("remove the requirement; the adapter's own check still applies"));
            }
            if meanings.is_empty() {
                let known: Vec<&str> = grid
                    .build
                    .iter()
                    .chain(grid.search.iter())
                    .map(|axis| &*axis.name)
                    .chain(FACTS)
                    .collect();
                let error = source
                    .error(
                        ErrorKind::UnknownName,
                        self.span,
                        format!(
                            "require `{}` names `{name}`, which the points of group `{group}` do not have",
                            self.text
                        ),
                    )
                    .expected(format!("one of {}", listed(known.iter().copied())))
                    .found(format!("`{name}`"));
                return Err(match nearest(name, known) {
                    Some(near) => error.next(format!("did you mean `{near}`?")),
                    None => error.next("give the parameter, or remove the requirement"),
                });
            }
            if let Some(axis) = build.or(search) {
                self.check_values(source, group, axis)?;
            }
        }
        Ok(())
    }

    /// Refuses values of `axis` that are no numbers, if the requirement names it.
    pub(crate) fn check_values(
        &self,
        source: &Source,
        group: &str,
        axis: &Axis,
    ) -> Result<(), Diagnostic> {
        let name = &*axis.name;
        if !self.names().any(|known| known == name) {
            return Ok(());
        }
        match axis.values.iter().find(|value| number(value).is_none()) {
            None => Ok(()),
            Some(value) => Err(source
                .error(
                    ErrorKind::Type,
                    axis.span,
                    format!(
                        "`{name}` must be a number in group `{group}`: require `{}`",
                        self.text
                    ),
                )
                .expected("numbers on both sides of a requirement")
                .found(format!(
                    "{} (`{}`)",
                    value.kind(),
                    shortened(&value.to_string())
                ))
                .next("change the value, or remove the requirement")),
        }
    }

    /// Why the point fails, or `None` when it holds.
    ///
    /// Names are those that [`Requirement::check`] admitted; one that is absent all the same
    /// refuses the point rather than letting it pass.
    pub(crate) fn refusal(&self, build: &Params, search: &Params, facts: Facts) -> Option<String> {
        let value = |operand: &Operand| match operand {
            Operand::Number(number) => Some(*number),
            Operand::Name(name) => match build.get(name).or_else(|| search.get(name)) {
                Some(value) => number(value),
                None => {
                    let fact = match name.as_str() {
                        "k" => facts.k,
                        "dim" => facts.dim,
                        "n" => facts.n,
                        "threads" => facts.threads,
                        _ => return None,
                    };
                    // Lossless: usize has at most 64 bits on every platform of Rust.
                    Some(Number::Int(fact as i128))
                }
            },
        };
        let (left, right) = (value(&self.left), value(&self.right));
        let holds = match (left, right) {
            (Some(left), Some(right)) => self.op.holds(compare(left, right)),
            _ => false,
        };
        if holds {
            return None;
        }
        let mut shown: Vec<String> = Vec::new();
        for (operand, value) in [(&self.left, left), (&self.right, right)] {
            if let Operand::Name(name) = operand {
                let value = match value {
                    Some(Number::Int(v)) => v.to_string(),
                    Some(Number::Float(v)) => v.to_string(),
                    None => "absent".to_owned(),
                };
                let text = format!("{name} = {value}");
                if !shown.contains(&text) {
                    shown.push(text);
                }
            }
        }
        Some(format!(
            "require `{}` does not hold: {}",
            self.text,
            shown.join(", ")
        ))
    }
}

impl Operand {
    fn read(text: &str) -> Option<Self> {
        use annbench_yaml::Value;
        if let Some(number) = annbench_yaml::number(text) {
            return match number {
                Ok(Value::Int(v)) => Some(Operand::Number(Number::Int(v.into()))),
                Ok(Value::Float(v)) => Some(Operand::Number(Number::Float(v))),
                _ => None,
            };
        }
        crate::axes::is_snake_case(text).then(|| Operand::Name(text.to_owned()))
    }
}

impl Op {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Op::Less => ordering.is_lt(),
            Op::AtMost => ordering.is_le(),
            Op::More => ordering.is_gt(),
            Op::AtLeast => ordering.is_ge(),
            Op::Equal => ordering.is_eq(),
            Op::Unequal => ordering.is_ne(),
        }
    }
}

fn number(value: &ParamValue) -> Option<Number> {
    match value {
        ParamValue::Int(v) => Some(Number::Int((*v).into())),
        ParamValue::Float(v) => Some(Number::Float(*v)),
        ParamValue::Bool(_) | ParamValue::Text(_) => None,
    }
}

/// Exact, also between an integer and a float; floats are finite here.
fn compare(left: Number, right: Number) -> Ordering {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.total_cmp(&b),
        (Number::Int(a), Number::Float(b)) => compare_mixed(a, b),
        (Number::Float(a), Number::Int(b)) => compare_mixed(b, a).reverse(),
    }
}

/// Integers here lie within 65 bits, so a float beyond the range of i128, to which `as` saturates,
/// still compares rightly.
fn compare_mixed(int: i128, float: f64) -> Ordering {
    let whole = float.trunc();
    int.cmp(&(whole as i128))
        .then_with(|| 0.0f64.total_cmp(&(float - whole + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FORM;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Requirement, Diagnostic> {
        Requirement::read(&Source::new("f", text, &FORM), text, Span::default())
    }

    const FACTS: Facts = Facts {
        k: 100,
        dim: 128,
        n: 50_000,
        threads: 1,
    };

    fn refusal(text: &str) -> Option<String> {
        let build = Params::new().with("m", ParamValue::Int(16));
        let search = Params::new()
            .with("ef", ParamValue::Int(10))
            .with("eps", ParamValue::Float(0.5));
        read(text).expect(text).refusal(&build, &search, FACTS)
    }

    #[test]
    fn the_reason_names_the_values() {
        assert_eq!(
            refusal("ef >= k").as_deref(),
            Some("require `ef >= k` does not hold: ef = 10, k = 100")
        );
        assert_eq!(
            refusal("m<16").as_deref(),
            Some("require `m<16` does not hold: m = 16")
        );
        assert_eq!(
            refusal("eps > .5").as_deref(),
            Some("require `eps > .5` does not hold: eps = 0.5")
        );
    }

    #[test]
    fn every_operator_holds_and_fails() {
        for (holds, fails) in [
            ("ef < 11", "ef < 10"),
            ("ef <= 10", "ef <= 9"),
            ("ef > 9.5", "ef > 10.0"),
            ("ef >= 1e1", "ef >= 10.5"),
            ("ef == 10.0", "ef == 11"),
            ("ef != m", "ef != 10"),
            ("threads == 1", "threads != 1"),
            ("dim <= n", "n <= dim"),
        ] {
            assert_eq!(refusal(holds), None, "{holds}");
            assert!(refusal(fails).is_some(), "{fails}");
        }
    }

    #[test]
    fn what_is_no_single_comparison_is_refused() {
        for text in [
            "",
            "ef",
            "ef = k",
            "ef => k",
            "ef <> k",
            "ef >= k and k > 1",
            "ef + 1 > k",
            "1 < 2",
            "ef >=",
            ">= k",
            "ef >== k",
            "a < b < c",
            "-ef > k",
            "ef >= .inf",
            "Ef > k",
            "ef > 1_0",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("nprobe>-1").is_ok());
    }

    proptest! {
        #[test]
        fn mixed_comparison_is_exact(int in any::<i64>(), nudge in -2i64..3, float in any::<f64>()) {
            // Against a neighbour that is an exact float, and against any float through rationals.
            let near = (int.saturating_add(nudge)) as f64;
            prop_assert_eq!(compare_mixed(int.into(), near), i128::from(int).cmp(&(near as i128)));
            if float.is_finite() && float.abs() < 1e15 {
                let doubled = float * 1024.0;
                if doubled.fract() == 0.0 {
                    prop_assert_eq!(
                        compare_mixed(int.into(), float),
                        (i128::from(int) * 1024).cmp(&(doubled as i128))
                    );
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = read(&text);
        }
    }
}
