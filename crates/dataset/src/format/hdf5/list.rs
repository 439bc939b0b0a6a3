use super::stored::stored_ids;
use super::unreadable;
use crate::DatasetError;
use hdf5_metno::Dataset;
use std::path::Path;

/// Values that are read at once.
const STEP: usize = 1 << 20;

/// A list of integers, read from its beginning to its end.
pub(crate) struct List<'f> {
    path: &'f Path,
    name: String,
    dataset: Dataset,
    len: usize,
}

impl<'f> List<'f> {
    pub(super) fn of(path: &'f Path, dataset: Dataset, name: String) -> Result<Self, DatasetError> {
        stored_ids(path, &dataset, &name)?;
        let [len] = dataset.shape()[..] else {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                "one dimension, a list of integers",
                format!("shape {:?}", dataset.shape()),
                "name another `dataset` in the dataset entry, or move it away and download it again",
            ));
        };
        Ok(Self {
            path,
            name,
            dataset,
            len,
        })
    }

    pub(crate) fn path(&self) -> &'f Path {
        self.path
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn reader(&self) -> ListReader<'_> {
        ListReader {
            list: self,
            next: 0,
            buffer: Vec::new(),
            used: 0,
        }
    }
}

/// Holds a step of a list at a time.
pub(crate) struct ListReader<'l> {
    list: &'l List<'l>,
    /// The first value that is not in the buffer.
    next: usize,
    buffer: Vec<i64>,
    used: usize,
}

impl ListReader<'_> {
    /// Appends the next `count` values to `out`, or as many as there are.
    pub(crate) fn take(
        &mut self,
        mut count: usize,
        out: &mut Vec<i64>,
    ) -> Result<(), DatasetError> {
        while count > 0 {
            if self.used == self.buffer.len() && !self.fill()? {
                break;
            }
            let some = count.min(self.buffer.len() - self.used);
            out.extend_from_slice(&self.buffer[self.used..self.used + some]);
            self.used += some;
            count -= some;
        }
        Ok(())
    }

    /// Reads the next step; `false` at the end.
    fn fill(&mut self) -> Result<bool, DatasetError> {
        let end = self.list.len.min(self.next + STEP);
        if self.next == end {
            return Ok(false);
        }
        // The library widens every integer to i64.
        let values = self
            .list
            .dataset
            .read_slice_1d::<i64, _>(self.next..end)
            .map_err(|error| {
                let place = format!("dataset `{}`", self.list.name);
                unreadable(self.list.path, &place, &error)
            })?;
        self.buffer = values.into_iter().collect();
        self.used = 0;
        self.next = end;
        Ok(true)
    }
}
