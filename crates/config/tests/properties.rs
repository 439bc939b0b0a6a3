//! Laws of reading and planning, over texts and grids that nobody wrote.

use annbench_config::{Campaign, DatasetShape, Document, Filter, Plan, Sweep, decode, plan};
use annbench_core::{ElementType, Metric};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn shape() -> DatasetShape {
    DatasetShape {
        name: "toy".to_owned(),
        metric: Metric::L2,
        element: ElementType::U8,
        n: 1000,
        queries: 10,
        dim: 16,
    }
}

/// Pieces of which YAML and sweeps are made, so that random texts get past the first line.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "adapter: a\n",
        "groups:",
        "groups: {",
        "  g: { build: {",
        "m: [1, 2]",
        "search: {",
        "}",
        "{",
        "[",
        "]",
        ",",
        ":",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "<<: *a",
        "!!int ",
        "|\n",
        ">-\n ",
        "\"",
        "'",
        "#",
        "%",
        "---\n",
        "...\n",
        "~",
        "1e999",
        "0x",
        ".inf",
        "true",
        "extends: g",
        "require: [\"m >= k\"]",
        "overrides: [",
        "when: { dim: 16 }",
        "skip: no",
        "sweeps: [ { file: f } ]",
        "datasets: [d]",
        "k: [1]",
        "measure: {",
        "min_pass: 2s",
        "\t",
        "\r\n",
        "\u{feff}",
        "é網",
        "\u{85}",
        "\u{2028}",
        "@",
        "`",
        "x",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match decode("f", &bytes) {
            Ok(text) => { let _ = Document::parse("f", text).map_err(|error| error.to_string()); }
            Err(error) => prop_assert!(error.place().is_some()),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = Document::parse("f", &text).map_err(|error| error.to_string());
    }

    #[test]
    fn any_heap_of_yaml_is_read_or_refused(text in pieces()) {
        match Document::parse("f", &text) {
            Ok(Document::Sweep(sweep)) => {
                let _ = plan(&Campaign::of_sweep(&sweep), &[sweep], &shape(), &Filter::default());
            }
            Ok(Document::Campaign(campaign)) => { let _ = campaign.settings().to_string(); }
            Err(error) => {
                let (_, line, column) = error.place().expect("a place");
                prop_assert!(line >= 1 && column >= 1);
                // The caret stands under the column it names, unless the line was cut.
                let screen = error.to_string();
                let rows: Vec<&str> = screen.lines().collect();
                prop_assert!(rows[3].contains('^'), "{}", screen);
            }
        }
    }

    /// A valid file with one character changed is still read or refused, never a panic.
    #[test]
    fn a_damaged_sweep_is_read_or_refused(at in 0usize..400, with in any::<char>()) {
        let text = include_str!("golden/plan/hnsw_rs.yaml");
        let mut chars: Vec<char> = text.chars().collect();
        let at = at % chars.len();
        chars[at] = with;
        let text: String = chars.into_iter().collect();
        if let Ok(Document::Sweep(sweep)) = Document::parse("f", &text) {
            let _ = plan(&Campaign::of_sweep(&sweep), &[sweep], &shape(), &Filter::default());
        }
    }
}

/// Lengths of lists by parameter, for build and for search.
type Lengths = (BTreeMap<char, usize>, BTreeMap<char, usize>);

fn lengths() -> impl Strategy<Value = Lengths> {
    let side = || prop::collection::btree_map(prop::char::range('a', 'd'), 1usize..4, 0..4);
    (side(), side())
}

fn group(name: &str, (build, search): &Lengths, offset: usize) -> String {
    let side = |lists: &BTreeMap<char, usize>| {
        let lists: Vec<String> = lists
            .iter()
            .map(|(name, &length)| {
                let values: Vec<String> = (offset..offset + length)
                    .map(|value| value.to_string())
                    .collect();
                format!("{name}: [{}]", values.join(", "))
            })
            .collect();
        lists.join(", ")
    };
    format!(
        "  {name}: {{ build: {{ {} }}, search: {{ {} }} }}\n",
        side(build),
        side(search)
    )
}

