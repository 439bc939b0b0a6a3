use crate::ElementType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the distance D(q, x) between a query and a base vector is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Squared Euclidean distance.
    L2,
    /// Negated inner product, so that smaller is nearer.
    InnerProduct,
    /// One minus the cosine of the angle.
    Cosine,
    /// Number of components that differ.
    Hamming,
    /// One minus the share of common members among all members of two sets.
    Jaccard,
}

impl Metric {
    /// Every metric, in a fixed order.
    pub const ALL: [Metric; 5] = [
        Metric::L2,
        Metric::InnerProduct,
        Metric::Cosine,
        Metric::Hamming,
        Metric::Jaccard,
    ];

    /// The word used in YAML, JSON and on plots.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::L2 => "l2",
            Metric::InnerProduct => "inner_product",
            Metric::Cosine => "cosine",
            Metric::Hamming => "hamming",
            Metric::Jaccard => "jaccard",
        }
    }

    /// Whether it is defined on vectors of `element`: l2, inner product and cosine on numbers,
    /// hamming on bits, jaccard on sets, and on bits as the sets of the components that are one.
    pub const fn is_defined_on(self, element: ElementType) -> bool {
        match element {
            ElementType::F32 | ElementType::F16 | ElementType::I8 | ElementType::U8 => {
                matches!(self, Metric::L2 | Metric::InnerProduct | Metric::Cosine)
            }
            ElementType::Bits => matches!(self, Metric::Hamming | Metric::Jaccard),
            ElementType::Sets => matches!(self, Metric::Jaccard),
        }
    }

    /// Whether a zero vector (an empty set) has no nearest neighbour: it has no direction under
    /// cosine and shares nothing under jaccard, and is at distance 1 from everything.
    pub const fn is_undefined_at_zero(self) -> bool {
        matches!(self, Metric::Cosine | Metric::Jaccard)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
