use crate::DatasetError;
use crate::cache::Cache;
use crate::copy::{Effects, FlatCopy, Made, Sink};
use crate::mapped::MappedVectors;
use crate::progress::{Activity, Meter};
use annbench_core::{ElementType, Rows, Vectors};
use half::f16;

/// Rows that are widened between two words of progress.
const STEP_ROWS: usize = 4096;

/// The same vectors, each component widened to `element`, in a flat copy that is made once per
/// content. The element type of `vectors` must widen to it ([`ElementType::widens_to`]).
pub(crate) fn widen(
    vectors: &MappedVectors,
    element: ElementType,
    fingerprint: &str,
    cache: &Cache,
    effects: &mut Effects<'_>,
) -> Result<MappedVectors, DatasetError> {
    let given = vectors.vectors();
    if given.element() == element {
        return Ok(vectors.clone());
    }
    let copy = FlatCopy {
        source: vectors.path(),
        key: &format!("{fingerprint}.{element}"),
        element,
        n: given.n(),
        dim: given.dim(),
    };
    if let Some((kept, _)) = copy.kept(cache, effects)? {
        return Ok(kept);
    }
    let watch = effects.watch;
    let (wide, _) = copy.make(cache, effects, &|out| {
        let meter = Meter::new(watch, Activity::Convert, vectors.path(), given.n() as u64);
        let tell = |row| meter.at(row);
        match (given, element) {
            (Vectors::U8(rows), ElementType::F32) => write::<_, f32>(rows, out, &tell),
            (Vectors::I8(rows), ElementType::F32) => write::<_, f32>(rows, out, &tell),
            (Vectors::F16(rows), ElementType::F32) => write::<_, f32>(rows, out, &tell),
            (Vectors::U8(rows), ElementType::F16) => write::<_, f16>(rows, out, &tell),
            (Vectors::I8(rows), ElementType::F16) => write::<_, f16>(rows, out, &tell),
            (given, _) => unreachable!("{} does not widen to {element}", given.element()),
        }?;
        Ok(Made::default())
    })?;
    Ok(wide)
}

fn write<N: Copy, W: From<N> + bytemuck::Pod>(
    rows: Rows<'_, N>,
    out: Sink<'_>,
    tell: &dyn Fn(u64) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut wide = Vec::with_capacity(rows.dim());
    for row in 0..rows.n() {
        wide.clear();
        wide.extend(rows.row(row).iter().map(|&value| W::from(value)));
        out(bytemuck::cast_slice(&wide))?;
        if row % STEP_ROWS == 0 {
            tell(row as u64)?;
        }
    }
    tell(rows.n() as u64)
}
