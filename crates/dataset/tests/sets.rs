//! Sets as ann-benchmarks stores them.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric, Vectors, distance};
use annbench_dataset::Entry;
use hdf5_metno::File;
use hdf5_metno::types::VarLenUnicode;
use proptest::prelude::*;
use std::collections::BTreeSet;
use support::*;

const N: usize = 120;
const M: usize = 8;
const DIM: usize = 60;
const WIDTH: usize = 10;

/// Sets whose members are in no order.
fn sets(rows: usize, seed: u64) -> Vec<Vec<i64>> {
    let random = bytes(rows * 24, seed);
    random
        .chunks(24)
        .map(|row| {
            let mut seen = BTreeSet::new();
            let members = row[1..].iter().take(1 + usize::from(row[0] % 20));
            members
                .map(|&v| i64::from(v) % DIM as i64)
                .filter(|&v| seen.insert(v))
                .collect()
        })
        .collect()
}

fn list(file: &File, name: &str, values: &[i64]) {
    let dataset = file
        .new_dataset::<i64>()
        .shape(values.len())
        .create(name)
        .unwrap();
    if !values.is_empty() {
        dataset.write_raw(values).unwrap();
    }
}

fn write(file: &File, name: &str, sets: &[Vec<i64>]) {
    let sizes: Vec<i64> = sets.iter().map(|set| set.len() as i64).collect();
    list(file, name, &sets.concat());
    list(file, &format!("size_{name}"), &sizes);
}

fn body(truth: &str) -> String {
    format!(
        "metric: jaccard\nelement: sets\ndim: {DIM}\n\
         base: {{ file: all.hdf5, format: hdf5, dataset: train, rows: {N} }}\n\
         queries: {{ file: all.hdf5, format: hdf5, dataset: test, rows: {M} }}\n{truth}"
    )
}

/// A file that `fill` has filled, with the attributes of a sparse one.
fn entry(fixture: &Fixture, truth: &str, fill: &dyn Fn(&File)) -> Entry {
    let path = fixture.place("set", "all.hdf5");
    let file = File::create(&path).unwrap();
    for (name, value) in [
        ("type", "sparse"),
        ("distance", "jaccard"),
        ("point_type", "bit"),
    ] {
        let value: VarLenUnicode = value.parse().unwrap();
        let attribute = file.new_attr::<VarLenUnicode>().create(name).unwrap();
        attribute.write_scalar(&value).unwrap();
    }
    let dimension = file.new_attr::<i64>().create("dimension").unwrap();
    dimension.write_scalar(&(DIM as i64)).unwrap();
    fill(&file);
    drop(file);
    age(&path);
    fixture.yaml("set", &body(truth))
}

fn sound(fixture: &Fixture) -> Entry {
    entry(fixture, "", &|file| {
        write(file, "train", &sets(N, 1));
        write(file, "test", &sets(M, 2));
    })
}

