//! Pieces of truth: searched step by step, stopped and gone on with, kept, and joined.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{Dataset, DatasetError, Entry, Piece, PlacedPiece, Stretch};
use annbench_exact::{Certified, Status};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use support::*;

const N: usize = 1_200;
const M: usize = 50;
const DIM: usize = 5;
const K: usize = 20;

/// Few distinct values, so that ties lie at every edge.
fn few(n: usize, seed: u64) -> Vec<u8> {
    bytes(n, seed).iter().map(|b| b % 6).collect()
}

fn set(fixture: &Fixture, name: &str, rows: Range<usize>) -> Entry {
    let base = &few(N * DIM, 1)[rows.start * DIM..rows.end * DIM];
    fixture.write(name, "base", &flat(rows.len(), DIM, base));
    fixture.write(name, "queries", &flat(M, DIM, &few(M * DIM, 2)));
    fixture.yaml(
        name,
        &format!(
            "metric: l2\nelement: u8\ndim: {DIM}\n\
             base: {{ file: base, format: u8bin, rows: {} }}\n\
             queries: {{ file: queries, format: u8bin, rows: {M} }}\n",
            rows.len()
        ),
    )
}

fn open(fixture: &Fixture) -> Dataset {
    fixture.open(&set(fixture, "set", 0..N)).unwrap()
}

fn stretch(rows: Range<usize>) -> Stretch {
    Stretch {
        rows,
        queries: M,
        k: K,
        step_rows: Some(171),
    }
}

/// All of which must be the same whatever the way.
fn said(found: &Certified) -> Vec<(Vec<u32>, Vec<u64>, String)> {
    (0..found.neighbors().queries())
        .map(|q| {
            let (ids, distances) = found.neighbors().row(q);
            let bits = distances.iter().map(|d| d.to_bits()).collect();
            let next = found.next(q).map(|c| (c.distance.to_bits(), c.id));
            (
                ids.to_vec(),
                bits,
                format!("{:?} {next:?}", found.proofs()[q].status),
            )
        })
        .collect()
}

fn whole(dataset: &Dataset, fixture: &Fixture) -> Certified {
    annbench_exact::certify(
        dataset.base().vectors(),
        dataset.queries().vectors(),
        dataset.metric(),
        K,
        &fixture.pool,
        &|_, _| ControlFlow::Continue(()),
    )
    .unwrap()
}

#[test]
fn a_search_in_steps_finds_what_a_search_of_the_whole_finds() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let expected = whole(&dataset, &fixture);
    assert!(expected.count(Status::Tied) > 5, "nothing ties");
    for step in [97, 171, N - 1, N, 2 * N] {
        let stretch = Stretch {
            step_rows: Some(step),
            ..stretch(0..N)
        };
        let dir = fixture.root().join(format!("step-{step}"));
        let piece = dataset
            .search_piece(&stretch, &dir, &fixture.options())
            .unwrap();
        assert_eq!(said(piece.found()), said(&expected), "steps of {step}");
        assert!(piece.facts().is_whole() && piece.is_certified());
        let again = Piece::read(&dir).unwrap();
        assert_eq!(again, piece);
        assert_eq!(again.sha256(), piece.sha256());
        // Nothing of earlier steps stays.
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 9);
    }
}

#[test]
fn a_stopped_search_goes_on_where_it_was() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let dir = fixture.root().join("piece");
    for stop in [400u64, 900] {
        let mut options = fixture.options();
        let watch = move |progress: annbench_dataset::Progress<'_>| match progress.done
            >= stop * M as u64
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        options.watch = &watch;
        let stopped = dataset.search_piece(&stretch(0..N), &dir, &options);
        assert!(matches!(stopped, Err(DatasetError::Cancelled)));
        let kept = Piece::read(&dir).unwrap();
        assert_eq!(kept.facts().searched_end, stop as usize / 171 * 171);
        assert!(!kept.facts().is_finished() && !kept.facts().is_whole());
        let refusal = dataset
            .keep_truth(kept, &fixture.options())
            .unwrap_err()
            .to_string();
        assert_words(&refusal, &["1200 rows", "rows up to"]);
    }
    let least = AtomicU64::new(u64::MAX);
    let mut options = fixture.options();
    let watch = |progress: annbench_dataset::Progress<'_>| {
        least.fetch_min(progress.done, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    options.watch = &watch;
    let piece = dataset
        .search_piece(&stretch(0..N), &dir, &options)
        .unwrap();
    assert_eq!(said(piece.found()), said(&whole(&dataset, &fixture)));
    assert!(
        least.load(Ordering::Relaxed) > 855 * M as u64,
        "rows were searched twice"
    );
    // A finished one is not searched again.
    least.store(u64::MAX, Ordering::Relaxed);
    let again = dataset
        .search_piece(&stretch(0..N), &dir, &options)
        .unwrap();
    assert_eq!(again, piece);
    assert_eq!(least.load(Ordering::Relaxed), u64::MAX);
}

