use crate::{EMPTY_SLOT, InvalidId};

/// Examples of answers that are no ids, kept per repetition and thread.
pub(super) const INVALID_EXAMPLES: usize = 32;

/// Answers to a stripe of queries: ids `[queries, k]` and a returned count for each query.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub ids: Vec<u32>,
    pub returned: Vec<u32>,
    pub invalid: Vec<InvalidId>,
    pub invalid_count: u64,
}

impl Answers {
    /// Buffers whose pages exist, for `examples` answers that are no ids.
    pub fn touched(queries: usize, k: usize, examples: usize) -> Self {
        Self {
            // Non-zero values are really written, so the pages exist before the clock starts.
            ids: vec![EMPTY_SLOT; queries * k],
            returned: vec![1; queries],
            invalid: Vec::with_capacity(examples),
            invalid_count: 0,
        }
    }

    /// Appends the answers of the next stripe.
    pub fn extend(&mut self, other: Answers) {
        self.ids.extend(other.ids);
        self.returned.extend(other.returned);
        self.invalid.extend(other.invalid);
        self.invalid.truncate(INVALID_EXAMPLES);
        self.invalid_count += other.invalid_count;
    }

    /// Hash of ids and returned counts.
    pub fn hash(&self) -> String {
        answers_hash(&self.ids, &self.returned)
    }
}

/// Hash of the answers to a query set: the first 16 bytes of BLAKE3 over the slots `[queries, k]` and
/// then the returned counts `[queries]`, both as little-endian u32, in hexadecimal.
pub fn answers_hash(ids: &[u32], returned: &[u32]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytemuck::cast_slice(ids));
    hasher.update(bytemuck::cast_slice(returned));
    hasher.finalize().to_hex()[..32].to_owned()
}
