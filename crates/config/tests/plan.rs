//! What a campaign becomes, for one dataset.

use annbench_config::{
    Campaign, ConfigError, DatasetShape, Document, ErrorKind, Filter, Plan, Sweep, plan,
};
use annbench_core::{ElementType, Metric, ParamValue};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/plan")
        .join(name)
}

fn shape(name: &str, metric: Metric, n: usize, dim: usize) -> DatasetShape {
    DatasetShape {
        name: name.to_owned(),
        metric,
        element: ElementType::F32,
        n,
        queries: 100,
        dim,
    }
}

fn toy() -> DatasetShape {
    shape("toy", Metric::L2, 10_000, 8)
}

/// Plans `sweep`, without adapter line, by itself.
fn plan_groups(groups: &str, shape: &DatasetShape) -> Result<Plan, ConfigError> {
    let sweep = Sweep::parse("sweep.yaml", &format!("adapter: a\n{groups}"))?;
    plan(
        &Campaign::of_sweep(&sweep),
        &[sweep],
        shape,
        &Filter::default(),
    )
}

/// One line per job and point.
fn rendered(plan: &Plan) -> String {
    let mut text = String::new();
    for job in &plan.jobs {
        let _ = writeln!(
            text,
            "{} {} {} [{}]",
            job.dataset, job.adapter, job.group, job.build
        );
        for point in &job.points {
            let refused = point.refused.as_ref().map(|why| format!("  REFUSED {why}"));
            let _ = writeln!(
                text,
                "  [{}] k={} {} threads={}{}",
                point.search,
                point.k,
                point.mode,
                point.threads,
                refused.unwrap_or_default()
            );
        }
    }
    for duplicates in &plan.duplicates {
        let _ = writeln!(text, "{duplicates}");
    }
    text
}

/// The builds, displayed, each with how many points it has.
fn builds(plan: &Plan) -> Vec<(String, usize)> {
    plan.jobs
        .iter()
        .map(|job| (job.build.to_string(), job.points.len()))
        .collect()
}

#[test]
fn the_example_becomes_the_golden_plan() {
    let read = |name| std::fs::read_to_string(golden(name)).expect(name);
    let campaign = Campaign::parse("campaign.yaml", &read("campaign.yaml")).expect("a campaign");
    let sweeps = [Sweep::parse("hnsw_rs.yaml", &read("hnsw_rs.yaml")).expect("a sweep")];
    let mut text = format!("{}\n", campaign.settings());
    for shape in [
        shape("gist-960-euclidean", Metric::L2, 1_000_000, 960),
        shape("toy", Metric::L2, 50, 8),
        shape("deep-dot", Metric::InnerProduct, 10_000, 96),
    ] {
        let plan = plan(&campaign, &sweeps, &shape, &Filter::default()).expect("a plan");
        let _ = write!(text, "\n{}", rendered(&plan));
    }
    if std::env::var_os("ANNBENCH_BLESS").is_some() {
        std::fs::write(golden("plan.txt"), &text).expect("writable");
    }
    assert_eq!(text, read("plan.txt"));
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let campaign = Campaign::parse("c.yaml", "sweeps: [{ file: a.yaml }]\ndatasets: toy\n");
    assert_eq!(
        campaign.expect("a campaign").settings().to_string(),
        "k: [10] (default)\n\
         measure.modes: [single] (default)\n\
         measure.threads: [1] (default)\n\
         measure.build_threads: 1 (default)\n\
         measure.repetitions: 5 (default)\n\
         measure.min_pass: 2s (default)\n\
         measure.warm_up: 200ms (default)\n\
         measure.seed: 1 (default)\n\
         measure.base: copied (default)\n\
         limits.build: 2h (default)\n\
         limits.search: 10min (default)\n\
         limits.memory: 12GiB (default)"
    );
}

