use annbench_core::Params;

/// The points of an adapter that the suite runs.
///
/// The made data has a few hundred to about a thousand base rows of 20 components in clusters.
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
}

impl Example {
    /// Points without a hasty one, expected to find at least 95 % of the neighbours.
    pub fn new(build: Params, thorough: Params) -> Self {
        Self {
            build,
            thorough,
            hasty: None,
            min_recall: 0.95,
        }
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
