use crate::wire::MAX_INVALID_EXAMPLES;
use crate::{EMPTY_SLOT, InvalidId};

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

    /// Empties the slots that a batch left as they were.
    pub fn settle(&mut self, k: usize) {
        for (slots, &returned) in self.ids.chunks_exact_mut(k).zip(&self.returned) {
            slots[k.min(returned as usize)..].fill(EMPTY_SLOT);
        }
    }

    /// Appends the answers of the next stripe.
    pub fn extend(&mut self, other: Answers) {
        self.ids.extend(other.ids);
        self.returned.extend(other.returned);
        self.invalid.extend(other.invalid);
        self.invalid.truncate(MAX_INVALID_EXAMPLES);
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

/// Hash of latencies `[passes, queries]`: the first 16 bytes of BLAKE3 over them as little-endian u64,
/// in hexadecimal.
pub fn latency_hash(latencies_ns: &[u64]) -> String {
    let hash = blake3::hash(bytemuck::cast_slice(latencies_ns));
    hash.to_hex()[..32].to_owned()
}
