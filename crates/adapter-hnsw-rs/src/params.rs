use annbench_core::{AdapterError, ParamDoc, ParamKind, Params};

/// hnsw_rs keeps m in a u8 in its dumps and in `get_max_nb_connection`, which insertion itself
/// asks: 256 wraps to 0 there and leaves upper layers unlinked, although `Hnsw::new` takes it.
/// m = 1 makes the level scale 1 / ln(m) infinite.
const M: std::ops::RangeInclusive<i64> = 2..=255;

/// The library allocates a heap of this many entries per search before it looks at the data.
const MAX_EF: i64 = 1 << 24;

/// Parameters of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuildParams {
    pub(crate) m: usize,
    pub(crate) ef_construction: usize,
}

impl BuildParams {
    pub(crate) fn docs() -> Vec<ParamDoc> {
        vec![
            ParamDoc::required(
                "m",
                ParamKind::Int,
                "links per point and layer, twice that in the lowest layer; 2 to 255",
            ),
            ParamDoc::required(
                "ef_construction",
                ParamKind::Int,
                "candidates kept while a point is inserted; 1 to 16777216",
            ),
        ]
    }

    pub(crate) fn read(params: &Params) -> Result<Self, AdapterError> {
        let mut reader = params.reader();
        let m = reader.int("m", M)?;
        let ef_construction = reader.int("ef_construction", 1..=MAX_EF)?;
        reader.finish()?;
        Ok(Self {
            m: m as usize,
            ef_construction: ef_construction as usize,
        })
    }
}

/// Parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchParams {
    pub(crate) ef: usize,
}

impl SearchParams {
    pub(crate) fn docs() -> Vec<ParamDoc> {
        vec![ParamDoc::required(
            "ef",
            ParamKind::Int,
            "candidates kept while searching; k to 16777216",
        )]
    }

    /// Refuses ef < k: the library would search with k in its place.
    pub(crate) fn read(params: &Params, k: usize) -> Result<Self, AdapterError> {
        let mut reader = params.reader();
        let ef = reader.int("ef", 1..=MAX_EF)? as usize;
        reader.finish()?;
        if ef < k {
            return Err(AdapterError::Rejected(format!(
                "parameter `ef`: expected at least k = {k}, found {ef}; hnsw_rs would search with \
                 ef = {k}"
            )));
        }
        Ok(Self { ef })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::ParamValue;

    fn build(m: i64, ef_construction: i64) -> Result<BuildParams, AdapterError> {
        BuildParams::read(
            &Params::new()
                .with("m", ParamValue::Int(m))
                .with("ef_construction", ParamValue::Int(ef_construction)),
        )
    }

    #[test]
    fn m_is_limited_to_what_the_library_really_links() {
        for m in [0, 1, 256] {
            assert!(build(m, 100).is_err(), "m = {m}");
        }
        for m in [2, 255] {
            assert_eq!(build(m, 100).map(|p| p.m), Ok(m as usize));
        }
        assert!(build(16, 0).is_err());
    }

    #[test]
    fn ef_below_k_is_refused_not_raised() {
        let params = Params::new().with("ef", ParamValue::Int(9));
        assert_eq!(SearchParams::read(&params, 9), Ok(SearchParams { ef: 9 }));
        let reason = SearchParams::read(&params, 10).unwrap_err().to_string();
        assert!(reason.contains("at least k = 10"), "{reason}");
    }
}
