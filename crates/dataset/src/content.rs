use crate::DatasetError;
use crate::cache::Cache;
use crate::mapped::MappedVectors;
use crate::progress::{Activity, Meter, Watch};
use annbench_core::{Component, ElementType, Rows, SetRows, Vectors, norm};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bytes that are looked at together: enough to keep the pool busy, little enough to stay in cache
/// between the hash and the scan.
const STEP_BYTES: usize = 16 << 20;

/// Values that are looked at together for one that is not finite.
const FINITE_BLOCK: usize = 1 << 14;

/// What is done about values that are infinite or no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotFinite {
    /// Vectors with any are not opened.
    Refused,
    /// They are read as they are, for an audit to count.
    Read,
}

/// What reading all vectors once has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContentFacts {
    /// BLAKE3 of element type, shape and row bytes: the same in every layout.
    pub(crate) fingerprint: String,
    /// max |x|.
    pub(crate) max_norm: f64,
    /// Rows whose norm is zero.
    pub(crate) zero_rows: u64,
}

/// Reads all `vectors`; remembered for as long as the stamp of the file stays that is mapped, unless there
/// are values that are not finite. Refusals and progress name `source`, where they come from.
pub(crate) fn content_facts(
    source: &Path,
    vectors: &MappedVectors,
    not_finite: NotFinite,
    cache: &Cache,
    pool: &rayon::ThreadPool,
    watch: Watch<'_>,
    notes: &mut Vec<String>,
) -> Result<ContentFacts, DatasetError> {
    let stamp = vectors.stamp();
    let spec = vectors.map_spec();
    // The offset tells datasets of one HDF5 file apart.
    let what = format!(
        "content {} {} {} {}",
        spec.offset_bytes, spec.n, spec.dim, spec.element
    );
    let key = stamp.key(&what);
    if let Some(known) = cache
        .derived(&key, "json", stamp)
        .and_then(|path| cache.read::<ContentFacts>(&path))
    {
        return Ok(known);
    }
    let (facts, all_finite) = read_all(source, vectors.vectors(), not_finite, pool, watch)?;
    if !all_finite {
        return Ok(facts);
    }
    if let Err(error) = cache.write(&key, &facts) {
        notes.push(format!("a fingerprint could not be remembered: {error}"));
    }
    Ok(facts)
}

/// BLAKE3 of `vectors` as a set of their own, which come from `source`.
pub(crate) fn fingerprint_of(
    source: &Path,
    vectors: Vectors<'_>,
    pool: &rayon::ThreadPool,
    watch: Watch<'_>,
) -> Result<String, DatasetError> {
    let (facts, _) = read_all(source, vectors, NotFinite::Refused, pool, watch)?;
    Ok(facts.fingerprint)
}

/// What `vectors` hold, and whether every value is finite.
fn read_all(
    source: &Path,
    vectors: Vectors<'_>,
    not_finite: NotFinite,
    pool: &rayon::ThreadPool,
    watch: Watch<'_>,
) -> Result<(ContentFacts, bool), DatasetError> {
    let total = vectors.component_bytes().len() as u64;
    let row_bytes = (total as usize / vectors.n().max(1)).max(1);
    let step = (STEP_BYTES / row_bytes).max(1);
    let meter = Meter::new(watch, Activity::Fingerprint, source, total);
    let mut hasher = fingerprint_hasher(vectors.element(), vectors.n(), vectors.dim());
    if let Vectors::Sets(sets) = vectors {
        check_sets(source, sets)?;
        hash_offsets(&mut hasher, sets);
    }
    let (mut max_norm, mut zero_rows, mut all_finite) = (0.0f64, 0, true);
    for start in (0..vectors.n()).step_by(step) {
        let rows = start..vectors.n().min(start + step);
        let part = vectors.slice(rows.clone());
        let (largest, zeroes) = pool.install(|| {
            hasher.update_rayon(part.component_bytes());
            refuse_dirty_bits(source, part, start)?;
            if let Some(why) = first_not_finite(source, part, start) {
                all_finite = false;
                if not_finite == NotFinite::Refused {
                    return Err(why);
                }
            }
            Ok::<_, DatasetError>(
                (0..part.n())
                    .into_par_iter()
                    .with_min_len(256)
                    .map(|i| {
                        let norm = norm(part.row(i));
                        (norm, u64::from(norm == 0.0))
                    })
                    .reduce(|| (0.0, 0), |a, b| (a.0.max(b.0), a.1 + b.1)),
            )
        })?;
        max_norm = max_norm.max(largest);
        zero_rows += zeroes;
        meter.at((rows.end * row_bytes) as u64)?;
    }
    let facts = ContentFacts {
        fingerprint: hasher.finalize().to_hex().to_string(),
        max_norm,
        zero_rows,
    };
    Ok((facts, all_finite))
}

