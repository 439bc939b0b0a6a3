//! Judgements of relevance, where the set has any.

use annbench_dataset::{Dataset, DatasetError};
use annbench_results::{Judgement, Relevance};

/// The judgements of `dataset` as scoring needs them, or what to say when they are not here: a set can be
/// searched without them.
///
/// # Errors
/// Files that are not what they should be.
pub fn relevance(dataset: &Dataset) -> anyhow::Result<(Option<Relevance>, Option<String>)> {
    let judged = match dataset.judgements() {
        Ok(judged) => judged,
        Err(error @ DatasetError::Missing { .. }) => {
            let note = format!("nothing is scored against judgements of relevance: {error}");
            return Ok((None, Some(note)));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(judged) = judged else {
        return Ok((None, None));
    };
    let judgements: Vec<Judgement> = judged
        .iter()
        .map(|one| Judgement {
            query: one.query,
            id: one.id,
            score: one.score,
        })
        .collect();
    let (queries, base) = (
        dataset.queries().vectors().n(),
        dataset.base().vectors().n(),
    );
    Ok((Some(Relevance::new(&judgements, queries, base)?), None))
}
