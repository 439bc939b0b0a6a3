use crate::Vectors;
use crate::wire::MapSpec;
use memmap2::{Mmap, MmapMut};
use std::fs::File;

/// Vectors in memory: mapped from their file, or copied into anonymous pages.
pub(super) struct Held {
    spec: MapSpec,
    pages: Pages,
}

enum Pages {
    Mapped(Mmap, usize),
    Copied(MmapMut),
}

impl Held {
    /// Maps the file of `spec`; `copy` copies the rows into anonymous memory and lets the file go.
    ///
    /// The copy takes the system's default pages, as a library's own allocation would.
    pub fn open(spec: &MapSpec, copy: bool) -> Result<Self, String> {
        let path = spec.path.display();
        let file = File::open(&spec.path).map_err(|e| format!("{path}: {e}"))?;
        let available = file.metadata().map_err(|e| format!("{path}: {e}"))?.len();
        if spec
            .offset_bytes
            .checked_add(spec.len_bytes)
            .is_none_or(|end| end > available)
        {
            return Err(format!(
                "{path}: expected {} bytes from offset {}, found a file of {available} bytes; \
                 was it changed during the run?",
                spec.len_bytes, spec.offset_bytes
            ));
        }
        // SAFETY: the file is input that the harness opened read-only; whoever truncates it during
        // a run ends the worker by SIGBUS, which the runner records.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| format!("{path}: {e}"))?;
        // Both fit, for the whole file was mapped.
        let (start, len) = (spec.offset_bytes as usize, spec.len_bytes as usize);
        let pages = if copy {
            let mut pages =
                MmapMut::map_anon(len.max(1)).map_err(|e| format!("copy of {path}: {e}"))?;
            pages[..len].copy_from_slice(&map[start..start + len]);
            Pages::Copied(pages)
        } else {
            Pages::Mapped(map, start)
        };
        let held = Self {
            spec: spec.clone(),
            pages,
        };
        if held.try_vectors().is_none() {
            return Err(format!(
                "{path}: expected {} aligned rows of {} {} from offset {start}, found {len} bytes that \
                 are none; was it changed during the run?",
                spec.n, spec.dim, spec.element
            ));
        }
        Ok(held)
    }

    fn try_vectors(&self) -> Option<Vectors<'_>> {
        let len = self.byte_len();
        let bytes = match &self.pages {
            Pages::Mapped(map, start) => &map[*start..*start + len],
            Pages::Copied(pages) => &pages[..len],
        };
        let spec = &self.spec;
        Vectors::from_bytes(bytes, spec.element, spec.n, spec.dim)
    }

    /// The rows.
    pub fn vectors(&self) -> Vectors<'_> {
        #[expect(clippy::expect_used, reason = "open refuses what cannot be viewed")]
        self.try_vectors().expect("checked by open")
    }

    /// Bytes of all rows.
    pub fn byte_len(&self) -> usize {
        self.spec.len_bytes as usize
    }
}
