use crate::DatasetError;
use crate::lying::{Lying, lying_at, not_a_file};
use crate::stamp::Stamp;
use annbench_core::wire::MapSpec;
use annbench_core::{ElementType, Vectors};
use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(target_endian = "big")]
compile_error!("files are mapped as they are, and they are little-endian");

/// A read-only view of a whole file.
#[derive(Clone, Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    // Both of the very file that is mapped, from before anything of it is read.
    metadata: Metadata,
    stamp: Stamp,
    // An empty file cannot be mapped.
    map: Option<Arc<Mmap>>,
}

impl MappedFile {
    pub(crate) fn open(path: &Path) -> Result<Self, DatasetError> {
        if let Lying::Other(found) = lying_at(path)? {
            return Err(not_a_file(path, found));
        }
        let io = |source| DatasetError::io("map", path, source);
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let stamp = Stamp::of(path, &metadata).map_err(io)?;
        let map = if metadata.len() == 0 {
            None
        } else {
            // SAFETY: the map is read-only and private to readers; a file that another process
            // shortens while it is mapped ends this one with SIGBUS, as for every mapping reader.
            Some(Arc::new(unsafe { Mmap::map(&file) }.map_err(io)?))
        };
        Ok(Self {
            path: path.to_owned(),
            metadata,
            stamp,
            map,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().map_or(&[], |map| map)
    }
}

/// Vectors in a mapped file, and where another process finds them.
#[derive(Clone, Debug)]
pub struct MappedVectors {
    file: MappedFile,
    spec: MapSpec,
}

impl MappedVectors {
    /// `n` rows of `dim` that start at `offset`; sets take up the rest of the file.
    ///
    /// The caller has checked that they lie within the file and are aligned.
    pub(crate) fn new(
        file: MappedFile,
        offset: u64,
        n: usize,
        dim: usize,
        element: ElementType,
    ) -> Result<Self, DatasetError> {
        let len_bytes = match element.row_bytes(dim) {
            Some(row) => row.saturating_mul(n) as u64,
            None => (file.bytes().len() as u64).saturating_sub(offset),
        };
        let spec = MapSpec {
            path: std::path::absolute(file.path())
                .map_err(|source| DatasetError::io("resolve", file.path(), source))?,
            offset_bytes: offset,
            len_bytes,
            n,
            dim,
            element,
        };
        let vectors = Self { file, spec };
        if vectors.view().is_some() {
            return Ok(vectors);
        }
        Err(DatasetError::contents(
            &vectors.spec.path,
            format!("byte {offset}"),
            format!("{n} aligned rows of {dim} {element}"),
            format!("{} bytes in all", vectors.file.bytes().len()),
            "move it away and download it again",
        ))
    }

    /// The stamp of the file that is mapped.
    pub(crate) fn stamp(&self) -> &Stamp {
        self.file.stamp()
    }

    /// What the system said of the file that is mapped, from before anything of it was read. Whether
    /// the file at [`MappedVectors::path`] is still this one shows against it, and against nothing
    /// that is asked of the path later.
    pub fn metadata(&self) -> &Metadata {
        &self.file.metadata
    }

    fn view(&self) -> Option<Vectors<'_>> {
        let start = usize::try_from(self.spec.offset_bytes).ok()?;
        let end = start.checked_add(usize::try_from(self.spec.len_bytes).ok()?)?;
        let bytes = self.file.bytes().get(start..end)?;
        Vectors::from_bytes(bytes, self.spec.element, self.spec.n, self.spec.dim)
    }

    /// The rows, `[n, dim]`.
    pub fn vectors(&self) -> Vectors<'_> {
        match self.view() {
            Some(vectors) => vectors,
            // `new` has made the same view of the same map.
            None => unreachable!("a map does not change its length"),
        }
    }

    /// Lets the system read `rows` into memory while something else is done, where it can.
    pub(crate) fn will_need(&self, rows: std::ops::Range<usize>) {
        let Some(row_bytes) = self.spec.element.row_bytes(self.spec.dim) else {
            return;
        };
        let start = self.spec.offset_bytes as usize + rows.start * row_bytes;
        let len = rows.len() * row_bytes;
        #[cfg(unix)]
        if let Some(map) = self.file.map.as_deref().filter(|_| len > 0) {
            // An advice only: without it the pages come when they are touched.
            let _ = map.advise_range(memmap2::Advice::WillNeed, start, len);
        }
        #[cfg(not(unix))]
        let _ = (start, len);
    }

    /// Where they are, for a worker process to map the same bytes.
    pub fn map_spec(&self) -> MapSpec {
        self.spec.clone()
    }

    /// The file that is mapped: the dataset's own or a converted copy.
    pub fn path(&self) -> &Path {
        &self.spec.path
    }
}