/// What comes before the row bytes, and before the offsets of sets.
pub(crate) fn fingerprint_hasher(element: ElementType, n: usize, dim: usize) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("annbench vectors 1\n{element} {n} {dim}\n").as_bytes());
    hasher
}

/// Where each set starts among the members of all, and where the last one ends: u64, little-endian.
fn hash_offsets(hasher: &mut blake3::Hasher, sets: SetRows<'_>) {
    let mut offset = 0u64;
    hasher.update(&offset.to_le_bytes());
    for i in 0..sets.n() {
        offset += sets.row(i).ids.len() as u64;
        hasher.update(&offset.to_le_bytes());
    }
}

/// Of a copy, which holds no others unless it is damaged.
fn check_sets(source: &Path, sets: SetRows<'_>) -> Result<(), DatasetError> {
    match sets.first_irregular_row() {
        None => Ok(()),
        Some(row) => Err(DatasetError::contents(
            source,
            format!("set {row}"),
            format!("distinct ids below {}, ascending", sets.dim()),
            "others",
            "the copy is damaged: delete it",
        )),
    }
}

/// Refuses bits after the last of a row, which would count as components.
fn refuse_dirty_bits(
    source: &Path,
    vectors: Vectors<'_>,
    first_row: usize,
) -> Result<(), DatasetError> {
    let Vectors::Bits(rows) = vectors else {
        return Ok(());
    };
    match rows.first_dirty_row() {
        None => Ok(()),
        Some(row) => Err(DatasetError::contents(
            source,
            format!("row {}", first_row + row),
            format!("zeroes after the last of {} bits", rows.dim()),
            format!(
                "a last byte of {:#010b}",
                rows.row(row).bytes.last().unwrap_or(&0)
            ),
            "the first bit of a byte is its most significant: correct `dim` in the dataset entry, \
             or pack the file anew (numpy.packbits)",
        )),
    }
}

/// The first value between which and others no distance is defined.
fn first_not_finite(source: &Path, vectors: Vectors<'_>, first_row: usize) -> Option<DatasetError> {
    match vectors {
        Vectors::F32(rows) => first_that_is_not(source, rows, first_row, |v| v.is_finite()),
        Vectors::F16(rows) => first_that_is_not(source, rows, first_row, |v| v.is_finite()),
        _ => None,
    }
}

fn first_that_is_not<T: Component + std::fmt::Display>(
    source: &Path,
    rows: Rows<'_, T>,
    first_row: usize,
    is_finite: impl Fn(&T) -> bool + Send + Sync,
) -> Option<DatasetError> {
    // Blocks without a branch for every value: searching value by value takes ten times as long.
    let found = rows
        .data()
        .par_chunks(FINITE_BLOCK)
        .enumerate()
        .find_map_first(|(block, values)| {
            let finite = values
                .iter()
                .fold(true, |all, value| all & is_finite(value));
            let within = (!finite).then(|| values.iter().position(|v| !is_finite(v)))??;
            Some(block * FINITE_BLOCK + within)
        });
    let at = found?;
    Some(DatasetError::contents(
        source,
        format!(
            "row {}, component {}",
            first_row + at / rows.dim(),
            at % rows.dim()
        ),
        "a finite number",
        rows.data()[at].to_string(),
        "a distance to it is not defined: remove or repair the row",
    ))
}