#[test]
fn every_setting_is_read() {
    let campaign = Campaign::parse(
        "c.yaml",
        "sweeps: [{ file: a.yaml, groups: x }, { file: b/c.yaml }]\n\
         datasets: [p, q]\n\
         k: [1, 100]\n\
         measure: { modes: [batch, single], threads: [1, 2], build_threads: 3, repetitions: 7,\n\
         \x20          min_pass: 0s, warm_up: 1.5ms, seed: 0, base: mapped }\n\
         limits: { build: 90min, search: 1h, memory: 1.5GiB }\n",
    )
    .expect("a campaign");
    assert_eq!(
        campaign.sweep_files().collect::<Vec<_>>(),
        ["a.yaml", "b/c.yaml"]
    );
    assert_eq!(campaign.datasets(), ["p", "q"]);
    assert_eq!(
        campaign.settings().to_string(),
        "k: [1, 100]\n\
         measure.modes: [batch, single]\n\
         measure.threads: [1, 2]\n\
         measure.build_threads: 3\n\
         measure.repetitions: 7\n\
         measure.min_pass: 0s\n\
         measure.warm_up: 1500us\n\
         measure.seed: 0\n\
         measure.base: mapped\n\
         limits.build: 90min\n\
         limits.search: 1h\n\
         limits.memory: 1536MiB"
    );
    let settings = campaign.settings();
    assert_eq!(settings.k, [1, 100]);
    assert_eq!(settings.measure.warm_up_ns, 1_500_000);
    assert!(settings.measure.base_mapped);
    assert_eq!(settings.limits.memory_bytes, 3 << 29);
}

#[test]
fn sweeps_and_campaigns_are_told_apart() {
    assert!(matches!(
        Document::parse("f", "adapter: a\ngroups: { g: {} }"),
        Ok(Document::Sweep(_))
    ));
    assert!(matches!(
        Document::parse("f", "datasets: d\nsweeps: [{ file: f }]"),
        Ok(Document::Campaign(_))
    ));
}

#[test]
fn a_group_without_parameters_is_one_point() {
    let plan = plan_groups("groups: { g: {} }", &toy()).expect("a plan");
    assert_eq!(builds(&plan), [(String::new(), 1)]);
    assert_eq!(plan.jobs[0].points[0].k, 10);
}

#[test]
fn the_first_list_varies_slowest_and_a_scalar_is_a_list_of_one() {
    let plan = plan_groups(
        "groups: { g: { build: { b: [2, 1], a: [x, y], c: true } } }",
        &toy(),
    );
    let builds: Vec<String> = builds(&plan.expect("a plan"))
        .into_iter()
        .map(|(build, _)| build)
        .collect();
    assert_eq!(
        builds,
        [
            "a=x b=2 c=true",
            "a=y b=2 c=true",
            "a=x b=1 c=true",
            "a=y b=1 c=true"
        ]
    );
}

#[test]
fn values_keep_their_types() {
    let plan = plan_groups(
        "groups: { g: { build: { b: true, i: 1, f: 1.0, t: \"1\", u: 'yes' } } }",
        &toy(),
    )
    .expect("a plan");
    let build = &plan.jobs[0].build;
    assert_eq!(build.get("b"), Some(&ParamValue::Bool(true)));
    assert_eq!(build.get("i"), Some(&ParamValue::Int(1)));
    assert_eq!(build.get("f"), Some(&ParamValue::Float(1.0)));
    assert_eq!(build.get("t"), Some(&ParamValue::Text("1".to_owned())));
    assert_eq!(build.get("u"), Some(&ParamValue::Text("yes".to_owned())));
}

#[test]
fn extends_merges_by_parameter_across_generations_in_any_order() {
    let plan = plan_groups(
        "groups:\n\
         \x20 grandchild: { extends: child, search: { ef: 5 } }\n\
         \x20 child: { extends: base, build: { m: [3, 4], new: 1 } }\n\
         \x20 base: { build: { m: [1, 2], efc: 9 }, search: { ef: [6, 7] } }\n",
        &toy(),
    )
    .expect("a plan");
    let lines: Vec<String> = plan
        .jobs
        .iter()
        .map(|job| {
            let searches: Vec<String> = job.points.iter().map(|p| p.search.to_string()).collect();
            format!("{} {} {}", job.group, job.build, searches.join(","))
        })
        .collect();
    assert_eq!(
        lines,
        [
            // The child's searches join the grandchild's builds: one process per build.
            "grandchild efc=9 m=3 new=1 ef=5,ef=6,ef=7",
            "grandchild efc=9 m=4 new=1 ef=5,ef=6,ef=7",
            "base efc=9 m=1 ef=6,ef=7",
            "base efc=9 m=2 ef=6,ef=7",
        ]
    );
    assert!(plan.duplicates.is_empty());
}

