use crate::certify::doublings;
use crate::dyadic;
use crate::shortlist::{U64, gamma};
use crate::{Candidate, Neighbors};
use annbench_core::{Metric, Vectors, norm};
use std::cmp::Ordering;

/// How a query's neighbours were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// All distances in integers, which are exact.
    Integers,
    /// A shortlist from bfloat16 products, and f64 distances of its rows.
    Bf16Shortlist,
    /// A shortlist from f32 products, and f64 distances of its rows.
    F32Shortlist,
    /// The reference distance of every row.
    FullScan,
}

impl Method {
    /// Every one.
    pub const ALL: [Method; 4] = [
        Method::Integers,
        Method::Bf16Shortlist,
        Method::F32Shortlist,
        Method::FullScan,
    ];

    /// Its name, for records.
    pub fn name(self) -> &'static str {
        match self {
            Method::Integers => "integers",
            Method::Bf16Shortlist => "bf16_shortlist",
            Method::F32Shortlist => "f32_shortlist",
            Method::FullScan => "full_scan",
        }
    }
}

/// Whether the set of a query's k nearest rows is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// No other row is as near as the k-th, by more than rounding can do.
    Unique,
    /// The k-th row and the next are equally far, exactly: the one with the lower id was taken.
    Tied,
    /// They are too near each other for f64, but differ; canonical order goes by the f64 distance.
    Resolved,
    /// Nothing is proved: a distance is not a number.
    Uncertified,
}

impl Status {
    /// Every one.
    pub const ALL: [Status; 4] = [
        Status::Unique,
        Status::Tied,
        Status::Resolved,
        Status::Uncertified,
    ];

    /// Its name, for records.
    pub fn name(self) -> &'static str {
        match self {
            Status::Unique => "unique",
            Status::Tied => "tied",
            Status::Resolved => "resolved",
            Status::Uncertified => "uncertified",
        }
    }
}

/// Why a query's neighbours are the right ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// How they were found.
    pub method: Method,
    /// Rows whose distances were computed in full, or for integers and full scans compared: K'.
    pub shortlist: usize,
    /// How often the first shortlist, of max(4 k, 100) rows, would have had to be doubled to hold
    /// them.
    pub doublings: u32,
    /// What the distances of all other rows are proved to be no less than; infinite when there is no
    /// other.
    pub outside: f64,
    /// Whether the set is the only one.
    pub status: Status,
}

impl Proof {
    /// That of a query whose `k` neighbours were found before and kept.
    pub fn new(method: Method, shortlist: usize, outside: f64, status: Status, k: usize) -> Self {
        Self {
            method,
            shortlist,
            doublings: doublings(shortlist, k),
            outside,
            status,
        }
    }
}

/// Exact neighbours with a proof for each query.
#[derive(Clone, Debug, PartialEq)]
pub struct Certified {
    pub(crate) neighbors: Neighbors,
    pub(crate) next: Vec<Option<Candidate>>,
    pub(crate) proofs: Vec<Proof>,
}

impl Certified {
    /// What was found before and kept. `None` when there are not as many proofs and next rows as
    /// queries.
    pub fn new(
        neighbors: Neighbors,
        next: Vec<Option<Candidate>>,
        proofs: Vec<Proof>,
    ) -> Option<Self> {
        let queries = neighbors.queries();
        (next.len() == queries && proofs.len() == queries).then_some(Self {
            neighbors,
            next,
            proofs,
        })
    }

    /// The neighbours.
    pub fn neighbors(&self) -> &Neighbors {
        &self.neighbors
    }

    /// The nearest row that is none of query `q`'s neighbours; `None` when every row is one.
    pub fn next(&self, q: usize) -> Option<Candidate> {
        self.next[q]
    }

    /// The proofs, query after query.
    pub fn proofs(&self) -> &[Proof] {
        &self.proofs
    }

    /// How many queries have `status`.
    pub fn count(&self, status: Status) -> usize {
        self.proofs.iter().filter(|p| p.status == status).count()
    }

    /// The neighbours alone.
    pub fn into_neighbors(self) -> Neighbors {
        self.neighbors
    }
}

/// How neighbours among two ranges of rows were found: what a shortlist proves is the least that is proved.
pub(crate) fn combined(a: Method, b: Method) -> Method {
    if a == Method::FullScan { b } else { a }
}

/// The status of query `q`, whose k-th neighbour is `last` and whose next row is `next`: for any k, of
/// neighbours that are known to be complete.
pub fn status(
    metric: Metric,
    base: Vectors<'_>,
    queries: Vectors<'_>,
    q: usize,
    last: Candidate,
    next: Option<Candidate>,
) -> Status {
    if last.distance.is_nan() {
        return Status::Uncertified;
    }
    let Some(next) = next else {
        return Status::Unique;
    };
    let gap = next.distance - last.distance;
    if gap.is_nan() {
        return Status::Uncertified;
    }
    if base.element().is_integer() && metric != Metric::Cosine {
        return if gap > 0.0 {
            Status::Unique
        } else {
            Status::Tied
        };
    }
    let query = queries.row(q);
    let (a, b) = (base.row(last.id as usize), base.row(next.id as usize));
    let gamma = gamma(base.dim() + 8, U64);
    let rounding = match metric {
        Metric::L2 => 2.0 * gamma * next.distance,
        Metric::InnerProduct => 1.001 * gamma * norm(query) * (norm(a) + norm(b)),
        _ => 8.0 * gamma,
    };
    if gap > rounding {
        Status::Unique
    } else if dyadic::compare(metric, query, a, b) == Ordering::Equal {
        Status::Tied
    } else {
        Status::Resolved
    }
}
