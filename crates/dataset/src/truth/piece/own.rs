use super::Piece;
use super::facts::PieceFacts;
use super::held::Held;
use super::kept::refused;
use crate::dataset::cache;
use crate::{Dataset, DatasetError, OpenOptions};
use std::path::PathBuf;

impl Dataset {
    /// Where the truth of this dataset is kept: a piece for each number of neighbours that was asked for.
    fn truths_dir(&self) -> PathBuf {
        let key = self.space().key("truth");
        cache(self.entry(), "truth").dir().join(key)
    }

    /// Where truth of `k` neighbours is kept.
    pub fn truth_dir(&self, k: usize) -> PathBuf {
        self.truths_dir().join(format!("k-{k}"))
    }

    /// Numbers of neighbours, `k` at least, of which something is kept, ascending.
    fn kept_widths(&self, k: usize) -> Vec<usize> {
        let items = std::fs::read_dir(self.truths_dir());
        let names = items.into_iter().flatten().flatten();
        let mut widths: Vec<usize> = names
            .filter_map(|item| item.file_name().to_str()?.strip_prefix("k-")?.parse().ok())
            .filter(|&width| width >= k)
            .collect();
        widths.sort_unstable();
        widths
    }

    /// Exact truth of at least `k` neighbours with its proof, whether or not truth is shipped: kept, or
    /// computed and kept. A search that was stopped goes on, and another process that searches for the same
    /// is waited for. Why it could not be kept is told beside it.
    ///
    /// # Errors
    /// [`DatasetError::TooManyNeighbors`], [`DatasetError::Exact`], [`DatasetError::Cancelled`].
    pub fn proved_truth(
        &self,
        k: usize,
        options: &OpenOptions<'_>,
    ) -> Result<(Piece, Option<String>), DatasetError> {
        let facts = self.wanted_facts(&self.whole_stretch(k))?;
        // What is damaged of k itself is told below.
        if let Some(piece) = self.finished(&facts, options, k + 1) {
            return Ok((piece, None));
        }
        let dir = self.truth_dir(k);
        let held = Held::wait(&dir, options.watch);
        let mut not_kept = match held {
            Ok(_) => None,
            Err(DatasetError::Cancelled) => return Err(DatasetError::Cancelled),
            Err(ref why) => Some(why.to_string()),
        };
        let begun = self.kept_piece(&facts, options).unwrap_or_else(|why| {
            self.note_damaged(k, "it is computed again", &why);
            None
        });
        if let Some(piece) = begun.clone().filter(|begun| begun.facts.is_finished()) {
            return Ok((piece, None));
        }
        let mut keep = |piece: &mut Piece| {
            if held.is_ok() {
                not_kept = piece.write(&dir).err().map(|why| why.to_string());
            }
            Ok(())
        };
        let mut piece = self.search(facts, begun, None, options, &mut keep)?;
        keep(&mut piece)?;
        Ok((piece, not_kept))
    }

    /// Proved truth of at least `k` neighbours, where an earlier call has kept it.
    ///
    /// # Errors
    /// [`DatasetError::TooManyNeighbors`].
    pub fn kept_truth(
        &self,
        k: usize,
        options: &OpenOptions<'_>,
    ) -> Result<Option<Piece>, DatasetError> {
        let wanted = self.wanted_facts(&self.whole_stretch(k))?;
        Ok(self.finished(&wanted, options, k))
    }

    /// The narrowest finished piece that is at least as wide as `wanted`; damaged ones are noted from
    /// `noted` neighbours on.
    fn finished(
        &self,
        wanted: &PieceFacts,
        options: &OpenOptions<'_>,
        noted: usize,
    ) -> Option<Piece> {
        let widths = self.kept_widths(wanted.k);
        widths.into_iter().find_map(|k| {
            let wanted = PieceFacts {
                k,
                ..wanted.clone()
            };
            match self.kept_piece(&wanted, options) {
                Ok(piece) => piece.filter(|piece| piece.facts.is_finished()),
                Err(why) if k >= noted => {
                    let next = format!("annbench truth compute {} -k {k}", self.name());
                    self.note_damaged(
                        k,
                        &format!("it is not used; to have it again: {next}"),
                        &why,
                    );
                    None
                }
                Err(_) => None,
            }
        })
    }

    fn note_damaged(&self, k: usize, then: &str, why: &DatasetError) {
        let dir = self.truth_dir(k);
        self.note(vec![format!(
            "the kept truth {} is damaged, and {then}: {why}",
            dir.display()
        )]);
    }

    /// What is kept of the truth that `wanted` describes, finished or not; an error where it is damaged.
    fn kept_piece(
        &self,
        wanted: &PieceFacts,
        options: &OpenOptions<'_>,
    ) -> Result<Option<Piece>, DatasetError> {
        let dir = self.truth_dir(wanted.k);
        if !Piece::is_in(&dir) {
            return Ok(None);
        }
        let piece = Piece::read(&dir)?;
        if let Some((wanted, found)) = piece.facts.other_than(wanted) {
            return Err(refused(&dir, "piece", wanted, found));
        }
        piece.verify(&dir, &self.space(), options.pool)?;
        Ok(Some(piece))
    }

    /// Keeps `piece` as the truth of this dataset, for every later use.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] where it is not this dataset's, unfinished, of some rows or of some
    /// queries only, or where what it says of its neighbours is not so; [`DatasetError::Io`];
    /// [`DatasetError::Cancelled`] while another process searches for the same.
    pub fn keep_truth(
        &self,
        mut piece: Piece,
        options: &OpenOptions<'_>,
    ) -> Result<PathBuf, DatasetError> {
        let dir = self.truth_dir(piece.facts.k);
        let wanted = self.wanted_facts(&self.whole_stretch(piece.facts.k))?;
        if let Some((wanted, found)) = piece.facts.other_than(&wanted) {
            return Err(refused(&dir, "piece", wanted, found));
        }
        if !piece.facts.is_finished() {
            let expected = format!("{} rows", wanted.end_row);
            let found = format!("rows up to {}", piece.facts.searched_end);
            return Err(refused(&dir, "piece", expected, found));
        }
        piece.verify(&dir, &self.space(), options.pool)?;
        let _held = Held::wait(&dir, options.watch)?;
        piece.write(&dir)?;
        Ok(dir)
    }
}