#[test]
fn sets_are_mapped_in_order_and_searched_exactly() {
    let fixture = Fixture::new();
    let dataset = fixture.open(&sound(&fixture)).unwrap();
    let Vectors::Sets(rows) = dataset.base().vectors() else {
        panic!("no sets");
    };
    assert_eq!((rows.n(), rows.dim()), (N, DIM));
    for (i, set) in sets(N, 1).iter().enumerate() {
        let ascending: BTreeSet<u32> = set.iter().map(|&id| id as u32).collect();
        assert!(rows.row(i).ids.iter().eq(&ascending), "set {i}");
    }
    assert_words(
        &dataset.notes().join("\n"),
        &["`train`", "`test`", "did not ascend"],
    );

    let spec = dataset.base().map_spec();
    assert_eq!(spec.element, ElementType::Sets);
    assert!(spec.offset_bytes.is_multiple_of(8));
    let file = std::fs::read(&spec.path).unwrap();
    let block = &file[spec.offset_bytes as usize..][..spec.len_bytes as usize];
    assert_eq!(spec.offset_bytes + spec.len_bytes, file.len() as u64);
    assert_eq!(
        &block[8 * (N + 1)..],
        dataset.base().vectors().component_bytes()
    );

    // Sizes and intersections counted by hand, ties by id.
    let truth = dataset.truth(WIDTH, &fixture.options()).unwrap();
    let as_sets = |sets: Vec<Vec<i64>>| -> Vec<BTreeSet<i64>> {
        sets.into_iter()
            .map(|set| set.into_iter().collect())
            .collect()
    };
    let (base, queries) = (as_sets(sets(N, 1)), as_sets(sets(M, 2)));
    for (q, query) in queries.iter().enumerate() {
        let mut all: Vec<(f64, u32)> = base
            .iter()
            .zip(0..)
            .map(|(x, id)| {
                let union = query.union(x).count() as f64;
                ((union - query.intersection(x).count() as f64) / union, id)
            })
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let (ids, distances) = truth.row(q);
        assert!(ids.iter().eq(all.iter().take(ids.len()).map(|(_, id)| id)));
        assert!(
            distances
                .iter()
                .eq(all.iter().take(ids.len()).map(|(d, _)| d))
        );
    }

    // The copy is kept, and what was sorted is told again.
    settle();
    let again = fixture.open(&sound(&fixture)).unwrap();
    assert_eq!(again.notes(), dataset.notes());
    assert_eq!(again.base_fingerprint(), dataset.base_fingerprint());
}

#[test]
fn order_and_integer_type_leave_no_trace_in_fingerprint_and_truth() {
    let fixture = Fixture::new();
    let first = fixture.open(&sound(&fixture)).unwrap();
    let truth = first.truth(WIDTH, &fixture.options()).unwrap();
    let shipped =
        format!("truth: {{ file: all.hdf5, format: hdf5, dataset: neighbors, width: {WIDTH} }}\n");
    let ids: Vec<i64> = (0..M)
        .flat_map(|q| &truth.row(q).0[..WIDTH])
        .map(|&id| i64::from(id))
        .collect();
    let narrow = entry(&fixture, &shipped, &|file| {
        for (name, sets) in [("train", sets(N, 1)), ("test", sets(M, 2))] {
            let mut sets = sets;
            sets.iter_mut().for_each(|set| set.sort_unstable());
            let members: Vec<u8> = sets.concat().iter().map(|&id| id as u8).collect();
            let sizes: Vec<i32> = sets.iter().map(|set| set.len() as i32).collect();
            let dataset = file.new_dataset::<u8>().shape(members.len()).create(name);
            dataset.unwrap().write_raw(&members).unwrap();
            let name = format!("size_{name}");
            let dataset = file.new_dataset::<i32>().shape(sizes.len()).create(&*name);
            dataset.unwrap().write_raw(&sizes).unwrap();
        }
        let neighbors = file
            .new_dataset::<i64>()
            .shape((M, WIDTH))
            .create("neighbors");
        neighbors.unwrap().write_raw(&ids).unwrap();
    });
    let second = fixture.open(&narrow).unwrap();
    assert_eq!(second.notes(), [""; 0]);
    assert_eq!(second.base_fingerprint(), first.base_fingerprint());
    assert_eq!(second.queries_fingerprint(), first.queries_fingerprint());
    let shipped = second.shipped_truth().unwrap();
    assert_eq!((shipped.sampled_queries(), shipped.refuted()), (M, None));
    for q in 0..M {
        assert_eq!(shipped.row(q).0, &truth.row(q).0[..WIDTH]);
    }
}

#[test]
fn sets_that_start_elsewhere_have_another_fingerprint() {
    let prints: BTreeSet<String> = [[vec![1, 2], vec![3]], [vec![1], vec![2, 3]]]
        .map(|pair| {
            let fixture = Fixture::new();
            let path = fixture.place("set", "all.hdf5");
            let file = File::create(&path).unwrap();
            write(&file, "train", &pair);
            drop(file);
            age(&path);
            let part = "{ file: all.hdf5, format: hdf5, dataset: train, rows: 2 }";
            let entry = fixture.yaml(
                "set",
                &format!("metric: jaccard\nelement: sets\ndim: 9\nbase: {part}\nqueries: {part}\n"),
            );
            fixture.open(&entry).unwrap().base_fingerprint().to_owned()
        })
        .into();
    assert_eq!(prints.len(), 2);
}

