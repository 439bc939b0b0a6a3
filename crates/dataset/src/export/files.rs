use super::hasher_of;
use super::recast::Recast;
use super::stream::{write_ids, write_rows};
use super::{ExportError, Format};
use crate::format::hdf5::Hdf5Out;
use crate::progress::{Activity, Meter};
use crate::{Dataset, DatasetError, Truth, Watch};
use annbench_core::{Metric, Vectors};
use std::path::Path;

/// Names of the files of a set.
pub(super) struct Names {
    pub(super) base: String,
    pub(super) queries: String,
    pub(super) truth: String,
    pub(super) truth_format: Format,
}

impl Names {
    /// Those of the set `name` in `format`: one file in HDF5, otherwise three.
    pub(super) fn of(name: &str, format: Format) -> Self {
        let truth_format = match format {
            Format::Hdf5 | Format::Npy => format,
            Format::Fvecs | Format::Bvecs => Format::Ivecs,
            _ => Format::Ibin,
        };
        let file = |part: &str, format: Format| match format {
            Format::Hdf5 => format!("{name}.hdf5"),
            format => format!("{part}.{format}"),
        };
        Self {
            base: file("base", format),
            queries: file("queries", format),
            truth: file("truth", truth_format),
            truth_format,
        }
    }
}

/// Fingerprints of what is written.
pub(super) struct Fingerprints {
    pub(super) base: String,
    pub(super) queries: String,
}

/// The files of a set on their way.
pub(super) struct Written<'w> {
    pub(super) dir: &'w Path,
    pub(super) names: &'w Names,
    pub(super) format: Format,
    pub(super) metric: Metric,
}

impl Written<'_> {
    /// Writes base and queries, in this order, and the neighbours.
    pub(super) fn write(
        &self,
        parts: &[Recast<'_>; 2],
        truth: Option<&Truth>,
        dataset: &Dataset,
        watch: Watch<'_>,
    ) -> Result<Fingerprints, ExportError> {
        if let Some(truth) = truth {
            self.check_ids(dataset.name(), truth)?;
        }
        match self.format {
            Format::Hdf5 => self.write_hdf5(parts, truth, watch)?,
            format => {
                for (part, file) in parts.iter().zip([&self.names.base, &self.names.queries]) {
                    let path = self.dir.join(file);
                    let meter = Meter::new(watch, Activity::Write, &path, part.n() as u64);
                    write_rows(&path, format, part, &meter)?;
                }
                if let Some(truth) = truth {
                    let path = self.dir.join(&self.names.truth);
                    write_ids(&path, self.names.truth_format, truth.width(), truth.ids())?;
                }
            }
        }
        let [base, queries] = parts;
        Ok(Fingerprints {
            base: fingerprint(base, dataset.base_fingerprint(), watch, self.dir)?,
            queries: fingerprint(queries, dataset.queries_fingerprint(), watch, self.dir)?,
        })
    }

    /// Refuses ids that ivecs has no number for.
    fn check_ids(&self, dataset: &str, truth: &Truth) -> Result<(), ExportError> {
        if self.names.truth_format != Format::Ivecs {
            return Ok(());
        }
        match truth
            .ids()
            .iter()
            .position(|&id| i32::try_from(id).is_err())
        {
            None => Ok(()),
            Some(at) => Err(ExportError::LargeId {
                dataset: dataset.to_owned(),
                query: at / truth.width(),
                id: truth.ids()[at],
                format: Format::Ivecs,
            }),
        }
    }

    fn write_hdf5(
        &self,
        parts: &[Recast<'_>; 2],
        truth: Option<&Truth>,
        watch: Watch<'_>,
    ) -> Result<(), ExportError> {
        let path = self.dir.join(&self.names.base);
        let [base, _] = parts;
        let out = Hdf5Out::create(&path, self.metric, base.element, base.dim())?;
        for (part, name) in parts.iter().zip(["train", "test"]) {
            let meter = Meter::new(watch, Activity::Write, &path, part.n() as u64);
            if let Vectors::Sets(sets) = part.vectors {
                let sizes: Vec<u32> = (0..sets.n())
                    .map(|i| sets.row(i).ids.len() as u32)
                    .collect();
                out.list(&format!("size_{name}"), &sizes)?;
                out.list(name, sets.ids())?;
                meter.at(part.n() as u64)?;
            } else {
                let mut table = out.table(name, part.element, part.n(), part.dim())?;
                part.read(&meter, &mut |bytes| table.push(bytes))?;
            }
        }
        if let Some(truth) = truth {
            let (ids, width) = (truth.ids(), truth.width());
            // As published files have them, where they fit.
            let narrow: Result<Vec<i32>, _> = ids.iter().map(|&id| i32::try_from(id)).collect();
            match narrow {
                Ok(ids) => out.values("neighbors", width, &ids)?,
                Err(_) => {
                    let ids: Vec<i64> = ids.iter().map(|&id| i64::from(id)).collect();
                    out.values("neighbors", width, &ids)?;
                }
            }
            out.values("distances", width, &self.distances(truth, base.dim()))?;
        }
        Ok(out.finish()?)
    }

    /// Distances as ann-benchmarks means them: the root of l2, the share of bits that differ, and
    /// the others as they are.
    fn distances(&self, truth: &Truth, dim: usize) -> Vec<f64> {
        let distances = truth.distances().iter();
        match self.metric {
            Metric::L2 => distances.map(|distance| distance.sqrt()).collect(),
            Metric::Hamming => distances.map(|distance| distance / dim as f64).collect(),
            _ => distances.copied().collect(),
        }
    }
}

/// The fingerprint of what `part` is written as, `own` where it is written as it is.
fn fingerprint(
    part: &Recast<'_>,
    own: &str,
    watch: Watch<'_>,
    dir: &Path,
) -> Result<String, ExportError> {
    if part.is_same() {
        return Ok(own.to_owned());
    }
    let meter = Meter::new(watch, Activity::Write, dir, part.n() as u64);
    let mut hasher = hasher_of(part);
    part.read(&meter, &mut |bytes| {
        hasher.update(bytes);
        Ok::<_, DatasetError>(())
    })?;
    Ok(hasher.finalize().to_hex().to_string())
}