fn pieces(fixture: &Fixture, dataset: &Dataset, edges: &[usize]) -> Vec<PlacedPiece> {
    edges
        .windows(2)
        .map(|edge| {
            let dir = fixture.root().join(format!("rows-{}-{}", edge[0], edge[1]));
            let piece = dataset
                .search_piece(&stretch(edge[0]..edge[1]), &dir, &fixture.options())
                .unwrap();
            assert_eq!(piece.facts().covers_base(), edges.len() == 2);
            PlacedPiece { dir, at: None }
        })
        .collect()
}

#[test]
fn joined_pieces_are_the_whole_bit_for_bit() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let expected = said(&whole(&dataset, &fixture));
    let mut placed = pieces(&fixture, &dataset, &[0, 3, 400, 413, 1_000, N]);
    placed.reverse();
    let piece = dataset.join_pieces(&placed, &fixture.options()).unwrap();
    assert_eq!(said(piece.found()), expected);

    // Joined in two layers.
    let (high, low) = placed.split_at(2);
    let mut layers = Vec::new();
    for (name, some) in [("high", high), ("low", low)] {
        let dir = fixture.root().join(name);
        let mut part = dataset.join_pieces(some, &fixture.options()).unwrap();
        assert!(!part.facts().covers_base());
        part.write(&dir).unwrap();
        layers.push(PlacedPiece { dir, at: None });
    }
    let twice = dataset.join_pieces(&layers, &fixture.options()).unwrap();
    assert_eq!(said(twice.found()), expected);
    assert_eq!(twice.sha256(), piece.sha256());

    // And kept, so that nothing is computed again.
    let dir = dataset
        .keep_truth(piece.clone(), &fixture.options())
        .unwrap();
    assert_eq!(dir, dataset.truth_dir(K));
    let kept = dataset.kept_truth(K, &fixture.options()).unwrap().unwrap();
    assert_eq!(kept.sha256(), piece.sha256());
    assert!(
        dataset
            .kept_truth(K + 1, &fixture.options())
            .unwrap()
            .is_none()
    );
}

#[test]
fn kept_truth_serves_whoever_wants_no_more() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let narrow = dataset.truth(5, &fixture.options()).unwrap();
    let (wide, not_kept) = dataset.proved_truth(150, &fixture.options()).unwrap();
    assert_eq!((wide.facts().k, not_kept), (150, None));
    let calls = AtomicU64::new(0);
    let mut options = fixture.options();
    let watch = |_: annbench_dataset::Progress<'_>| {
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    options.watch = &watch;
    assert_eq!(dataset.truth(5, &options).unwrap(), narrow);
    assert_eq!(dataset.truth(150, &options).unwrap().width(), 150);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(dataset.truth(151, &options).unwrap().width(), 151);
    assert!(calls.load(Ordering::Relaxed) > 0);
}

#[test]
fn pieces_of_slices_join_where_they_are_placed() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let mut placed = Vec::new();
    for rows in [0..500, 500..N] {
        let name = format!("slice-{}", rows.start);
        let slice = fixture.open(&set(&fixture, &name, rows.clone())).unwrap();
        let dir = fixture.root().join(format!("{name}-piece"));
        let all = slice.whole_stretch(K);
        slice.search_piece(&all, &dir, &fixture.options()).unwrap();
        placed.push(PlacedPiece {
            dir,
            at: Some(rows.start),
        });
    }
    let piece = dataset.join_pieces(&placed, &fixture.options()).unwrap();
    assert_eq!(said(piece.found()), said(&whole(&dataset, &fixture)));

    let refused = |placed: &[PlacedPiece]| {
        let refusal = dataset.join_pieces(placed, &fixture.options());
        refusal.unwrap_err().to_string()
    };
    placed[1].at = Some(499);
    assert_words(&refused(&placed), &["slice-500", "row 499", "fingerprint"]);
    placed[1].at = Some(600);
    assert_words(&refused(&placed), &["slice-500", "700 rows from row 600"]);
    placed[1].at = None;
    assert_words(&refused(&placed), &["slice-500", "PIECE@ROW"]);
}