#[test]
fn sets_that_are_none_are_refused() {
    let fixture = Fixture::new();
    let refusal = |change: &dyn Fn(&mut Vec<i64>, &mut Vec<i64>)| {
        let entry = entry(&fixture, "", &|file| {
            let sets = sets(N, 1);
            let mut members = sets.concat();
            let mut sizes: Vec<i64> = sets.iter().map(|set| set.len() as i64).collect();
            change(&mut members, &mut sizes);
            list(file, "train", &members);
            list(file, "size_train", &sizes);
            write(file, "test", &self::sets(M, 2));
        });
        fixture.refusal(&entry)
    };
    let start = |row: usize| sets(N, 1)[..row].concat().len();
    let long = sets(N, 1).iter().position(|set| set.len() > 3).unwrap();
    let repeats = refusal(&|members, _| members[start(long) + 2] = members[start(long)]);
    assert_words(
        &repeats,
        &[&format!("`train`, set {long}"), "more than once"],
    );
    let beyond = refusal(&|members, _| members[start(long) + 1] = DIM as i64);
    assert_words(
        &beyond,
        &[
            &format!("set {long}, position 1"),
            "from 0 to 59",
            "found 60",
        ],
    );
    let negative = refusal(&|members, _| members[0] = -1);
    assert_words(&negative, &["set 0, position 0", "found -1"]);
    let short = refusal(&|members, _| members.truncate(members.len() - 1));
    assert_words(
        &short,
        &[
            "`train`",
            "the sum of `size_train`",
            "belong to different sets",
        ],
    );
    let longer = refusal(&|members, _| members.push(1));
    assert_words(&longer, &["the sum of `size_train`"]);
    let huge = refusal(&|_, sizes| sizes[5] = i64::MAX);
    assert_words(
        &huge,
        &["`size_train`, row 5", "from 0 to 60", "9223372036854775807"],
    );
    let minus = refusal(&|_, sizes| sizes[5] = -3);
    assert_words(&minus, &["`size_train`, row 5", "found -3", "damaged"]);
    let fewer = refusal(&|_, sizes| sizes.truncate(N - 1));
    assert_words(&fewer, &["`size_train`", "120 sets", "119"]);
}

#[test]
fn files_of_another_shape() {
    let fixture = Fixture::new();
    let no_sizes = entry(&fixture, "", &|file| {
        list(file, "train", &[1]);
        write(file, "test", &sets(M, 2));
    });
    assert_words(
        &fixture.refusal(&no_sizes),
        &["`size_train`", "only size_test, test, train"],
    );
    let table = entry(&fixture, "", &|file| {
        let dataset = file
            .new_dataset::<i64>()
            .shape((N, 3))
            .create("train")
            .unwrap();
        dataset.write_raw(&[1i64; 3 * N]).unwrap();
    });
    assert_words(
        &fixture.refusal(&table),
        &["`train`", "a table of rows", "correct `element`"],
    );
    let floats = entry(&fixture, "", &|file| {
        let dataset = file.new_dataset::<f64>().shape(N).create("train").unwrap();
        dataset.write_raw(&[1f64; N]).unwrap();
        list(file, "size_train", &[1; N]);
    });
    assert_words(
        &fixture.refusal(&floats),
        &["`train`", "integers", "float64"],
    );
    // A list of sets where a table of vectors belongs.
    let entry = sound(&fixture);
    let text = std::fs::read_to_string(fixture.root().join("set.yaml")).unwrap();
    let text = text.replace("sets", "f32").replace("jaccard", "l2");
    std::fs::write(fixture.root().join("set.yaml"), text).unwrap();
    drop(entry);
    let refusal = fixture.refusal(&fixture.entry("set").unwrap());
    assert_words(&refusal, &["`train`", "one list", "element: sets"]);
}

