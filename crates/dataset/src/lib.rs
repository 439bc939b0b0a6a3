//! Files to checked, mapped, fingerprinted base, queries and ground truth.
//!
//! A [`Catalogue`] of YAML entries says what a dataset is and where its files belong;
//! [`Dataset::open`] checks them against everything that is known, maps the vectors where they lie
//! or from a flat copy made once, and checks shipped truth. Values are read from the files that the
//! entry names and from no other, for only these are stamped and checksummed. Nothing here knows of
//! adapters, results or the network.

mod audit;
mod beside;
mod cache;
mod catalogue;
mod checksum;
mod companion;
mod content;
mod convert;
mod copy;
mod dataset;
mod error;
mod export;
mod format;
mod inspect;
mod lying;
mod mapped;
mod occurrences;
mod opening;
mod progress;
mod sample;
mod stamp;
mod truth;
mod value;
mod widen;

pub use audit::{Audit, AuditDepth, Finding, Rule, Verdict, audit, audit_opened, quick_audit};
pub use beside::Metadata;
pub use catalogue::{
    Archive, Catalogue, Entry, EntryError, FileFacts, FileState, FileStatus, MetadataPart, Places,
    QrelsPart, RangeTruthPart, Shard, TruthPart, VectorsPart,
};
pub use companion::{IdList, Judged, Qrels, RangeTruth, SparseRows};
pub use dataset::{AcceptedChecksum, Dataset, NarrowedPart, OpenOptions, UncomparedChecksum};
pub use error::{Contents, DatasetError, MissingFile};
pub use export::{Export, ExportError, Exported, export};
pub use format::Format;
pub use inspect::{AddError, Added, Own, add};
pub(crate) use mapped::MappedFile;
pub use mapped::MappedVectors;
pub use occurrences::Estimator;
pub use progress::{Activity, Progress, Watch};
pub use truth::{
    AtK, Piece, PieceFacts, PlacedPiece, Refutation, Stretch, Truth, TruthAudit, TruthOrigin,
    WrongNeighbor,
};
