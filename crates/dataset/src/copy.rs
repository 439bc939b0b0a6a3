use crate::DatasetError;
use crate::cache::Cache;
use crate::content::{NotFinite, content_facts, fingerprint_hasher};
use crate::format::{HEADER_BYTES, header};
use crate::mapped::{MappedFile, MappedVectors};
use crate::progress::Watch;
use annbench_core::ElementType;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What work on vectors uses and leaves behind.
pub(crate) struct Effects<'e> {
    /// Where content is remembered.
    pub(crate) not_finite: NotFinite,
    pub(crate) facts: &'e Cache,
    pub(crate) pool: &'e rayon::ThreadPool,
    pub(crate) watch: Watch<'e>,
    pub(crate) notes: &'e mut Vec<String>,
}

/// Takes the bytes of whole rows (of sets, the offsets first), one piece after another.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(&[u8]) -> Result<(), DatasetError>;

/// Hands all rows to a sink.
pub(crate) type Fill<'f> = &'f dyn Fn(Sink<'_>) -> Result<Made, DatasetError>;

/// What a copy has that its source has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Values that were rounded.
    pub(crate) rounded: u64,
    /// Sets that were put in order.
    pub(crate) sorted: u64,
}

/// What was written into a copy; kept beside it.
#[derive(Serialize, Deserialize)]
struct Written {
    fingerprint: String,
    #[serde(default)]
    made: Made,
}

/// A flat file in the cache with the vectors of `source` in the order that maps want.
///
/// It is what is measured, so it is never taken on trust: its content, read from the mapped file
/// itself, must be what was once written.
pub(crate) struct FlatCopy<'c> {
    pub(crate) source: &'c Path,
    pub(crate) key: &'c str,
    pub(crate) element: ElementType,
    pub(crate) n: usize,
    pub(crate) dim: usize,
}

impl FlatCopy<'_> {
    pub(crate) fn extension(&self) -> &'static str {
        match self.element {
            ElementType::F32 => "fbin",
            ElementType::F16 => "f16bin",
            ElementType::I8 => "i8bin",
            ElementType::Sets => "sets",
            _ => "u8bin",
        }
    }

    fn path(&self, cache: &Cache) -> PathBuf {
        cache.path(self.key, self.extension())
    }

    /// The copy that was made before, if there is one and it holds what was written into it; a note
    /// tells of one that does not.
    pub(crate) fn kept(
        &self,
        cache: &Cache,
        effects: &mut Effects<'_>,
    ) -> Result<Option<(MappedVectors, Made)>, DatasetError> {
        let path = self.path(cache);
        if !path.is_file() {
            return Ok(None);
        }
        let why = match cache.read::<Written>(&cache.path(self.key, "json")) {
            None => "what was written into it is not known".to_owned(),
            Some(written) => match self.checked(&path, effects) {
                Ok((copy, found)) if found == written.fingerprint => {
                    return Ok(Some((copy, written.made)));
                }
                Ok((_, found)) => format!(
                    "its fingerprint is {found}, {} was written",
                    written.fingerprint
                ),
                Err(DatasetError::Cancelled) => return Err(DatasetError::Cancelled),
                Err(error) => error.to_string(),
            },
        };
        effects.notes.push(format!(
            "the flat copy {} of {} cannot be trusted and was made again: {why}",
            path.display(),
            self.source.display()
        ));
        Ok(None)
    }

    /// Makes the copy from the rows of `fill` and reads it back.
    pub(crate) fn make(
        &self,
        cache: &Cache,
        effects: &mut Effects<'_>,
        fill: Fill<'_>,
    ) -> Result<(MappedVectors, Made), DatasetError> {
        let path = self.path(cache);
        let mut made = Made::default();
        let mut hasher = fingerprint_hasher(self.element, self.n, self.dim);
        cache.create(&path, |out| {
            let failed = |cause| DatasetError::io("write", &path, cause);
            out.write_all(&self.header()).map_err(failed)?;
            made = fill(&mut |rows| {
                hasher.update(rows);
                out.write_all(rows).map_err(failed)
            })?;
            Ok(())
        })?;
        let fingerprint = hasher.finalize().to_hex().to_string();
        let (copy, found) = self.checked(&path, effects)?;
        if found != fingerprint {
            return Err(DatasetError::contents(
                &path,
                "content",
                format!("fingerprint {fingerprint}, as was just written"),
                found,
                "another process writes this file, or the disk loses data: check both, then repeat",
            ));
        }
        cache.write(self.key, &Written { fingerprint, made })?;
        Ok((copy, made))
    }

    /// The copy at `path` and the fingerprint of what it holds.
    fn checked(
        &self,
        path: &Path,
        effects: &mut Effects<'_>,
    ) -> Result<(MappedVectors, String), DatasetError> {
        let copy = self.map(&MappedFile::open(path)?)?;
        let facts = content_facts(
            self.source,
            &copy,
            effects.not_finite,
            effects.facts,
            effects.pool,
            effects.watch,
            effects.notes,
        )?;
        Ok((copy, facts.fingerprint))
    }

    /// Of the flat layout, so that other programs can read the copy too: bits are counted in bytes.
    /// A copy of sets is of no layout but this one.
    fn header(&self) -> [u8; HEADER_BYTES] {
        let width = match self.element {
            ElementType::Bits => self.dim.div_ceil(8),
            _ => self.dim,
        };
        // Entries hold at most 32 bits of either.
        header(self.n as u32, width as u32)
    }

    fn map(&self, file: &MappedFile) -> Result<MappedVectors, DatasetError> {
        let (bytes, header) = (file.bytes(), self.header());
        let body = self
            .element
            .row_bytes(self.dim)
            .and_then(|row| row.checked_mul(self.n));
        let is_whole = body.is_none_or(|body| bytes.len().checked_sub(HEADER_BYTES) == Some(body));
        if !bytes.starts_with(&header) || !is_whole {
            return Err(DatasetError::contents(
                file.path(),
                "header and size",
                format!("{} rows of {} {}", self.n, self.dim, self.element),
                format!("another header, or a size of {} bytes", bytes.len()),
                "it is made again",
            ));
        }
        MappedVectors::new(
            file.clone(),
            HEADER_BYTES as u64,
            self.n,
            self.dim,
            self.element,
        )
    }
}
