//! Whether compressing a base can have changed a query's nearest neighbours: a proof per query, beside
//! what an exhaustive search of the compressed vectors in fact finds.
//!
//! If all ratios d'(q, x) / d(q, x) of a query lie in [a, b] and d_(k+1) / d_(k) > kappa = b / a, then the
//! k nearest compressed rows are the k nearest rows: d' is at most b d_(k) for these and at least
//! a d_(k+1) for all others. The condition is sufficient, not necessary.

mod error;
mod pass;
mod ratios;
mod summary;

pub use error::QuantiserError;
pub use pass::{CompressedSet, audit_quantiser};
pub use ratios::{Ratio, RatioRange};
pub use summary::{QuantiserAudit, QueryCertificate};
