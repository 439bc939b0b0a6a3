//! Files from HTTP, HTTPS and FTP servers, complete and verified before anything can use them.
//!
//! [`download`] takes a file from the first of its [`Source`]s that has it: by ranges over several
//! connections where the server offers them, into `<file>.part` with its state beside it, so that an
//! interrupted download goes on where it stopped. What the server says about the file (size, `ETag`,
//! `Last-Modified`) is compared with every answer, so that parts of two versions are never joined. Size
//! and checksums are verified, and only then the file gets its name. A [`Cut`] takes the first bytes of
//! a larger file and gives them a header of their own. [`unpack`] takes single members out of a packed
//! file, under names that the caller chooses. Nothing here knows what the files mean.

mod checked;
mod cut;
mod download;
mod error;
mod event;
mod expected;
mod ftp;
mod http;
mod limits;
mod part;
mod ranges;
mod remote;
mod source;
mod space;
mod state;
mod transfer;
mod unpack;

pub use checked::{Mismatch, Sums, hash};
pub use cut::Cut;
pub use download::{AlreadyThere, Download, Downloaded, download};
pub use error::{DownloadError, HashError, SourceError, Trouble};
pub use event::Event;
pub use expected::Expected;
pub use limits::Limits;
pub use source::{BadUrl, Source};
pub use space::free_space;
pub use unpack::{Member, Packing, UnpackError, UnpackLimits, Unpacked, unpack};