#[test]
fn require_is_inherited_and_replaced_whole() {
    let refused = |groups: &str| -> Vec<bool> {
        plan_groups(groups, &toy())
            .expect("a plan")
            .jobs
            .iter()
            .flat_map(|job| job.points.iter().map(|point| point.refused.is_some()))
            .collect()
    };
    let base = "  base: { build: { m: 1 }, search: { ef: [5, 10] }, require: \"ef >= k\" }\n";
    assert_eq!(
        refused(&format!(
            "groups:\n{base}  child: {{ extends: base, build: {{ m: 2 }} }}\n"
        )),
        [true, false, true, false]
    );
    assert_eq!(
        refused(&format!(
            "groups:\n{base}  child: {{ extends: base, build: {{ m: 2 }}, require: [\"ef < k\"] }}\n"
        )),
        [true, false, false, true]
    );
}

#[test]
fn groups_that_share_a_build_share_its_process_and_repeat_no_point() {
    let plan = plan_groups(
        "groups:\n\
         \x20 a: { build: { m: [1, 2] }, search: { ef: [10, 20] } }\n\
         \x20 b: { points: [ { build: { m: 2 }, search: { ef: [20, 30] } }, { build: { m: 2 }, search: { ef: 30 } } ] }\n",
        &toy(),
    )
    .expect("a plan");
    assert_eq!(
        rendered(&plan),
        "toy a a [m=1]\n  [ef=10] k=10 single threads=1\n  [ef=20] k=10 single threads=1\n\
         toy a a [m=2]\n  [ef=10] k=10 single threads=1\n  [ef=20] k=10 single threads=1\n  \
         [ef=30] k=10 single threads=1\n\
         a: 1 point of group b, already in group a: measured once\n\
         a: 1 point of group b, already in group b: measured once\n"
    );
}

#[test]
fn a_point_that_one_group_refuses_and_another_wants_runs() {
    let strict = "{ build: { m: 1 }, search: { ef: 5 }, require: [\"ef >= k\"] }";
    let free = "{ build: { m: 1 }, search: { ef: 5 } }";
    for (first, second) in [(strict, free), (free, strict)] {
        let plan = plan_groups(&format!("groups: {{ a: {first}, b: {second} }}"), &toy());
        let plan = plan.expect("a plan");
        assert_eq!(builds(&plan), [("m=1".to_owned(), 1)]);
        assert_eq!(plan.jobs[0].points[0].refused, None);
        assert_eq!(plan.duplicates.len(), 1);
    }
}

#[test]
fn conditions_are_anded_and_later_overrides_win() {
    let groups = "groups:\n\
        \x20 g: { build: { m: [1, 2] } }\n\
        \x20 p: { points: [ { build: { m: 7 } }, { build: { other: 8 } } ] }\n\
        overrides:\n\
        \x20 - { when: { dim: 8, n: 99 }, build: { m: 100 } }\n\
        \x20 - { when: { dim: 8, n: 10000, metric: l2, element: f32, dataset: \"t?y\" }, build: { m: 3 } }\n\
        \x20 - { when: { dataset: toy }, groups: [g], build: { m: [4, 5] } }\n";
    let plan = plan_groups(groups, &toy()).expect("a plan");
    let found: Vec<String> = builds(&plan).into_iter().map(|(build, _)| build).collect();
    assert_eq!(found, ["m=4", "m=5", "m=3", "other=8"]);
    let plan = plan_groups(groups, &shape("other", Metric::Cosine, 99, 8)).expect("a plan");
    let found: Vec<String> = builds(&plan).into_iter().map(|(build, _)| build).collect();
    assert_eq!(found, ["m=100", "other=8"]);
}

#[test]
fn skipped_points_stay_with_the_first_reason_and_k_beyond_the_base_is_refused() {
    let plan = plan_groups(
        "groups: { g: { search: { ef: [10, 20] } }, h: { build: { m: 1 } } }\n\
         overrides:\n\
         \x20 - { when: { dataset: toy }, groups: g, skip: first }\n\
         \x20 - { when: { dim: 8 }, skip: second }\n",
        &shape("toy", Metric::L2, 9, 8),
    )
    .expect("a plan");
    let reasons: Vec<&str> = plan
        .jobs
        .iter()
        .flat_map(|job| {
            job.points
                .iter()
                .map(|point| point.refused.as_deref().unwrap_or(""))
        })
        .collect();
    let large = "k = 10 is larger than the base, n = 9";
    assert_eq!(
        reasons,
        [
            format!("first; {large}"),
            format!("first; {large}"),
            format!("second; {large}")
        ]
    );
}

