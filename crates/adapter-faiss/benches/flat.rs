//! Exact search by this project's engine, with its proofs, beside FAISS's flat index in batches: the same
//! rows, queries, k and thread, so that the two times of a group are a ratio.
//!
//! Rows are siftimg's, resampled and perturbed, and Gaussian ones, near and far from the origin.
//! `ANNBENCH_BENCH_ROWS` sets how many million there are of 128 components, 1 where it is not set; of 960
//! there are a tenth as many.

use annbench_adapter_faiss::Faiss;
use annbench_core::{
    Adapter, BuildSpec, ElementType, Metric, Mode, NeighborRows, ParamValue, Params, SearchSpec,
    Searcher, Vectors,
};
use annbench_exact::{Certified, Flat, Level, Method};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

const K: usize = 100;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A sum of twelve uniform numbers: about normal.
    fn normal(&mut self) -> f32 {
        let mut sum = -6.0;
        for _ in 0..3 {
            let bits = self.next();
            sum += (0..4)
                .map(|i| f64::from((bits >> (16 * i)) as u16) / 65536.0)
                .sum::<f64>();
        }
        sum as f32
    }
}

/// `n` rows of siftimg with noise, `[n, 128]`.
fn siftimg(n: usize, seed: u64) -> std::io::Result<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../datasets/siftimg-50k-128-euclidean/base.u8bin");
    let file = std::fs::read(path)?;
    let rows: Vec<&[u8]> = file[8..].chunks_exact(128).collect();
    let mut random = Random(seed);
    let mut made = Vec::with_capacity(n * 128);
    for _ in 0..n {
        for &byte in rows[random.below(rows.len())] {
            let noise = (random.next() % 17) as i16 - 8;
            made.push((i16::from(byte) + noise).clamp(0, 255) as u8);
        }
    }
    Ok(made)
}

fn gaussian(count: usize, offset: f32, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.normal() + offset).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// One comparison: a name, and base and queries as their element type holds them.
struct Set {
    name: &'static str,
    element: ElementType,
    dim: usize,
    base: Vec<u8>,
    queries: Vec<u8>,
}

impl Set {
    fn vectors<'b>(&self, bytes: &'b [u8]) -> Option<Vectors<'b>> {
        let row = self.element.row_bytes(self.dim)?;
        Vectors::from_bytes(bytes, self.element, bytes.len() / row, self.dim)
    }
}

fn faiss_batch(
    searcher: &mut dyn Searcher,
    queries: Vectors<'_>,
    ids: &mut [u32],
    returned: &mut [u32],
) -> Result<(), Box<dyn Error>> {
    let (mut invalid, mut count) = (Vec::new(), 0);
    let mut rows = NeighborRows::new(ids, returned, K, 0, &mut invalid, &mut count)
        .ok_or("as many slots as queries have neighbours")?;
    Ok(searcher.search_batch(queries, &mut rows)?)
}

fn certify(flat: &Flat<'_>, queries: Vectors<'_>, pool: &rayon::ThreadPool) -> Option<Certified> {
    let go_on = |_, _| ControlFlow::Continue(());
    flat.certify(queries, K, pool, &go_on).ok()
}

