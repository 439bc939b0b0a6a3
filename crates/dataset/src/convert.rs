use crate::DatasetError;
use crate::cache::Cache;
use crate::catalogue::VectorsPart;
use crate::copy::{Effects, Fill, FlatCopy, Made};
use crate::format::hdf5::Hdf5Sets;
use crate::format::{Wanted, find_table};
use crate::mapped::{MappedFile, MappedVectors};
use crate::progress::{Activity, Meter};
use crate::value::{Fit, Recode, write_sets};
use annbench_core::ElementType;

/// Vectors that are mapped, and how many values of the file are not those of the vectors.
#[derive(Clone, Debug)]
pub(crate) struct Converted {
    pub(crate) vectors: MappedVectors,
    /// Values that were rounded.
    pub(crate) rounded: u64,
}

/// Maps the vectors of `part` in its files: in place where the file holds them row after row as they are in
/// memory, otherwise in a flat copy that is made once.
pub(crate) fn map_vectors(
    files: &[MappedFile],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
    cache: &Cache,
    effects: &mut Effects<'_>,
) -> Result<Converted, DatasetError> {
    let file = &files[0];
    if wanted.element == ElementType::Sets {
        return map_sets(files, part, wanted, cache, effects);
    }
    let (path, n) = (file.path(), part.n());
    let (element, dim) = (wanted.element, wanted.dim);
    let table = find_table(files, part, wanted, effects.notes)?;
    let fit = match Fit::of(table.value, table.width, element, dim) {
        Ok(fit) => fit,
        // Whoever found the table has asked the same.
        Err(misfit) => unreachable!("{misfit:?}: {} x {}", table.width, table.value),
    };
    if fit == Fit::Same
        && let Some(offset) = table.offset_in_place(n)?
    {
        return Ok(Converted {
            vectors: MappedVectors::new(file.clone(), offset, n, dim, element)?,
            rounded: 0,
        });
    }
    let (watch, scratch) = (effects.watch, cache.folder()?);
    let (vectors, made) = flat_copy(files, part, wanted, cache, effects, &|out| {
        let meter = Meter::new(watch, Activity::Convert, path, n as u64);
        let mut recode = Recode {
            path,
            place: &table.place,
            dataset: wanted.dataset,
            value: table.value,
            element,
            fit,
            width: table.width,
            round: wanted.narrow,
            rounded: 0,
        };
        let mut buffer = Vec::new();
        table.read(n, scratch, &mut |first, values| {
            out(recode.rows(first, values, &mut buffer)?)?;
            meter.at(first as u64)
        })?;
        meter.at(n as u64)?;
        Ok(Made {
            rounded: recode.rounded,
            ..Made::default()
        })
    })?;
    if fit == Fit::Narrow {
        let place = match table.place.as_str() {
            "" => String::new(),
            place => format!(", {place}"),
        };
        let exact = match made.rounded {
            0 => format!("all of them exactly {element}"),
            rounded => format!("read as {element}; {rounded} of them were rounded"),
        };
        effects.notes.push(format!(
            "{}{place}: values of type {}, {exact}",
            path.display(),
            table.value
        ));
    }
    Ok(Converted {
        vectors,
        rounded: made.rounded,
    })
}

fn map_sets(
    files: &[MappedFile],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
    cache: &Cache,
    effects: &mut Effects<'_>,
) -> Result<Converted, DatasetError> {
    let file = &files[0];
    let (path, n, watch) = (file.path(), part.n(), effects.watch);
    let sets = Hdf5Sets::open(path, file.bytes(), part, wanted, effects.notes)?;
    let (vectors, made) = flat_copy(files, part, wanted, cache, effects, &|out| {
        let meter = Meter::new(watch, Activity::Convert, path, n as u64);
        write_sets(&sets, n, wanted, out, &|row| meter.at(row as u64))
    })?;
    if made.sorted > 0 {
        effects.notes.push(format!(
            "{}, dataset `{}`: the members of {} of {n} sets did not ascend and were put in order",
            path.display(),
            sets.members.name(),
            made.sorted
        ));
    }
    Ok(Converted {
        vectors,
        rounded: 0,
    })
}

fn flat_copy(
    files: &[MappedFile],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
    cache: &Cache,
    effects: &mut Effects<'_>,
    rows: Fill<'_>,
) -> Result<(MappedVectors, Made), DatasetError> {
    let n = part.n();
    let what = format!(
        "{} {} {}{} {n} of {} x {}{}",
        part.format,
        part.hdf5_dataset.as_deref().unwrap_or(""),
        part.ids
            .as_ref()
            .map_or(String::new(), |ids| format!("by {ids:?} ")),
        wanted.element,
        part.rows,
        wanted.dim,
        if wanted.narrow { " narrowed" } else { "" },
    );
    let (file, others) = (&files[0], &files[1..]);
    let key = others.iter().fold(file.stamp().key(&what), |key, other| {
        other.stamp().key(&format!("{key} and"))
    });
    let copy = FlatCopy {
        source: file.path(),
        key: &key,
        element: wanted.element,
        n,
        dim: wanted.dim,
    };
    let is_derived = |file: &MappedFile| {
        let derived = cache.derived(&key, copy.extension(), file.stamp());
        derived.is_some()
    };
    if files.iter().all(is_derived)
        && let Some(kept) = copy.kept(cache, effects)?
    {
        return Ok(kept);
    }
    copy.make(cache, effects, rows)
}
