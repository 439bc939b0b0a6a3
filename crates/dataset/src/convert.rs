use crate::DatasetError;
use crate::cache::Cache;
use crate::catalogue::VectorsPart;
use crate::copy::{Effects, Fill, FlatCopy};
use crate::format::hdf5::Hdf5Vectors;
use crate::format::{
    Format, HEADER_BYTES, check_flat, check_texmex, component_bytes, record_bytes,
};
use crate::mapped::{MappedFile, MappedVectors};
use crate::progress::{Activity, Meter};
use annbench_core::{ElementType, Vectors};

/// Rows that are converted between two words of progress.
const STEP_ROWS: usize = 4096;

/// Maps the vectors of `part`: in place where the file holds them row after row, otherwise in a
/// flat copy that is made once.
pub(crate) fn map_vectors(
    file: &MappedFile,
    part: &VectorsPart,
    element: ElementType,
    dim: usize,
    cache: &Cache,
    effects: &mut Effects<'_>,
) -> Result<MappedVectors, DatasetError> {
    let watch = effects.watch;
    let (path, bytes, n) = (file.path(), file.bytes(), part.n());
    match part.format {
        Format::Fbin | Format::U8bin => {
            check_flat(path, bytes, part, element, dim)?;
            MappedVectors::new(file.clone(), HEADER_BYTES as u64, n, dim, element)
        }
        Format::Fvecs | Format::Bvecs => {
            flat_copy(file, part, element, dim, cache, effects, &|out| {
                check_texmex(path, bytes, part, element, dim)?;
                let meter = Meter::new(watch, Activity::Convert, path, n as u64);
                let rows = bytes
                    .chunks_exact(record_bytes(dim, component_bytes(element)))
                    .take(n);
                for (row, record) in rows.enumerate() {
                    out(&record[4..])?;
                    if row % STEP_ROWS == 0 {
                        meter.at(row as u64)?;
                    }
                }
                meter.at(n as u64)
            })
        }
        Format::Hdf5 => {
            let vectors = Hdf5Vectors::open(path, bytes, part, element, dim)?;
            if let Some(offset) = vectors.offset_in_place(bytes, n)? {
                return MappedVectors::new(file.clone(), offset, n, dim, element);
            }
            flat_copy(file, part, element, dim, cache, effects, &|out| {
                let meter = Meter::new(watch, Activity::Convert, path, n as u64);
                let row_bytes = (dim * component_bytes(element)) as u64;
                let mut done = 0;
                vectors.read(0..n, &mut |rows| {
                    out(rows)?;
                    done += rows.len() as u64;
                    meter.at(done / row_bytes)
                })
            })
        }
        Format::Ivecs | Format::Ibin | Format::BigannTruth => Err(DatasetError::contents(
            path,
            "format",
            "a layout of vectors",
            part.format.name(),
            "correct `format` in the dataset entry",
        )),
    }
}

fn flat_copy(
    file: &MappedFile,
    part: &VectorsPart,
    element: ElementType,
    dim: usize,
    cache: &Cache,
    effects: &mut Effects<'_>,
    rows: Fill<'_>,
) -> Result<MappedVectors, DatasetError> {
    let n = part.n();
    let what = format!(
        "{} {} {element} {n} of {} x {dim}",
        part.format,
        part.hdf5_dataset.as_deref().unwrap_or(""),
        part.rows,
    );
    let key = file.stamp().key(&what);
    let copy = FlatCopy {
        source: file.path(),
        key: &key,
        element,
        n,
        dim,
    };
    if cache
        .derived(&key, copy.extension(), file.stamp())
        .is_some()
        && let Some(kept) = copy.kept(cache, effects)?
    {
        return Ok(kept);
    }
    copy.make(cache, effects, rows)
}

/// The same vectors, each byte widened to f32, in a flat copy that is made once per content.
pub(crate) fn widen(
    vectors: &MappedVectors,
    fingerprint: &str,
    cache: &Cache,
    effects: &mut Effects<'_>,
) -> Result<MappedVectors, DatasetError> {
    let Vectors::U8(rows) = vectors.vectors() else {
        return Ok(vectors.clone());
    };
    let (n, dim) = (rows.n(), rows.dim());
    let copy = FlatCopy {
        source: vectors.path(),
        key: &format!("{fingerprint}.f32"),
        element: ElementType::F32,
        n,
        dim,
    };
    if let Some(kept) = copy.kept(cache, effects)? {
        return Ok(kept);
    }
    let watch = effects.watch;
    copy.make(cache, effects, &|out| {
        let meter = Meter::new(watch, Activity::Convert, vectors.path(), n as u64);
        let mut wide = Vec::with_capacity(dim);
        for row in 0..n {
            wide.clear();
            wide.extend(rows.row(row).iter().map(|&value| f32::from(value)));
            out(bytemuck::cast_slice(&wide))?;
            if row % STEP_ROWS == 0 {
                meter.at(row as u64)?;
            }
        }
        meter.at(n as u64)
    })
}
