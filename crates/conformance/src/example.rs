use annbench_core::{ElementType, Params, Support};

/// The points of an adapter that the suite runs.
///
/// The made data has a few hundred to about a thousand base rows in clusters, of 20 numbers, or of 200
/// bits or sets of numbers below 200.
#[derive(Clone, Debug)]
pub struct Example {
    /// Build parameters that suit the made data.
    pub build: Params,
    /// Search parameters generous enough to find nearly everything, for any k up to all rows.
    pub thorough: Params,
    /// Search parameters so small that some answers at k = 10 differ from the thorough ones;
    /// `None` where a search has no parameters.
    pub hasty: Option<Params>,
    /// The least mean recall at k = 10 of the thorough point; 1 for an exact index.
    pub min_recall: f64,
    /// The element types that the points are for; empty: all that the adapter declares.
    pub elements: Vec<ElementType>,
}

impl Example {
    /// Points without a hasty one, expected to find at least 95 % of the neighbours.
    pub fn new(build: Params, thorough: Params) -> Self {
        Self {
            build,
            thorough,
            hasty: None,
            min_recall: 0.95,
            elements: Vec::new(),
        }
    }

    /// Restricts the points to some of the adapter's element types.
    pub fn only(mut self, elements: &[ElementType]) -> Self {
        self.elements = elements.to_vec();
        self
    }

    pub(crate) fn is_for(&self, support: &Support) -> bool {
        self.elements.is_empty() || self.elements.contains(&support.element)
    }

    /// Adds the hasty point.
    pub fn with_hasty(mut self, hasty: Params) -> Self {
        self.hasty = Some(hasty);
        self
    }

    /// Sets the least mean recall.
    pub fn with_min_recall(mut self, min_recall: f64) -> Self {
        self.min_recall = min_recall;
        self
    }
}
