/// What is known of the file at a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Size.
    pub bytes: Option<u64>,
    /// SHA-256, 64 hexadecimal digits in lower case.
    pub sha256: Option<String>,
    /// MD5, 32 hexadecimal digits in lower case.
    pub md5: Option<String>,
}

impl Expected {
    /// Whether a checksum tells the file from every other.
    pub fn has_checksum(&self) -> bool {
        self.sha256.is_some() || self.md5.is_some()
    }
}