#[test]
fn k_modes_and_threads_multiply_in_that_order() {
    let campaign = Campaign::parse(
        "c.yaml",
        "sweeps: [{ file: s.yaml }]\ndatasets: toy\nk: [1, 2]\n\
         measure: { modes: [single, batch], threads: [1, 2] }\n",
    )
    .expect("a campaign");
    let sweep = Sweep::parse(
        "s.yaml",
        "adapter: a\ngroups: { g: { search: { ef: [3, 4] }, require: [\"threads <= k\"] } }\n",
    )
    .expect("a sweep");
    let plan = plan(&campaign, &[sweep], &toy(), &Filter::default()).expect("a plan");
    let points: Vec<String> = plan.jobs[0]
        .points
        .iter()
        .map(|p| {
            format!(
                "{}{}{}{}{}",
                p.k,
                &p.mode.name()[..1],
                p.threads,
                p.search,
                u8::from(p.refused.is_some())
            )
        })
        .collect();
    assert_eq!(
        points.join(" "),
        "1s1ef=30 1s1ef=40 1s2ef=31 1s2ef=41 1b1ef=30 1b1ef=40 1b2ef=31 1b2ef=41 \
         2s1ef=30 2s1ef=40 2s2ef=30 2s2ef=40 2b1ef=30 2b1ef=40 2b2ef=30 2b2ef=40"
    );
}

const TWO_GROUPS: &str =
    "adapter: hnsw_rs\ngroups: { base: { build: { m: 1 } }, large: { build: { m: 2 } } }\n";

fn filtered(campaign: &str, filter: Filter) -> Result<Plan, ConfigError> {
    let campaign = Campaign::parse("configs/c.yaml", campaign)?;
    let sweep = Sweep::parse("hnsw_rs.yaml", TWO_GROUPS)?;
    plan(&campaign, &[sweep], &toy(), &filter)
}

#[test]
fn filters_select_and_what_they_miss_is_an_error() {
    let all = "sweeps: [{ file: hnsw_rs.yaml }]\ndatasets: toy\n";
    let some = "sweeps: [{ file: hnsw_rs.yaml, groups: [large] }]\ndatasets: toy\n";
    let filter = |groups: &[&str], adapters: &[&str]| Filter {
        groups: groups.iter().map(ToString::to_string).collect(),
        adapters: adapters.iter().map(ToString::to_string).collect(),
        ..Filter::default()
    };
    let without = |name: &str| Filter {
        without_adapters: vec![name.to_owned()],
        ..Filter::default()
    };
    let count = |campaign, filter| filtered(campaign, filter).map(|plan| plan.jobs.len());
    assert_eq!(count(all, filter(&[], &[])), Ok(2));
    assert_eq!(count(some, filter(&[], &[])), Ok(1));
    assert_eq!(count(all, filter(&["base"], &["hnsw_rs"])), Ok(1));
    assert_eq!(count(all, without("hnsw_rs")), Ok(0));
    assert!(count(all, without("hnsw")).is_err());
    let error = count(some, filter(&["base"], &[])).expect_err("not selected");
    assert_eq!(error.kind(), ErrorKind::UnknownName);
    assert_eq!(
        count(all, filter(&[], &["hnsw"]))
            .expect_err("no such adapter")
            .to_string(),
        "--adapter hnsw: nothing that is selected here has this adapter\n  \
         expected  one of `hnsw_rs`\n  found     `hnsw`\n  next      did you mean `hnsw_rs`?"
    );
}

#[test]
fn a_campaign_that_names_no_group_of_the_sweep_shows_where() {
    let error = filtered(
        "sweeps: [{ file: hnsw_rs.yaml, groups: [bse] }]\ndatasets: toy\n",
        Filter::default(),
    )
    .expect_err("no such group");
    assert_eq!(
        error.to_string(),
        "configs/c.yaml:1:41: the sweep hnsw_rs.yaml has no group `bse`\n   |\n 1 | \
         sweeps: [{ file: hnsw_rs.yaml, groups: [bse] }]\n   |                                         ^^^\n  \
         expected  one of `base`, `large`\n  found     `bse`\n  next      did you mean `base`?"
    );
}