#[test]
fn what_does_not_join_is_refused_by_name() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let placed = pieces(&fixture, &dataset, &[0, 400, 800, N]);
    let refused = |placed: &[PlacedPiece]| {
        let refusal = dataset.join_pieces(placed, &fixture.options());
        refusal.unwrap_err().to_string()
    };
    let gap = refused(&[placed[0].clone(), placed[2].clone()]);
    assert_words(&gap, &["rows-800-1200", "rows from 400", "rows from 800"]);
    let twice = refused(&[placed[0].clone(), placed[0].clone()]);
    assert_words(&twice, &["rows-0-400", "rows from 400", "rows from 0"]);
    assert_words(&refused(&[]), &["one at least"]);

    let wider = Stretch {
        k: K + 1,
        ..stretch(400..800)
    };
    let fewer = Stretch {
        queries: M - 1,
        ..stretch(400..800)
    };
    for (stretch, word) in [(wider, "k = 21"), (fewer, "49 of the queries")] {
        let dir = fixture.root().join(word.replace(' ', "-"));
        dataset
            .search_piece(&stretch, &dir, &fixture.options())
            .unwrap();
        let other = PlacedPiece { dir, at: None };
        assert_words(&refused(&[placed[0].clone(), other]), &[word]);
    }
    let elsewhere = stretch(0..400);
    let other = dataset.search_piece(&elsewhere, &placed[1].dir, &fixture.options());
    let other = other.unwrap_err().to_string();
    assert_words(&other, &["rows-400-800", "rows 0 to 400", "name another"]);
}

#[test]
fn a_damaged_piece_is_refused_with_the_file() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let dir = fixture.root().join("piece");
    let piece = dataset
        .search_piece(&stretch(0..N), &dir, &fixture.options())
        .unwrap();
    assert_eq!(Piece::read(&dir).unwrap(), piece);
    let files: Vec<PathBuf> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|item| item.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "lock")
        .collect();
    assert_eq!(files.len(), 8);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let mut turned = bytes.clone();
        let last = turned.len() - 3;
        turned[last] ^= 1;
        for damaged in [&turned[..], &bytes[..bytes.len() / 2], b""] {
            std::fs::write(&file, damaged).unwrap();
            let refusal = Piece::read(&dir).unwrap_err().to_string();
            let name = file.file_name().unwrap().to_str().unwrap();
            assert_words(&refusal, &[name, "damaged"]);
        }
        std::fs::remove_file(&file).unwrap();
        assert!(Piece::read(&dir).is_err());
        std::fs::write(&file, bytes).unwrap();
    }
    assert_eq!(Piece::read(&dir).unwrap(), piece);
}

#[test]
fn a_sample_of_queries_says_so_and_is_no_truth() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let some = Stretch {
        queries: 9,
        ..stretch(0..N)
    };
    let dir = fixture.root().join("some");
    let piece = dataset
        .search_piece(&some, &dir, &fixture.options())
        .unwrap();
    assert!(piece.facts().is_finished() && !piece.facts().is_whole());
    let all = said(&whole(&dataset, &fixture));
    let expected: Vec<_> = piece
        .queries()
        .iter()
        .map(|&q| all[q as usize].clone())
        .collect();
    assert_eq!(said(piece.found()), expected);
    let refusal = dataset
        .keep_truth(piece, &fixture.options())
        .unwrap_err()
        .to_string();
    assert_words(&refusal, &["50 of the queries", "9 of the queries"]);
}

#[test]
fn statuses_are_those_of_the_k_that_is_asked_for() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let truth = dataset.truth(K, &fixture.options()).unwrap();
    for k in [1, 3, K, 99, 100] {
        let found = annbench_exact::certify(
            dataset.base().vectors(),
            dataset.queries().vectors(),
            dataset.metric(),
            k,
            &fixture.pool,
            &|_, _| ControlFlow::Continue(()),
        )
        .unwrap();
        let expected: Vec<Status> = found.proofs().iter().map(|proof| proof.status).collect();
        let statuses = dataset.truth_statuses(&truth, k, &fixture.pool);
        assert_eq!(statuses, Some(expected), "k = {k}");
    }
    assert_eq!(dataset.truth_statuses(&truth, 101, &fixture.pool), None);
}

