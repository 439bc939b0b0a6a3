//! Parameters that an adapter does not declare, and where they stand.

use annbench_config::{Campaign, Declared, Filter, Sweep, Undeclared, check_filter, undeclared};

const SWEEP: &str = "adapter: graph\n\
    groups:\n  \
      base:\n    \
        build: { m: 16, ef_constrction: [100, 200] }\n    \
        search: { ef: 10 }\n  \
      more: { extends: base, search: { ef: 20, m: 4 } }\n  \
      other: { search: { colour: 1 } }\n";

fn found(groups: &[&str], declares: Option<Declared<'static>>) -> Vec<Undeclared> {
    let sweep = Sweep::parse("sweep.yaml", SWEEP).expect("a sweep");
    let filter = Filter {
        groups: groups.iter().map(|&name| name.to_owned()).collect(),
        ..Filter::default()
    };
    let campaign = Campaign::of_sweep(&sweep);
    undeclared(&campaign, &[sweep], &filter, |adapter| {
        assert_eq!(adapter, "graph");
        declares.clone()
    })
    .expect("the groups are there")
}

fn declared() -> Option<Declared<'static>> {
    Some(Declared {
        build: vec!["m", "ef_construction"],
        search: vec!["ef"],
    })
}

#[test]
fn a_misspelt_parameter_is_told_once_with_its_place_and_the_declared_one() {
    let all = found(&[], declared());
    let told: Vec<_> = all
        .iter()
        .map(|one| {
            (
                one.stage,
                &*one.name,
                one.nearest.as_deref(),
                one.screen.place(),
            )
        })
        .collect();
    let place = |line, column| Some(("sweep.yaml", line, column));
    assert_eq!(
        told,
        [
            (
                "build",
                "ef_constrction",
                Some("ef_construction"),
                place(4, 21)
            ),
            ("search", "m", None, place(6, 44)),
            ("search", "colour", None, place(7, 22)),
        ]
    );
    assert_eq!(
        all[0].screen.to_string(),
        "sweep.yaml:4:21: adapter `graph` has no build parameter `ef_constrction`\n   \
           |\n \
         4 |     build: { m: 16, ef_constrction: [100, 200] }\n   \
           |                     ^^^^^^^^^^^^^^\n  \
           expected  one of `m`, `ef_construction`\n  \
           found     `ef_constrction`\n  \
           next      did you mean `ef_construction`?"
    );
    let misplaced = all[1].screen.to_string();
    assert!(
        misplaced.contains("it is a build parameter: move it to `build`"),
        "{misplaced}"
    );
}

#[test]
fn only_selected_groups_and_adapters_that_are_known_are_looked_at() {
    let names: Vec<String> = found(&["other"], declared())
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["colour"]);
    assert_eq!(found(&[], None), []);
}

#[test]
fn a_filter_that_names_nothing_is_refused_with_the_nearest_name() {
    let sweep = Sweep::parse("sweep.yaml", SWEEP).expect("a sweep");
    let campaign = Campaign::of_sweep(&sweep);
    let refusal = |filter: &Filter| {
        check_filter(&campaign, std::slice::from_ref(&sweep), filter)
            .expect_err("refused")
            .to_string()
    };
    let names = |name: &str| vec![name.to_owned()];
    let adapters = Filter {
        adapters: names("grap"),
        ..Filter::default()
    };
    let without_adapters = Filter {
        without_adapters: names("grahp"),
        ..Filter::default()
    };
    let groups = Filter {
        groups: names("bsae"),
        ..Filter::default()
    };
    for (filter, flag, meant) in [
        (adapters, "--adapter grap", "graph"),
        (without_adapters, "--without-adapter grahp", "graph"),
        (groups, "--group bsae", "base"),
    ] {
        let screen = refusal(&filter);
        assert!(screen.starts_with(flag), "{screen}");
        assert!(
            screen.ends_with(&format!("did you mean `{meant}`?")),
            "{screen}"
        );
    }
}
