use crate::DatasetError;
use crate::cache::Cache;
use crate::catalogue::VectorsPart;
use crate::format::hdf5::Hdf5Vectors;
use crate::format::{Format, HEADER_BYTES, check_flat, check_texmex, header, record_bytes};
use crate::mapped::{MappedFile, MappedVectors};
use crate::progress::{Activity, Meter, Watch};
use crate::stamp::Stamp;
use annbench_core::{ElementType, Vectors};
use std::io::Write;

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
    watch: Watch<'_>,
) -> Result<MappedVectors, DatasetError> {
    let (path, bytes, n) = (file.path(), file.bytes(), part.n());
    match part.format {
        Format::Fbin | Format::U8bin => {
            check_flat(path, bytes, part, element, dim)?;
            MappedVectors::new(file.clone(), HEADER_BYTES as u64, n, dim, element)
        }
        Format::Fvecs | Format::Bvecs => flat_copy(file, part, element, dim, cache, &|out| {
            check_texmex(path, bytes, part, element, dim)?;
            let meter = Meter::new(watch, Activity::Convert, path, n as u64);
            let rows = bytes.chunks_exact(record_bytes(element, dim)).take(n);
            for (row, record) in rows.enumerate() {
                out(&record[4..])?;
                if row % STEP_ROWS == 0 {
                    meter.at(row as u64)?;
                }
            }
            meter.at(n as u64)
        }),
        Format::Hdf5 => {
            let vectors = Hdf5Vectors::open(path, bytes, part, element, dim)?;
            if let Some(offset) = vectors.offset_in_place(bytes, n)? {
                return MappedVectors::new(file.clone(), offset, n, dim, element);
            }
            flat_copy(file, part, element, dim, cache, &|out| {
                let meter = Meter::new(watch, Activity::Convert, path, n as u64);
                let row_bytes = (dim * element.size_bytes()) as u64;
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

type Sink<'s> = &'s mut dyn FnMut(&[u8]) -> Result<(), DatasetError>;

fn flat_copy(
    file: &MappedFile,
    part: &VectorsPart,
    element: ElementType,
    dim: usize,
    cache: &Cache,
    rows: &dyn Fn(Sink<'_>) -> Result<(), DatasetError>,
) -> Result<MappedVectors, DatasetError> {
    let n = part.n();
    let stamp = Stamp::of(file.path())?;
    let what = format!(
        "{} {} {element} {n} of {} x {dim}",
        part.format,
        part.hdf5_dataset.as_deref().unwrap_or(""),
        part.rows,
    );
    let key = stamp.key(&what);
    if let Some(path) = cache.derived(&key, extension(element), &stamp)
        && let Ok(copy) = map_flat(&MappedFile::open(&path)?, n, dim, element)
    {
        return Ok(copy);
    }
    let path = cache.path(&key, extension(element));
    cache.create(&path, |out| {
        let failed = |source| DatasetError::io("write", &path, source);
        // Entries hold at most 32 bits of either.
        out.write_all(&header(n as u32, dim as u32))
            .map_err(failed)?;
        rows(&mut |bytes| out.write_all(bytes).map_err(failed))
    })?;
    map_flat(&MappedFile::open(&path)?, n, dim, element)
}

/// The same vectors, each byte widened to f32, in a flat copy that is made once per content.
pub(crate) fn widen(
    vectors: &MappedVectors,
    fingerprint: &str,
    cache: &Cache,
    watch: Watch<'_>,
) -> Result<MappedVectors, DatasetError> {
    let Vectors::U8(rows) = vectors.vectors() else {
        return Ok(vectors.clone());
    };
    let (n, dim, element) = (rows.n(), rows.dim(), ElementType::F32);
    let path = cache.path(&format!("{fingerprint}.f32"), extension(element));
    if path.is_file()
        && let Ok(copy) = map_flat(&MappedFile::open(&path)?, n, dim, element)
    {
        return Ok(copy);
    }
    let meter = Meter::new(watch, Activity::Convert, vectors.path(), n as u64);
    cache.create(&path, |out| {
        let failed = |source| DatasetError::io("write", &path, source);
        out.write_all(&header(n as u32, dim as u32))
            .map_err(failed)?;
        let mut wide = Vec::with_capacity(dim);
        for row in 0..n {
            wide.clear();
            wide.extend(rows.row(row).iter().map(|&value| f32::from(value)));
            out.write_all(bytemuck::cast_slice(&wide)).map_err(failed)?;
            if row % STEP_ROWS == 0 {
                meter.at(row as u64)?;
            }
        }
        meter.at(n as u64)
    })?;
    map_flat(&MappedFile::open(&path)?, n, dim, element)
}

fn map_flat(
    file: &MappedFile,
    n: usize,
    dim: usize,
    element: ElementType,
) -> Result<MappedVectors, DatasetError> {
    let part = VectorsPart {
        file: String::new(),
        format: match element {
            ElementType::F32 => Format::Fbin,
            _ => Format::U8bin,
        },
        hdf5_dataset: None,
        rows: n,
        take_first: None,
    };
    check_flat(file.path(), file.bytes(), &part, element, dim)?;
    MappedVectors::new(file.clone(), HEADER_BYTES as u64, n, dim, element)
}

fn extension(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 => "fbin",
        _ => "u8bin",
    }
}