#[test]
fn a_plan_is_bounded_with_k_modes_and_threads_counted() {
    let list = |n: usize| {
        (1..=n)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let sweep = format!(
        "groups: {{ g: {{ build: {{ a: [{}] }}, search: {{ b: [{}] }} }} }}\n",
        list(250),
        list(400)
    );
    let whole = plan_groups(&sweep, &toy()).expect("100,000 points");
    assert_eq!(
        whole.jobs.iter().map(|job| job.points.len()).sum::<usize>(),
        100_000
    );
    let campaign = Campaign::parse("c", "sweeps: [{ file: s }]\ndatasets: toy\nk: [1, 2]\n");
    let sweep = Sweep::parse("s", &format!("adapter: a\n{sweep}")).expect("a sweep");
    let error = plan(
        &campaign.expect("a campaign"),
        &[sweep],
        &toy(),
        &Filter::default(),
    )
    .expect_err("200,000 points");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(
        error.to_string().contains("200000 points so far"),
        "{error}"
    );
    // Lists that an override lengthens count as well.
    let sweep = format!(
        "groups: {{ g: {{ build: {{ a: 1 }}, search: {{ b: [{}] }} }} }}\noverrides: [{{ when: {{ dim: 8 }}, build: {{ a: [{}] }} }}]\n",
        list(400),
        list(251)
    );
    let error = plan_groups(&sweep, &toy()).expect_err("100,400 points");
    assert!(
        error
            .to_string()
            .contains("100400 points: 251 × a, 400 × b"),
        "{error}"
    );
}

/// The first indented block of configs/README.md that begins with `adapter:`.
fn readme_sweep() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/README.md");
    std::fs::read_to_string(readme)
        .expect("configs/README.md")
        .lines()
        .skip_while(|line| *line != "    adapter: hnsw_rs")
        .take_while(|line| line.starts_with("    "))
        .map(|line| format!("{}\n", &line[4..]))
        .collect()
}

#[test]
fn the_readme_counts_its_own_example_rightly() {
    let sweep = || Sweep::parse("configs/hnsw_rs.yaml", &readme_sweep()).expect("a sweep");
    let default = Campaign::of_sweep(&sweep());
    let planned = |campaign: &Campaign, shape: &DatasetShape| {
        plan(campaign, &[sweep()], shape, &Filter::default()).expect("a plan")
    };
    let l2 = planned(&default, &toy());
    assert_eq!(l2.jobs.len(), 7);
    assert_eq!(
        l2.jobs.iter().map(|job| job.points.len()).sum::<usize>(),
        21
    );
    assert_eq!(
        l2.duplicates
            .iter()
            .map(|duplicates| duplicates.points)
            .sum::<usize>(),
        6
    );
    let wide = Campaign::parse("c", "sweeps: [{ file: f }]\ndatasets: toy\nk: 100\n");
    let wide = planned(&wide.expect("a campaign"), &toy());
    let refused: Vec<&str> = wide.jobs[0]
        .points
        .iter()
        .filter_map(|point| point.refused.as_deref())
        .collect();
    assert_eq!(
        refused,
        [
            "require `ef >= k` does not hold: ef = 10, k = 100",
            "require `ef >= k` does not hold: ef = 40, k = 100"
        ]
    );
    let gist = planned(
        &default,
        &shape("gist-960-euclidean", Metric::L2, 1_000_000, 960),
    );
    assert_eq!(
        gist.jobs.iter().filter(|job| job.group == "base").count(),
        2
    );
    let dot = planned(&default, &shape("dot", Metric::InnerProduct, 1_000, 8));
    assert!(dot.jobs.iter().all(|job| {
        job.points
            .iter()
            .all(|point| point.refused.as_deref() == Some("no raw inner product"))
    }));
    let broken = readme_sweep().replacen("    search:", "    serach:", 1);
    let error = Sweep::parse("configs/hnsw_rs.yaml", &broken).expect_err("a wrong key");
    assert_eq!(error.place(), Some(("configs/hnsw_rs.yaml", 6, 5)));
}