fn compare(criterion: &mut Criterion, set: &Set) -> Result<(), Box<dyn Error>> {
    let base = set.vectors(&set.base).ok_or("whole base rows")?;
    let queries = set.vectors(&set.queries).ok_or("whole queries")?;
    let (n, m) = (base.n(), queries.n());
    let mut group = criterion.benchmark_group(format!("{}/{}/{m} queries", set.name, set.dim));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements((n * m * set.dim) as u64));

    // FAISS has no flat index of bytes: it searches the same numbers in f32.
    let wide = |vectors: Vectors<'_>, bytes: &[u8]| match vectors {
        Vectors::U8(_) => bytes_of(&bytes.iter().map(|&b| f32::from(b)).collect::<Vec<_>>()),
        _ => bytes.to_vec(),
    };
    let (wide_base, wide_queries) = (wide(base, &set.base), wide(queries, &set.queries));
    let of = |bytes, rows| Vectors::from_bytes(bytes, ElementType::F32, rows, set.dim);
    let wide_queries = of(&wide_queries, m).ok_or("whole queries")?;
    let index = ("index".to_owned(), ParamValue::Text("Flat".to_owned()));
    let params = Params([index].into());
    let spec = BuildSpec::new(Metric::L2, ElementType::F32, n, set.dim, params);
    let index = Faiss.build(of(&wide_base, n).ok_or("whole rows")?, &spec)?;
    let mut search = SearchSpec::new(K, Params::default());
    search.mode = Mode::Batch;
    let mut searcher = index.searcher(&search)?;
    let (mut ids, mut returned) = (vec![0; m * K], vec![0; m]);

    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let flat = Flat::new(base, Metric::L2, &pool)?;
    let found = certify(&flat, queries, &pool).ok_or("an exact search")?;
    faiss_batch(&mut *searcher, wide_queries, &mut ids, &mut returned)?;
    let agree = |q: usize| {
        let own = &ids[q * K..(q + 1) * K];
        let (exact, _) = found.neighbors().row(q);
        exact.iter().all(|id| own.contains(id))
    };
    let proofs = found.proofs();
    let further = proofs.iter().filter(|p| p.doublings > 0).count();
    let scanned = proofs
        .iter()
        .filter(|p| p.method == Method::FullScan)
        .count();
    eprintln!(
        "{} of {}: {} instructions, {further} of {m} queries beyond the first shortlist, {scanned} scanned in full; \
         FAISS has the same sets for {} queries",
        set.name,
        set.dim,
        Level::detect().name(),
        (0..m).filter(|&q| agree(q)).count()
    );
    group.bench_function("annbench", |b| {
        b.iter(|| black_box(certify(&flat, queries, &pool)))
    });
    group.bench_function("faiss", |b| {
        b.iter(|| {
            let answered = faiss_batch(&mut *searcher, wide_queries, &mut ids, &mut returned);
            black_box(answered.is_ok())
        })
    });
    Ok(())
}

fn flat(criterion: &mut Criterion) {
    let rows = std::env::var("ANNBENCH_BENCH_ROWS").ok();
    let millions: f64 = rows.and_then(|rows| rows.parse().ok()).unwrap_or(1.0);
    let n = (millions * 1e6) as usize;
    let of_siftimg = |count, seed| siftimg(count, seed).unwrap_or_default();
    let normal = |name, dim, n: usize, m: usize, offset| Set {
        name,
        element: ElementType::F32,
        dim,
        base: bytes_of(&gaussian(n * dim, offset, 1)),
        queries: bytes_of(&gaussian(m * dim, offset, 2)),
    };
    let sets: [Box<dyn Fn() -> Set>; 6] = [
        Box::new(|| Set {
            name: "u8 siftimg",
            element: ElementType::U8,
            dim: 128,
            base: of_siftimg(n, 1),
            queries: of_siftimg(1000, 2),
        }),
        Box::new(|| {
            let wide = |bytes: Vec<u8>| bytes.iter().map(|&b| f32::from(b)).collect::<Vec<_>>();
            Set {
                name: "f32 siftimg",
                element: ElementType::F32,
                dim: 128,
                base: bytes_of(&wide(of_siftimg(n, 1))),
                queries: bytes_of(&wide(of_siftimg(1000, 2))),
            }
        }),
        Box::new(|| normal("f32 normal", 128, n, 1000, 0.0)),
        Box::new(|| normal("f32 normal", 128, n, 10_000, 0.0)),
        Box::new(|| normal("f32 offset", 128, n, 1000, 100.0)),
        Box::new(|| normal("f32 normal", 960, n / 10, 1000, 0.0)),
    ];
    for set in sets {
        let set = set();
        if let Err(error) = compare(criterion, &set) {
            eprintln!("{}: {error}", set.name);
        }
    }
}

criterion_group!(benches, flat);
criterion_main!(benches);