fn planned(text: &str) -> Plan {
    let sweep = Sweep::parse("s", text).unwrap_or_else(|error| panic!("{error}"));
    plan(
        &Campaign::of_sweep(&sweep),
        &[sweep],
        &shape(),
        &Filter::default(),
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

fn points(plan: &Plan) -> Vec<String> {
    let mut points: Vec<String> = plan
        .jobs
        .iter()
        .flat_map(|job| {
            job.points
                .iter()
                .map(move |point| format!("{} | {} | {}", job.build, point.search, point.k))
        })
        .collect();
    points.sort();
    points
}

proptest! {
    /// Builds and points are as many as the product says, and all differ.
    #[test]
    fn a_group_is_the_product_of_its_lists(lengths in lengths()) {
        let plan = planned(&format!("adapter: a\ngroups:\n{}", group("g", &lengths, 1)));
        let builds: usize = lengths.0.values().product();
        let searches: usize = lengths.1.values().product();
        prop_assert_eq!(plan.jobs.len(), builds);
        prop_assert!(plan.jobs.iter().all(|job| job.points.len() == searches));
        let mut distinct = points(&plan);
        distinct.dedup();
        prop_assert_eq!(distinct.len(), builds * searches);
        prop_assert!(plan.duplicates.is_empty());
    }

    /// Two groups give the union of their points, in either order; what they share is counted.
    #[test]
    fn groups_unite(first in lengths(), second in lengths(), offset in 1usize..3) {
        let (one, two) = (group("g", &first, 1), group("h", &second, offset));
        let both = planned(&format!("adapter: a\ngroups:\n{one}{two}"));
        let turned = planned(&format!("adapter: a\ngroups:\n{two}{one}"));
        prop_assert_eq!(points(&both), points(&turned));
        let mut separate = points(&planned(&format!("adapter: a\ngroups:\n{one}")));
        separate.extend(points(&planned(&format!("adapter: a\ngroups:\n{two}"))));
        let all = separate.len();
        separate.sort();
        separate.dedup();
        let shared: usize = both.duplicates.iter().map(|duplicates| duplicates.points).sum();
        prop_assert_eq!(shared, all - separate.len());
        prop_assert_eq!(points(&both), separate);
    }

    /// The same texts give the same plan, and a copy by `extends` or by alias adds nothing.
    #[test]
    fn planning_is_pure_and_copies_are_equal(lengths in lengths()) {
        let text = format!("adapter: a\ngroups:\n{}", group("g", &lengths, 1));
        let plain = planned(&text);
        prop_assert_eq!(&plain, &planned(&text));
        let copied = planned(&format!("{text}  h: {{ extends: g }}\n"));
        prop_assert_eq!(&plain.jobs, &copied.jobs);
        let aliased = text.replacen("g: {", "g: &g {", 1);
        let aliased = planned(&format!("{aliased}  h: *g\n"));
        prop_assert_eq!(&plain.jobs, &aliased.jobs);
    }

    /// `require` refuses exactly what does not hold and removes nothing.
    #[test]
    fn requirements_keep_every_point(lengths in lengths(), least in 0usize..5) {
        let mut lengths = lengths;
        lengths.0.insert('m', 4);
        lengths.1.remove(&'m');
        let text = format!("adapter: a\ngroups:\n{}", group("g", &lengths, 1));
        let strict = text.trim_end().strip_suffix('}').expect("a group").to_owned()
            + &format!(", require: [\"m >= {least}\"] }}\n");
        let (free, strict) = (planned(&text), planned(&strict));
        prop_assert_eq!(points(&free), points(&strict));
        for job in &strict.jobs {
            let m: usize = job.build.get("m").expect("m").to_string().parse().expect("a number");
            prop_assert!(job.points.iter().all(|point| point.refused.is_some() == (m < least)));
        }
    }
}