#[test]
fn only_the_first_sets_are_taken() {
    let fixture = Fixture::new();
    sound(&fixture);
    let entry = fixture.yaml(
        "few",
        &body("").replace(&format!("rows: {N}"), &format!("rows: {N}, take_first: 9")),
    );
    std::fs::rename(
        fixture.root().join("downloads/set"),
        fixture.root().join("downloads/few"),
    )
    .unwrap();
    let dataset = fixture.open(&entry).unwrap();
    let Vectors::Sets(rows) = dataset.base().vectors() else {
        panic!("no sets");
    };
    assert_eq!(rows.n(), 9);
    assert_eq!(rows.ids().len(), sets(9, 1).concat().len());
}

#[test]
fn empty_sets_are_told_of_and_left_out() {
    let fixture = Fixture::new();
    let mut base = sets(N, 1);
    base[3].clear();
    let mut queries = sets(M, 2);
    queries[1].clear();
    queries[6].clear();
    let dataset = fixture
        .open(&entry(&fixture, "", &|file| {
            write(file, "train", &base);
            write(file, "test", &queries);
        }))
        .unwrap();
    assert_eq!(dataset.undefined_queries(), [1, 6]);
    let notes = dataset.notes().join("\n");
    assert_words(
        &notes,
        &["queries that are empty", "2 of 8", "left out of recall"],
    );
    assert_words(
        &notes,
        &["base rows that are empty", "1 of 120", "at distance 1"],
    );
    let all = entry(&fixture, "", &|file| {
        write(file, "train", &base);
        write(file, "test", &vec![Vec::new(); M]);
    });
    assert_words(
        &fixture.refusal(&all),
        &["queries", "all of them empty", "jaccard"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Any two lists: sets as they are in the lists, or a refusal.
    #[test]
    fn any_lists_are_sets_or_refused(
        members in prop::collection::vec(prop_oneof![0i64..12, any::<i64>()], 0..12),
        sizes in prop::collection::vec(prop_oneof![0i64..4, Just(i64::MAX), any::<i64>()], 1..5),
    ) {
        let fixture = Fixture::new();
        let path = fixture.place("set", "all.hdf5");
        let file = File::create(&path).unwrap();
        list(&file, "train", &members);
        list(&file, "size_train", &sizes);
        write(&file, "test", &[vec![1, 2]]);
        drop(file);
        age(&path);
        let entry = fixture.yaml("set", &format!(
            "metric: jaccard\nelement: sets\ndim: 12\n\
             base: {{ file: all.hdf5, format: hdf5, dataset: train, rows: {} }}\n\
             queries: {{ file: all.hdf5, format: hdf5, dataset: test, rows: 1 }}\n",
            sizes.len()
        ));
        let sum = sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size));
        let ragged = sizes.iter().any(|&s| !(0..=12).contains(&s)) || sum != Some(members.len() as i64);
        let mut rest = &members[..];
        let rows: Vec<&[i64]> = if ragged { Vec::new() } else {
            sizes.iter().map(|&size| rest.split_off(..size as usize).unwrap()).collect()
        };
        let sound = !ragged && rows.iter().all(|row| {
            let distinct: BTreeSet<_> = row.iter().collect();
            distinct.len() == row.len() && row.iter().all(|id| (0..12).contains(id))
        });
        match fixture.open(&entry) {
            Ok(dataset) => {
                prop_assert!(sound);
                let Vectors::Sets(found) = dataset.base().vectors() else { panic!("no sets") };
                for (i, row) in rows.iter().enumerate() {
                    let ascending: BTreeSet<u32> = row.iter().map(|&id| id as u32).collect();
                    prop_assert!(found.row(i).ids.iter().eq(&ascending));
                }
                let d = distance(Metric::Jaccard, dataset.queries().vectors().row(0), dataset.base().vectors().row(0));
                prop_assert!((0.0..=1.0).contains(&d));
            }
            Err(error) => {
                prop_assert!(!sound, "{}", error);
            }
        }
    }
}
