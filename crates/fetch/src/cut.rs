/// The first bytes of a larger file, with a header of their own: the first rows of a file whose header
/// says how many it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes to take, the header included.
    pub bytes: u64,
    /// What the larger file must begin with.
    pub header_there: Vec<u8>,
    /// What the cut begins with instead, of the same length.
    pub header_here: Vec<u8>,
}