/// Writes `bytes` over the array of the piece in `dir` whose name starts with `array`, and makes its facts
/// agree: what somebody would do who wants to be believed.
fn forge(dir: &std::path::Path, array: &str, change: impl Fn(&mut [u8])) {
    let facts = dir.join("piece.json");
    let mut sealed: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&facts).unwrap()).unwrap();
    let name = format!("{array}-{K}-{N}.npy");
    let mut bytes = std::fs::read(dir.join(&name)).unwrap();
    change(&mut bytes[128..]);
    std::fs::write(dir.join(&name), &bytes).unwrap();
    let sum = blake3::hash(&bytes).to_hex().to_string();
    sealed["facts"]["arrays"][&name] = sum.into();
    let text = format!("annbench cache 1\npiece\n{}", sealed["facts"]);
    let seal = blake3::hash(text.as_bytes()).to_hex()[..32].to_owned();
    sealed["seal"] = seal.into();
    std::fs::write(&facts, serde_json::to_vec(&sealed).unwrap()).unwrap();
}

#[test]
fn nothing_a_piece_says_of_its_neighbours_is_believed() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    type Change = fn(&mut [u8]);
    let changes: [(&str, &str, Change); 6] = [
        // The last bit of the first distance, of the row after the last neighbour, and of a bound.
        ("distances", "distance", |array| array[0] ^= 1),
        ("distances", "distance", |array| array[8 * K + 1] ^= 1),
        ("outside", "other rows at", |array| array[7] ^= 0x80),
        ("status", "a set that is", |array| array[3] ^= 1),
        // One row twice, and no row after the last neighbour.
        ("ids", "distance", |array| array.copy_within(0..4, 4)),
        ("ids", "the row after", |array| {
            array[4 * K..4 * K + 4].fill(0xff)
        }),
    ];
    for (number, (array, word, change)) in changes.into_iter().enumerate() {
        let dir = fixture.root().join(format!("forged-{number}"));
        let whole = stretch(0..N);
        dataset
            .search_piece(&whole, &dir, &fixture.options())
            .unwrap();
        forge(&dir, array, |_| {});
        assert!(
            dataset
                .search_piece(&whole, &dir, &fixture.options())
                .is_ok(),
            "a piece that is forged into itself is as good as before"
        );
        forge(&dir, array, change);
        let placed = PlacedPiece {
            dir: dir.clone(),
            at: None,
        };
        let joined = dataset.join_pieces(&[placed], &fixture.options());
        let again = dataset.search_piece(&whole, &dir, &fixture.options());
        for refusal in [joined.unwrap_err(), again.unwrap_err()] {
            assert_words(&refusal.to_string(), &["forged", word]);
        }
    }
}

#[test]
fn a_wider_search_that_was_stopped_takes_nothing_away() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let narrow = dataset.proved_truth(K, &fixture.options()).unwrap().0;
    let mut options = fixture.options();
    options.watch = &|progress| match progress.activity {
        annbench_dataset::Activity::Truth => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stopped = dataset.proved_truth(2 * K, &options);
    assert!(matches!(stopped, Err(DatasetError::Cancelled)));
    let kept = dataset.kept_truth(K, &options).unwrap().unwrap();
    assert_eq!(kept.sha256(), narrow.sha256());
    // And a narrower one that is kept later takes nothing from the wider.
    let wide = dataset.proved_truth(2 * K, &fixture.options()).unwrap().0;
    dataset.keep_truth(narrow, &fixture.options()).unwrap();
    let kept = dataset.kept_truth(K + 1, &options).unwrap().unwrap();
    assert_eq!(kept.sha256(), wide.sha256());
}

#[test]
fn whoever_searches_for_the_same_waits_and_takes_what_was_found() {
    let fixture = Fixture::new();
    let entry = set(&fixture, "set", 0..N);
    let searched = AtomicU64::new(0);
    let found: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let pool = rayon::ThreadPoolBuilder::new()
                        .num_threads(1)
                        .build()
                        .unwrap();
                    let told = std::sync::atomic::AtomicBool::new(false);
                    let watch = |progress: annbench_dataset::Progress<'_>| {
                        if progress.activity == annbench_dataset::Activity::Truth
                            && !told.swap(true, Ordering::Relaxed)
                        {
                            searched.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(std::time::Duration::from_millis(300));
                        }
                        ControlFlow::Continue(())
                    };
                    let options = annbench_dataset::OpenOptions {
                        pool: &pool,
                        watch: &watch,
                        ..fixture.options()
                    };
                    let dataset = Dataset::open(&entry, &options).unwrap();
                    let (piece, not_kept) = dataset.proved_truth(K, &options).unwrap();
                    assert_eq!(not_kept, None);
                    piece.sha256()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(found.iter().all(|sum| *sum == found[0]));
    assert_eq!(searched.load(Ordering::Relaxed), 1, "it was searched twice");
}
